import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonSchema } from '../../src/index.ts';
import { createTestSession, mockTool } from '../../src/testing.ts';

const parameters = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    limit: { type: 'integer' },
    filter: { type: ['string', 'null'] },
    mode: { enum: ['a', null] },
    anything: {},
    nested: { $ref: '#/$defs/nested' },
    list: { type: 'array', items: { $ref: '#/$defs/nested' } },
    either: { anyOf: [{ type: 'object', properties: { x: { type: 'number' } } }, { type: 'string' }] },
  },
  required: ['path'],
  $defs: { nested: { type: 'object', properties: { depth: { type: 'number' }, name: { type: 'string' } }, required: ['name'] } },
} as const;

const run = async (input: object, strictNulls = true) => {
  const tool = mockTool({ name: 'tool', parameters: jsonSchema<object>(parameters as never) });
  const session = createTestSession({ tools: [tool] });
  const result = await session.call('tool', input, { surface: { name: 'test', strictNulls } });
  return { seen: tool.lastInput, repaired: result.metadata.repaired, code: result.error?.code };
};

describe('nulls of a strict dialect', () => {
  test('are taken out where the schema takes none, at any depth, and recorded', async () => {
    const { seen, repaired } = await run({
      path: 'a',
      limit: null,
      nested: { name: 'n', depth: null },
      list: [{ name: 'm', depth: null }],
      either: { x: null },
    });
    expect(seen).toEqual({ path: 'a', nested: { name: 'n' }, list: [{ name: 'm' }], either: {} });
    expect(repaired).toEqual(['limit', 'nested.depth', 'list.0.depth', 'either.x'].map((path) => ({ path, rule: 'strict_null' })));
  });

  test('stay where null is a value, where the property is required, and where nobody declared it', async () => {
    expect(await run({ path: 'a', filter: null, mode: null, anything: null, other: null })).toMatchObject({
      seen: { path: 'a', filter: null, mode: null, anything: null, other: null },
      repaired: undefined,
    });
    expect(await run({ path: null })).toMatchObject({ seen: undefined, code: 'invalid_input' });
  });

  test('are what they are on every other surface', async () => {
    expect(await run({ path: 'a', limit: null }, false)).toMatchObject({ seen: undefined, code: 'invalid_input' });
  });

  test('whatever came: what has no null is not touched, and taking out twice is taking out once', () => {
    return fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom('path', 'limit', 'nested', 'either', '__proto__', 'x'), fc.jsonValue({ maxDepth: 3 })), async (input) => {
        const tool = mockTool({ name: 'tool', parameters: jsonSchema<object>({ type: 'object' }) });
        const session = createTestSession({ tools: [tool] });
        await session.call('tool', input, { surface: { name: 'test', strictNulls: true } });
        // As JSON: the library's copy has no negative zero.
        expect(tool.lastInput).toEqual(JSON.parse(JSON.stringify(input)));
      }),
    );
  });
});
