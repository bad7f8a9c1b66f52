/**
 * What clients are shown of an output schema. Outputs that pass the gate are checked as both
 * generations of the protocol's SDK check them: with Ajv for draft-07 and for 2020-12, and with its
 * formats.
 */
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type } from 'arktype';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import { defineTool, HostToolRegistry, type JsonObject } from '../../../src/index.ts';
import { shownOutcome } from '../../../src/surfaces/shared/outcome.ts';
import { shownOutputSchema } from '../../../src/surfaces/shared/shown-output.ts';
import { createTestSession, mockTool } from '../../../src/surfaces/testing/index.ts';
import { wireText } from '../../../src/values/json/index.ts';
import { compileSchema } from '../../../src/values/json-schema/compile.ts';

/** As the SDK makes them. */
const options = { strict: false, validateFormats: true, validateSchema: false, allErrors: true };

/** Why a client refuses what is sent; empty if none does. */
function refusals(shown: JsonObject, sent: unknown): string[] {
  const wire = (value: unknown): unknown => JSON.parse(wireText(value as JsonObject));
  return [new Ajv(options), new Ajv2020(options)].flatMap((ajv) => {
    addFormats.default(ajv as never);
    const validate = ajv.compile(wire(shown) as JsonObject);
    return validate(wire(sent)) ? [] : [ajv.errorsText(validate.errors)];
  });
}

/** What is sent for an output, and the schema that is shown; undefined if the gate refuses it. */
async function sentFor(outputSchema: unknown, output: unknown) {
  const registry = new HostToolRegistry({ logger: { warn() {}, error() {} } });
  registry.register(
    defineTool({
      name: 'tool',
      description: 'A tool.',
      parameters: { type: 'object' },
      outputSchema: outputSchema as JsonObject,
      handler: () => output as never,
    }),
  );
  const session = registry.createSession({ sessionId: 's' });
  const result = await session.call('tool', {});
  const declared = session.tool('tool')?.outputSchema as JsonObject;
  const shown = shownOutputSchema(declared) as JsonObject;
  return result.success ? { shown, sent: shownOutcome(result, declared).structured } : undefined;
}

interface Tree {
  readonly mail: string;
  readonly inner?: readonly Tree[] | undefined;
}
const tree: z.ZodType<Tree> = z.object({
  mail: z.email(),
  get inner() {
    return z.array(tree).optional();
  },
});
interface Chain {
  readonly mail: string;
  readonly next?: Chain | undefined;
}
const chain: z3.ZodType<Chain> = z3.lazy(() =>
  z3.object({ mail: z3.string().email(), next: chain.optional() }),
);
const one = <T>(schema: T) => z.object({ a: schema as z.ZodType });

const rows: Readonly<
  Record<string, readonly (readonly [what: string, schema: unknown, output: unknown])[]>
