/** Random schemas with inputs that probably fit them, and random conditions. */
import fc from 'fast-check';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';

/** A schema, and values to try on it. */
export interface Sample<S> {
  readonly schema: S;
  readonly values: fc.Arbitrary<JsonValue>;
}

const scalars: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  null,
  true,
  false,
  0,
  1,
  5,
  7.5,
  10,
  -3,
  1e21,
  '',
  'x',
  'X',
  ' x ',
  'xy',
  'xyz',
  'true',
  '5',
  '10.0',
  '1e1',
  '😀',
);
const names = ['a', 'b', 'c', 'a.b', '*', '0'] as const;
const texts = fc.constantFrom('', 'x', 'X', 'xy', 'xyz', '5', '10.0', 'true', '😀', '😀😀');
const numbers = fc.constantFrom(-3, 0, 1, 5, 7.5, 10, 1e21);

/** Fewer of the deeper ones, so that schemas end. */
const depths = { depthSize: 'small', maxDepth: 3 } as const;

/** JSON Schemas with what they accept, more or less. */
export const jsonSamples: fc.Arbitrary<Sample<JsonValue>> = fc.letrec<{
  any: Sample<JsonValue>;
}>((tie) => ({ any: fc.oneof(depths, ...flat(), ...nested(tie('any'))) })).any;

function flat(): fc.Arbitrary<Sample<JsonValue>>[] {
  const size = fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined });
  const bound = fc.option(numbers, { nil: undefined });
  const pattern = fc.option(fc.constantFrom('^x', 'y$', '^[a-z]*$', '5'), { nil: undefined });
  return [
    fc
      .record({ minLength: size, maxLength: size, pattern })
      .map((limits) => ({ schema: { type: 'string', ...defined(limits) }, values: texts })),
    fc
      .record({
        type: fc.constantFrom('number', 'integer'),
        minimum: bound,
        exclusiveMaximum: bound,
      })
      .map((limits) => ({ schema: defined(limits), values: numbers })),
    fc.constantFrom<Sample<JsonValue>>(
      { schema: { type: 'boolean' }, values: fc.boolean() },
      { schema: { type: 'null' }, values: fc.constant(null) },
      { schema: true, values: scalars },
      { schema: { type: ['string', 'number', 'null'] }, values: scalars },
    ),
    fc
      .uniqueArray(scalars, { minLength: 1, maxLength: 3 })
      .map((list) => ({ schema: { enum: list }, values: fc.constantFrom(...list) })),
    scalars.map((value) => ({ schema: { const: value }, values: fc.constant(value) })),
  ];
}

function nested(inner: fc.Arbitrary<Sample<JsonValue>>): fc.Arbitrary<Sample<JsonValue>>[] {
  return [
    objects(inner),
    objects(inner),
    fc
      .record({ item: inner, minItems: fc.constantFrom(undefined, 1, 2) })
      .map(({ item, minItems }) => ({
        schema: defined({ type: 'array', items: item.schema, minItems }),
        values: fc.array(item.values, { maxLength: 3 }),
      })),
    fc.tuple(inner, inner, fc.boolean()).map(([first, second, closed]) => ({
      schema: { type: 'array', prefixItems: [first.schema, second.schema], items: !closed },
      values: fc.tuple(first.values, second.values),
    })),
    fc.tuple(inner, inner, fc.constantFrom('anyOf', 'oneOf')).map(([one, other, word]) => ({
      schema: { [word]: [one.schema, other.schema] },
      values: fc.oneof(one.values, other.values),
    })),
    fc.tuple(inner, inner).map(([one, other]) => ({
      schema: { allOf: [one.schema, other.schema] },
      values: fc.oneof(one.values, other.values),
    })),
    fc.tuple(inner, scalars).map(([one, value]) => ({
      schema: isObject(one.schema) ? { ...one.schema, default: value } : one.schema,
      values: one.values,
    })),
    // A tree: what is below refers to the whole.
    fc.tuple(inner, fc.constantFrom('a', 'b')).map(
      ([one, name]) =>
        ({
          schema: {
            type: 'object',
            properties: {
              [name]: one.schema,
              c: { anyOf: [{ $ref: '#/properties/in' }, { type: 'null' }] },
            },
            additionalProperties: false,
          },
          values: fc.record({ [name]: one.values, c: fc.constant(null) }, { requiredKeys: [] }),
        }) as Sample<JsonValue>,
    ),
  ];
}

