/** Proofs that one schema accepts everything that another one accepts. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { obstaclesTo } from '../../../src/values/json-schema/inclusion.ts';
import { cpuMs } from '../../runner/cpu-time.ts';

const proved = (narrow: JsonObject, wide: JsonObject) => obstaclesTo(narrow, wide).length === 0;

const small = fc.integer({ min: 0, max: 3 });
const primitive = fc.constantFrom<JsonValue>(null, true, 0, 1, 2, 0.5, -1, 'a', 'bb', '');
const name = fc.constantFrom('a', 'b', 'c');
const value: fc.Arbitrary<JsonValue> = fc.letrec<{ any: JsonValue }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    primitive,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(name, tie('any'), {
      maxKeys: 3,
      noNullPrototype: true,
    }) as fc.Arbitrary<JsonObject>,
  ),
})).any;
const type = fc.constantFrom('null', 'boolean', 'object', 'array', 'string', 'integer', 'number');
const schema: fc.Arbitrary<JsonValue> = fc.letrec<{ any: JsonValue; object: JsonObject }>(
  (tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      { weight: 1, arbitrary: fc.boolean() },
      { weight: 6, arbitrary: tie('object') },
    ),
    object: fc
      .oneof(
        { maxDepth: 2 },
        fc.record(
          {
            type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
            minimum: small,
            exclusiveMaximum: small,
            multipleOf: fc.constantFrom(1, 2, 0.5),
            minLength: small,
            maxLength: small,
            maxItems: small,
            minProperties: small,
          },
          { requiredKeys: [], noNullPrototype: true },
        ),
        fc.record(
          { enum: fc.array(primitive, { minLength: 1, maxLength: 3 }) },
          { noNullPrototype: true },
        ),
        fc.record({ const: value }, { noNullPrototype: true }),
        fc.record(
          {
            type: fc.constant('object'),
            properties: fc.dictionary(name, tie('any'), { maxKeys: 3, noNullPrototype: true }),
            required: fc.uniqueArray(name, { maxLength: 2 }),
            additionalProperties: tie('any'),
            maxProperties: small,
            patternProperties: fc.constant({ '^a': { type: 'string' } }),
          },
          { requiredKeys: ['type'], noNullPrototype: true },
        ),
        fc.record(
          {
            type: fc.constant('array'),
            prefixItems: fc.array(tie('any'), { minLength: 1, maxLength: 2 }),
            items: tie('any'),
            uniqueItems: fc.boolean(),
            minItems: small,
            contains: fc.constant({ type: 'string' }),
          },
          { requiredKeys: ['type'], noNullPrototype: true },
        ),
        ...(['anyOf', 'oneOf', 'allOf'] as const).map((word) =>
          fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((list) => ({ [word]: list })),
        ),
        fc.tuple(tie('any'), tie('any')).map((all) => ({ anyOf: all, not: { const: 1 } })),
        fc.record(
          // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema.
          { if: tie('any'), then: tie('any'), unevaluatedProperties: fc.constant(false) },
          { noNullPrototype: true },
        ),
        fc.constant({ $ref: '#/$defs/one' }),
      )
      .map((one) => one as JsonObject),
  }),
).object;

/** Two schemas that share parts, since two random ones are never comparable. */
const pair = fc
  .tuple(schema, schema, schema, fc.integer({ min: 0, max: 7 }), schema)
  .map(([one, other, def, way]): [JsonObject, JsonObject] => {
    const [a, b] = [one as JsonObject, other as JsonObject];
    const $defs = { one: safe(def as JsonObject) };
    const made: [JsonObject, JsonObject][] = [
      [a, a],
      [a, b],
      [{ ...a, ...b }, a],
      [a, { anyOf: [b, a] }],
      [{ allOf: [b, a] }, a],
      [a, { ...a, ...b }],
      [a, { oneOf: [b, a] }],
      [{ anyOf: [a, b] }, { anyOf: [b, a, { type: 'null' }] }],
    ];
    const [narrow, wide] = made[way] as [JsonObject, JsonObject];
    return [
      { ...narrow, $defs },
      { ...wide, $defs },
    ];
  });