> = {
  'zod 4': [
    ['letters of other alphabets in a URL', one(z.url()), { a: 'https://münchen.example/straße' }],
    ['a space in a URL', one(z.url()), { a: 'https://example.com/my file.pdf' }],
    [
      'an object and a record',
      z.object({ id: z.string() }).and(z.record(z.string(), z.string())),
      { id: '1', note: 'x' },
    ],
    [
      'two objects',
      one(z.object({ x: z.string() }).and(z.object({ y: z.string() }))),
      { a: { x: '', y: '' } },
    ],
    ['members that are dropped', z.object({ a: z.string() }), { a: 'x', b: 1 }],
    ['an open object', z.looseObject({ a: z.string() }), { a: 'x', b: 1 }],
    ['a catch-all', z.object({ a: z.string() }).catchall(z.number()), { a: 'x', b: 1 }],
    ['a tuple with a rest', one(z.tuple([z.string()]).rest(z.number())), { a: ['x', 1, 2] }],
    ['a tuple without one', one(z.tuple([z.string(), z.number()])), { a: ['x', 1] }],
    ['an optional item', one(z.tuple([z.string(), z.number().optional()])), { a: ['x'] }],
    ['a date', one(z.coerce.date()), { a: '2026-01-01' }],
    [
      'times without a zone',
      z.object({ a: z.iso.time(), b: z.iso.datetime({ local: true }) }),
      { a: '10:00', b: '2026-01-01T10:00' },
    ],
    ['a default', one(z.string().default('x')), {}],
    ['a caught value', one(z.number().catch(5)), { a: 'no number' }],
    ['a value that becomes undefined', one(z.string().transform(() => undefined)), { a: 'x' }],
    ['a transformed value', one(z.string().transform(Number)), { a: '5' }],
    ['a pipe', one(z.string().pipe(z.coerce.number())), { a: '5' }],
    [
      'a codec',
      one(z.codec(z.string(), z.number(), { decode: Number, encode: String })),
      { a: '5' },
    ],
    ['a length before it is trimmed', one(z.string().min(3).trim()), { a: ' a ' }],
    ['an integer that becomes a fraction', one(z.int().overwrite((n) => n / 2)), { a: 5 }],
    [
      'a list that becomes shorter',
      one(
        z
          .array(z.string())
          .min(2)
          .overwrite((list) => list.slice(1)),
      ),
      { a: ['x', 'y'] },
    ],
    ['a multiple of a fraction', one(z.number().multipleOf(0.1)), { a: 0.3 }],
    [
      'a record with keys of a format',
      one(z.record(z.email(), z.number())),
      { a: { 'a@b.co': 1 } },
    ],
    [
      'a record with numbers as keys',
      one(z.record(z.coerce.number(), z.string())),
      { a: { 1: 'x' } },
    ],
    [
      'a record with optional values',
      one(z.record(z.enum(['x', 'y']), z.string().optional())),
      { a: {} },
    ],
    [
      'a record that leaves other keys alone',
      one(z.looseRecord(z.string().regex(/^x/), z.string())),
      { a: { x: '', y: 5 } },
    ],
    [
      'alternatives that both fit',
      one(z.union([z.object({ x: z.string() }), z.object({ x: z.string(), y: z.string() })])),
      { a: { x: '', y: '' } },
    ],
    [
      'a discriminated union',
      z.discriminatedUnion('k', [
        z.object({ k: z.literal('x'), v: z.email() }),
        z.object({ k: z.literal('y') }),
      ]),
      { k: 'y' },
    ],
    ['one of two', one(z.xor([z.email(), z.string().startsWith('b')])), { a: 'bad' }],
    ['a schema that refers to itself', tree, { mail: 'a@b.co', inner: [{ mail: 'b@c.de' }] }],
    ['half of a character', one(z.string().min(1)), { a: '\ud800' }],
    ['minus zero', z.object({ a: z.number().min(0), b: z.literal(0) }), { a: -0, b: -0 }],
    ['a list at the root', z.array(z.object({ a: z.url() })), [{ a: 'https://example.com/a b' }]],
    ['a text at the root', z.url(), 'https://münchen.example'],
    ['nothing', z.null(), null],
  ],
  'zod 3': [
    ['a URL', z3.object({ a: z3.string().url() }), { a: 'https://münchen.example/a b' }],
    [
      'an intersection',
      z3.object({ a: z3.string() }).and(z3.record(z3.string())),
      { a: 'x', b: 'y' },
    ],
    ['anything, which is absent', z3.object({ a: z3.any(), b: z3.unknown() }), {}],
    [
      'a tuple with a rest',
      z3.object({ a: z3.tuple([z3.string()]).rest(z3.number()) }),
      { a: ['x', 1] },
    ],
    ['a schema that refers to itself', chain, { mail: 'a@b.co', next: { mail: 'b@c.de' } }],
    ['the literal null', z3.object({ a: z3.literal(null) }), { a: null }],
    ['a transform', z3.object({ a: z3.string().min(3).trim() }), { a: ' a ' }],
    [
      'a record of an enumeration',
      z3.object({ a: z3.record(z3.enum(['x', 'y']), z3.string()) }),
      { a: { x: '' } },
    ],
  ],
  valibot: [
    [
      'a URL',
      toStandardJsonSchema(v.object({ a: v.pipe(v.string(), v.url()) })),
      { a: 'https://münchen.example/a b' },
    ],
    [
      'an intersection',
      toStandardJsonSchema(
        v.intersect([v.strictObject({ a: v.string() }), v.object({ a: v.string() })]),
      ),
      { a: 'x' },
    ],
    [
      'a tuple with a rest',
      toStandardJsonSchema(v.object({ a: v.tupleWithRest([v.string()], v.number()) })),
      { a: ['x', 1] },
    ],
    [
      'optional members',
      toStandardJsonSchema(v.object({ a: v.optional(v.string(), 'x'), b: v.nullish(v.string()) })),
      {},
    ],
  ],
  arktype: [
    ['a URL', type({ a: 'string.url' }), { a: 'https://münchen.example/a' }],
    ['an intersection', type({ a: 'string' }).and({ b: 'string' }), { a: 'x', b: 'y', c: 1 }],
    ['a tuple with a rest', type({ a: ['string', '...', 'number[]'] }), { a: ['x', 1] }],
  ],
  'JSON Schema': [
    [
      'formats',
      { properties: { a: { format: 'uri' }, b: { format: 'date-time' } } },
      { a: 'ä b', b: 'x' },
    ],
    ['a multiple of a fraction', { properties: { a: { multipleOf: 0.1 } } }, { a: 0.3 }],
    [
      'a tuple with a rest',
      { properties: { a: { prefixItems: [{ type: 'string' }], items: { type: 'number' } } } },
      { a: ['x', 1] },
    ],
    [
      'a default of another type',
      { properties: { a: {}, b: { type: 'string', default: null } } },
      { a: 1 },
    ],
    [
      'a default beyond a limit',
      { type: 'object', properties: { b: { default: 1 } }, maxProperties: 1 },
      { a: 1 },
    ],
    [
      'a default beside a constant',
      { const: { a: 1 }, properties: { b: { default: 1 } } },
      { a: 1 },
    ],
    [
      'a default that a closed object does not know',
      {
        properties: { a: {} },
        additionalProperties: false,
        allOf: [{ properties: { b: { default: 1 } } }],
      },
      { a: 1 },
    ],
    [
      'a tuple of draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { a: { items: [{ type: 'string' }], additionalItems: false } },
      },
      { a: ['x'] },
    ],
    [
      'keywords beside a reference of draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { a: { $ref: '#/definitions/x', type: 'number' } },
        definitions: { x: { type: 'string' } },
      },
      { a: 'x' },
    ],
    [
      'an anchor',
      { properties: { a: { $ref: '#x' } }, $defs: { y: { $anchor: 'x', type: 'string' } } },
      { a: 'x' },
    ],
    [
      'a part with an address',
      {
        properties: {
          a: {
            $id: 'https://x.example/q',
            properties: { b: { $ref: '#/$defs/z' } },
            $defs: { z: { type: 'string' } },
          },
        },
      },
      { a: { b: 'x' } },
    ],
    [
      'a dynamic reference',
      {
        $id: 'https://x.example/t',
        $dynamicAnchor: 'n',
        properties: { a: { type: 'array', items: { $dynamicRef: '#n' } } },
      },
      { a: [{ a: [] }] },
    ],
    ['a pattern with flags', { properties: { a: { pattern: '(?i)^a' } } }, { a: 'A' }],
    [
      'names of definitions with other characters',
      {
        properties: { a: { $ref: '#/$defs/a~1b c%25ä' } },
        $defs: { 'a/b c%ä': { type: 'string' } },
      },
      { a: 'x' },
    ],
    [
      'a schema that refers to itself',
      { type: 'array', items: { anyOf: [{ type: 'string' }, { $ref: '#' }] } },
      ['x', ['y']],
    ],
    ['boolean schemas', { properties: { a: true, b: false } }, { a: 1 }],
    [
      'keywords of Ajv and of older drafts',
      { id: 'x', properties: { a: { nullable: true, enum: ['x'], id: 'y' }, b: { enum: [] } } },
      { a: 'x' },
    ],
    [
      'no item that must be there',
      { properties: { a: { contains: { type: 'string' }, minContains: 0 } } },
      { a: [1] },
    ],
    [
      'what may not be',
      { properties: { a: { not: { format: 'uri', pattern: '^b' } } } },
      { a: 'abc' },
    ],
    [
      'patterns of names',
      { patternProperties: { '^a': { type: 'string' } }, additionalProperties: false },
      { ab: 'x' },
    ],
    [
      'alternatives that both fit without patterns',
      { properties: { a: { oneOf: [{ pattern: '@' }, { pattern: '^b' }] } } },
      { a: 'bx' },
    ],
    [
      'two lists of alternatives',
      { properties: { a: { oneOf: [{ type: 'string' }], anyOf: [{ minLength: 1 }] } } },
      { a: 'x' },
    ],
    ['a name that every object inherits', { properties: { constructor: { type: 'string' } } }, {}],
    [
      'halves of characters',
      {
        properties: {
          a: { enum: ['\ud800'] },
          b: { pattern: '^\\ud800$' },
          c: { uniqueItems: true },
        },
      },
      { a: '\ud800', b: '\ud800', c: ['\ud800', '\ud801'] },
    ],
  ],
};

