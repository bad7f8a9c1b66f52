/** Schemas that differ only in defaults are compared as equal, and no others are. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type JsonObject, type JsonValue } from '../../../src/index.ts';
import { isJsonObject } from '../../../src/values/json/index.ts';
import { compileSchema } from '../../../src/values/json-schema/compile.ts';

const fingerprintOf = (parameters: unknown, more: object = {}): string =>
  defineTool({
    name: 't',
    description: 'Does it.',
    parameters,
    handler: () => 1,
    ...more,
  } as never).fingerprint;

const accepts = (schema: JsonObject, value: JsonValue): boolean =>
  compileSchema(schema, { trusted: false }).validate(structuredClone(value)) === undefined;

const object = (properties: object, more: object = {}): JsonObject => ({
  type: 'object',
  properties: properties as JsonObject,
  ...more,
});

/** What may be written into any schema and changes nothing. */
const defaults: Readonly<Record<string, JsonValue>> = {
  minLength: 0,
  minItems: 0,
  minProperties: 0,
  uniqueItems: false,
  required: [],
  patternProperties: {},
  $defs: {},
  definitions: {},
  dependentRequired: {},
  dependentSchemas: {},
  minContains: 1,
  additionalProperties: true,
  items: {},
  propertyNames: true,
  deprecated: false,
  readOnly: false,
  writeOnly: false,
  secret: false,
};

/** Small schemas in which keywords meet. */
const schemas = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record(
      {
        type: fc.constantFrom<JsonValue>('string', 'number', ['string', 'null'], 'boolean'),
        minLength: fc.constantFrom(1, 2),
        enum: fc.constantFrom<JsonValue>(['a', 'bc'], [1, null], [{ required: [] }]),
        default: fc.constantFrom<JsonValue>({ required: [], minLength: 0 }, [], false),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        type: fc.constantFrom<JsonValue>('object', 'array', ['array', 'object']),
        properties: fc.dictionary(
          fc.constantFrom('a', 'b', 'required', 'minLength', '__proto__'),
          tie('schema'),
          { maxKeys: 3 },
        ),
        required: fc.uniqueArray(fc.constantFrom('a', 'b', 'required')),
        additionalProperties: fc.oneof(fc.constant<JsonValue>(false), tie('schema')),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        items: fc.oneof(fc.constant<JsonValue>(false), tie('schema')),
        not: tie('schema'),
        anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        unevaluatedProperties: fc.constant<JsonValue>(false),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<JsonObject>,
  ),
})).schema;

/** A copy in which every schema has some of the defaults that it does not have. */
function withDefaults(schema: JsonValue, chosen: readonly string[], evaluates: boolean): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const inside = (value: JsonValue): JsonValue => withDefaults(value, chosen, evaluates);
  const copy: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'properties')
      copy[name] = Object.fromEntries(
        Object.entries(value as JsonObject).map(([key, one]) => [key, inside(one)]),
      );
    else if (['prefixItems', 'anyOf'].includes(name))
      copy[name] = (value as JsonValue[]).map(inside);
    else if (['additionalProperties', 'items', 'not'].includes(name)) copy[name] = inside(value);
    else copy[name] = value;
  }
  for (const name of chosen)
    if (
      !Object.hasOwn(copy, name) &&
      !(evaluates && ['additionalProperties', 'items'].includes(name))
    )
      copy[name] = defaults[name] as JsonValue;
  return copy;
}

const values = fc.oneof(
  fc.constantFrom<JsonValue>('', 'a', 'bc', 1, null, true, [], ['a'], [1, 'a'], {}),
  fc.dictionary(
    fc.constantFrom('a', 'b', 'required', 'other'),
    fc.constantFrom<JsonValue>('a', 'bc', 1, null, [], {}),
    { maxKeys: 3 },
  ),
);

