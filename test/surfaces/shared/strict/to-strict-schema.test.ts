import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../../src/index.ts';
import {
  anthropicStrictRules,
  openaiStrictRules,
} from '../../../../src/surfaces/shared/strict/rules.ts';
import { toStrictSchema } from '../../../../src/surfaces/shared/strict/to-strict-schema.ts';
import { createTestSession, mockTool } from '../../../../src/surfaces/testing/index.ts';
import { withoutStrictNulls } from '../../../../src/values/schema/strict-nulls.ts';

const openai = (schema: JsonObject) => toStrictSchema(schema, openaiStrictRules);
const object = (
  properties: JsonObject,
  required: readonly string[] = [],
  rest: JsonObject = {},
): JsonObject => ({
  type: 'object',
  properties,
  required,
  ...rest,
});
const strictObject = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
/** The schema that a tool with these zod parameters has. */
const schemaOf = (parameters: z.ZodType): JsonObject =>
  createTestSession({
    tools: [mockTool({ name: 'tool', parameters: parameters as z.ZodObject })],
  }).tools()[0]?.inputSchema as JsonObject;

describe('toStrictSchema', () => {
  test(
    'closes every object, requires every property, and lets null stand for those that are ' +
      'optional',
    () => {
      const { schema, losses, nullable, strict } = openai(
        object(
          {
            path: { type: 'string' },
            limit: { type: 'integer' },
            range: object({ from: { type: 'number' } }),
          },
          ['path'],
        ),
      );
      expect(schema).toEqual(
        strictObject({
          path: { type: 'string' },
          limit: { type: ['integer', 'null'] },
          range: {
            anyOf: [strictObject({ from: { type: ['number', 'null'] } }), { type: 'null' }],
          },
        }),
      );
      expect([losses, nullable, strict]).toEqual([[], true, true]);
    },
  );

  test.each<[string, JsonObject, JsonObject]>([
    [
      'an optional enumeration takes null too',
      { type: 'string', enum: ['a', 'b'] },
      { type: ['string', 'null'], enum: ['a', 'b', null] },
    ],
    [
      'an enumeration without a type gets that of its values',
      { enum: ['a', 1] },
      { type: ['string', 'number', 'null'], enum: ['a', 1, null] },
    ],
    [
      'a constant is an enumeration of one',
      { const: 'a' },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'a description stays at its property',
      { type: 'object', properties: {}, description: 'Words.' },
      { description: 'Words.', anyOf: [strictObject({}), { type: 'null' }] },
    ],
    [
      'alternatives get null as one more',
      { anyOf: [{ type: 'string' }, { type: 'number' }] },
      { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] },
    ],
    [
      'a list of types becomes alternatives',
      { type: ['string', 'number'] },
      { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] },
    ],
    [
      'bounds of numbers and lists, patterns and known formats stay',
      { type: 'array', items: { type: 'string', pattern: '^a', format: 'date' }, maxItems: 3 },
      {
        type: ['array', 'null'],
        items: { type: 'string', pattern: '^a', format: 'date' },
        maxItems: 3,
      },
    ],
    [
      'one part of `allOf` is that part',
      { allOf: [{ type: 'string' }], description: 'Words.' },
      { type: ['string', 'null'], description: 'Words.' },
    ],
    [
      'objects in `allOf` are one object',
      {
        allOf: [object({ a: { type: 'string' } }, ['a']), object({ b: { type: 'string' } }, ['b'])],
      },
      { anyOf: [strictObject({ a: { type: 'string' }, b: { type: 'string' } }), { type: 'null' }] },
    ],
  ])('%s', (_, property, shown) => {
    const { schema, losses, strict } = openai(object({ property }));
    expect(schema).toEqual(strictObject({ property: shown }));
    expect([losses, strict]).toEqual([[], true]);
  });

  test('references stay references, into itself too', () => {
    const node = object({ value: { type: 'string' }, next: { $ref: '#/$defs/node' } }, ['value']);
    const { schema, strict } = openai({
      ...object(
        {
          first: { $ref: '#/$defs/node', description: 'The first.' },
          all: { type: 'array', items: { $ref: '#' } },
        },
        ['first', 'all'],
      ),
      $defs: { node, unused: { type: 'string' } },
    });
    expect(strict).toBe(true);
    expect(schema).toEqual({
      ...strictObject({
        first: { description: 'The first.', anyOf: [{ $ref: '#/$defs/node' }] },
        all: { type: 'array', items: { $ref: '#' } },
      }),
      $defs: {
        node: strictObject({
          value: { type: 'string' },
          next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
        }),
      },
    });
  });

  test('a reference into a property becomes a definition, so null does not spread', () => {
    const { schema } = openai(
      object({ a: { type: 'string' }, b: { $ref: '#/properties/a' } }, ['b']),
    );
    expect(schema).toEqual({
      ...strictObject({ a: { type: ['string', 'null'] }, b: { $ref: '#/$defs/a' } }),
      $defs: { a: { type: 'string' } },
    });
  });

  test.each<[string, JsonObject, string, JsonObject]>([
    [
      'lengths',
      { type: 'string', minLength: 2 },
      '/minLength',
      { type: 'string', description: '(minLength: 2)' },
    ],
    [
      'formats that are unknown',
      { type: 'string', format: 'uri', description: 'A link.' },
      '/format',
      { type: 'string', description: 'A link. (format: uri)' },
    ],
    [
      'patterns that look around',
      { type: 'string', pattern: '^(?!a)' },
      '/pattern',
      { type: 'string', description: '(pattern: ^(?!a))' },
    ],
    [
      'defaults',
      { type: 'number', default: 5 },
      '/default',
      { type: 'number', description: '(default: 5)' },
    ],
    [
      'uniqueness',
      { type: 'array', items: { type: 'string' }, uniqueItems: true },
      '/uniqueItems',
      { type: 'array', items: { type: 'string' }, description: '(uniqueItems: true)' },
    ],
    [
      'the number of properties',
      { ...object({}), maxProperties: 3 },
      '/maxProperties',
      { ...strictObject({}), description: '(maxProperties: 3)' },
    ],
    ['conditions', { ...object({}), if: {} }, '/if', strictObject({})],
    [
      'keywords of others',
      { type: 'string', 'x-shown': { deep: true } },
      '/x-shown',
      { type: 'string' },
    ],
    [
      'exactly one',
      { oneOf: [{ type: 'string' }, { type: 'number' }] },
      '/oneOf',
      { anyOf: [{ type: 'string' }, { type: 'number' }] },
    ],
    [
      'the places of a tuple',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      '/prefixItems',
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] }, maxItems: 2 },
    ],
    [
      'an object that is open beside what it declares',
      object({ a: { type: 'string' } }, ['a'], { additionalProperties: true }),
      '/additionalProperties',
      strictObject({ a: { type: 'string' } }),
    ],
  ])('takes out with a loss that names the place: %s', (_, property, place, shown) => {
    const { schema, losses, strict } = openai(object({ property }, ['property']));
    expect(strict).toBe(true);
    expect(schema).toEqual(strictObject({ property: shown }));
    expect(losses.map(({ path }) => path)).toEqual([`/properties/property${place}`]);
  });

  test('where null is a value, nothing says that a property is left out', () => {
    const { schema, losses, nullable } = openai(object({ filter: { type: ['string', 'null'] } }));
    expect(schema).toEqual(strictObject({ filter: { type: ['string', 'null'] } }));
    expect(losses.map(({ path }) => path)).toEqual(['/properties/filter']);
    expect(nullable).toBe(false);
  });

  const deep = (levels: number): JsonObject =>
    levels === 0 ? { type: 'string' } : object({ in: deep(levels - 1) });
  test.each<[string, JsonObject, string]>([
    ['anything', object({ any: {} }), '/properties/any'],
    ['nothing', object({ none: false }), '/properties/none'],
    [
      'open names',
      object({ map: { type: 'object', additionalProperties: { type: 'string' } } }),
      '/properties/map',
    ],
    [
      'names by pattern',
      object({ map: { type: 'object', patternProperties: { '^a': { type: 'string' } } } }),
      '/properties/map',
    ],
    ['any object', { type: 'object' }, ''],
    ['a list of anything', object({ list: { type: 'array' } }), '/properties/list/items'],
    [
      'parts that stand in each other’s way',
      object({ both: { allOf: [{ type: 'string' }, { minLength: 2 }] } }),
      '/properties/both',
    ],
    ['objects as values', object({ value: { enum: [{ a: 1 }] } }), '/properties/value'],
    ['a requirement without a schema', object({}, ['a']), ''],
    [
      'an optional value that can be neither null nor absent',
      object({ a: { type: ['string', 'null'], enum: ['a'] } }),
      '/properties/a',
    ],
    [
      'null that means two things',
      object({
        either: {
          anyOf: [object({ x: { type: 'string' } }), object({ x: { type: 'string' } }, ['x'])],
        },
      }),
      '/properties/either',
    ],
    ['a reference that is no pointer', object({ a: { $ref: '#anchor' } }), '/properties/a'],
    [
      'an optional one that is no object by its keywords alone',
      object({ a: { properties: { b: { type: 'string' } } } }),
      '/properties/a',
    ],
    ['alternatives at the root', { anyOf: [object({ a: { type: 'string' } })] }, ''],
    ['too many levels', deep(11), ''],
    [
      'too many values',
      object({ a: { enum: Array.from({ length: 1_001 }, (_, index) => index) } }),
      '',
    ],
    [
      'a very long enumeration',
      object({ a: { enum: Array.from({ length: 251 }, (_, index) => `${index}`.padEnd(60)) } }),
      '',
    ],
    ['names that are too long together', object({ ['a'.repeat(120_001)]: { type: 'string' } }), ''],
  ])(
    'shows the plain schema, and says why, for what strict mode cannot say: %s',
    (_, schema, place) => {
      const { losses, strict, nullable, schema: shown } = openai(schema);
      expect(strict).toBe(false);
      expect(nullable ?? false).toBe(false);
      expect(shown.type).toBe('object');
      expect(losses.at(-1)?.path).toBe(place);
      expect(losses.at(-1)?.message).toMatch(
        /^Shown without strict mode, which cannot say it: .+\.$/,
      );
    },
  );

  test('a type that is named twice is one type, at any depth', () => {
    const twice = (levels: number, type: JsonValue): JsonObject =>
      levels === 0
        ? { type: 'string' }
        : { ...object({ in: twice(levels - 1, type) }, ['in']), type };
    const outer = (type: JsonValue): JsonObject => object({ in: twice(8, type) }, ['in']);
    expect(openai(outer(['object', 'object']))).toEqual(openai(outer('object')));
    // Twice the work for each level would never end.
    expect(openai(object({ in: twice(300, ['object', 'object', 'object']) }, ['in'])).strict).toBe(
      false,
    );
  });

  test('a schema that `allOf` repeats again and again is given up, with a warning', () => {
    const levels = 40;
    const both = (level: number): JsonObject => ({
      allOf: [{ $ref: `#/$defs/d${level}` }, object({ other: { type: 'string' } }, ['other'])],
    });
    const $defs = Object.fromEntries(
      Array.from({ length: levels }, (_, level) => [
        `d${level}`,
        level === levels - 1
          ? object({ end: { type: 'string' } })
          : object({ a: both(level + 1), b: both(level + 1) }, ['a', 'b']),
      ]),
    );
    // Objects all the way: what is too deep is given up only after all of it was read.
    const { strict, losses, schema } = openai({ ...object({ all: both(0) }, ['all']), $defs });
    expect(strict).toBe(false);
    expect(schema.properties).toEqual({ all: both(0) });
    expect(losses).toEqual([
      {
        path: '',
        message: expect.stringMatching(
          /^Shown without strict mode.*more than 50000 places/,
        ) as string,
      },
    ]);
  });

  test('parts without properties that repeat within `allOf` are given up too', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 15 }, (_, level) => [
        `d${level}`,
        level === 14
          ? { type: 'object' }
          : { allOf: Array(10).fill({ $ref: `#/$defs/d${level + 1}` }) },
      ]),
    );
    expect(openai({ ...object({ a: { $ref: '#/$defs/d0' } }, ['a']), $defs }).strict).toBe(false);
    expect(openai({ $ref: '#/$defs/d0', $defs }).strict).toBe(false);
  });

  test('a root of alternatives that repeat too much is shown as any object', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 12 }, (_, level) => [
        `d${level}`,
        level === 11
          ? object({ a: { type: 'string' } })
          : { anyOf: Array(10).fill({ $ref: `#/$defs/d${level + 1}` }) },
      ]),
    );
    const { strict, losses, schema } = openai({ $ref: '#/$defs/d0', $defs });
    expect([strict, schema]).toEqual([false, { type: 'object' }]);
    expect(losses[0]?.message).toMatch(/^Only an object without properties is shown/);
  });

  test('a chain of references that is very long is given up', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [
        `d${index}`,
        index === 1_999 ? { type: 'string' } : { $ref: `#/$defs/d${index + 1}` },
      ]),
    );
    expect(openai({ ...object({ a: { $ref: '#/$defs/d0' } }, ['a']), $defs }).strict).toBe(false);
  });

  test(
    'the properties of alternatives are asked once whether they take null, however many ' +
      'alternatives there are',
    () => {
      let asked = 0;
      const counted = (): JsonObject =>
        Object.defineProperty({}, 'type', {
          enumerable: true,
          get: () => {
            asked++;
            return 'string';
          },
        }) as JsonObject;
      const branches = 40;
      const alternatives = 10;
      const branch = () =>
        object(
          Object.fromEntries(
            ['a', 'b', 'c'].map((name) => [
              name,
              { anyOf: Array.from({ length: alternatives }, counted) },
            ]),
          ),
        );
      const { strict } = openai(
        object({ union: { anyOf: Array.from({ length: branches }, branch) } }, ['union']),
      );
      expect(strict).toBe(true);
      // A few times for each that is there: to judge it once, and to convert it.
      expect(asked).toBeLessThan(branches * 3 * alternatives * 12);
    },
  );

  test('names that objects have by nature are names like others', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["constructor"]}',
    ) as JsonObject;
    expect(JSON.stringify(openai(schema).schema)).toBe(
      '{"type":"object","properties":{"__proto__":{"type":["string","null"]},"constructor":{"type":"string"}},"required":["__proto__","constructor"],"additionalProperties":false}',
    );
  });

  test.each<[string, z.ZodType]>([
    [
      'objects',
      z.object({ a: z.string(), b: z.number().int().optional(), c: z.boolean().default(true) }),
    ],
    ['intersections', z.object({ a: z.string() }).and(z.object({ b: z.string().optional() }))],
    [
      'lazy ones',
      z.object({
        name: z.string(),
        get children() {
          return z.array(z.object({ name: z.string() })).optional();
        },
      }),
    ],
    [
      'discriminated unions',
      z.object({
        shape: z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('circle'), radius: z.number() }),
          z.object({ kind: z.literal('square'), side: z.number().optional() }),
        ]),
      }),
    ],
    ['nullish ones', z.object({ a: z.string().nullable(), b: z.enum(['x', 'y']).optional() })],
    ['tuples', z.object({ at: z.tuple([z.number(), z.number()]) })],
  ])('zod schemas are strict: %s', (_, parameters) => {
    expect(openai(schemaOf(parameters)).strict).toBe(true);
  });

  test(
    'another provider’s rules: optional properties stay optional, bounds go, and nothing refers ' +
      'to itself',
    () => {
      const { schema, losses, strict, nullable } = toStrictSchema(
        object(
          {
            a: { type: 'integer', minimum: 1 },
            list: { type: 'array', items: { type: 'string' }, minItems: 2 },
            link: { type: 'string', format: 'uri' },
          },
          ['a'],
        ),
        anthropicStrictRules,
      );
      expect([strict, nullable]).toEqual([true, false]);
      expect(schema).toMatchObject({
        required: ['a'],
        additionalProperties: false,
        properties: { a: { type: 'integer' }, list: { type: 'array' }, link: { format: 'uri' } },
      });
      expect(losses.map(({ path }) => path)).toEqual([
        '/properties/a/minimum',
        '/properties/list/minItems',
      ]);
      expect(toStrictSchema(object({ self: { $ref: '#' } }), anthropicStrictRules).strict).toBe(
        false,
      );
      const mutual = {
        ...object({ a: { $ref: '#/$defs/a' } }),
        $defs: { a: object({ b: { $ref: '#/$defs/b' } }), b: object({ a: { $ref: '#/$defs/a' } }) },
      };
      expect(toStrictSchema(mutual, anthropicStrictRules).strict).toBe(false);
    },
  );
});