/** Objects of all kinds: open, closed, with patterns, and closed over the parts of an `allOf`. */
function objects(inner: fc.Arbitrary<Sample<JsonValue>>): fc.Arbitrary<Sample<JsonValue>> {
  return fc
    .record({
      members: fc.uniqueArray(fc.tuple(fc.constantFrom(...names), inner), {
        maxLength: 3,
        selector: ([name]) => name,
      }),
      required: fc.boolean(),
      rest: fc.constantFrom('closed', 'open', 'pattern', 'parts', 'names'),
    })
    .map(({ members, required, rest }) => {
      const properties = Object.fromEntries(members.map(([name, { schema }]) => [name, schema]));
      const known = Object.keys(properties);
      const base = { type: 'object', ...(required ? { required: known } : {}) };
      const closed = { ...base, properties, additionalProperties: false };
      const schema: JsonObject =
        rest === 'closed'
          ? closed
          : rest === 'open'
            ? { ...base, properties }
            : rest === 'pattern'
              ? { ...closed, patternProperties: { '^c$': { type: 'string' } } }
              : rest === 'names'
                ? { ...base, properties, propertyNames: { enum: known } }
                : { ...base, allOf: [{ properties }], unevaluatedProperties: false };
      const values = fc.record(
        Object.fromEntries(members.map(([name, one]) => [name, one.values])),
        { requiredKeys: required ? known : [] },
      );
      const more =
        rest === 'open' || rest === 'pattern'
          ? fc.dictionary(fc.constantFrom(...names), scalars, { maxKeys: 2 })
          : fc.constant({});
      return {
        schema,
        values: fc.tuple(more, values).map(([others, own]) => ({ ...others, ...own })),
      };
    });
}

const zodFlat: readonly Sample<z.ZodType>[] = [
  { schema: z.string(), values: texts },
  { schema: z.string().min(2), values: texts },
  { schema: z.string().max(2), values: texts },
  { schema: z.string().trim().max(1), values: fc.constantFrom(' x ', 'x', 'xy ') },
  { schema: z.string().toUpperCase(), values: texts },
  { schema: z.string().regex(/^x/i), values: texts },
  { schema: z.string().regex(/^x/), values: texts },
  { schema: z.string().startsWith('x'), values: texts },
  { schema: z.url().max(11), values: fc.constantFrom(' https://x.y ', 'https://x.y') },
  { schema: z.number(), values: numbers },
  { schema: z.number().min(5), values: numbers },
  { schema: z.number().lt(5), values: numbers },
  { schema: z.int(), values: numbers },
  { schema: z.boolean(), values: fc.boolean() },
  { schema: z.null(), values: fc.constant(null) },
  { schema: z.any(), values: scalars },
  { schema: z.unknown(), values: scalars },
  { schema: z.enum(['x', 'xy']), values: texts },
  { schema: z.literal([5, 'x', null]), values: scalars },
  { schema: z.literal([undefined, 'x']), values: texts },
  { schema: z.coerce.number(), values: scalars },
  { schema: z.coerce.string(), values: scalars },
  { schema: z.coerce.boolean(), values: scalars },
  { schema: z.coerce.date(), values: scalars },
  { schema: z.coerce.string().max(2), values: scalars },
  { schema: z.stringbool(), values: texts },
  { schema: z.string().transform(Number), values: texts },
  { schema: z.string().transform((text) => ({ c: text })), values: texts },
  { schema: z.string().pipe(z.enum(['x', 'xy'])), values: texts },
  { schema: z.preprocess((value) => value ?? 'x', z.enum(['x', 'xy'])), values: scalars },
  { schema: z.number().catch(5), values: scalars },
  { schema: z.number().min(7).default(5), values: numbers },
  { schema: z.string().prefault('x'), values: texts },
  { schema: z.enum(['x', 'xy']).default('z' as 'x'), values: texts },
  { schema: z.object({ a: z.literal(5) }).default({ a: 7 } as never), values: scalars },
  {
    schema: z.string().check((one) => {
      one.value = 'xyz';
    }),
    values: texts,
  },
  { schema: z.string().refine((text) => text !== 'x'), values: texts },
  {
    schema: z
      .string()
      .overwrite((text) => `${text}x`)
      .max(3),
    values: texts,
  },
  { schema: z.templateLiteral(['x', z.string()]), values: texts },
];

/** zod schemas of most kinds, with inputs. Objects get no members that they would drop. */
export const zodSamples: fc.Arbitrary<Sample<z.ZodType>> = fc.letrec<{ any: Sample<z.ZodType> }>(
  (tie) => ({ any: fc.oneof(depths, fc.constantFrom(...zodFlat), ...zodNested(tie('any'))) }),
).any;