describe('defaults that are written out', () => {
  test('change neither the fingerprint nor what a schema accepts', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('x', 'y'), schemas, { maxKeys: 2 }),
        fc.subarray(Object.keys(defaults)),
        fc.array(values, { maxLength: 4 }),
        (properties, chosen, tried) => {
          const plain = object(properties);
          const evaluates = JSON.stringify(plain).includes('"unevaluatedProperties":');
          const written = withDefaults(plain, chosen, evaluates) as JsonObject;
          expect(fingerprintOf(written)).toBe(fingerprintOf(plain));
          for (const x of tried)
            expect(accepts(written, { x }), JSON.stringify(x)).toBe(accepts(plain, { x }));
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each<[string, unknown, unknown]>([
    [
      'the dialect',
      object({}),
      object({}, { $schema: 'https://json-schema.org/draft/2020-12/schema' }),
    ],
    [
      'the order of required names',
      object({}, { required: ['a', 'b'] }),
      object({}, { required: ['b', 'a'] }),
    ],
    [
      'the order of types',
      object({ a: { type: ['null', 'string'] } }),
      object({ a: { type: ['string', 'null'] } }),
    ],
    ['a list of one type', object({ a: { type: ['string'] } }), object({ a: { type: 'string' } })],
    ['an empty object', { type: 'object' }, z.object({})],
    ['a loose object', { type: 'object' }, z.looseObject({})],
    [
      'a schema of zod',
      object({ a: { type: 'string' } }, { required: ['a'] }),
      z.object({ a: z.string() }),
    ],
    [
      'an array of anything',
      object({ a: { type: 'array' } }),
      z.object({ a: z.array(z.any()).optional() }),
    ],
  ])('%s', (_, one, other) => {
    expect(fingerprintOf(one)).toBe(fingerprintOf(other));
  });

  test('also in the schema of the output, and in hints', () => {
    const one = fingerprintOf(object({}), {
      outputSchema: { type: 'array', items: {}, minItems: 0 },
      annotations: { readOnly: false, idempotent: false, destructive: true },
    });
    const other = fingerprintOf(object({}), {
      outputSchema: { type: 'array' },
      annotations: { destructive: true },
    });
    expect(one).toBe(other);
  });
});

describe('what means something else has another fingerprint', () => {
  test.each<[string, unknown, unknown]>([
    [
      'another dialect',
      object({}),
      object({}, { $schema: 'http://json-schema.org/draft-07/schema#' }),
    ],
    [
      'additionalProperties before unevaluatedProperties',
      object({}, { unevaluatedProperties: false }),
      object({}, { unevaluatedProperties: false, additionalProperties: true }),
    ],
    [
      'the same in a schema within',
      object({ a: { unevaluatedItems: false } }),
      object({ a: { unevaluatedItems: false, items: {} } }),
    ],
    [
      'a property that is named like a keyword',
      object({}),
      object({ required: { type: 'string' } }),
    ],
    [
      'a value that looks like a schema',
      object({ a: { const: { minLength: 0 } } }),
      object({ a: { const: {} } }),
    ],
    ['a default', object({ a: {} }), object({ a: { default: [] } })],
    ['an empty description', object({ a: {} }), object({ a: { description: '' } })],
    ['no member at all', object({}), object({}, { additionalProperties: false })],
    [
      'no item at all',
      object({ a: { type: 'array' } }),
      object({ a: { type: 'array', maxItems: 0 } }),
    ],
    [
      'the order of an enum',
      object({ a: { enum: ['a', 'b'] } }),
      object({ a: { enum: ['b', 'a'] } }),
    ],
    ['a keyword that is not known', object({ a: {} }), object({ a: { 'x-mine': false } })],
    [
      'the order of a tuple',
      object({ a: { prefixItems: [{ type: 'string' }, {}] } }),
      object({ a: { prefixItems: [{}, { type: 'string' }] } }),
    ],
  ])('%s', (_, one, other) => {
    expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
  });
});
