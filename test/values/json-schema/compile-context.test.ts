import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { compileSchema, type JsonSchemaDocument } from '../../../src/values/json-schema/compile.ts';
import { judge } from '../schema/judge.ts';

const paths = (schema: JsonSchemaDocument, value: JsonValue): string[] | undefined =>
  compileSchema(schema, { trusted: true })
    .validate(value)
    ?.map(({ path }) => path);
const nulls = (count: number): null[] => Array.from({ length: count }, () => null);
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);

describe('at most 20 faults are reported', () => {
  const indexes = names(20).map((_, index) => `/${index}`);
  test('20 of them whole', () => {
    expect(paths({ items: { type: 'string' } }, nulls(19))).toEqual(indexes.slice(0, 19));
    expect(paths({ items: { type: 'string' } }, nulls(20))).toEqual(indexes);
    expect(paths({ items: { type: 'string' } }, nulls(21))).toEqual(indexes);
  });

  test.each<readonly [rule: string, schema: JsonObject]>([
    ['a text with two faults', { minLength: 2, pattern: '^a' }],
    ['a number with two faults', { minimum: 3, multipleOf: 2 }],
    ['a value with two faults', { allOf: [{ const: 1 }, { const: 2 }] }],
    [
      'the one branch that was meant, with two faults',
      { anyOf: [{ required: ['x', 'y'] }, { type: 'null' }] },
    ],
  ])('also where the 20th is %s', (_rule, schema) => {
    const value = 'minLength' in schema ? 'b' : 'minimum' in schema ? 1 : {};
    const found = paths({ prefixItems: Array.from({ length: 19 }, () => false), items: schema }, [
      ...nulls(19),
      value,
    ]);
    expect(found?.slice(0, 19)).toEqual(indexes.slice(0, 19));
    expect(found?.slice(19).map((path) => path.split('/')[1])).toEqual(['19']);
    expect(
      paths({ prefixItems: Array.from({ length: 18 }, () => false), items: schema }, [
        ...nulls(18),
        value,
      ]),
    ).toHaveLength(20);
  });

  test('also of names that are missing', () => {
    expect(paths({ required: names(21) }, {})).toEqual(names(20).map((name) => `/${name}`));
    expect(paths({ dependentRequired: { a: names(21) } }, { a: 1 })).toEqual(
      names(20).map((name) => `/${name}`),
    );
  });
});

describe('a place is named by its keys', () => {
  test.each([
    ['a', '/a'],
    ['a/b~c', '/a~1b~0c'],
    ['', '/'],
    ['k'.repeat(100), `/${'k'.repeat(100)}`],
    ['k'.repeat(101), `/${'k'.repeat(97)}...`],
    [`${'/'.repeat(97)}kkkk`, `/${'~1'.repeat(97)}...`],
  ])('%s', (key, path) => {
    expect(paths({ additionalProperties: false }, { [key]: 1 })).toEqual([path]);
    expect(paths({ required: [key] }, {})).toEqual([path]);
    expect(paths({ items: { additionalProperties: { not: true } } }, [{}, { [key]: 1 }])).toEqual([
      `/1${path}`,
    ]);
  });

  test('only what was found inside a place is put there', () => {
    const schema = {
      properties: { a: { type: 'string' }, b: { items: { type: 'string' } } },
      propertyNames: { maxLength: 1 },
      unevaluatedProperties: false,
    };
    expect(paths(schema, { a: 1, b: ['', 1, 2], cc: 1 })).toEqual(['/a', '/b/1', '/b/2', '/cc']);
    expect(paths({ ...schema, properties: {} }, { c: 1, d: [1] })).toEqual(['/c', '/d']);
    const number = { type: 'number' };
    for (const inner of [
      { properties: { b: number } },
      { additionalProperties: number },
      { patternProperties: { b: number } },
      { unevaluatedProperties: number },
    ]) {
      for (const outer of [
        { properties: { a: inner } },
        { additionalProperties: inner },
        { patternProperties: { a: inner } },
        { unevaluatedProperties: inner },
      ]) {
        expect(paths(outer, { a: { b: '', bb: 1 } })).toEqual(['/a/b']);
      }
    }
  });
});