describe.each(Object.entries(rows))('clients accept what the gate accepts: %s,', (_by, cases) => {
  test.each(cases)('%s', async (_what, schema, output) => {
    const given = await sentFor(schema, output);
    expect(given).toBeDefined();
    expect(refusals(given?.shown ?? {}, given?.sent)).toEqual([]);
  });
});

test('two tools may have schemas of the same address', async () => {
  const schema = (a: string) => ({ $id: 'https://x.example/same', properties: { a: { type: a } } });
  for (const [kind, value] of [
    ['string', 'x'],
    ['number', 1],
  ] as const)
    expect(JSON.stringify((await sentFor(schema(kind), { a: value }))?.shown)).not.toContain('$id');
});

describe('what no client reads in another way stays', () => {
  test('of a JSON Schema of the host', () => {
    const schema: JsonObject = {
      type: 'object',
      title: 'Report',
      description: 'A report.',
      properties: {
        text: { type: 'string', minLength: 1, maxLength: 9, default: 'x', 'x-order': 1 },
        size: { type: 'integer', minimum: 0, exclusiveMaximum: 10 },
        kind: { enum: ['a', 'b'], deprecated: true },
        tags: { type: 'array', items: { $ref: '#/$defs/tag' }, minItems: 1 },
        more: { type: 'object', additionalProperties: { type: 'number' }, maxProperties: 3 },
      },
      required: ['text'],
      additionalProperties: false,
      $defs: { tag: { const: 'x' } },
    };
    expect(shownOutputSchema(schema)).toEqual(schema);
  });

  test('of a schema of a library', async () => {
    const schema = z.object({
      text: z.string().min(1).describe('A text.'),
      size: z.int().optional(),
      kind: z.enum(['a', 'b']),
      rest: z.record(z.string(), z.boolean()),
    });
    const given = await sentFor(schema, { text: 'x', kind: 'a', rest: {} });
    expect(given?.shown).toEqual({
      type: 'object',
      properties: {
        text: { type: 'string', description: 'A text.' },
        size: { type: 'integer' },
        kind: { type: 'string', enum: ['a', 'b'] },
        rest: { type: 'object', additionalProperties: { type: 'boolean' } },
      },
      required: ['text', 'kind', 'rest'],
    });
  });
});

