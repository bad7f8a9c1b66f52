import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/values/json/index.ts';
import { nullReader, takesNull } from '../../../src/values/schema/schema-places.ts';
import { withoutStrictNulls } from '../../../src/values/schema/strict-nulls.ts';

/** What is left of an input, and the places that were taken out. */
function left(root: object, input: JsonObject): [JsonObject, string[]] {
  const dropped: string[] = [];
  return [
    withoutStrictNulls(input, root as JsonObject, (path) => void dropped.push(path)),
    dropped,
  ];
}

const text = { type: 'string' };
const optional = {
  type: 'object',
  properties: { a: text, b: { type: ['string', 'null'] }, c: text },
  required: ['c'],
};

describe('a null that a strict dialect made', () => {
  test.each<
    [where: string, root: object, input: JsonObject, output: JsonObject, dropped: string[]]
  >([
    [
      'stands for an optional property',
      optional,
      { a: null, b: null, c: null },
      { b: null, c: null },
      ['a'],
    ],
    ['is a value where the property is not known', optional, { x: null }, { x: null }, []],
    [
      'also inside an object',
      { properties: { in: optional } },
      { in: { a: null } },
      { in: {} },
      ['in.a'],
    ],
    [
      'also inside a list',
      { properties: { list: { items: optional } } },
      { list: [{ a: null }, { a: 'x' }] },
      { list: [{}, { a: 'x' }] },
      ['list.0.a'],
    ],
    [
      'by what is said of each place of a list',
      { properties: { list: { prefixItems: [optional, {}], items: optional } } },
      { list: [{ a: null }, { a: null }, { a: null }, { a: null }] },
      { list: [{}, { a: null }, {}, {}] },
      ['list.0.a', 'list.2.a', 'list.3.a'],
    ],
    [
      'but no item of a list',
      { properties: { list: { items: text } } },
      { list: [null] },
      { list: [null] },
      [],
    ],
    [
      'wherever the property is declared',
      { allOf: [{ $ref: '#/$defs/o' }], $defs: { o: optional } },
      { a: null },
      {},
      ['a'],
    ],
    [
      'unless one of several declarations takes null',
      { anyOf: [{ properties: { a: { type: ['string', 'null'] } } }, { properties: { a: text } }] },
      { a: null },
      { a: null },
      [],
    ],
    [
      'unless one of several requires it',
      { anyOf: [{ properties: { a: text } }, { required: ['a'] }] },
      { a: null },
      { a: null },
      [],
    ],
  ])('%s', (_where, root, input, output, dropped) => {
    const before = structuredClone(input);
    expect(left(root, input)).toEqual([output, dropped]);
    expect(input).toEqual(before);
  });

  test('is not there: then the input stays the same object', () => {
    const root = { properties: { in: optional, list: { items: optional } } };
    const input = { in: { a: 'x' }, list: [{ a: 'x' }], other: [{}, null] };
    expect(left(root, input)[0]).toBe(input);
  });

  test('is taken out of one part: the others stay the same objects', () => {
    const root = { properties: { in: optional, list: { items: optional } } };
    const input = { in: { a: null }, list: [{ a: 'x' }, { a: null }] };
    const [output] = left(root, input) as unknown as [typeof input];
    expect(output).toEqual({ in: {}, list: [{ a: 'x' }, {}] });
    expect(output.list[0]).toBe(input.list[0]);
    const lists = left(root, {
      in: { a: null },
      list: input.list.slice(0, 1),
    })[0] as unknown as typeof input;
    expect(lists.list[0]).toBe(input.list[0]);
  });

  test('is found fifteen references away, and no further', () => {
    const chain = (length: number): object => ({
      $ref: '#/$defs/d1',
      $defs: Object.fromEntries(
        Array.from({ length }, (_, index) => [
          `d${index + 1}`,
          index + 1 === length ? optional : { $ref: `#/$defs/d${index + 2}` },
        ]),
      ),
    });
    expect(left(chain(15), { a: null })[0]).toEqual({});
    expect(left(chain(16), { a: null })[0]).toEqual({ a: null });
  });
});

describe('whether a schema takes null', () => {
  test.each<[schema: unknown, takes: boolean]>([
    [true, true],
    [false, false],
    [{}, true],
    [{ type: 'null' }, true],
    [{ type: 'string' }, false],
    [{ type: ['string', 'null'] }, true],
    [{ enum: ['a', null] }, true],
    [{ enum: ['a'] }, false],
    [{ const: null }, true],
    [{ const: 0 }, false],
    [{ properties: {} }, true],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, true],
    [{ anyOf: [{ type: 'string' }, {}] }, true],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, false],
    [{ oneOf: [{ type: 'string' }, true] }, true],
    [{ anyOf: [] }, true],
    [{ type: 'string', anyOf: [{}] }, false],
    [{ allOf: [{}, { type: 'string' }] }, false],
    [{ allOf: [{}, { type: 'null' }] }, true],
    [{ $ref: '#/$defs/text' }, false],
    [{ $ref: '#/$defs/none' }, true],
    [{ $ref: '#/$defs/self' }, true],
    [{ anyOf: [{ $ref: '#/$defs/self' }, { type: 'string' }] }, false],
    [{ $ref: '#/$defs/nowhere' }, true],
    [{ anyOf: [{ type: 'string' }] }, false],
    [{ oneOf: [{ type: 'string' }] }, false],
    [{ anyOf: [{ allOf: [{}] }, { type: 'string' }] }, true],
    [
      {
        anyOf: [{ allOf: [{ $ref: '#/$defs/any' }, { $ref: '#/$defs/any' }] }, { type: 'string' }],
      },
      true,
    ],
  ])('%j: %s', (schema, takes) => {
    const root = {
      $defs: {
        text: { type: 'string' },
        none: { type: 'null' },
        any: {},
        self: { $ref: '#/$defs/self' },
      },
      properties: { a: schema },
    };
    expect(takesNull(schema as JsonObject, root as unknown as JsonObject)).toBe(takes);
  });
});

