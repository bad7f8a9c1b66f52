import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/values/json/index.ts';
import { compileSchema, type JsonSchemaDocument } from '../../../src/values/json-schema/compile.ts';

const exhausted = 'takes too many steps to validate against its schema; send less';
const ones = (count: number): JsonValue[] => Array.from({ length: count }, () => 1);
const members = (count: number, value: JsonValue = 1): Record<string, JsonValue> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, value]));
const names = (count: number): string[] => Object.keys(members(count));
const objects = (count: number): JsonValue[] =>
  Array.from({ length: count }, (_, index) => ({ id: index }));
/** A schema that takes three steps itself. */
const three = { allOf: [{ not: { type: 'null' } }, { not: { type: 'string' } }] };

/** The fewest steps with which a value is judged at all. */
function stepsOf(schema: JsonSchemaDocument, value: JsonValue, trusted: boolean): number {
  const suffices = (maxSteps: number): boolean =>
    compileSchema(schema, { trusted, maxSteps }).validate(structuredClone(value))?.[0]?.message !==
    exhausted;
  let [tooFew, enough] = [-1, 2_000];
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    if (suffices(middle)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}

describe('a validation pays for its work, so that no schema and no value make it endless', () => {
  const table: readonly (readonly [
    rule: string,
    schema: JsonSchemaDocument,
    value: JsonValue,
    steps: number,
  ])[] = [
    ['a value that is looked at by itself', { type: 'string', minLength: 1 }, 'abc', 0],
    ['an object', { properties: { a: true } }, { a: 1 }, 1],
    ['eight members that are declared', { properties: members(16, true) }, {}, 3],
    [
      'members of a closed object, by eights',
      { additionalProperties: false, properties: members(40, true) },
      members(40),
      11,
    ],
    [
      'each member that is not declared',
      { additionalProperties: { type: 'number' } },
      members(20),
      21,
    ],
    [
      'each member that a pattern is asked for',
      { patternProperties: { '^m': { type: 'number' } } },
      members(20),
      221,
    ],
    ['each name', { propertyNames: { minLength: 1 } }, members(20), 20],
    ['a count of members, by eights', { maxProperties: 50 }, members(40), 5],
    [
      'names that depend on others, by eights',
      { dependentRequired: Object.fromEntries(names(20).map((name) => [name, ['x']])) },
      {},
      3,
    ],
    [
      'schemas that depend on names, by eights',
      { dependentSchemas: members(20, { type: 'object' }) },
      {},
      3,
    ],
    ['a schema that a name brings', { dependentSchemas: { m0: three } }, { m0: 1 }, 4],
    ['items, by twos', { items: { type: 'number' } }, ones(40), 21],
    [
      'items that a prefix names, by twos',
      { prefixItems: [{ type: 'number' }, { type: 'number' }, true, true] },
      ones(40),
      3,
    ],
    [
      'items that must differ, by fours',
      { uniqueItems: true },
      Array.from({ length: 40 }, (_, index) => index),
      10,
    ],
    [
      'text of objects that must differ, by sixteen characters',
      { uniqueItems: true },
      objects(8).map((item) => ({ item, text: 'x'.repeat(100) })),
      58,
    ],
    ['items that are looked for, by twos', { contains: { const: 2 } }, [...ones(40), 2], 21],
    [
      'plain items that must differ, whatever their length',
      { uniqueItems: true },
      ['x'.repeat(100), 'y'.repeat(100)],
      0,
    ],
    [
      'items after those that were looked for and found',
      { contains: three, minContains: 2 },
      ones(40),
      27,
    ],
    [
      'items up to one too many of those that were looked for',
      { contains: three, maxContains: 2 },
      ones(40),
      30,
    ],
    ['an enum of plain values', { enum: [1, 2, 3, 4, 5, 6] }, 6, 0],
    [
      'text of an object that is compared, by sixteen characters',
      { const: { text: 'x'.repeat(100) } },
      { text: 'x'.repeat(100) },
      6,
    ],
    ['a multiple of a whole number', { multipleOf: 3 }, 9, 0],
    ['a multiple of a fraction', { multipleOf: 0.1 }, 0.3, 8],
    ['code points that must be counted, by sixteen units', { maxLength: 100 }, 'x'.repeat(160), 10],
    ['a text that is too long in any case', { maxLength: 100 }, 'x'.repeat(201), 0],
    [
      'a pattern of the host that only the native engine can run',
      { pattern: '^x+(?!y)' },
      'x'.repeat(100),
      0,
    ],
    ['a pattern of the host', { pattern: '^x+$' }, 'x'.repeat(100), 48],
    [
      'eight branches',
      { anyOf: Array.from({ length: 15 }, (_, index) => ({ const: index })) },
      14,
      2,
    ],
    [
      'branches of several kinds together',
      { allOf: [true, true, true], anyOf: [true, true], oneOf: [true], not: false, if: true },
      1,
      2,
    ],
    ['a branch', { anyOf: [three] }, 1, 4],
    ['one of several branches', { oneOf: [three, false] }, 1, 4],
    // biome-ignore lint/suspicious/noThenProperty: the name of a keyword
    ['a condition and what follows from it', { if: three, then: three }, 1, 7],
    ['a reference', { $ref: '#/$defs/a', $defs: { a: { type: 'number' } } }, 1, 1],
    [
      'references of a chain',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'number' } } },
      1,
      2,
    ],
    [
      'a dynamic reference',
      { items: { $dynamicRef: '#x' }, $defs: { a: { $dynamicAnchor: 'x', type: 'number' } } },
      ones(4),
      11,
    ],
    [
      'members that nothing has looked at',
      { properties: { m0: true }, unevaluatedProperties: { type: 'number' } },
      members(20),
      24,
    ],
    [
      'members that many names have looked at',
      { properties: members(20, true), unevaluatedProperties: false },
      members(20),
      9,
    ],
    [
      'members that a pattern has looked at',
      { patternProperties: { '^m': true }, unevaluatedProperties: false },
      members(20),
      445,
    ],
    [
      'items that nothing has looked at',
      { prefixItems: [true], unevaluatedItems: { type: 'number' } },
      ones(20),
      23,
    ],
    ['items that were found', { contains: { const: 1 }, unevaluatedItems: false }, ones(20), 25],
    [
      'members of the branches that hold',
      {
        anyOf: [{ required: ['m0'], properties: { m0: true } }, { properties: { m1: true } }],
        unevaluatedProperties: false,
      },
      members(2),
      9,
    ],
    ['each place that a default may fill', { properties: members(20, { default: 1 }) }, {}, 43],
    ['a default, by four characters', { properties: { a: { default: 'x'.repeat(160) } } }, {}, 43],
    [
      'a default that leads back to itself',
      {
        properties: { self: { $ref: '#/$defs/self' } },
        $defs: {
          self: {
            type: 'object',
            properties: { next: { $ref: '#/$defs/self' } },
            default: { text: 'x'.repeat(40) },
          },
        },
      },
      {},
      75,
    ],
    [
      'items inside which no default stands',
      { properties: { a: { items: { type: 'number' } }, b: { default: 1 } } },
      { a: ones(40) },
      24,
    ],
    [
      'members and items inside which defaults may stand',
      { additionalProperties: { items: { properties: { a: { default: 1 } } } } },
      members(3, [{}, {}]),
      33,
    ],
    [
      'members after the twentieth fault, which are not looked at',
      { properties: Object.fromEntries(names(40).map((name) => [name, three])) },
      members(40, null),
      65,
    ],
    [
      'items after the twentieth fault, which are not looked at',
      { items: three },
      Array.from({ length: 40 }, () => null),
      80,
    ],
    [
      'members after the twentieth fault, where they are not declared',
      { additionalProperties: three },
      members(40, null),
      80,
    ],
    [
      'names after the twentieth fault',
      { propertyNames: { allOf: [{ maxLength: 1 }] } },
      members(40),
      40,
    ],
    [
      'members after the twentieth fault, where nothing has looked at them',
      { unevaluatedProperties: three },
      members(40, null),
      85,
    ],
    [
      'items after the twentieth fault, where nothing has looked at them',
      { unevaluatedItems: three },
      Array.from({ length: 40 }, () => null),
      85,
    ],
    [
      'names that are only required, which mark nothing',
      { required: ['m0'], unevaluatedProperties: { type: 'number' } },
      members(1),
      3,
    ],
    [
      'what a branch marks',
      {
        allOf: [{ properties: { m0: true }, allOf: [{ properties: { m1: true } }] }],
        unevaluatedProperties: false,
      },
      members(2),
      9,
    ],
  ];
  test.each(table)('%s', (_rule, schema, value, steps) => {
    expect(stepsOf(schema, value, true)).toBe(steps);
  });

  test.each([
    ['^x+$', 'x'.repeat(100), 48],
    ['^x+$', 'x'.repeat(1_000), 386],
    ['^(?:ab|cd){10}$', 'ab'.repeat(10), 102],
  ])(
    'a pattern from outside, %s, by its size and the length of the text',
    (pattern, text, steps) => {
      expect(stepsOf({ pattern }, text, false)).toBe(steps);
    },
  );
});