/** Random schemas of the host's own, of every kind of keyword. */
const { rawSchema } = fc.letrec<{ rawSchema: JsonObject }>((tie) => {
  const inner = tie('rawSchema');
  const few = fc.array(inner, { minLength: 1, maxLength: 2 });
  const names = fc.constantFrom('a', 'b', 'constructor', '\ud83d');
  const byName = fc.dictionary(names, inner, { maxKeys: 2 });
  const some = (keywords: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(keywords, { requiredKeys: [] });
  return {
    rawSchema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom({ type: 'string' }, { type: ['null', 'integer'] }, { enum: ['a', 1, null] }),
      fc.constantFrom({ $ref: '#/$defs/x' }, { $ref: '#y' }, { $ref: '#' }, { const: { a: -0 } }),
      some({
        minLength: fc.nat(3),
        maxLength: fc.nat(3),
        pattern: fc.constantFrom('^a', '(?i)A', '^(?!b)', '^.$', '\\p{L}', '\ud83d'),
        format: fc.constantFrom('uri', 'date', 'email', 'ipv6', 'regex', 'unknown'),
        nullable: fc.boolean(),
      }),
      some({
        minimum: fc.double({ noNaN: true, min: -2, max: 2 }),
        multipleOf: fc.constantFrom(0.1, 0.01, 3),
      }),
      some({
        properties: byName,
        required: fc.subarray(['a', 'b']),
        additionalProperties: fc.oneof(fc.boolean(), inner),
        patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), inner, { maxKeys: 1 }),
        unevaluatedProperties: fc.boolean(),
        propertyNames: inner,
        minProperties: fc.nat(2),
        dependentRequired: fc.constant({ a: ['b'] }),
      }),
      some({
        prefixItems: few,
        items: fc.oneof(fc.boolean(), inner),
        minItems: fc.nat(2),
        maxItems: fc.nat(2),
        uniqueItems: fc.boolean(),
        contains: inner,
        minContains: fc.nat(1),
        unevaluatedItems: fc.boolean(),
      }),
      some({ anyOf: few, oneOf: few, allOf: few }),
      some({ not: inner, if: inner, else: inner }),
    ) as fc.Arbitrary<JsonObject>,
  };
});
const jsonValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'A', 'b', '😀', '\ud83d', '', 0, -0, 0.3, 0.07, 1, 3, 1e21, null, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'constructor', '\ud83d'), tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('any output that a JSON Schema accepts fits what clients are shown of it', () => {
  let accepted = 0;
  fc.assert(
    fc.property(
      rawSchema,
      rawSchema,
      rawSchema,
      fc.array(jsonValue, { maxLength: 4 }),
      (root, x, y, values) => {
        const document = { ...root, $defs: { x, z: { $anchor: 'y', allOf: [y] } } } as JsonObject;
        let compiled: ReturnType<typeof compileSchema>;
        try {
          compiled = compileSchema(document, { trusted: true });
        } catch {
          // References in a circle refuse a schema.
          return;
        }
        const shown = shownOutputSchema(document) as JsonObject;
        for (const value of values) {
          if (compiled.validate(structuredClone(value) as never) !== undefined) continue;
          accepted++;
          const sent = shownOutcome({ success: true, output: value } as never, document).structured;
          expect(refusals(shown, sent)).toEqual([]);
        }
      },
    ),
    { numRuns: 600 },
  );
  expect(accepted).toBeGreaterThan(100);
});

