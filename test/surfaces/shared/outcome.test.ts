import { describe, expect, test } from 'vitest';
import { content, fail, type JsonObject } from '../../../src/index.ts';
import { shownOutcome, shownOutputSchema } from '../../../src/surfaces/shared/outcome.ts';
import { createTestSession, mockTool } from '../../../src/surfaces/testing/index.ts';

const outcomeOf = async (handler: () => unknown, declared = false) => {
  const session = createTestSession({
    tools: [mockTool({ name: 'tool', handler: handler as never })],
  });
  return shownOutcome(await session.call('tool', {}), declared);
};

describe('shownOutcome', () => {
  test('shows text always', async () => {
    expect(await outcomeOf(() => 'hello')).toEqual({ text: 'hello', isError: false });
    expect(await outcomeOf(() => ({ a: 1 }))).toEqual({ text: '{"a":1}', isError: false });
    expect(await outcomeOf(() => null)).toEqual({ text: 'Success', isError: false });
  });

  test('shows structured content if the tool declares an output, wrapped if needed', async () => {
    expect(await outcomeOf(() => ({ a: 1 }), true)).toMatchObject({ structured: { a: 1 } });
    expect(await outcomeOf(() => [1], true)).toMatchObject({
      text: '[1]',
      structured: { result: [1] },
    });
  });

  test('shows the code of a failure, and its reason', async () => {
    expect(await outcomeOf(() => fail({ message: 'Dirty.', reason: 'dirty_worktree' }))).toEqual({
      text: 'Error: Dirty.',
      isError: true,
      error: { code: 'handler_error', reason: 'dirty_worktree' },
    });
  });

  test('shows content parts as they were made', async () => {
    const parts = [content.text('a'), content.image('AAAA', 'image/png')];
    expect(await outcomeOf(() => parts)).toEqual({
      text: 'a\n[image: image/png]',
      isError: false,
      parts: [
        { type: 'text', text: 'a' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
    });
  });
});

describe('shownOutputSchema', () => {
  test('wraps what is no object, and keeps references resolvable', () => {
    const schema: JsonObject = {
      type: 'array',
      items: { $ref: '#/$defs/a' },
      $defs: { a: { type: 'string' } },
    };
    expect(shownOutputSchema(schema)).toEqual({
      type: 'object',
      properties: { result: { type: 'array', items: { $ref: '#/$defs/a' } } },
      required: ['result'],
      $defs: { a: { type: 'string' } },
    });
    expect(shownOutputSchema({ type: 'object' })).toEqual({ type: 'object' });
    expect(shownOutputSchema(undefined)).toBeUndefined();
  });

  test.each<[string, JsonObject, JsonObject]>([
    [
      'the address of a schema',
      {
        $id: 'https://x.example/points',
        $defs: { p: { type: 'object' } },
        type: 'array',
        items: { $ref: '#/$defs/p' },
      },
      { $ref: '#/$defs/p' },
    ],
    [
      'references by it',
      {
        $id: 'https://x.example/p',
        $defs: { p: {} },
        type: 'array',
        items: { $ref: 'https://x.example/p#/$defs/p' },
      },
      { $ref: '#/$defs/p' },
    ],
    [
      'references to all of it',
      { $id: 'https://x.example/p', type: 'array', items: { $ref: 'https://x.example/p' } },
      { $ref: '#/properties/result' },
    ],
    [
      'references by it, with an empty fragment',
      { $id: 'https://x.example/p#', type: 'array', items: { $ref: '#' } },
      { $ref: '#/properties/result' },
    ],
    [
      'escaped references',
      { type: 'array', $defs: { p: {} }, items: { $ref: '#/%24defs/p' } },
      { $ref: '#/%24defs/p' },
    ],
    [
      'references within a part that has an address',
      { type: 'array', items: { $id: 'https://x.example/q', $ref: '#/$defs/q', $defs: { q: {} } } },
      { $id: 'https://x.example/q', $ref: '#/$defs/q', $defs: { q: {} } },
    ],
  ])('wrapping keeps what a schema says: %s', (_what, schema, items) => {
    const wrapped = shownOutputSchema(schema) as {
      properties: { result: JsonObject };
      $id?: string;
    };
    expect(wrapped.properties.result.items).toEqual(items);
    expect([wrapped.$id, wrapped.properties.result.$id]).toEqual([undefined, undefined]);
  });

  const objects: [string, JsonObject][] = [
    [
      'a reference to an object',
      {
        $ref: '#/$defs/Out',
        $defs: { Out: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    ],
    [
      'a union of objects',
      {
        anyOf: [{ type: 'object' }, { $ref: '#/$defs/b' }],
        $defs: { b: { oneOf: [{ type: ['object'] }] } },
      },
    ],
    ['an intersection with an object', { allOf: [{ required: ['a'] }, { type: 'object' }] }],
  ];
  test.each(objects)(
    '%s is an object already: it says so, and its outputs are not wrapped',
    async (_what, schema) => {
      expect(shownOutputSchema(schema)).toEqual({ ...schema, type: 'object' });
      expect(
        shownOutcome(
          await createTestSession({
            tools: [mockTool({ name: 'tool', handler: () => ({ a: 'x' }) })],
          }).call('tool', {}),
          schema,
        ),
      ).toMatchObject({
        structured: { a: 'x' },
      });
    },
  );

  test.each<[string, JsonObject]>([
    ['a union of an object and a text', { anyOf: [{ type: 'object' }, { type: 'string' }] }],
    ['an object or null', { type: ['object', 'null'] }],
    ['no alternative', { anyOf: [] }],
    [
      'a circle',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    ['a reference to nothing', { $ref: '#/$defs/a' }],
    [
      'a reference of a part that has an address',
      {
        allOf: [{ $id: 'https://x.example/q', $ref: '#/$defs/a' }],
        $defs: { a: { type: 'object' } },
      },
    ],
    ['anything', {}],
  ])('%s is wrapped, and so are its outputs', async (_what, schema) => {
    expect(shownOutputSchema(schema)).toMatchObject({ type: 'object', required: ['result'] });
    expect(
      shownOutcome(
        await createTestSession({
          tools: [mockTool({ name: 'tool', handler: () => ({ a: 'x' }) })],
        }).call('tool', {}),
        schema,
      ),
    ).toMatchObject({
      structured: { result: { a: 'x' } },
    });
  });
});
