import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/values/json/index.ts';
import { compileSchema, type JsonSchemaDocument } from '../../../src/values/json-schema/compile.ts';

const told = (schema: JsonSchemaDocument, value: JsonValue): string[] | undefined =>
  compileSchema(schema, { trusted: true })
    .validate(structuredClone(value))
    ?.map(({ path, message }) => (path === '' ? message : `${path} ${message}`));

const many = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const record = (count: number): Record<string, JsonValue> =>
  Object.fromEntries(many(count).map((index) => [`m${index}`, index]));

describe('each keyword refuses what is just beyond it, and says why', () => {
  const table: readonly (readonly [
    schema: JsonSchemaDocument,
    fits: readonly JsonValue[],
    fails: readonly (readonly [JsonValue, ...string[]])[],
  ])[] = [
    [{ type: 'string' }, ['', 'a'], [[1, 'must be a string, got a number']]],
    [{ type: 'number' }, [0, 1.5], [['1', 'must be a number, got a string']]],
    [
      { type: 'integer' },
      [0, -3],
      [
        [1.5, 'must be an integer'],
        ['1', 'must be an integer, got a string'],
      ],
    ],
    [{ type: 'boolean' }, [true, false], [[null, 'must be a boolean, got null']]],
    [
      { type: 'null' },
      [null],
      [
        [false, 'must be null, got a boolean'],
        [{}, 'must be null, got an object'],
      ],
    ],
    [
      { type: 'array' },
      [[], [1]],
      [
        [{}, 'must be an array, got an object'],
        [null, 'must be an array, got null'],
      ],
    ],
    [
      { type: 'object' },
      [{}, { a: 1 }],
      [
        [[], 'must be an object, got an array'],
        [null, 'must be an object, got null'],
        ['a', 'must be an object, got a string'],
      ],
    ],
    [{ type: ['string'] }, [''], [[1, 'must be a string, got a number']]],
    [
      { type: ['string', 'null', 'string'] },
      ['', null],
      [
        [1, 'must be a string or null, got a number'],
        [1.5, 'must be a string or null, got a number'],
      ],
    ],
    [
      { type: ['integer', 'string'] },
      [1, 'a'],
      [[1.5, 'must be an integer or a string, got a number']],
    ],
    [{ type: 'array', minItems: 1 }, [[1]], [[{}, 'must be an array, got object']]],
    [
      { type: 'object', required: ['a'] },
      [{ a: 1 }],
      [
        [[], 'must be an object, got array'],
        [null, 'must be an object, got null'],
      ],
    ],
    [{ const: null }, [null], [[0, 'must be null']]],
    [
      { const: { a: [1], b: 2 } },
      [{ b: 2, a: [1] }],
      [
        [{ a: [1] }, 'must be {"a":[1],"b":2}'],
        [1, 'must be {"a":[1],"b":2}'],
      ],
    ],
    [{ const: 'x'.repeat(78) }, ['x'.repeat(78)], [[1, `must be "${'x'.repeat(78)}"`]]],
    [{ const: 'x'.repeat(79) }, ['x'.repeat(79)], [[1, `must be "${'x'.repeat(76)}...`]]],
    [{ enum: [] }, [], [[1, 'no value is allowed here']]],
    [
      { enum: [1, 2, 3, 4] },
      [1, 4],
      [
        [5, 'must be one of 1, 2, 3, 4'],
        [[1], 'must be one of 1, 2, 3, 4'],
      ],
    ],
    [
      { enum: [1, 2, 3, 4, 5] },
      [1, 5],
      [
        [6, 'must be one of 1, 2, 3, 4, 5'],
        [{}, 'must be one of 1, 2, 3, 4, 5'],
      ],
    ],
    [
      { enum: [null, { a: 1 }] },
      [null, { a: 1 }],
      [
        [{ a: 2 }, 'must be one of null, {"a":1}'],
        [0, 'must be one of null, {"a":1}'],
      ],
    ],
    [{ enum: [[1], { a: 1 }] }, [[1], { a: 1 }], [[null, 'must be one of [1], {"a":1}']]],
    [{ enum: many(20) }, [0, 19], [[20, `must be one of ${many(20).join(', ')}`]]],
    [{ enum: many(21) }, [0, 20], [[21, `must be one of ${many(20).join(', ')}, ... (21 values)`]]],
    [{ minimum: 3 }, [3, 3.5, 'a'], [[2.5, 'must be at least 3']]],
    [{ maximum: 3 }, [3, 2.5, 'z'], [[3.5, 'must be at most 3']]],
    [
      { exclusiveMinimum: 3 },
      [3.5],
      [
        [3, 'must be above 3'],
        [2, 'must be above 3'],
      ],
    ],
    [
      { exclusiveMaximum: 3 },
      [2.5],
      [
        [3, 'must be below 3'],
        [4, 'must be below 3'],
      ],
    ],
    [{ multipleOf: 2 }, [0, -4], [[3, 'must be a multiple of 2']]],
    [{ multipleOf: 0.25 }, [2, 1.75, 1e20], [[0.3, 'must be a multiple of 0.25']]],
    [{ multipleOf: 0.1 }, [3, 0.3], [[0.25, 'must be a multiple of 0.1']]],
    [{ multipleOf: 1e20 }, [3e20, 0], [[1e19, 'must be a multiple of 100000000000000000000']]],
    [{ multipleOf: 3 }, [3e20], [[1e20, 'must be a multiple of 3']]],
    [
      { minimum: 3, maximum: 4 },
      [3, 4, null],
      [
        [2, 'must be at least 3'],
        [5, 'must be at most 4'],
      ],
    ],
    [
      { minimum: 3, maximum: 2, multipleOf: 2 },
      ['a'],
      [[2.5, 'must be at least 3', 'must be at most 2', 'must be a multiple of 2']],
    ],
    [{ minLength: 1 }, ['a', '\u{1f600}', 5], [['', 'must not be empty']]],
    [
      { minLength: 2 },
      ['ab', '\u{1f600}b', '\ud800\ud800', '\udc00\ud800', 'a\udc00', [1]],
      [
        ['a', 'must have at least 2 characters'],
        ['\u{1f600}', 'must have at least 2 characters'],
        ['', 'must have at least 2 characters'],
      ],
    ],
    [
      { minLength: 3 },
      ['\u{1f600}\u{1f600}\u{1f600}', 'a\u{1f600}b'],
      [
        ['\u{1f600}\u{1f600}', 'must have at least 3 characters'],
        ['a\u{1f600}', 'must have at least 3 characters'],
      ],
    ],
    [
      { maxLength: 2 },
      ['ab', '\u{1f600}\u{1f601}', 'a\u{1f600}', [1, 2, 3], '\ud800a'],
      [
        ['abc', 'must have at most 2 characters'],
        ['a\u{1f600}b', 'must have at most 2 characters'],
        ['\u{1f600}\u{1f600}a', 'must have at most 2 characters'],
        ['\udc00\ud800\ud800', 'must have at most 2 characters'],
        ['\ud800\ue000\ud800', 'must have at most 2 characters'],
      ],
    ],
    [{ maxLength: 0 }, [''], [['a', 'must have at most 0 characters']]],
    [
      { minLength: 2, pattern: '^a' },
      ['ab'],
      [
        ['b', 'must have at least 2 characters', 'must match the pattern "^a"'],
        ['ba', 'must match the pattern "^a"'],
        ['a', 'must have at least 2 characters'],
      ],
    ],
    [{ pattern: '^a' }, ['a', 1], [['b', 'must match the pattern "^a"']]],
    [
      {
        properties: {
          a: { type: 'string' },
          b: { type: 'number' },
          c: { type: 'boolean' },
          d: { type: 'integer' },
        },
      },
      [{}, { a: '', b: 0, c: false, d: 1 }, [1], 'text', null],
      [
        [{ a: 1 }, '/a must be a string, got a number'],
        [{ b: '' }, '/b must be a number, got a string'],
        [{ c: 0 }, '/c must be a boolean, got a number'],
        [{ d: 0.5 }, '/d must be an integer'],
      ],
    ],
    [
      { required: ['a', 'b'] },
      [{ a: 1, b: null }, 'text'],
      [
        [{ a: 1 }, '/b is required'],
        [{}, '/a is required', '/b is required'],
      ],
    ],
    [
      { properties: { a: true }, additionalProperties: false },
      [{}, { a: 1 }],
      [[{ b: 1 }, '/b is not allowed here; allowed: a']],
    ],
    [
      { properties: { a: true }, required: ['b'], additionalProperties: { type: 'number' } },
      [{ b: 1 }, { a: '', b: 1, c: 2 }],
      [
        [{ b: '' }, '/b must be a number, got a string'],
        [
          { b: 1, c: '', d: '' },
          '/c must be a number, got a string',
          '/d must be a number, got a string',
        ],
      ],
    ],
    [{ additionalProperties: false }, [{}], [[{ a: 1 }, '/a is not allowed here']]],
    [
      { properties: record(0), required: ['a'], additionalProperties: false },
      [],
      [
        [{ a: 1 }, '/a is not allowed here'],
        [{}, '/a is required'],
      ],
    ],
    [
      {
        properties: Object.fromEntries(many(20).map((index) => [`p${index}`, true])),
        additionalProperties: false,
      },
      [{ p19: 1 }],
      [
        [
          { q: 1 },
          `/q is not allowed here; allowed: ${many(20)
            .map((index) => `p${index}`)
            .join(', ')}`,
        ],
      ],
    ],
    [
      {
        properties: Object.fromEntries(many(21).map((index) => [`p${index}`, true])),
        additionalProperties: false,
      },
      [{ p20: 1 }],
      [[{ q: 1 }, '/q is not allowed here']],
    ],
    [
      {
        properties: { a: true },
        patternProperties: { '^a': { type: 'number' }, z$: { minimum: 5 } },
        additionalProperties: false,
      },
      [{ a: 1, z: 5, az: 6 }],
      [
        [{ a: '' }, '/a must be a number, got a string'],
        [{ az: 4 }, '/az must be at least 5'],
        [{ b: 1 }, '/b is not allowed here; allowed: a'],
      ],
    ],
    [
      { properties: { a: { type: 'string' } }, patternProperties: { '^a': { minLength: 2 } } },
      [{ a: 'ab' }],
      [[{ a: 'a' }, '/a must have at least 2 characters']],
    ],
    [{ minProperties: 1 }, [record(1)], [[{}, 'must have at least 1 properties']]],
    [
      { minProperties: 2 },
      [record(2), [1], 'a', null],
      [[record(1), 'must have at least 2 properties']],
    ],
    [
      { maxProperties: 2 },
      [record(2), [1, 2, 3], 'abc', null],
      [[record(3), 'must have at most 2 properties']],
    ],
    [{ maxProperties: 0 }, [{}], [[record(1), 'must have at most 0 properties']]],
    [
      { propertyNames: { maxLength: 1 } },
      [{ a: 1 }, ['abc'], 'abc', null],
      [
        [
          { ab: 1, c: 1, de: 1 },
          '/ab must have at most 1 characters',
          '/de must have at most 1 characters',
        ],
      ],
    ],
    [
      { dependentRequired: { a: ['b', 'c'], d: ['e'] } },
      [{}, { a: 1, b: 1, c: 1 }, ['a'], 'a', null],
      [
        [
          { a: 1, d: 1 },
          '/b is required where "a" is given',
          '/c is required where "a" is given',
          '/e is required where "d" is given',
        ],
        [{ a: 1, b: 1 }, '/c is required where "a" is given'],
      ],
    ],
    [
      { dependentSchemas: { a: { required: ['b'] }, c: { required: ['d'] } } },
      [{}, { a: 1, b: 1 }, 'a', null],
      [
        [{ a: 1, c: 1 }, '/b is required', '/d is required'],
        [{ c: 1 }, '/d is required'],
      ],
    ],
    [
      { dependencies: { a: ['b'], c: { required: ['d'] } } },
      [{}, { a: 1, b: 1 }],
      [[{ a: 1, c: 1 }, '/b is required where "a" is given', '/d is required']],
    ],
    [{ minItems: 2 }, [[1, 2], 'a', {}], [[[1], 'must have at least 2 items']]],
    [
      { minItems: 2, items: { type: 'string' } },
      [['a', 'b']],
      [[[1], 'must have at least 2 items']],
    ],
    [{ maxItems: 2 }, [[1, 2], 'abc', {}], [[[1, 2, 3], 'must have at most 2 items']]],
    [
      { prefixItems: [{ type: 'string' }, true, { type: 'number' }] },
      [[], ['a'], ['a', 1, 2, 'more']],
      [
        [[1], '/0 must be a string, got a number'],
        [[1, 1, 'a', 1], '/0 must be a string, got a number', '/2 must be a number, got a string'],
      ],
    ],
    [
      { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
      [['a', 1]],
      [
        [['a', 'b'], '/1 must be a number, got a string'],
        [[1, 2, 'c'], '/0 must be a string, got a number', '/2 must be a number, got a string'],
      ],
    ],
    [
      { uniqueItems: true },
      [[], [1], [1, '1', null, true, [1], { a: 1 }], 'aa', [{ a: 1 }, '{"a":1}']],
      [
        [[1, 2, 1], 'must not hold the same item twice'],
        [
          [
            { a: 1, b: 2 },
            { b: 2, a: 1 },
          ],
          'must not hold the same item twice',
        ],
        [[[1], [1]], 'must not hold the same item twice'],
        [[null, null], 'must not hold the same item twice'],
      ],
    ],
    [{ uniqueItems: false }, [[1, 1]], []],
    [
      { contains: { const: 1 } },
      [[2, 1], 'a'],
      [[[2], 'must hold at least one item that matches `contains`']],
    ],
    [
      { contains: { const: 1 }, minContains: 2 },
      [[1, 2, 1]],
      [[[1, 2], 'must hold at least 2 items that match `contains`']],
    ],
    [{ contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
    [
      { contains: { const: 1 }, maxContains: 1 },
      [[1, 2]],
      [[[1, 2, 1], 'must hold at most 1 items that match `contains`']],
    ],
    [
      { contains: { const: 1 }, minContains: 2, maxContains: 2 },
      [[1, 1]],
      [
        [[1, 1, 1], 'must hold at most 2 items that match `contains`'],
        [[1], 'must hold at least 2 items that match `contains`'],
      ],
    ],
    [
      { allOf: [{ minimum: 3 }, { maximum: 2 }] },
      ['a'],
      [
        [2.5, 'must be at least 3', 'must be at most 2'],
        [3, 'must be at most 2'],
      ],
    ],
    [
      { allOf: [{ minimum: 3 }, { maximum: 2 }, { multipleOf: 2 }] },
      ['a'],
      [[2.5, 'must be at least 3', 'must be at most 2', 'must be a multiple of 2']],
    ],
    [
      { anyOf: [{ type: 'string' }, { minimum: 3 }] },
      ['a', 3],
      [[2, 'must be a string, got a number, or must be at least 3']],
    ],
    [{ anyOf: [{ minimum: 3 }, { minimum: 3 }] }, [3], [[2, 'must be at least 3']]],
    [
      { anyOf: many(5).map((index) => ({ const: index })) },
      [4],
      [[5, 'must match one of 5 allowed forms']],
    ],
    [
      { anyOf: many(4).map((index) => ({ const: index })) },
      [3],
      [[5, 'must be 0, or must be 1, or must be 2, or must be 3']],
    ],
    [
      { anyOf: [{ properties: { a: { const: 1 } } }, { properties: { a: { const: 2 } } }] },
      [{ a: 2 }],
      [[{ a: 3 }, 'must match one of 2 allowed forms']],
    ],
    [
      { anyOf: [{ properties: { a: { const: 1 }, b: { const: 1 } } }, { type: 'string' }] },
      [{ a: 1 }, 'a'],
      [[{ a: 3, b: 3 }, '/a must be 1', '/b must be 1']],
    ],
    [
      { anyOf: [{ properties: { a: { const: 1 } }, maxProperties: 1 }, { type: 'string' }] },
      [{ a: 1 }, ''],
      [[{ a: 2, b: 1 }, 'must have at most 1 properties, or must be a string, got an object']],
    ],
    [
      { oneOf: [{ minimum: 3 }, { maximum: 4 }] },
      [5, 2],
      [[3, 'must match exactly one of the allowed forms, matches several']],
    ],
    [{ oneOf: [{ const: 1 }, { const: 2 }] }, [1, 2], [[3, 'must be 1, or must be 2']]],
    [{ not: { type: 'string' } }, [1], [['a', 'must not match the schema under `not`']]],
    [{ not: true }, [], [[1, 'must not match the schema under `not`']]],
    [
      // biome-ignore lint/suspicious/noThenProperty: the name of a keyword
      { if: { minimum: 3 }, then: { multipleOf: 2 }, else: { multipleOf: 3 } },
      [4, 0],
      [
        [5, 'must be a multiple of 2'],
        [2, 'must be a multiple of 3'],
      ],
    ],
    [{ if: { minimum: 3 }, else: { multipleOf: 3 } }, [4, 0], [[2, 'must be a multiple of 3']]],
    [
      { properties: { a: true }, unevaluatedProperties: { type: 'number' } },
      [{ a: '', b: 1 }, [''], 'a', null],
      [
        [
          { a: '', b: '', c: '' },
          '/b must be a number, got a string',
          '/c must be a number, got a string',
        ],
      ],
    ],
    [
      {
        anyOf: [
          { properties: { a: { const: 1 } }, required: ['a'] },
          { patternProperties: { '^b': true } },
        ],
        unevaluatedProperties: false,
      },
      [{ a: 1 }, { b: 1 }, { bb: 1, a: 1 }],
      [
        [{ a: 2 }, '/a is not allowed here'],
        [{ a: 1, c: 1 }, '/c is not allowed here'],
      ],
    ],
    [
      {
        if: { properties: { a: { const: 1 } }, required: ['a'] },
        // biome-ignore lint/suspicious/noThenProperty: the name of a keyword
        then: { properties: { b: true } },
        else: { properties: { c: true } },
        unevaluatedProperties: false,
      },
      [{ a: 1, b: 1 }, { c: 1 }],
      [
        [{ a: 1, c: 1 }, '/c is not allowed here'],
        [{ b: 1 }, '/b is not allowed here'],
      ],
    ],
    [
      {
        dependentSchemas: { a: { properties: { b: true } } },
        properties: { a: true },
        unevaluatedProperties: false,
      },
      [{ a: 1, b: 1 }],
      [[{ b: 1 }, '/b is not allowed here']],
    ],
    [{ allOf: [{ additionalProperties: true }], unevaluatedProperties: false }, [{ a: 1 }], []],
    [{ allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false }, [{ a: 1 }], []],
    [
      {
        allOf: [{ prefixItems: [true, true] }, { prefixItems: [true] }],
        unevaluatedItems: { type: 'number' },
      },
      [['', '', 1], { a: '' }],
      [
        [
          ['', '', '', ''],
          '/2 must be a number, got a string',
          '/3 must be a number, got a string',
        ],
      ],
    ],
    [
      { contains: { type: 'string' }, unevaluatedItems: false },
      [['a', 'b']],
      [[['a', 1, 'b', 2], '/1 is not allowed here', '/3 is not allowed here']],
    ],
    [{ unevaluatedItems: false }, [[], {}, 'a'], [[[1], '/0 is not allowed here']]],
    [{ unevaluatedProperties: false }, [{}, [1], 'a'], [[{ a: 1 }, '/a is not allowed here']]],
    [{ allOf: [{ items: true }], unevaluatedItems: false }, [[1, 2]], []],
    [{ allOf: [{ unevaluatedItems: true }], unevaluatedItems: false }, [[1, 2]], []],
  ];
  test.each(table)('%j', (schema, fits, fails) => {
    for (const value of fits) expect(told(schema, value), JSON.stringify(value)).toBe(undefined);
    for (const [value, ...messages] of fails)
      expect(told(schema, value), JSON.stringify(value)).toEqual(messages);
  });

  test.each(table)(
    '%j, also inside an object and inside a list, whose place is told',
    (schema, fits, fails) => {
      const inside = { properties: { 'a/b': { items: { allOf: [schema, true, {}] } } } };
      for (const value of fits)
        expect(told(inside, { 'a/b': [value] }), JSON.stringify(value)).toBe(undefined);
      for (const [value, ...messages] of fails) {
        const placed = messages.map(
          (message) => `/a~1b/1${message.startsWith('/') ? '' : ' '}${message}`,
        );
        expect(
          told(inside, { 'a/b': [...fits.slice(0, 1), value] }),
          JSON.stringify(value),
        ).toEqual(fits.length === 0 ? placed.map((line) => line.replace('/1', '/0')) : placed);
      }
    },
  );
});
