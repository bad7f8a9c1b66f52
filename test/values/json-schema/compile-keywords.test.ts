import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/values/json/index.ts';
import type { JsonSchemaDocument } from '../../../src/values/json-schema/compile.ts';
import { judge } from '../schema/judge.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);
const members = (count: number, value: JsonValue = 1): Record<string, JsonValue> =>
  Object.fromEntries(names(count).map((name) => [name, value]));
const list = (count: number, value: JsonValue = 1): JsonValue[] =>
  Array.from({ length: count }, () => value);
/** Takes three steps, and refuses null. */
const three = { allOf: [{ not: { type: 'null' } }, { not: { type: 'string' } }] };
const dependentSchemas = { m0: three, m1: three };
const draft07 = 'http://json-schema.org/draft-07/schema#';

type Row = readonly [
  rule: string,
  schema: JsonSchemaDocument,
  value: JsonValue,
  answer: number,
  reasons: number,
];

describe('an answer ends with the first fault, its reasons with the twentieth', () => {
  const none = { type: 'null' };
  const rows: readonly Row[] = [
    ['two checks of a value', { minimum: 3, allOf: [three] }, 1, 1, 4],
    [
      'two checks, where there are 20 reasons already',
      { required: names(20), maxProperties: 0 },
      members(1, 2),
      3,
      3,
    ],
    ['three checks of a value', { enum: [7], minimum: 3, allOf: [three] }, 1, 1, 4],
    ['two branches that refuse', { anyOf: [{ allOf: [none, three] }, three] }, null, 6, 13],
    ['branches, of which the second one holds', { anyOf: [none, three, three] }, 1, 4, 4],
    ['branches of which only one may hold', { oneOf: [three, three, three] }, 1, 7, 7],
    ['a condition that nothing follows from', { if: three, minimum: 0 }, 1, 1, 1],
    ['members', { properties: { a: none, b: three } }, { a: 1, b: 1 }, 1, 4],
    [
      'members that are missing',
      { required: ['a'], properties: { a: true, b: three } },
      { b: 1 },
      1,
      4,
    ],
    ['members that are not named', { additionalProperties: none }, members(3), 2, 4],
    [
      'members that are not named, where 20 others are missing',
      { required: names(20), additionalProperties: three },
      { x: 1 },
      3,
      3,
    ],
    [
      'members that are not named, where 19 others are missing',
      { required: names(19), additionalProperties: three },
      { x: 1 },
      3,
      7,
    ],
    ['patterns of one name', { patternProperties: { '^a': none, a$: three } }, { a: 1 }, 25, 25],
    ['names', { propertyNames: { maxLength: 1 } }, members(3), 1, 3],
    [
      'schemas that depend on names',
      { dependentSchemas: { m0: false, m1: three } },
      members(2),
      1,
      4,
    ],
    [
      'schemas that depend on names, with 20 reasons',
      { dependentSchemas: { m0: { required: names(21).slice(1) }, m1: three } },
      { m0: 1, m1: 1 },
      4,
      7,
    ],
    ['items', { items: none }, list(3), 2, 2],
    ['items that are looked into', { items: three }, [null, 1], 4, 8],
    [
      'an array of the wrong length, which is not looked into',
      { minItems: 3, items: three },
      list(2),
      0,
      0,
    ],
    ['items of which too many were found', { contains: three, maxContains: 1 }, list(3), 8, 8],
    ['members that nothing has looked at', { unevaluatedProperties: none }, members(3), 2, 4],
    ['items that nothing has looked at', { unevaluatedItems: none }, list(3), 2, 4],
  ];
  test.each(rows)('%s', (_rule, schema, value, answer, reasons) => {
    const { answers, explains } = judge(schema, value);
    expect([answers.steps, explains.steps]).toEqual([answer, reasons]);
  });
});

