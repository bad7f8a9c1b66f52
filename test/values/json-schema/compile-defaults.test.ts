import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/values/json/index.ts';
import {
  type CompiledSchema,
  compileSchema,
  type JsonSchemaDocument,
} from '../../../src/values/json-schema/compile.ts';

const draft07 = 'http://json-schema.org/draft-07/schema#';
const compile = (schema: unknown, maxSteps?: number): CompiledSchema =>
  compileSchema(schema as JsonSchemaDocument, { trusted: true, maxSteps });

/** The value with its defaults, as text, which keeps the order of its members. */
function filled(schema: unknown, value: JsonValue): string {
  const copy = structuredClone(value);
  expect(compile(schema).validate(copy)).toBeUndefined();
  return JSON.stringify(copy);
}

/** The fewest steps with which all of this is judged, one after the other by one validator. */
function stepsOf(
  schema: unknown,
  use: (compiled: CompiledSchema) => readonly { readonly message: string }[] | undefined,
): number {
  for (let steps = 0; steps < 1_000; steps++)
    if (use(compile(schema, steps))?.[0]?.message.startsWith('takes too many') !== true)
      return steps;
  throw new Error('It never ends.');
}

/**
 * A default that is no text, though its schema wants one: accepted by `revalidate` only where it is
 * taken out again.
 */
const odd = {
  type: 'string',
  default: { b: 1 },
  properties: { b: { default: 1 }, c: { default: 2 } },
};
/** A list in each of whose nodes the next one is filled as it is written. */
const tree = {
  properties: { node: { $ref: '#/$defs/node' } },
  $defs: {
    node: {
      default: { id: 0 },
      properties: { id: { default: 0 }, next: { $ref: '#/$defs/node' } },
    },
  },
};