/**
 * A schema with values that it takes: as they are, with null for what is left out, and as the call
 * is to get them back.
 */
interface Sampled {
  readonly schema: JsonObject;
  readonly sample: fc.Arbitrary<Sample>;
}
interface Sample {
  readonly filled: JsonValue;
  readonly back: JsonValue;
}

const plain = (schema: JsonObject, values: fc.Arbitrary<JsonValue>): Sampled => ({
  schema,
  sample: values.map((value) => ({ filled: value, back: value })),
});
const leaf: fc.Arbitrary<Sampled> = fc.constantFrom<Sampled[]>(
  plain({ type: 'string', maxLength: 5, default: 'x' }, fc.string({ maxLength: 5 })),
  plain({ type: 'integer', minimum: 0, maximum: 9 }, fc.integer({ min: 0, max: 9 })),
  plain({ type: ['string', 'null'] }, fc.oneof(fc.string(), fc.constant(null))),
  plain({ type: ['string', 'boolean'] }, fc.oneof(fc.string(), fc.boolean())),
  plain({ type: 'boolean' }, fc.boolean()),
  plain({ enum: ['a', 1, null] }, fc.constantFrom('a', 1, null)),
  plain({ enum: ['a', 'b'] }, fc.constantFrom('a', 'b')),
  plain({ const: 7 }, fc.constant(7)),
  plain({ type: 'null' }, fc.constant(null)),
  plain({ type: 'string', format: 'date' }, fc.constant('2020-02-02')),
  // Refers to what the root of every schema here brings along.
  {
    schema: { $ref: '#/$defs/node' },
    sample: fc.letrec<{ node: Sample }>((tie) => ({
      node: fc
        .record({
          name: fc.string(),
          next: fc.option(tie('node'), { depthSize: 'small', maxDepth: 3, nil: undefined }),
        })
        .map(({ name, next }) => ({
          filled: { name, next: next?.filled ?? null },
          back: { name, ...(next === undefined ? {} : { next: next.back }) },
        })),
    })).node,
  },
);
const node = object({ name: { type: 'string' }, next: { $ref: '#/$defs/node' } }, ['name']);
const nullIsValue = (schema: JsonObject): boolean =>
  schema.type === 'null' ||
  (Array.isArray(schema.type) && schema.type.includes('null')) ||
  (Array.isArray(schema.enum) && schema.enum.includes(null)) ||
  [schema.anyOf, schema.oneOf].some((list) => Array.isArray(list) && list.some(nullIsValue));

