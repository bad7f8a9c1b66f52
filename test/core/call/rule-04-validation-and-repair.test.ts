import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import * as zm from 'zod/mini';
import { z as z3 } from 'zod3';
import { defineTool, HostToolRegistry, type JsonValue } from '../../../src/index.ts';
import { cpuMs } from '../../runner/cpu-time.ts';
import { define, setup } from './define.ts';

const secret = 'CANARY-value';

/** The same schema by every kind. */
const kinds: [string, unknown][] = [
  [
    'zod 4',
    z.object({
      mode: z.enum(['fast', 'slow']),
      n: z.number().max(3),
      text: z.string().min(50),
      inner: z.object({ flag: z.boolean() }).optional(),
    }),
  ],
  [
    'zod/mini',
    zm.object({
      mode: zm.enum(['fast', 'slow']),
      n: zm.number().check(zm.maximum(3)),
      text: zm.string().check(zm.minLength(50)),
      inner: zm.optional(zm.object({ flag: zm.boolean() })),
    }),
  ],
  [
    'zod 3',
    z3.object({
      mode: z3.enum(['fast', 'slow']),
      n: z3.number().max(3),
      text: z3.string().min(50),
      inner: z3.object({ flag: z3.boolean() }).optional(),
    }),
  ],
  [
    'Valibot',
    toStandardJsonSchema(
      v.object({
        mode: v.picklist(['fast', 'slow']),
        n: v.pipe(v.number(), v.maxValue(3)),
        text: v.pipe(v.string(), v.minLength(50)),
        inner: v.optional(v.object({ flag: v.boolean() })),
      }),
    ),
  ],
  [
    'ArkType',
    type({
      mode: "'fast'|'slow'",
      n: 'number<=3',
      text: 'string>=50',
      'inner?': { flag: 'boolean' },
    }),
  ],
  [
    'raw JSON Schema',
    {
      type: 'object',
      properties: {
        mode: { enum: ['fast', 'slow'] },
        n: { type: 'number', maximum: 3 },
        text: { type: 'string', minLength: 50 },
        inner: { type: 'object', properties: { flag: { type: 'boolean' } }, required: ['flag'] },
      },
      required: ['mode', 'n', 'text'],
    },
  ],
];

test('a made-up key cannot break the line, colour a terminal or reorder text', async () => {
  const { session } = setup([
    define('t', { parameters: { type: 'object', additionalProperties: false } }),
  ]);
  const { error } = await session.call('t', { 'a\u001b[31m\n\u202Eb': 1 });
  expect(error?.message.split('\n')).toEqual([
    expect.any(String),
    'a?[31m ?b: is not allowed here',
  ]);
});

describe.each(kinds)('a validation failure is invalid_input: %s', (_, parameters) => {
  test('one line a path, the same in details', async () => {
    const handler = vi.fn();
    const { session } = setup([define('t', { parameters, handler })]);
    const { error, metadata } = await session.call('t', {
      mode: 'other',
      n: 5,
      inner: { flag: 'x' },
    });
    const [head, ...lines] = error?.message.split('\n') ?? [];
    expect(head).toBe('The arguments of `t` are invalid. Correct them and call again.');
    expect(error).toMatchObject({ code: 'invalid_input', retryable: false });
    expect(metadata.status).toBe('rejected');
    const paths = lines.map((line) => line.split(':')[0]);
    for (const path of ['mode', 'n', 'inner.flag']) expect(paths).toContain(path);
    expect(lines.some((line) => /text/.test(line))).toBe(true);
    expect(error?.details).toHaveLength(lines.length);
    expect(handler).not.toHaveBeenCalled();
  });

  test.each<[string, Record<string, unknown>]>([
    ['a wrong value', { mode: secret, n: 98765432101, text: secret, inner: { flag: secret } }],
    ['a wrong type', { mode: { deep: secret }, n: secret, text: [secret], inner: secret }],
  ])('%s is not echoed', async (_name, input) => {
    const { session, events } = setup([define('t', { parameters })]);
    const { error } = await session.call('t', input);
    expect(JSON.stringify(error)).not.toMatch(/CANARY|98765432101/);
    for (const event of events)
      if (event.type === 'tool:error') {
        expect(event.input, 'what was sent is told as such').toEqual(input);
        expect(JSON.stringify({ ...event, input: null })).not.toMatch(/CANARY|98765432101/);
      }
  });
});