/** A definition must not lead to itself without end. */
function safe(definition: JsonObject): JsonObject {
  return JSON.stringify(definition).includes('$ref') ? { type: 'string' } : definition;
}

describe('a proof that a schema accepts everything that another one accepts', () => {
  it('holds for every value', () => {
    let proofs = 0;
    fc.assert(
      fc.property(pair, fc.array(value, { minLength: 20, maxLength: 20 }), ([a, b], values) => {
        if (!proved(a, b)) return;
        proofs++;
        const ajv = new Ajv2020({ strict: false, validateFormats: false });
        const [first, second] = [ajv.compile(a), ajv.compile(b)];
        for (const one of [...values, ...literals(a), ...literals(b)])
          if (first(one) === true) expect([a, b, one, second(one)]).toEqual([a, b, one, true]);
      }),
      { numRuns: 400 },
    );
    // Otherwise the samples would say nothing.
    expect(proofs).toBeGreaterThan(40);
  });

  const text = { type: 'string' };
  const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    type: 'object',
    properties,
    ...more,
  });

  it('is found for what hosts change', () => {
    const union = (...kinds: string[]): JsonObject => ({
      oneOf: kinds.map((kind) =>
        object({ kind: { const: kind }, n: { type: 'integer' } }, { required: ['kind'] }),
      ),
    });
    const tree = (leaf: JsonObject): JsonObject => ({
      $ref: '#/$defs/tree',
      $defs: {
        tree: object({ leaf, children: { type: 'array', items: { $ref: '#/$defs/tree' } } }),
      },
    });
    const pairs: [narrow: JsonObject, wide: JsonObject][] = [
      [{ type: 'integer' }, { type: 'number' }],
      [text, { type: ['string', 'null'] }],
      [text, { anyOf: [text, { type: 'null' }] }],
      [{ type: ['string', 'null'] }, { anyOf: [text, { type: 'null' }] }],
      [{ enum: ['a', 'b'] }, { enum: ['c', 'b', 'a'] }],
      [{ const: 'a' }, { type: 'string', maxLength: 1 }],
      [{ type: 'boolean' }, { enum: [true, false, null] }],
      [
        { type: 'integer', minimum: 1 },
        { type: 'integer', exclusiveMinimum: 0 },
      ],
      [
        { type: 'integer', multipleOf: 4 },
        { type: 'integer', multipleOf: 2 },
      ],
      [object({ a: text }, { required: ['a', 'b'] }), object({ a: text }, { required: ['a'] })],
      [object({ a: text }, { additionalProperties: false }), object({ a: text, b: text })],
      [
        object({ a: text }, { additionalProperties: false }),
        object({ a: text, b: text }, { additionalProperties: false }),
      ],
      [
        { type: 'array', items: text, maxItems: 3 },
        { type: 'array', items: {} },
      ],
      [
        { type: 'array', prefixItems: [text], items: false },
        { type: 'array', items: text },
      ],
      [
        { type: 'string', pattern: '^a' },
        { type: 'string', pattern: '^a' },
      ],
      [{ type: 'string', format: 'date' }, text],
      [union('a', 'b'), union('b', 'c', 'a')],
      [tree({ type: 'integer' }), tree({ type: 'number' })],
      [{ allOf: [text, { maxLength: 3 }] }, { type: 'string', maxLength: 4 }],
    ];
    for (const [narrow, wide] of pairs)
      expect([narrow, wide, obstaclesTo(narrow, wide)]).toEqual([narrow, wide, []]);
    // None of them is equal, so the reverse must not be proved, apart from two that are.
    const both = pairs.filter(([narrow, wide]) => proved(wide, narrow)).length;
    expect(both).toBe(3);
  });

  it('it names the obstacles', () => {
    expect(
      obstaclesTo(
        object({ a: text, b: { type: 'array', items: text } }),
        object(
          { a: { type: 'string', maxLength: 5 }, b: { type: 'array', items: { type: 'null' } } },
          { required: ['a'] },
        ),
      ),
    ).toEqual([
      { path: 'properties.a', keyword: 'required', narrow: false, wide: true, undecided: false },
      { path: 'properties.a', keyword: 'maxLength', wide: 5, undecided: false },
      {
        path: 'properties.b.items',
        keyword: 'type',
        narrow: 'string',
        wide: 'null',
        undecided: false,
      },
    ]);
  });

  it('is not given where it is not known', () => {
    for (const [narrow, wide] of [
      [text, { type: 'string', pattern: 'a' }],
      [{ const: 'a' }, { type: 'string', pattern: 'a' }],
      [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'time' },
      ],
      [text, { not: { const: 1 } }],
      [{ type: 'object' }, { type: 'object', propertyNames: { maxLength: 3 } }],
      [object({ a: text }), object({ a: text }, { unevaluatedProperties: false })],
      [text, { $schema: 'http://json-schema.org/draft-07/schema#', type: 'string' }],
    ] as [JsonObject, JsonObject][])
      expect(obstaclesTo(narrow, wide).map(({ undecided }) => undecided)).toEqual([true]);
  });

  it('counts only own members', () => {
    const named = JSON.parse('{"__proto__":{"type":"string"},"toString":{"type":"string"}}');
    expect(proved(object(named), object({}))).toBe(true);
    expect(proved(object({}), object(named))).toBe(false);
    expect(proved(object({}), object({ toString: text }))).toBe(false);
  });

  it('costs little, whatever the schemas are', () => {
    const deep = (leaf: JsonObject, levels: number): JsonObject => {
      let made = leaf;
      for (let level = 0; level < levels; level++) made = { anyOf: [made, made, { not: made }] };
      return made;
    };
    const shared = { $defs: {} as Record<string, JsonObject> };
    for (let index = 0; index < 30; index++)
      shared.$defs[`d${index}`] = {
        anyOf: [
          { $ref: `#/$defs/d${index + 1}` },
          { properties: { a: { $ref: `#/$defs/d${index + 1}` } } },
        ],
      };
    shared.$defs.d30 = { type: 'string' };
    const many = { enum: Array.from({ length: 10_000 }, (_, index) => `value ${index}`) };
    const wideObject = (extra: JsonObject) =>
      object(
        Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}`, extra])),
        { required: Array.from({ length: 2_000 }, (_, index) => `p${index}`) },
      );
    const hostile: [JsonObject, JsonObject][] = [
      [deep(text, 7), deep({ type: 'null' }, 7)],
      [
        { ...shared, $ref: '#/$defs/d0' },
        { ...shared, $ref: '#/$defs/d0', title: 'x' },
      ],
      [many, { enum: [...many.enum].reverse() }],
      [wideObject(text), wideObject({ type: 'string', not: { enum: many.enum } })],
      [
        wideObject(many),
        wideObject({ oneOf: Array.from({ length: 100 }, () => wideObject(text)) }),
      ],
    ];
    for (const [narrow, wide] of hostile) {
      obstaclesTo({ ...narrow }, { ...wide });
      // Without the bound on steps, minutes. How long the steps take is for the bench to say.
      const started = cpuMs();
      obstaclesTo(narrow, wide);
      expect(cpuMs() - started).toBeLessThan(20_000);
    }
  });
});

/** The values that a schema names, which random ones seldom hit. */
function literals(schema: JsonValue): JsonValue[] {
  if (Array.isArray(schema)) return schema.flatMap((one: JsonValue) => literals(one));
  if (typeof schema !== 'object' || schema === null) return [schema];
  return Object.entries(schema).flatMap(([key, one]) =>
    key === 'const' ? [one] : literals(one as JsonValue),
  );
}