const objectOf = (
  parts: readonly { readonly name: string; readonly required: boolean; readonly part: Sampled }[],
): Sampled => ({
  schema: object(
    Object.fromEntries(parts.map(({ name, part }) => [name, part.schema])),
    parts.flatMap(({ name, required }) => (required ? [name] : [])),
  ),
  sample: fc
    .tuple(
      ...parts.map(({ part, required }) =>
        required ? part.sample : fc.option(part.sample, { nil: undefined }),
      ),
    )
    .map((samples) => {
      const filled: [string, JsonValue][] = [];
      const back: [string, JsonValue][] = [];
      for (const [index, { name, part }] of parts.entries()) {
        const sample = samples[index];
        filled.push([name, sample?.filled ?? null]);
        if (sample !== undefined) back.push([name, sample.back]);
        else if (nullIsValue(part.schema)) back.push([name, null]);
      }
      return { filled: Object.fromEntries(filled), back: Object.fromEntries(back) };
    }),
});

const { object: objects } = fc.letrec<{ any: Sampled; object: Sampled }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    leaf,
    tie('object'),
    tie('any').map(({ schema, sample }) => ({
      schema: { type: 'array', items: schema, uniqueItems: false },
      sample: fc.array(sample, { maxLength: 3 }).map((list) => ({
        filled: list.map(({ filled }) => filled),
        back: list.map(({ back }) => back),
      })),
    })),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => ({
      schema: { type: 'array', prefixItems: [a.schema, b.schema], items: false, minItems: 2 },
      sample: fc.tuple(a.sample, b.sample).map((list) => ({
        filled: list.map(({ filled }) => filled),
        back: list.map(({ back }) => back),
      })),
    })),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => ({
      schema: { anyOf: [a.schema, b.schema] },
      sample: fc.oneof(a.sample, b.sample),
    })),
  ),
  object: fc
    .uniqueArray(
      fc.record({
        name: fc.constantFrom('a', 'b', 'c', 'constructor', 'x/y'),
        required: fc.boolean(),
        part: tie('any'),
      }),
      {
        selector: ({ name }) => name,
        maxLength: 4,
      },
    )
    .map(objectOf),
}));

