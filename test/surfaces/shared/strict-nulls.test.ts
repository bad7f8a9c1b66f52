import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonObject, type JsonValue, jsonSchema } from '../../../src/index.ts';
import { createTestSession, mockTool } from '../../../src/surfaces/testing/index.ts';
import { alternatives, takesNull } from '../../../src/values/schema/schema-places.ts';
import { withoutStrictNulls } from '../../../src/values/schema/strict-nulls.ts';

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
    either: {
      anyOf: [{ type: 'object', properties: { x: { type: 'number' } } }, { type: 'string' }],
    },
  },
  required: ['path'],
  $defs: {
    nested: {
      type: 'object',
      properties: { depth: { type: 'number' }, name: { type: 'string' } },
      required: ['name'],
    },
  },
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
    expect(repaired).toEqual(
      ['limit', 'nested.depth', 'list.0.depth', 'either.x'].map((path) => ({
        path,
        rule: 'strict_null',
      })),
    );
  });

  test('stay if null is a value, the property is required, or it is not declared', async () => {
    expect(
      await run({ path: 'a', filter: null, mode: null, anything: null, other: null }),
    ).toMatchObject({
      seen: { path: 'a', filter: null, mode: null, anything: null, other: null },
      repaired: undefined,
    });
    expect(await run({ path: null })).toMatchObject({ seen: undefined, code: 'invalid_input' });
  });

  test('are what they are on every other surface', async () => {
    expect(await run({ path: 'a', limit: null }, false)).toMatchObject({
      seen: undefined,
      code: 'invalid_input',
    });
  });

  test.each<[boolean, JsonValue]>([
    [true, {}],
    [true, true],
    [false, false],
    [false, { type: 'string' }],
    [true, { type: ['string', 'null'] }],
    [true, { enum: ['a', null] }],
    [true, { const: null }],
    [false, { const: 1 }],
    [true, { properties: {} }],
    [false, { type: 'object', properties: {} }],
    [true, { anyOf: [{ type: 'string' }, {}] }],
    [true, { oneOf: [{ type: 'string' }, true] }],
    [true, { anyOf: [{ type: 'string' }, { properties: { a: { type: 'string' } } }] }],
    [true, { anyOf: [{ type: 'string' }, { anyOf: [{ type: 'number' }, {}] }] }],
    [false, { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    [false, { anyOf: [{ type: 'string' }, false] }],
    [false, { type: 'string', anyOf: [{}, { minLength: 2 }] }],
    [false, { allOf: [{ type: 'string' }, {}] }],
    [true, { allOf: [{}, { description: 'Words.' }] }],
    [true, { $ref: '#/$defs/anything' }],
    [false, { $ref: '#/$defs/text' }],
    [true, { anyOf: [{ $ref: '#/$defs/text' }, { $ref: '#/$defs/anything' }] }],
    [false, { $ref: '#/$defs/circle' }],
  ])('null is a value, or is not (%j): %j', (expected, schema) => {
    const $defs = {
      anything: {},
      text: { type: 'string' },
      circle: { anyOf: [{ $ref: '#/$defs/circle' }, { type: 'string' }] },
    };
    expect(takesNull(schema, { $defs })).toBe(expected);
  });

  test('alternatives with the same schema count once, at any depth of the input', () => {
    const same = Array.from({ length: 20 }, (_, index) => ({
      $comment: String(index),
      $ref: '#/$defs/node',
    }));
    const node = {
      type: 'object',
      properties: {
        next: { anyOf: same },
        list: { items: { anyOf: same } },
        limit: { type: 'integer' },
      },
    };
    const root: JsonObject = { $ref: '#/$defs/node', $defs: { node } };
    const nest = (depth: number, value: JsonObject, end: JsonValue): JsonObject =>
      depth === 0 ? value : { next: nest(depth - 1, value, end), limit: end };
    // Each level would have twenty times the schemas of the one above.
    expect(
      withoutStrictNulls(nest(30, { list: [[], { limit: null }] }, null), root, () => {}),
    ).toEqual(
      JSON.parse(
        JSON.stringify(nest(30, { list: [[], {}] }, null)).replaceAll(',"limit":null', ''),
      ),
    );
    expect(alternatives({ anyOf: same }, root)).toHaveLength(22);
  });

  test('an input without nulls is unchanged, and removing twice equals removing once', () => {
    return fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.constantFrom('path', 'limit', 'nested', 'either', '__proto__', 'x'),
          fc.jsonValue({ maxDepth: 3 }),
        ),
        async (input) => {
          const tool = mockTool({
            name: 'tool',
            parameters: jsonSchema<object>({ type: 'object' }),
          });
          const session = createTestSession({ tools: [tool] });
          await session.call('tool', input, { surface: { name: 'test', strictNulls: true } });
          // As JSON: the library's copy has no negative zero.
          expect(tool.lastInput).toEqual(JSON.parse(JSON.stringify(input)));
        },
      ),
    );
  });
});

test('the schemas of a place are computed once, however many values are there', () => {
  let reads = 0;
  const branches = Array.from({ length: 300 }, (_, index) => {
    const branch = {
      type: 'object',
      properties: {
        [`p${index}`]: { type: 'string' },
        k: { anyOf: [{ type: 'object' }, { type: 'string' }] },
      },
    };
    return new Proxy(branch, {
      get(target, key) {
        reads++;
        return Reflect.get(target, key) as unknown;
      },
    });
  });
  const schema = {
    type: 'object',
    properties: { list: { type: 'array', items: { anyOf: branches } } },
  } as JsonObject;
  const strip = (length: number): number => {
    reads = 0;
    const list = Array.from({ length }, () => ({ p1: null, k: {} }));
    expect(withoutStrictNulls({ list }, schema, () => {})).toEqual({
      list: list.map(() => ({ k: {} })),
    });
    return reads;
  };
  expect(strip(1_000)).toBe(strip(1));
});

test('where the schemas of an input are too many to be looked at, its nulls stay', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
  const parts = Array.from({ length: 500 }, () => ({
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  }));
  const schema = {
    properties: {
      wide: { anyOf: parts },
      list: { items: { properties: { a: { type: 'string' } } } },
    },
  } as unknown as JsonObject;
  expect(withoutStrictNulls({ list: [{ a: null }], wide: {} }, schema, () => {})).toEqual({
    list: [{}],
    wide: {},
  });
  expect(withoutStrictNulls({ wide: {}, list: [{ a: null }] }, schema, () => {})).toEqual({
    wide: {},
    list: [{ a: null }],
  });
});