describe('what need not be looked at costs nothing', () => {
  const rows: readonly Row[] = [
    ['items that anything fits', { items: {} }, list(40), 1, 1],
    [
      'items that anything fits, by a keyword that says nothing',
      { items: { minLength: 0, title: 'any' } },
      list(40),
      1,
      1,
    ],
    ['members that anything fits', { properties: members(3, {}) }, members(3), 1, 1],
    ['a member of one type', { properties: { a: { type: 'string' } } }, { a: '' }, 1, 1],
    [
      'a member of one type that has branches as well',
      { properties: { a: { type: 'string', allOf: [true] } } },
      { a: '' },
      2,
      2,
    ],
    [
      'a member that is called undefined and is not declared',
      { properties: { a: { type: 'string' } } },
      { undefined: 1 },
      1,
      1,
    ],
    [
      'members of a closed object that are all declared',
      { properties: members(2, true), additionalProperties: false },
      members(2),
      1,
      3,
    ],
    [
      'members of an object that is not closed',
      { properties: members(2, true), additionalProperties: { type: 'string' } },
      members(2),
      3,
      3,
    ],
    [
      'an item alone, which cannot be there twice',
      { uniqueItems: true },
      [{ text: 'x'.repeat(100) }],
      0,
      0,
    ],
    [
      'values other than arrays and objects',
      {
        items: three,
        properties: { a: three },
        unevaluatedItems: three,
        unevaluatedProperties: three,
      },
      'text',
      1,
      1,
    ],
    [
      'an object, by keywords of arrays',
      { contains: three, unevaluatedItems: three, uniqueItems: true },
      members(40),
      1,
      1,
    ],
    [
      'an array, by keywords of objects',
      { maxProperties: 9, propertyNames: three, dependentSchemas, unevaluatedProperties: three },
      list(40),
      1,
      1,
    ],
    ['an empty object', { dependentSchemas }, {}, 1, 1],
    ['a number, by keywords of texts', { minLength: 1, maxLength: 3, pattern: 'a' }, 12_345, 0, 0],
    ['seven branches', { allOf: list(7, { type: 'number' }) }, 1, 1, 1],
    ['eight branches, which cost one more', { allOf: list(8, { type: 'number' }) }, 1, 2, 2],
    [
      'eight branches of two kinds',
      { oneOf: [...list(3, false), true], anyOf: list(4, true) },
      1,
      2,
      2,
    ],
    // biome-ignore lint/suspicious/noThenProperty: the name of a keyword
    ['a schema that is not used', { then: three, else: three }, 1, 0, 0],
    [
      'what stands beside a reference of draft-07',
      {
        $schema: draft07,
        $ref: '#/definitions/a',
        allOf: [three],
        definitions: { a: { type: 'number' } },
      },
      1,
      1,
      1,
    ],
  ];
  test.each(rows)('%s', (_rule, schema, value, answer, reasons) => {
    const { answers, explains } = judge(schema, value);
    expect({ valid: answers.valid, steps: answers.steps }).toEqual({ valid: true, steps: answer });
    expect({ valid: explains.valid, steps: explains.steps, issues: explains.issues }).toEqual({
      valid: true,
      steps: reasons,
      issues: [],
    });
  });
});

describe('what a schema has looked at is noted, which costs', () => {
  const number = { type: 'number' };
  const rows: readonly Row[] = [
    ['nothing where every member is accepted', { unevaluatedProperties: true }, members(3), 0, 0],
    ['nothing where every item is accepted', { unevaluatedItems: true }, list(3), 0, 0],
    [
      'nothing of branches that look at no member',
      { anyOf: [{ minimum: 1 }], unevaluatedProperties: number },
      members(1),
      3,
      3,
    ],
    [
      'nothing of branches that look at no item',
      { anyOf: [{ minItems: 1 }], unevaluatedItems: number },
      list(1),
      4,
      4,
    ],
    [
      'one step for a branch that may hold',
      { anyOf: [{ properties: { x: true } }], unevaluatedItems: number },
      list(1),
      4,
      4,
    ],
    [
      'one step for a branch that looks for items, of an object',
      { anyOf: [{ contains: number }], unevaluatedProperties: number },
      members(1),
      4,
      4,
    ],
    [
      'one step for two names, and two for eight',
      { properties: members(8, true), unevaluatedProperties: number },
      members(2),
      5,
      5,
    ],
    [
      'a step for each place that is noted',
      { allOf: [{ prefixItems: [true], items: true, contains: true }], unevaluatedItems: false },
      list(2),
      9,
      9,
    ],
    [
      'a step for a schema that a name brings',
      { dependentSchemas: { x: { properties: { y: true } } }, unevaluatedProperties: number },
      members(1),
      4,
      4,
    ],
  ];
  test.each(rows)('%s', (_rule, schema, value, answer, reasons) => {
    const { answers, explains } = judge(schema, value);
    expect([answers.valid, answers.steps, explains.valid, explains.steps]).toEqual([
      true,
      answer,
      true,
      reasons,
    ]);
  });

  const fails: readonly (readonly [
    schema: JsonSchemaDocument,
    value: JsonValue,
    ...paths: string[],
  ])[] = [
    [{ allOf: [{ unevaluatedProperties: true }], unevaluatedItems: false }, [1], '/0'],
    [{ allOf: [{ unevaluatedItems: true }], unevaluatedProperties: false }, { a: 1 }, '/a'],
    [
      { allOf: [{ items: true, properties: { b: true } }], unevaluatedProperties: false },
      { a: 1, b: 1 },
      '/a',
    ],
    [
      { allOf: [{ prefixItems: [true], additionalProperties: true }], unevaluatedItems: false },
      [1, 2],
      '/1',
    ],
    [
      { allOf: [{ prefixItems: [true] }, { contains: { const: 3 } }], unevaluatedItems: false },
      [1, 2, 3],
      '/1',
    ],
    [{ if: { contains: { const: 3 } }, unevaluatedItems: false }, [1, 3], '/0'],
    [{ if: false, else: { prefixItems: [true] }, unevaluatedItems: false }, [1, 3], '/1'],
    [{ not: { prefixItems: [false] }, unevaluatedItems: false }, [1], '/0'],
    [
      {
        anyOf: [{ prefixItems: [true] }, { prefixItems: [true, { const: 1 }] }],
        unevaluatedItems: false,
      },
      [1, 2],
      '/1',
    ],
  ];
  test.each(fails.map(([schema, value, ...paths]) => ({ schema, value, paths })))(
    'by $schema not all of $value is looked at',
    ({ schema, value, paths }) => {
      const { answers, explains } = judge(schema, value);
      expect(answers.valid).toBe(false);
      expect(explains.issues.map(({ path }) => path)).toEqual(paths);
    },
  );
});