describe('members that other code adds to the prototype of all objects', () => {
  const polluted = <T>(act: () => T): T => {
    Object.defineProperty(Object.prototype, 'polluted', {
      value: 'x',
      enumerable: true,
      configurable: true,
    });
    try {
      return act();
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted');
    }
  };
  test.each<readonly [schema: JsonSchemaDocument, accepts: boolean]>([
    [{ properties: { a: true }, additionalProperties: false }, true],
    [{ properties: { a: true }, additionalProperties: { type: 'number' } }, true],
    [{ patternProperties: { '^p': false } }, true],
    [{ propertyNames: { maxLength: 1 } }, true],
    [{ maxProperties: 1 }, true],
    [{ unevaluatedProperties: { type: 'number' } }, true],
    [{ dependentRequired: { polluted: ['x'] } }, true],
    [{ dependentSchemas: { polluted: false } }, true],
    [{ properties: { polluted: { type: 'number' } } }, true],
    [{ required: ['polluted'] }, false],
  ])('is no member for %j', (schema, accepts) => {
    const compiled = compileSchema(schema, { trusted: true });
    expect(polluted(() => compiled.validate({ a: 1 })) === undefined).toBe(accepts);
    expect(compiled.validate({ a: 1 }) === undefined).toBe(accepts);
  });
});

describe('both passes', () => {
  const value = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom<JsonValue>(null, true, 0, 1, 2.5, 'a', 'ab', ''),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'toString'), tie('value'), { noNullPrototype: true }),
    ),
  })).value;
  const keywords = (inner: fc.Arbitrary<JsonSchemaDocument>): fc.Arbitrary<JsonSchemaDocument> => {
    const some = fc.array(inner, { minLength: 1, maxLength: 3 });
    const named = fc.dictionary(fc.constantFrom('a', 'b', 'toString'), inner, {
      noNullPrototype: true,
    });
    const count = fc.nat({ max: 2 });
    const keys = fc.uniqueArray(fc.constantFrom('a', 'b', 'toString'), { maxLength: 2 });
    return fc
      .record(
        {
          type: fc.constantFrom<JsonValue>('string', 'number', 'integer', 'object', 'array', [
            'null',
            'object',
          ]),
          enum: fc.array(value, { maxLength: 5 }),
          minimum: count,
          minLength: count,
          pattern: fc.constantFrom('^a', 'b$'),
          properties: named,
          required: keys,
          patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), inner, {
            noNullPrototype: true,
          }),
          additionalProperties: inner,
          propertyNames: inner,
          maxProperties: count,
          dependentRequired: fc.dictionary(fc.constantFrom('a', 'b'), keys, {
            noNullPrototype: true,
          }),
          dependentSchemas: named,
          prefixItems: some,
          items: inner,
          minItems: count,
          uniqueItems: fc.boolean(),
          contains: inner,
          minContains: count,
          allOf: some,
          anyOf: some,
          oneOf: some,
          not: inner,
          if: inner,
          // biome-ignore lint/suspicious/noThenProperty: the name of a keyword
          then: inner,
          else: inner,
          unevaluatedProperties: inner,
          unevaluatedItems: inner,
        },
        { requiredKeys: [], noNullPrototype: true },
      )
      .map(
        (record) => Object.fromEntries(Object.entries(record).slice(0, 6)) as JsonSchemaDocument,
      );
  };
  const schema = fc.letrec<{ schema: JsonSchemaDocument }>((tie) => ({
    schema: fc.oneof({ maxDepth: 2, withCrossShrink: true }, fc.boolean(), keywords(tie('schema'))),
  })).schema;

  test('come to the same answer, the second one with a reason for each refusal', () => {
    fc.assert(
      fc.property(schema, value, (document, sent) => {
        const { answers, explains } = judge(document, sent);
        expect(explains.valid).toBe(answers.valid);
        expect(explains.issues.length === 0).toBe(answers.valid);
        expect(explains.issues.length).toBeLessThanOrEqual(20);
        for (const { path, message } of explains.issues)
          expect(path === '' || path.startsWith('/') ? message.length : 0).toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
  });
});