test('a definition treats null equally at every reference, however many there are', () => {
  const root: JsonObject = { $defs: { any: { description: 'Anything.' } } };
  const any = { $ref: '#/$defs/any' };
  expect(takesNull({ allOf: [any], anyOf: [{ type: 'string' }, any] }, root)).toBe(true);
  expect(takesNull({ ...any, oneOf: [{ type: 'string' }, any] }, root)).toBe(true);
});

test('what a circle cut short is not taken for what the definition says', () => {
  const a = { anyOf: [{ $ref: '#/$defs/b' }, { type: 'null' }] };
  const b = { anyOf: [{ $ref: '#/$defs/a' }, { type: 'string' }] };
  const read = nullReader({ $defs: { a, b } });
  expect([read(a), read(b)]).toEqual([true, true]);
  const other = nullReader({ $defs: { a, b } });
  expect([other(b), other(a)]).toEqual([true, true]);
});

describe('the schemas of an input', () => {
  const text = { type: 'string' };
  /** How many nulls were taken out. */
  const droppedOf = (root: object, input: JsonObject): number => left(root, input)[1].length;

  test('are computed once, however many values are there', () => {
    // Ten schemas for each element, and ten for its member: forty thousand elements would be twice
    // as many steps as there are.
    const items = {
      allOf: Array.from({ length: 10 }, (_, index) => ({
        properties: { in: { title: `t${index}`, properties: { a: text } } },
      })),
    };
    const list = Array.from({ length: 40_000 }, () => ({ in: { a: null } }));
    expect(droppedOf({ properties: { list: { items } } }, { list })).toBe(40_000);
  });

  test('are worked out once, however deep the input is', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => [`k${index}`, text]);
    const root = { properties: { ...Object.fromEntries(names), in: { $ref: '#' } } };
    const nested = Array.from({ length: 60 }).reduce<JsonObject>((inner) => ({ in: inner }), {
      k1: null,
    });
    expect(droppedOf(root, nested)).toBe(1);
  });

  test('are not mistaken for each other where a place comes again', () => {
    const part = (name: string): object => ({ properties: { [name]: text } });
    const root = { properties: { a: part('x'), b: part('y'), c: part('z'), in: { $ref: '#' } } };
    const inner = (): JsonObject => ({ a: { x: null }, b: { y: null }, c: { z: null } });
    expect(
      left(root, { ...inner(), in: { ...inner(), in: { ...inner(), in: inner() } } })[0],
    ).toEqual({
      a: {},
      b: {},
      c: {},
      in: { a: {}, b: {}, c: {}, in: { a: {}, b: {}, c: {}, in: { a: {}, b: {}, c: {} } } },
    });
  });

  const many = (count: number, more: object): object => ({
    properties: {
      ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, text])),
      ...more,
    },
  });
  test.each<[string, object, JsonObject, number]>([
    [
      'members',
      many(200_001, { in: many(200_001, { in: many(1, {}) }) }),
      { k0: null, in: { k0: null, in: { k0: null } } },
      2,
    ],
    [
      'required members',
      {
        required: Array.from({ length: 450_000 }, (_, index) => `r${index}`),
        properties: { k0: text, in: many(1, {}) },
      },
      { k0: null, in: { k0: null } },
      1,
    ],
    [
      'schemas of the elements of a list',
      {
        properties: {
          list: {
            allOf: Array.from({ length: 1_000 }, () => ({})),
            prefixItems: Array.from({ length: 1_000 }, () => many(1, {})),
          },
        },
      },
      { list: Array.from({ length: 1_000 }, () => ({ k0: null })) },
      // Each costs a step for every schema of the list, and three of its own.
      397,
    ],
  ])(
    'are read in at most 400 000 steps; what is deeper keeps its nulls: %s',
    (_, root, input, dropped) => {
      expect(droppedOf(root, input)).toBe(dropped);
    },
  );
});

test('whether a schema takes null is looked for fifteen schemas deep, and no further', () => {
  const chain = (length: number): JsonObject =>
    Array.from({ length }).reduce<JsonObject>((inner) => ({ allOf: [inner] }), { type: 'string' });
  expect([takesNull(chain(15), {}), takesNull(chain(16), {})]).toEqual([false, true]);
});