function zodNested(inner: fc.Arbitrary<Sample<z.ZodType>>): fc.Arbitrary<Sample<z.ZodType>>[] {
  return [
    zodObjects(inner),
    zodObjects(inner),
    fc.tuple(inner, fc.constantFrom(0, 1)).map(([one, min]) => ({
      schema: z.array(one.schema).min(min),
      values: fc.array(one.values, { maxLength: 3 }),
    })),
    fc.tuple(inner, inner).map(([one, other]) => ({
      schema: z.tuple([one.schema, other.schema]),
      values: fc.tuple(one.values, other.values),
    })),
    fc.tuple(inner, inner).map(([one, other]) => ({
      schema: z.union([one.schema, other.schema]),
      values: fc.oneof(one.values, other.values),
    })),
    fc.tuple(zodObjects(inner), zodObjects(inner)).map(([one, other]) => ({
      schema: z.intersection(one.schema, other.schema),
      values: fc
        .tuple(one.values, other.values)
        .map(([left, right]) => ({ ...(left as JsonObject), ...(right as JsonObject) })),
    })),
    inner.map((one) => ({
      schema: z.record(z.enum(['a', 'b']), one.schema),
      values: fc.record({ a: one.values, b: one.values }),
    })),
    inner.map((one) => ({
      schema: z.record(z.string(), one.schema),
      values: fc.dictionary(fc.constantFrom(...names), one.values, { maxKeys: 2 }),
    })),
    inner.map((one) => ({ schema: one.schema.optional(), values: one.values })),
    inner.map((one) => ({ schema: one.schema.readonly(), values: one.values })),
    inner.map((one) => ({ schema: one.schema.refine(() => true), values: one.values })),
    inner.map((one) => ({
      schema: one.schema.nullable(),
      values: fc.oneof(one.values, fc.constant(null)),
    })),
    inner.map((one) => ({
      schema: one.schema.transform((value) => ({ a: value })),
      values: one.values,
    })),
    inner.map((one) => {
      const tree: z.ZodType = z.object({
        a: one.schema,
        get c(): z.ZodType {
          return z.array(tree).optional();
        },
      });
      const leaf = fc.record({ a: one.values });
      return {
        schema: tree,
        values: fc.oneof(
          leaf,
          fc.record({ a: one.values, c: fc.array(leaf, { maxLength: 2 }) }),
        ) as fc.Arbitrary<JsonValue>,
      };
    }),
  ];
}

export function zodObjects(
  inner: fc.Arbitrary<Sample<z.ZodType>>,
): fc.Arbitrary<Sample<z.ZodType>> {
  return fc
    .record({
      members: fc.uniqueArray(fc.tuple(fc.constantFrom(...names), inner), {
        maxLength: 3,
        selector: ([name]) => name,
      }),
      kind: fc.constantFrom('plain', 'strict', 'loose', 'catchall'),
    })
    .map(({ members, kind }) => {
      const shape = Object.fromEntries(members.map(([name, { schema }]) => [name, schema]));
      const schema =
        kind === 'strict'
          ? z.strictObject(shape)
          : kind === 'loose'
            ? z.looseObject(shape)
            : kind === 'catchall'
              ? z.object(shape).catchall(z.string())
              : z.object(shape);
      const more =
        kind === 'loose' || kind === 'catchall'
          ? fc.dictionary(fc.constantFrom(...names), texts, { maxKeys: 1 })
          : fc.constant({});
      const own = fc.record(Object.fromEntries(members.map(([name, one]) => [name, one.values])), {
        requiredKeys: [],
      });
      return {
        schema,
        values: fc.tuple(more, own).map(([others, members]) => ({ ...others, ...members })),
      };
    });
}

/** Paths of names that the schemas use. */
export const paths = fc
  .array(fc.constantFrom(...names, '1'), { minLength: 1, maxLength: 4 })
  .map((list) => list as string[]);

/** Tests of a rule. */
export const tests: fc.Arbitrary<JsonValue> = fc.letrec<{ test: JsonValue }>((tie) => ({
  test: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    scalars,
    fc.oneof(
      scalars.map((equals) => ({ equals })),
      fc.array(scalars, { minLength: 1, maxLength: 3 }).map((list) => ({ in: list })),
      fc.constantFrom('x*', '*y', 'x?', 'x', '*', '5', '[*', '1*').map((glob) => ({ glob })),
      fc.constantFrom('^x', '5', '^$', 'z').map((matches) => ({ matches })),
      numbers.map((gt) => ({ gt })),
      numbers.map((lte) => ({ lte })),
      fc.tuple(numbers, numbers).map(([gte, lt]) => ({ gte, lt })),
      fc.boolean().map((exists) => ({ exists })),
    ),
    tie('test').map((not) => ({ not })),
    tie('test').map((size) => ({ size })),
    fc.array(tie('test'), { minLength: 1, maxLength: 2 }).map((any) => ({ any })),
    fc.tuple(tie('test'), numbers).map(([not, gt]) => ({ not, gt })),
  ),
})).test;

/** Tests that only a deny or an ask may have. */
export const stopping: fc.Arbitrary<JsonValue> = fc
  .oneof(
    fc.constantFrom<JsonValue>('x', 'XY', '5', 'true', ['xyz', '1O'], { fact: 'f' }),
    texts.filter((text) => text !== ''),
  )
  .chain((alike) =>
    fc.constantFrom<JsonValue>({ alike }, { any: [{ alike }, { gt: 5 }] }, { alike, not: 'x' }),
  );

function defined(object: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as JsonObject;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