/** Random schemas of zod, each with values that it may accept. */
type Pair = readonly [schema: z.ZodType, values: readonly unknown[]];
const { pair } = fc.letrec<{ pair: Pair }>((tie) => {
  const inner = tie('pair');
  const leaf = fc.constantFrom<Pair>(
    [z.string().min(2).trim(), ['ab ', '😀x']],
    [z.url(), ['https://ä.example/a b', 'mailto:x']],
    [z.email(), ['a@b.co']],
    [z.iso.datetime({ offset: true }), ['2026-01-01T00:00:00+01:00']],
    [z.coerce.date(), ['2026-01-01', 5]],
    [z.number().multipleOf(0.01), [0.07, -0, 1]],
    [
      z
        .int()
        .min(0)
        .overwrite((n) => n / 2),
      [3],
    ],
    [z.string().transform((text) => (text === '' ? undefined : text)), ['', 'x']],
    [z.literal(['a', 1, null]), ['a', 1, null]],
    [z.enum(['a', 'b']), ['a']],
    [z.any(), [null, { a: 1 }]],
    [z.stringbool(), ['yes']],
    [z.json(), [[{}]]],
    [z.string().catch('x'), [5]],
  );
  const listOf = (pairs: readonly Pair[], at: number): unknown[] =>
    pairs.map(([, values]) => values[at % values.length]);
  return {
    pair: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      inner.map(([schema, values]): Pair => [z.array(schema).min(1).readonly(), [values, []]]),
      inner.map(([schema, values]): Pair => [schema.optional().nullable(), [null, ...values]]),
      inner.map(([schema, values]): Pair => [z.record(z.string(), schema), [{ a: values[0] }, {}]]),
      fc
        .tuple(inner, inner, fc.constantFrom('strip', 'loose', 'strict'))
        .map(([a, b, mode]): Pair => {
          const shape = { a: a[0], b: b[0].optional(), c: z.string().default('x') };
          const object =
            mode === 'strip'
              ? z.object(shape)
              : mode === 'loose'
                ? z.looseObject(shape)
                : z.strictObject(shape);
          return [
            object,
            [0, 1].map((at) => ({
              a: listOf([a], at)[0],
              ...(at === 0 ? { b: listOf([b], at)[0] } : {}),
              ...(mode === 'strict' ? {} : { d: 1 }),
            })),
          ];
        }),
      fc.tuple(inner, inner).map(([a, b]): Pair => [z.union([a[0], b[0]]), [...a[1], ...b[1]]]),
      fc
        .tuple(inner, inner)
        .map(
          ([a, b]): Pair => [
            z.object({ a: a[0] }).and(z.looseObject({ b: b[0] })),
            [0, 1].map((at) => ({ a: listOf([a], at)[0], b: listOf([b], at)[0] })),
          ],
        ),
      fc
        .tuple(inner, inner)
        .map(
          ([a, b]): Pair => [z.tuple([a[0]]).rest(b[0]), [0, 1].map((at) => listOf([a, b, b], at))],
        ),
      fc.tuple(inner, inner).map(
        ([a, b]): Pair => [
          z.discriminatedUnion('k', [
            z.object({ k: z.literal('a'), v: a[0] }),
            z.object({ k: z.literal('b'), v: b[0] }),
          ]),
          [
            { k: 'a', v: a[1][0] },
            { k: 'b', v: b[1][0] },
          ],
        ],
      ),
    ) as fc.Arbitrary<Pair>,
  };
});