describe('the text of a failure', () => {
  test('each line is one line and short, and there are at most 21', async () => {
    const parameters = z.object({ list: z.array(z.number(`no\n${'x'.repeat(1_000)}`)) });
    const { session } = setup([define('t', { parameters })]);
    const { error } = await session.call('t', { list: Array(500).fill('x') });
    const lines = error?.message.split('\n') ?? [];
    expect(lines.length).toBeLessThanOrEqual(22);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(300);
  });

  test('a validator that throws or rejects is a failure, not a crash', async () => {
    const throwing = {
      '~standard': {
        version: 1,
        vendor: 'v',
        validate: () => {
          throw new Error(secret);
        },
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
      },
    };
    const rejecting = {
      '~standard': { ...throwing['~standard'], validate: () => Promise.reject(new Error(secret)) },
    };
    const nonsense = { '~standard': { ...throwing['~standard'], validate: () => 7 } };
    const nothing = { '~standard': { ...throwing['~standard'], validate: () => undefined } };
    for (const parameters of [throwing, rejecting, nothing]) {
      const { session } = setup([define('t', { parameters })]);
      const { error } = await session.call('t', {});
      expect(error).toMatchObject({ code: 'invalid_input' });
      expect(error?.message).not.toContain(secret);
    }
    const handler = vi.fn();
    const { session } = setup([define('t', { parameters: nonsense, handler })]);
    expect(await session.call('t', {})).toMatchObject({ error: { code: 'invalid_input' } });
    expect(handler).not.toHaveBeenCalled();
  });

  test('nothing is coerced', async () => {
    const { session } = setup(
      [
        define('t', {
          parameters: {
            type: 'object',
            properties: {
              n: { type: 'number' },
              b: { type: 'boolean' },
              s: { type: 'string' },
              list: { type: 'array' },
            },
          },
        }),
      ],
      { repair: 'safe' },
    );
    for (const input of [
      { n: '1' },
      { b: 'true' },
      { b: 1 },
      { s: 1 },
      { list: 'a' },
      { list: {} },
      { n: null },
    ])
      expect(await session.call('t', input), JSON.stringify(input)).toMatchObject({
        error: { code: 'invalid_input' },
      });
  });
});

