import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json/index.ts';
import { checkSchema, compileSchema, type JsonSchemaDocument } from '../../src/schema/compile.ts';
import { gateSchema } from '../../src/schema/gate.ts';

const accepts = (schema: JsonSchemaDocument, trusted: boolean, value: JsonValue): boolean =>
  compileSchema(schema, { trusted }).validate(structuredClone(value)) === undefined;

/** The name of a keyword, which must not make an object look like a promise. */
const then = 'then';

/** Patterns that only the native engine can run, and one that the linear engine runs too. */
const pattern = fc.constantFrom('a(?=b)', '(.)\\1', '.(?<!a)', '^a');

/** Schemas of every kind of keyword, many of them with a pattern that cannot be checked. */
const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => {
  const inner = tie('schema');
  const few = fc.array(inner, { minLength: 1, maxLength: 2 });
  const names = fc.constantFrom('a', 'ab', 'aa', 'c');
  const byName = fc.dictionary(names, inner, { maxKeys: 2 });
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.record({ pattern }),
      fc.constantFrom<JsonValue>(true, {}, { type: 'string' }, { const: 'ab' }, { minLength: 2 }),
      fc.constantFrom<JsonValue>({ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }),
      fc.record({ not: inner }),
      fc.record({ oneOf: few }),
      fc.record({ oneOf: few, anyOf: few }),
      fc.record({ allOf: few }),
      fc.record({ if: inner, [then]: inner, else: inner }, { requiredKeys: ['if'] }),
      fc.record(
        {
          properties: byName,
          patternProperties: fc.dictionary(pattern, inner, { maxKeys: 2 }),
          additionalProperties: fc.constantFrom(false, true),
          unevaluatedProperties: fc.constant(false),
          propertyNames: inner,
          dependentSchemas: byName,
        },
        { requiredKeys: [] },
      ),
      fc.record(
        {
          prefixItems: few,
          items: inner,
          contains: inner,
          minContains: fc.nat(2),
          maxContains: fc.nat(2),
          unevaluatedItems: fc.constant(false),
        },
        { requiredKeys: [] },
      ),
    ) as fc.Arbitrary<JsonValue>,
  };
});

const value = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonValue>('ab', 'aa', 'a', 'c', 'abab', 5, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'ab', 'aa', 'c'), tie('value'), { maxKeys: 3 }),
  ) as fc.Arbitrary<JsonValue>,
})).value;

const tied = fc.letrec<{ document: JsonObject }>(() => ({
  document: fc
    .tuple(schema, schema, schema)
    .map(([root, a, b]) => ({ allOf: [root], $defs: { a, b } }) as JsonObject),
})).document;

test('what a schema from outside accepts is accepted when parts of it are removed', () => {
  let lost = 0;
  fc.assert(
    fc.property(tied, fc.array(value, { minLength: 1, maxLength: 5 }), (document, values) => {
      try {
        checkSchema(document, { trusted: true });
      } catch {
        // References in a circle refuse a schema, wherever it comes from.
        return;
      }
      const gated = gateSchema(document);
      if (gated.left.length > 0) lost++;
      for (const one of values)
        if (accepts(document, true, one)) expect(accepts(gated.schema, false, one)).toBe(true);
    }),
    { numRuns: 3_000 },
  );
  expect(lost).toBeGreaterThan(50);
});

test('a schema whose parts can all be checked is not changed', () => {
  fc.assert(
    fc.property(schema, (one) => {
      const text = JSON.stringify({ allOf: [one], $defs: { a: {}, b: {} } });
      const plain = JSON.parse(text.replaceAll(/"(?:a\(\?=b\)|\(\.\)\\\\1|\.\(\?<!a\))"/g, '"^b"'));
      expect(gateSchema(plain)).toEqual({ schema: plain, left: [] });
    }),
  );
});

describe('what depends on a part that was removed is made wider', () => {
  const unsafe = { type: 'string', pattern: 'a(?=b)' };
  const told = { type: 'string', description: '(pattern: a(?=b))' };
  test.each<readonly [what: string, schema: object, kept: object, also: readonly string[]]>([
    ['not', { not: unsafe, type: 'string' }, { type: 'string' }, ['/not']],
    [
      'if',
      { properties: { a: { if: unsafe, [then]: false } } },
      { properties: { a: { [then]: false } } },
      ['/properties/a/if'],
    ],
    ['oneOf', { oneOf: [unsafe, {}] }, { anyOf: [told, {}] }, ['/oneOf']],
    [
      'oneOf beside anyOf',
      { oneOf: [unsafe], anyOf: [true], allOf: [true] },
      { anyOf: [true], allOf: [true, { anyOf: [told] }] },
      ['/oneOf'],
    ],
    [
      'not, by way of a reference',
      { not: { $ref: '#/$defs/a' }, $defs: { a: { properties: { b: unsafe } } } },
      { $defs: { a: { properties: { b: told } } } },
      ['/not'],
    ],
    [
      'maxContains, but not minContains',
      { contains: unsafe, minContains: 2, maxContains: 3 },
      { contains: told, minContains: 2 },
      ['/maxContains'],
    ],
    [
      'unevaluatedProperties',
      { properties: { a: unsafe }, unevaluatedProperties: false },
      { properties: { a: told } },
      ['/unevaluatedProperties'],
    ],
  ])('%s', (_what, given, kept, also) => {
    const gated = gateSchema(given);
    expect(gated.schema).toEqual(kept);
    expect(gated.left.slice(1)).toEqual(
      also.map((path) => ({ path, message: 'it depends on another part that was removed' })),
    );
  });
});