test('any output that a schema of zod accepts fits what clients are shown of it', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(pair, async ([schema, values]) => {
      for (const value of values) {
        const given = await sentFor(schema, value);
        if (given === undefined) continue;
        accepted++;
        expect(refusals(given.shown, given.sent)).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
  expect(accepted).toBeGreaterThan(100);
});

describe('shownOutputSchema', () => {
  test('wraps what is no object, and keeps references resolvable', () => {
    const schema: JsonObject = {
      type: 'array',
      items: { $ref: '#/$defs/a' },
      $defs: { a: { type: 'string' } },
    };
    expect(shownOutputSchema(schema)).toEqual({
      type: 'object',
      properties: { result: { type: 'array', items: { $ref: '#/$defs/a' } } },
      required: ['result'],
      $defs: { a: { type: 'string' } },
    });
    expect(shownOutputSchema({ type: 'object' })).toEqual({ type: 'object' });
    expect(shownOutputSchema(undefined)).toBeUndefined();
  });

  test.each<[string, JsonObject, JsonObject]>([
    [
      'the address of a schema',
      {
        $id: 'https://x.example/points',
        $defs: { p: { type: 'object' } },
        type: 'array',
        items: { $ref: '#/$defs/p' },
      },
      { $ref: '#/$defs/p' },
    ],
    [
      'references by it',
      {
        $id: 'https://x.example/p',
        $defs: { p: {} },
        type: 'array',
        items: { $ref: 'https://x.example/p#/$defs/p' },
      },
      { $ref: '#/$defs/p' },
    ],
    [
      'references to all of it',
      { $id: 'https://x.example/p', type: 'array', items: { $ref: 'https://x.example/p' } },
      { $ref: '#/properties/result' },
    ],
    [
      'references by it, with an empty fragment',
      { $id: 'https://x.example/p#', type: 'array', items: { $ref: '#' } },
      { $ref: '#/properties/result' },
    ],
    [
      'escaped references',
      { type: 'array', $defs: { p: {} }, items: { $ref: '#/%24defs/p' } },
      { $ref: '#/$defs/p' },
    ],
    [
      'references within a part that has an address',
      { type: 'array', items: { $id: 'https://x.example/q', $ref: '#/$defs/q', $defs: { q: {} } } },
      { $ref: '#/$defs/q' },
    ],
  ])('wrapping keeps what a schema says: %s', (_what, schema, items) => {
    const wrapped = shownOutputSchema(schema) as {
      properties: { result: JsonObject };
      $id?: string;
    };
    expect(wrapped.properties.result.items).toEqual(items);
    expect([wrapped.$id, wrapped.properties.result.$id]).toEqual([undefined, undefined]);
  });

  const objects: [string, JsonObject][] = [
    [
      'a reference to an object',
      {
        $ref: '#/$defs/Out',
        $defs: { Out: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    ],
    [
      'a union of objects',
      {
        anyOf: [{ type: 'object' }, { $ref: '#/$defs/b' }],
        $defs: { b: { anyOf: [{ type: ['object'] }] } },
      },
    ],
    ['an intersection with an object', { allOf: [{ required: ['a'] }, { type: 'object' }] }],
  ];
  test.each(objects)(
    '%s is an object already: it says so, and its outputs are not wrapped',
    async (_what, schema) => {
      expect(shownOutputSchema(schema)).toEqual({ ...schema, type: 'object' });
      expect(
        shownOutcome(
          await createTestSession({
            tools: [mockTool({ name: 'tool', handler: () => ({ a: 'x' }) })],
          }).call('tool', {}),
          schema,
        ),
      ).toMatchObject({
        structured: { a: 'x' },
      });
    },
  );

  test.each<[string, JsonObject]>([
    ['a union of an object and a text', { anyOf: [{ type: 'object' }, { type: 'string' }] }],
    ['an object or null', { type: ['object', 'null'] }],
    ['no alternative', { anyOf: [] }],
    [
      'a circle',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    ['a reference to nothing', { $ref: '#/$defs/a' }],
    [
      'a reference of a part that has an address',
      {
        allOf: [{ $id: 'https://x.example/q', $ref: '#/$defs/a' }],
        $defs: { a: { type: 'object' } },
      },
    ],
    ['anything', {}],
  ])('%s is wrapped, and so are its outputs', async (_what, schema) => {
    expect(shownOutputSchema(schema)).toMatchObject({ type: 'object', required: ['result'] });
    expect(
      shownOutcome(
        await createTestSession({
          tools: [mockTool({ name: 'tool', handler: () => ({ a: 'x' }) })],
        }).call('tool', {}),
        schema,
      ),
    ).toMatchObject({
      structured: { result: { a: 'x' } },
    });
  });
});