describe('repair: "safe"', () => {
  const parameters = {
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: 'object', properties: { tags: { type: 'array' } } } },
      options: {
        type: 'object',
        properties: { depth: { type: 'number' }, more: { type: 'object' } },
      },
      maybe: { anyOf: [{ type: 'object' }, { type: 'null' }] },
      text: { type: 'string' },
      either: { type: ['string', 'object'] },
      any: {},
      nullable: { type: ['array', 'null'] },
      textOr: { oneOf: [{ type: 'object' }, { type: 'string' }] },
      whatever: { anyOf: [{ type: 'object' }, true] },
      listOrNull: { oneOf: [{ type: 'array' }, false, { type: 'null' }] },
    },
  };
  const call = async (input: unknown, repair: 'safe' | 'off' = 'safe') => {
    const { session } = setup([define('t', { parameters, handler: (given: unknown) => given })], {
      repair,
    });
    return session.call('t', input);
  };
  const json = (path: string) => ({ path, rule: 'json_string' });
  const empty = (path: string) => ({ path, rule: 'empty_string' });

  test.each<[string, unknown, unknown, unknown[]]>([
    [
      'a string that holds JSON where an array is wanted',
      { list: '[]' },
      { list: [] },
      [json('list')],
    ],
    [
      'a string that holds JSON where an object is wanted',
      { options: '{"depth":1}' },
      { options: { depth: 1 } },
      [json('options')],
    ],
    [
      'white space around it',
      { options: ' {"depth":1}\n' },
      { options: { depth: 1 } },
      [json('options')],
    ],
    ['an empty string for an object', { options: '' }, { options: {} }, [empty('options')]],
    [
      'inside of an object',
      { options: { more: '{"a":1}' } },
      { options: { more: { a: 1 } } },
      [json('options.more')],
    ],
    [
      'inside of an array',
      { list: [{ tags: '["x"]' }, '{"tags":[]}'] },
      { list: [{ tags: ['x'] }, { tags: [] }] },
      [json('list.0.tags'), json('list.1')],
    ],
    [
      'some items of an array',
      { list: ['{}', { tags: [] }, {}] },
      { list: [{}, { tags: [] }, {}] },
      [json('list.0')],
    ],
    [
      'inside of what was mended',
      { options: '{"more":"{}"}' },
      { options: { more: {} } },
      [json('options'), json('options.more')],
    ],
    ['one of several alternatives', { maybe: '{"a":1}' }, { maybe: { a: 1 } }, [json('maybe')]],
    [
      'one of several alternatives, of which only one may hold',
      { listOrNull: '[1]' },
      { listOrNull: [1] },
      [json('listOrNull')],
    ],
    ['a nullable array', { nullable: '[1]' }, { nullable: [1] }, [json('nullable')]],
    ['the whole input as text', '{"text":"x"}', { text: 'x' }, [json('')]],
    ['the whole input as an empty text', '', {}, [empty('')]],
  ])('mends and records %s', async (_, input, output, repaired) => {
    expect(await call(input)).toMatchObject({ success: true, output, metadata: { repaired } });
    expect(await call(input, 'off')).toMatchObject({ error: { code: 'invalid_input' } });
  });

  test.each<[string, unknown]>([
    ['a string where a string is wanted', { text: '{"a":1}' }],
    ['a string where a string is allowed', { either: '{"a":1}' }],
    ['a string where anything is allowed', { any: '{"a":1}' }],
    ['a property that the schema does not know', { other: '{"a":1}' }],
    ['items where the schema says nothing of items', { nullable: ['{"a":1}'] }],
    ['members where the schema says nothing of members', { maybe: { a: '{"a":1}' } }],
    ['a place whose type another alternative allows as text', { textOr: '{"a":1}' }],
    ['a place whose alternatives take anything', { whatever: '{"a":1}' }],
    ['what needs no mending', { list: [], options: {} }],
  ])('leaves %s as it is, and says nothing of it', async (_, input) => {
    const result = await call(input);
    expect(result).toMatchObject({ success: true, output: input });
    expect(result.metadata).not.toHaveProperty('repaired');
  });

  test.each<[string, unknown]>([
    ['JSON of another type', { list: '{}' }],
    ['an empty string for an array', { list: '' }],
    ['a text that is no JSON', { options: '{depth:1}' }],
    ['a number as text', { options: '1' }],
    ['a text with __proto__ in it', { options: '{"__proto__":{"a":1}}' }],
    ['a whole text that holds an array', '[1]'],
    ['a whole text that is no JSON', 'list: []'],
    ['a whole text with __proto__ in it', '{"__proto__":{}}'],
  ])('does not mend %s', async (_, input) => {
    const result = await call(input);
    expect(result).toMatchObject({ error: { code: 'invalid_input' } });
    expect(result.metadata).not.toHaveProperty('repaired');
  });

  test('what is mended is judged: a rule sees through the text', async () => {
    const { session } = setup([define('t', { parameters })], {
      repair: 'safe',
      rules: [{ effect: 'deny', when: { 'options.depth': 9 }, reason: 'too_deep' }],
    });
    expect(await session.call('t', { options: '{"depth":9}' })).toMatchObject({
      error: { code: 'policy_denied', reason: 'too_deep' },
      metadata: { repaired: [json('options')] },
    });
  });

  test('what the caller holds is not touched, and mending twice changes nothing more', async () => {
    const value: fc.Arbitrary<JsonValue> = fc.oneof(
      fc.constantFrom<JsonValue>('', '[]', '{}', '{"depth":"x"}', '[{"tags":"[]"}]', 'x', 1, null),
      fc.array(fc.constantFrom<JsonValue>('{}', '{"tags":"[1]"}', {}), { maxLength: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.constantFrom('list', 'options', 'maybe', 'text', 'either', 'any', 'nullable'),
          value,
          { noNullPrototype: true },
        ),
        async (input) => {
          const before = structuredClone(input);
          const first = await call(input);
          expect(input).toEqual(before);
          if (!first.success) return;
          const second = await call(first.output);
          expect(second).toMatchObject({ success: true, output: first.output });
          expect(second.metadata).not.toHaveProperty('repaired');
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('rule 4: what repair reads from texts', () => {
  // Counted in copies of the whole object, each of which would take the engine some milliseconds.
  test('is put in its places in one go, however many they are', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `k${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'object' }]));
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: { type: 'object', properties },
        handler: () => 'ran',
      }),
    );
    const session = registry.createSession({ sessionId: 's', repair: 'safe' });
    const more = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`m${index}`, 1]));
    const input = { ...Object.fromEntries(names.map((name) => [name, '{}'])), ...more };
    const start = cpuMs();
    const result = await session.call('t', input);
    const tookMs = cpuMs() - start;
    expect(result.success && result.metadata.repaired).toHaveLength(2_000);
    expect(tookMs).toBeLessThan(10_000);
  });

  test('is given up after a hundred texts that hold none', async () => {
    const registry = new HostToolRegistry();
    const list = { type: 'array', items: { type: 'object' } };
    registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: { type: 'object', properties: { list } },
        handler: () => 'ran',
      }),
    );
    const session = registry.createSession({ sessionId: 's', repair: 'safe' });
    const parse = vi.spyOn(JSON, 'parse');
    const result = await session.call('t', {
      list: ['x', '{}', ...Array.from({ length: 40_000 }, () => '{x')],
    });
    const asked = parse.mock.calls.length;
    parse.mockRestore();
    expect(result).toMatchObject({ success: false, error: { code: 'invalid_input' } });
    expect(asked).toBe(101);
  });

  test('counts with the rest of the arguments', async () => {
    const registry = new HostToolRegistry();
    let ran = 0;
    const properties = Object.fromEntries('abc'.split('').map((name) => [name, { type: 'array' }]));
    registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: { type: 'object', properties },
        handler: () => ++ran,
      }),
    );
    const session = registry.createSession({ sessionId: 's', repair: 'safe' });
    const text = JSON.stringify(Array.from({ length: 20_000 }, () => 1));
    expect(await session.call('t', { a: text, b: text })).toMatchObject({ success: true });
    expect(await session.call('t', { a: text, b: text, c: text })).toMatchObject({
      error: { code: 'invalid_input', reason: 'too_large' },
    });
    expect(ran).toBe(1);
  });
});
