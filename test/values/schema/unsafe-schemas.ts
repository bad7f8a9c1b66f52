/** Random schemas, many of which have patterns that the linear engine cannot run, and values. */
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';

/** The name of a keyword, which must not make an object look like a promise. */
export const thenKeyword = 'then';

/** Patterns that only the native engine can run, and one that the linear engine runs too. */
const pattern = fc.constantFrom('a(?=b)', '(.)\\1', '.(?<!a)', '^a');

/** Schemas of every kind of keyword, many of them with a pattern that cannot be checked. */
export const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => {
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
      fc.record({ if: inner, [thenKeyword]: inner, else: inner }, { requiredKeys: ['if'] }),
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

export const value = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonValue>('ab', 'aa', 'a', 'c', 'abab', 5, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'ab', 'aa', 'c'), tie('value'), { maxKeys: 3 }),
  ) as fc.Arbitrary<JsonValue>,
})).value;

export const schemaDocument = fc.letrec<{ document: JsonObject }>(() => ({
  document: fc
    .tuple(schema, schema, schema)
    .map(([root, a, b]) => ({ allOf: [root], $defs: { a, b } }) as JsonObject),
})).document;