describe('a text is counted and matched only where that decides', () => {
  const x = 'x'.repeat(400);
  const rows: readonly (readonly [
    rule: string,
    schema: JsonSchemaDocument,
    value: JsonValue,
    valid: boolean,
    answer: number,
    reasons: number,
  ])[] = [
    ['too short in any case', { minLength: 100 }, x.slice(0, 99), false, 0, 0],
    ['perhaps long enough', { minLength: 100 }, x.slice(0, 199), true, 12, 12],
    ['long enough in any case', { minLength: 100 }, x.slice(0, 200), true, 0, 0],
    ['short enough in any case', { maxLength: 100 }, x.slice(0, 100), true, 0, 0],
    ['perhaps short enough', { maxLength: 100 }, x.slice(0, 200), false, 12, 12],
    ['too long in any case', { maxLength: 100 }, x.slice(0, 201), false, 0, 0],
    [
      'of the wrong length, whose pattern is only asked for its reason',
      { maxLength: 100, pattern: '^x' },
      x,
      false,
      0,
      110,
    ],
    [
      'an object where plain values are allowed',
      { enum: [1, 2, 3, 4, 5] },
      { text: x },
      false,
      0,
      0,
    ],
    ['a plain value where objects are allowed', { enum: [{ text: x }] }, x, false, 0, 0],
    ['an object where objects are allowed', { enum: [{ text: x }, 1] }, { text: x }, true, 25, 25],
  ];
  test.each(rows)('%s', (_rule, schema, value, valid, answer, reasons) => {
    const { answers, explains } = judge(schema, value);
    expect([answers.valid, answers.steps, explains.valid, explains.steps]).toEqual([
      valid,
      answer,
      valid,
      reasons,
    ]);
  });
});

describe('a type is asked first, and once', () => {
  const fails: readonly (readonly [
    schema: JsonSchemaDocument,
    value: JsonValue,
    ...messages: string[],
  ])[] = [
    [{ type: 'string', minimum: 3, minLength: 2 }, 1, 'must be a string, got a number'],
    [{ type: 'string', enum: ['x', 'y'] }, 5, 'must be one of "x", "y"'],
    [{ type: 'string', enum: ['x', 1] }, 1, 'must be a string, got a number'],
    [{ type: 'string', enum: ['x', 1] }, 'y', 'must be one of "x", 1'],
    [{ type: 'string', const: 'x' }, 1, 'must be a string, got a number'],
    [{ type: 'integer', enum: ['x'] }, 'x', 'must be an integer, got a string'],
    [{ type: ['string'], enum: ['x'] }, 1, 'must be a string, got a number'],
    [{ type: 'string', required: ['a'] }, 1, 'must be a string, got a number'],
    [{ type: 'string', properties: { a: true } }, { a: 1 }, 'must be a string, got an object'],
    [{ type: 'string', items: true }, [], 'must be a string, got an array'],
    [{ type: 'object', items: true }, [], 'must be an object, got an array'],
    [{ type: 'array', properties: { a: true } }, {}, 'must be an array, got an object'],
    [{ type: 'array', maxItems: 1 }, 'text', 'must be an array, got string'],
    [{ type: 'array', prefixItems: [true] }, 'text', 'must be an array, got string'],
    [{ type: 'object', patternProperties: { a: true } }, 'text', 'must be an object, got string'],
    [{ type: 'object', additionalProperties: true }, [], 'must be an object, got array'],
    [{ type: 'object', maxProperties: 1 }, [], 'must be an object, got an array'],
    [{ type: 'array', uniqueItems: true }, {}, 'must be an array, got an object'],
    [{ properties: { a: { type: 'string', minLength: 1 } } }, { a: '' }, '/a must not be empty'],
    [{ properties: { a: { type: 'number', minimum: 1 } } }, { a: 0 }, '/a must be at least 1'],
    [{ properties: { a: { type: 'boolean', const: true } } }, { a: false }, '/a must be true'],
    [{ properties: { a: { type: ['string'] } } }, { a: 1 }, '/a must be a string, got a number'],
    [{ type: ['object', 'null'], required: ['a'] }, 1, 'must be an object or null, got a number'],
    [{ type: ['object', 'null'], required: ['a'] }, {}, '/a is required'],
  ];
  test.each(fails.map(([schema, value, ...messages]) => ({ schema, value, messages })))(
    '$schema refuses $value',
    ({ schema, value, messages }) => {
      const { answers, explains } = judge(schema, value);
      expect(answers.valid).toBe(false);
      expect(
        explains.issues.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)),
      ).toEqual(messages);
    },
  );
});