describe('the way back', () => {
  test(
    'an input with null for all that is left out fits the strict schema, and is the same input ' +
      'again without them',
    () => {
      let held = 0;
      const samples = objects.chain(({ schema, sample }) =>
        sample.map((values) => ({ schema: { ...schema, $defs: { node } }, ...values })),
      );
      fc.assert(
        fc.property(samples, ({ schema, filled, back }) => {
          const converted = openai(schema);
          if (converted.strict !== true) return;
          held++;
          const valid = new Ajv2020({
            strict: false,
            ownProperties: true,
            logger: false,
            meta: false,
            validateSchema: false,
          }).compile(converted.schema);
          expect(valid(filled), JSON.stringify(converted.schema)).toBe(true);
          expect(withoutStrictNulls(filled as JsonObject, schema, () => {})).toEqual(back);
        }),
        { numRuns: 200 },
      );
      expect(held).toBeGreaterThan(80);
    },
  );

  test('a strict schema has no keyword that a provider could refuse', () => {
    const allowed = new Set([
      'type',
      'properties',
      'required',
      'additionalProperties',
      'items',
      'anyOf',
      'enum',
      '$ref',
      '$defs',
      'title',
      'description',
      'minimum',
      'maximum',
      'minItems',
      'maxItems',
      'format',
      'pattern',
    ]);
    const check = (schema: JsonObject): void => {
      for (const keyword of Object.keys(schema)) expect(allowed.has(keyword), keyword).toBe(true);
      if (schema.type === 'object') {
        expect(schema.additionalProperties).toBe(false);
        expect(schema.required).toEqual(Object.keys(schema.properties as JsonObject));
      }
      expect(['type', 'anyOf', '$ref'].some((keyword) => schema[keyword] !== undefined)).toBe(true);
      for (const one of [
        ...Object.values((schema.properties ?? {}) as JsonObject),
        ...Object.values((schema.$defs ?? {}) as JsonObject),
        ...((schema.anyOf ?? []) as JsonValue[]),
        ...(schema.items === undefined ? [] : [schema.items]),
      ])
        check(one as JsonObject);
    };
    fc.assert(
      fc.property(objects, ({ schema }) => {
        const converted = openai({ ...schema, $defs: { node } });
        if (converted.strict === true) check(converted.schema);
      }),
      { numRuns: 300 },
    );
  });

  test('most real function definitions are strict, and their calls come back unchanged', () => {
    const lines = <T>(name: string): T[] =>
      readFileSync(new URL(`../../../data/${name}`, import.meta.url), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as T);
    const ajv = new Ajv2020({
      strict: false,
      ownProperties: true,
      logger: false,
      meta: false,
      validateSchema: false,
    });
    const tools = new Map(
      lines<{ id: string; parameters: JsonObject }>('bfcl-sample-tools.jsonl').map(
        ({ id, parameters }) => [id, parameters],
      ),
    );
    const strict = new Map(
      [...tools].flatMap(([id, parameters]) =>
        openai(parameters).strict === true ? [[id, ajv.compile(openai(parameters).schema)]] : [],
      ),
    );
    expect(strict.size).toBeGreaterThan(tools.size * 0.94);
    const fill = (value: JsonValue, schema: JsonObject): JsonValue => {
      if (Array.isArray(value))
        return value.map((item: JsonValue) => fill(item, (schema.items ?? {}) as JsonObject));
      if (typeof value !== 'object' || value === null) return value;
      const given = value as JsonObject;
      return Object.fromEntries(
        Object.entries((schema.properties ?? {}) as JsonObject).map(([name, property]) => [
          name,
          Object.hasOwn(given, name)
            ? fill(given[name] as JsonValue, property as JsonObject)
            : null,
        ]),
      );
    };
    const wrong = lines<{ tool: string; arguments: JsonObject; valid: boolean }>(
      'bfcl-sample-calls.jsonl',
    ).filter((call) => {
      const valid = strict.get(call.tool);
      const schema = tools.get(call.tool) as JsonObject;
      if (
        valid === undefined ||
        !call.valid ||
        Object.keys(call.arguments).some(
          (name) => !Object.hasOwn(schema.properties as JsonObject, name),
        )
      )
        return false;
      const filled = fill(call.arguments, schema) as JsonObject;
      return (
        !valid(filled) ||
        !isDeepStrictEqual(
          withoutStrictNulls(filled, schema, () => {}),
          call.arguments,
        )
      );
    });
    expect(wrong).toEqual([]);
  });
});

test.each<[way: string, reference: string, definition: JsonObject]>([
  ['a pointer', '#/$defs/s', { type: 'string' }],
  ['an `$anchor`', '#s', { $anchor: 's', type: 'string' }],
  ['an `$id`', 'https://example.com/s', { $id: 'https://example.com/s', type: 'string' }],
])('a tool is strict whether it refers to a definition by %s or another way', (_, $ref, s) => {
  const schema = { ...object({ a: { $ref } }, ['a']), $defs: { s } };
  const { strict, schema: shown } = openai(schema);
  expect({ strict, shown }).toEqual({
    strict: true,
    shown: { ...strictObject({ a: { $ref: '#/$defs/s' } }), $defs: { s: { type: 'string' } } },
  });
});