describe('a default is filled', () => {
  test.each<readonly [where: string, schema: unknown, value: JsonValue, expected: string]>([
    [
      'after the members that are there, in the order of the schema',
      { properties: { b: { default: 2 }, a: { default: 1 } } },
      { c: 3 },
      '{"c":3,"b":2,"a":1}',
    ],
    [
      'nowhere but where it is declared',
      { properties: { a: { properties: { b: { default: 1 } } } } },
      {},
      '{}',
    ],
    [
      'in no object that is missing',
      { properties: { a: { properties: { b: { default: 1 } } }, c: { default: 2 } } },
      {},
      '{"c":2}',
    ],
    [
      'beside a member that has the very value of its default',
      { properties: { a: { default: 1 } } },
      { a: 1 },
      '{"a":1}',
    ],
    [
      'in no item of a list that stands where an object may',
      { additionalProperties: { properties: { b: { default: 1 } } } },
      [{}],
      '[{}]',
    ],
    [
      'in items that a prefix names, though nothing says what follows',
      { prefixItems: [{}, { properties: { b: { default: 1 } } }] },
      [{}, {}, {}],
      '[{},{"b":1},{}]',
    ],
    ['in the default that holds it', { properties: { a: odd } }, {}, '{"a":{"b":1,"c":2}}'],
    [
      'in a default that leads back to itself: once in each place, and then as it is written',
      tree,
      {},
      '{"node":{"id":0,"next":{"id":0,"next":{"id":0}}}}',
    ],
    [
      'in each value of a kind that holds itself, as deep as they go',
      tree,
      { node: { next: {} } },
      '{"node":{"next":{"id":0,"next":{"id":0,"next":{"id":0}}},"id":0}}',
    ],
    [
      'by what a reference means, and never by what stands beside one of draft-07',
      {
        $schema: draft07,
        properties: {
          a: {
            $ref: '#/definitions/a',
            properties: { b: { default: 1 } },
            items: { properties: { b: { default: 1 } } },
          },
        },
        definitions: { a: { properties: { c: { default: 2 } } } },
      },
      { a: {} },
      '{"a":{"c":2}}',
    ],
    [
      'by all that always applies',
      {
        properties: { a: { default: 1 } },
        additionalProperties: { properties: { x: { default: 0 } } },
        allOf: [{ properties: { b: { default: 2 } } }, { properties: { c: { default: 3 } } }],
      },
      { d: {} },
      '{"d":{"x":0},"a":1,"b":2,"c":3}',
    ],
  ])('%s', (_where, schema, value, expected) => {
    expect(filled(schema, value)).toBe(expected);
  });

  test('as a member like any other, which the host may change and take out', () => {
    const value = {};
    compile({ properties: { a: { default: 1 } } }).validate(value);
    expect(Object.getOwnPropertyDescriptor(value, 'a')).toEqual({
      value: 1,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  });

  test('the same way each time', () => {
    for (const schema of [{ properties: { a: odd } }, tree]) {
      const compiled = compile(schema);
      const values = [{}, {}, {}];
      for (const value of values) compiled.validate(value);
      expect(values).toEqual(Array.from({ length: 3 }, () => JSON.parse(filled(schema, {}))));
    }
  });
});

describe('what was filled is accepted again', () => {
  const accepts = (schema: unknown, value: JsonValue): boolean =>
    compile(schema).revalidate(value) === undefined;

  test('where it is the default as it is written, and as it is completed', () => {
    const schema = { properties: { a: odd } };
    for (const a of [{ b: 1 }, {}, { c: 2 }, { c: 2, b: 1 }, 'text'])
      expect([a, accepts(schema, { a })]).toEqual([a, true]);
    for (const a of [{ b: 2 }, { d: 1 }, 5, null, [], [1]])
      expect([a, accepts(schema, { a })]).toEqual([a, false]);
  });

  test('where the default leads back to itself', () => {
    const schema = { ...tree, $defs: { node: { ...tree.$defs.node, type: 'string' } } };
    const value = {};
    compile(schema).validate(value);
    expect(value).toEqual({ node: { id: 0, next: { id: 0, next: { id: 0 } } } });
    for (const node of [
      { id: 0, next: { id: 0, next: { id: 0 } } },
      { id: 0, next: { id: 0 } },
      { id: 0 },
      {},
    ])
      expect([node, accepts(schema, { node })]).toEqual([node, true]);
    for (const node of [{ id: 1 }, { id: 0, next: { id: 1 } }, { next: 5 }])
      expect([node, accepts(schema, { node })]).toEqual([node, false]);
  });

  test('where a default holds a part that only looks like it', () => {
    const node = {
      maxProperties: 0,
      properties: { next: { $ref: '#/properties/node' } },
      default: { next: { id: 5 } },
    };
    const within = (value: JsonValue): boolean =>
      accepts({ properties: { node } }, { node: value });
    expect([
      within({}),
      within({ next: { id: 5 } }),
      within({ next: { next: { id: 5 } } }),
    ]).toEqual([true, true, true]);
    expect([within({ id: 5 }), within({ next: {} }), within({ next: { id: 6 } })]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('and a member without a default stays as it is, whatever is inside it', () => {
    const schema = { properties: { a: { type: 'string', properties: { b: { default: 1 } } } } };
    for (const a of [{}, { b: 1 }, 5]) expect(accepts(schema, { a })).toBe(false);
  });

  test('by a validator that ran out of steps before, as by a new one', () => {
    const schema = {
      properties: {
        padding: { items: { properties: { x: { default: 1 } } } },
        node: {
          type: 'string',
          default: { next: { next: {} } },
          properties: { next: { $ref: '#/properties/node' } },
        },
      },
    };
    const padded = { padding: Array.from({ length: 30 }, () => ({})), node: {} };
    const plain = { node: { next: { next: {} } } };
    let ranOut = 0;
    for (let maxSteps = 0; maxSteps < 300; maxSteps++) {
      const used = compile(schema, maxSteps);
      if (used.revalidate(padded)?.[0]?.message.startsWith('takes too many') === true) ranOut++;
      const fresh = compile(schema, maxSteps).revalidate(plain);
      if (fresh?.[0]?.message.startsWith('takes too many') !== true)
        expect([maxSteps, used.revalidate(plain)]).toEqual([maxSteps, fresh]);
    }
    expect(ranOut).toBeGreaterThan(50);
  });
});

describe('filling pays for its work', () => {
  const list = (count: number, item: JsonValue): JsonValue[] =>
    Array.from({ length: count }, () => structuredClone(item));
  const fill = (value: JsonValue) => (compiled: CompiledSchema) =>
    compiled.validate(structuredClone(value));
  const remove = (value: JsonValue) => (compiled: CompiledSchema) => compiled.revalidate(value);

  test.each<readonly [what: string, schema: unknown, value: JsonValue, steps: number]>([
    [
      'nothing for members without a default',
      { properties: { a: { type: 'number' }, b: { default: 1 } } },
      { a: 1, b: 1 },
      2,
    ],
    [
      'nothing for what two references lead to, which has none',
      {
        $defs: { n: { type: 'number' } },
        properties: { a: { $ref: '#/$defs/n' }, b: { $ref: '#/$defs/n' }, c: { default: 1 } },
      },
      { c: 1 },
      2,
    ],
    [
      'nothing for items without one',
      { properties: { a: { prefixItems: [{}, {}], items: {} }, b: { default: 1 } } },
      { a: list(20, 1), b: 1 },
      4,
    ],
    [
      'a step for a place, one for a copy and one for four characters',
      { properties: { a: { default: '123456' } } },
      {},
      5,
    ],
    [
      'the same for each copy',
      { items: { properties: { a: { default: '123456' } } } },
      list(4, {}),
      27,
    ],
    ['what is inside a default once', { items: { properties: { a: odd } } }, list(4, {}), 34],
  ])('%s', (_what, schema, value, steps) => {
    expect(stepsOf(schema, fill(value))).toBe(steps);
  });

  test.each<readonly [what: string, schema: unknown, value: JsonValue, steps: number]>([
    [
      'a step for a place where nothing is',
      {
        type: 'object',
        properties: { a: { type: 'null', default: 1 }, b: { type: 'null', default: 2 } },
      },
      { b: 2 },
      3,
    ],
    [
      'the text of what is compared with a default',
      { properties: { a: { type: 'null', default: 'x' } } },
      { a: 'x'.repeat(160) },
      12,
    ],
    [
      'what is inside a default once, however often it is compared',
      { items: { properties: { a: odd } } },
      list(4, { a: { b: 1 } }),
      25,
    ],
    [
      'nothing for the text of a member without a default',
      { properties: { a: { type: 'null', properties: { b: { default: 1 } } } } },
      { a: 'x'.repeat(160) },
      2,
    ],
  ])('when it is taken back: %s', (_what, schema, value, steps) => {
    expect(stepsOf(schema, remove(value))).toBe(steps);
  });
});
