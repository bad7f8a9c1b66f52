import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../../../src/values/errors/index.ts';
import type { JsonObject } from '../../../src/values/json/index.ts';
import { checkSchema } from '../../../src/values/json-schema/compile.ts';
import { untrustedLimits } from '../../../src/values/json-schema/gate.ts';
import {
  type CheckOptions,
  walkSchema,
} from '../../../src/values/json-schema/json-schema-check.ts';
import {
  type SchemaLimits,
  trustedLimits,
} from '../../../src/values/json-schema/json-schema-walk.ts';
import type { JsonSchemaDocument } from '../../../src/values/schema/dialect.ts';

const draft07 = 'http://json-schema.org/draft-07/schema#';
const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

function refusal(schema: unknown, options: Partial<CheckOptions> = {}): string {
  try {
    walkSchema(schema as JsonSchemaDocument, { trusted: true, ...options });
  } catch (error) {
    if (isMisuseError(error)) return error.message;
    throw error;
  }
  return 'accepted';
}

/** What is said of a schema from outside where one limit is another one. */
const within = (schema: unknown, limits: Partial<SchemaLimits>): string =>
  refusal(schema, { trusted: false, limits: { ...untrustedLimits, ...limits } });

describe('the check learns', () => {
  const learned = (schema: unknown) => {
    const { dialect, references, schemas, ...rest } = walkSchema(schema as JsonSchemaDocument, {
      trusted: true,
    });
    expect([...schemas].every((one) => typeof one === 'object')).toBe(true);
    return { draft: dialect.draft, references: references !== undefined, ...rest };
  };
  const nothing = {
    draft: '2020-12',
    references: false,
    hasDefaults: false,
    hasUnevaluated: false,
    hasDynamicReferences: false,
    nativePatterns: [],
  };
  test.each<readonly [what: string, schema: unknown, more: object]>([
    ['nothing of a boolean', true, {}],
    [
      'nothing of a plain schema',
      {
        type: 'object',
        properties: { a: { not: {} }, default: { type: 'string' } },
        additionalProperties: false,
      },
      {},
    ],
    ['which draft it is', { $schema: draft07 }, { draft: 'draft-07' }],
    ['that there is a default', { items: { default: 1 } }, { hasDefaults: true }],
    [
      'that there is a default which says nothing',
      { items: { default: null } },
      { hasDefaults: true },
    ],
    [
      'no default of draft-07 beside a reference',
      { $schema: draft07, $ref: '#/definitions/a', default: 1, definitions: { a: {} } },
      { draft: 'draft-07', references: true },
    ],
    [
      'a default of draft-07 elsewhere',
      { $schema: draft07, default: 1 },
      { draft: 'draft-07', hasDefaults: true },
    ],
    [
      'a default beside a reference of 2020-12',
      { items: { $ref: '#', default: 1 } },
      { hasDefaults: true, references: true },
    ],
    [
      'that it asks for members that nothing has looked at',
      { unevaluatedProperties: false },
      { hasUnevaluated: true },
    ],
    [
      'that it asks for items that nothing has looked at',
      { not: { unevaluatedItems: {} } },
      { hasUnevaluated: true },
    ],
    [
      'nothing of a word that draft-07 does not know',
      { $schema: draft07, unevaluatedItems: 5 },
      { draft: 'draft-07' },
    ],
    ['that there is a reference', { items: { $ref: '#' } }, { references: true }],
    ['that there is an identifier', { $id: 'https://example.com/a' }, { references: true }],
    ['that there is an anchor', { $anchor: 'a' }, { references: true }],
    ['that there is a dynamic anchor', { $dynamicAnchor: 'a' }, { references: true }],
    [
      'that there is a dynamic reference',
      { items: { $dynamicRef: '#' } },
      { references: true, hasDynamicReferences: true },
    ],
    [
      'where a pattern needs the native engine',
      { pattern: '(?=a)', items: { pattern: 'b' } },
      { nativePatterns: ['/pattern'] },
    ],
    [
      'each place of such a pattern, also as a name',
      {
        items: [true, { pattern: '(?=a)' }],
        patternProperties: { '(?=a)': true },
        properties: { '(?=a)': true },
      },
      { nativePatterns: ['/items/1/pattern', '/patternProperties/(?=a)'] },
    ],
    [
      'each place of such a pattern once, however many references lead there',
      {
        allOf: [{ $ref: '#/x/properties/a' }, { $ref: '#/x' }, { $ref: '#/x' }],
        x: { properties: { a: { pattern: '(?=a)' } } },
      },
      { references: true, nativePatterns: ['/allOf/0/$ref/pattern'] },
    ],
    [
      'such a pattern where it stands, though a reference leads there as well',
      { $ref: '#/properties/a', properties: { a: { pattern: '(?=a)' }, b: {} } },
      { references: true, nativePatterns: ['/properties/a/pattern'] },
    ],
  ])('%s', (_what, schema, more) => {
    expect(learned(schema)).toEqual({ ...nothing, ...more });
  });
});

describe('a schema from outside holds so many sub-schemas, each counted once', () => {
  test.each<readonly [schemas: number, schema: JsonSchemaDocument]>([
    [1, true],
    [
      1,
      {
        type: ['string'],
        enum: [1],
        const: {},
        required: ['a'],
        minimum: 0,
        multipleOf: 2,
        uniqueItems: false,
        pattern: 'a',
      },
    ],
    [2, { not: {} }],
    [2, { items: {} }],
    [3, { items: [{}, true] }],
    [3, { allOf: [{}, {}] }],
    [3, { properties: { a: {}, b: false } }],
    [2, { dependencies: { a: {}, b: ['c'] } }],
    [2, { patternProperties: { a: {} } }],
    [3, { $defs: { a: {} }, items: { $ref: '#/$defs/a' } }],
    [4, { $ref: '#/x', items: { $ref: '#/x' }, allOf: [{ $ref: '#/x' }], x: {} }],
    [5, { $ref: '#/x', x: { not: { $ref: '#/y' } }, y: { not: { $anchor: 'z' } } }],
  ])('%i in %j', (schemas, schema) => {
    expect(within(schema, { schemas })).toBe('accepted');
    expect(within(schema, { schemas: schemas - 1 })).toMatch(
      new RegExp(`: more than ${schemas - 1} sub-schemas$`),
    );
  });
});

describe('a limit is the last number that is taken', () => {
  const names = (count: number): string[] => repeat(count, (index) => `n${index}`);
  test.each<
    readonly [
      what: string,
      most: number,
      limit: keyof SchemaLimits,
      make: (count: number) => JsonObject,
      says: RegExp,
    ]
  >([
    [
      'members of one object',
      3,
      'properties',
      (count) => ({ $defs: Object.fromEntries(names(count).map((name) => [name, true])) }),
      /`\/\$defs`: 4 members; at most 3 are accepted$/,
    ],
    [
      'values of an enum',
      3,
      'enum',
      (count) => ({ enum: names(count) }),
      /`\/enum`: 4 values; at most 3 are accepted$/,
    ],
    [
      'names that are required',
      3,
      'enum',
      (count) => ({ required: names(count) }),
      /`\/required`: 4 names; at most 3 are accepted$/,
    ],
    [
      'names that a name needs',
      3,
      'enum',
      (count) => ({ dependentRequired: { a: names(count) } }),
      /`\/dependentRequired`: 4 names; at most 3 are accepted$/,
    ],
    [
      'names that a dependency needs',
      3,
      'enum',
      (count) => ({ dependencies: { a: names(count) } }),
      /`\/dependencies\/a`: 4 names; at most 3 are accepted$/,
    ],
    [
      'schemas within each other',
      3,
      'depth',
      (count) => repeat(count, () => 0).reduce<JsonObject>((not) => ({ not }), {}),
      /`\/not\/not\/not\/not`: sub-schemas nested deeper than 3$/,
    ],
    [
      'schemas on one value',
      4,
      'expansion',
      (count) => ({ allOf: repeat(count - 1, () => true) }),
      /more than 4 schemas to one value$/,
    ],
    [
      'schemas on one value, by references',
      4,
      'expansion',
      (count) => ({ $ref: '#/$defs/a', $defs: { a: { anyOf: repeat(count - 2, () => ({})) } } }),
      /more than 4 schemas to one value$/,
    ],
    [
      'different patterns',
      3,
      'patterns',
      (count) => ({ allOf: names(count).map((pattern) => ({ pattern })) }),
      /`\/allOf\/3\/pattern`: More than 3 different patterns$/,
    ],
  ])('of %s', (_what, most, limit, make, says) => {
    expect(within(make(most), { [limit]: most })).toBe('accepted');
    expect(within(make(most + 1), { [limit]: most })).toMatch(says);
    // The host's own schemas have generous limits, of depth and number alone.
    expect(refusal(make(most + 1))).toBe('accepted');
  });

  test('the depth of a schema is that of its deepest part, whatever comes before', () => {
    const chain = (count: number): JsonObject =>
      repeat(count, () => 0).reduce<JsonObject>((items) => ({ items }), {});
    expect(
      within(
        {
          properties: { a: chain(2), b: chain(2), c: chain(2) },
          not: chain(2),
          allOf: [chain(2), chain(2)],
        },
        { depth: 3 },
      ),
    ).toBe('accepted');
    expect(within({ properties: { a: chain(2), b: chain(3) } }, { depth: 3 })).toMatch(
      /`\/properties\/b\/items\/items\/items`/,
    );
  });

  test("the host's own schema may be 400 deep, and hold 200 000 sub-schemas", () => {
    const deep = (count: number): JsonObject =>
      repeat(count, () => 0).reduce<JsonObject>((not) => ({ not }), {});
    const wide = (count: number): JsonObject => ({ allOf: repeat(count - 1, () => true) });
    expect([refusal(deep(400)), refusal(wide(200_000))]).toEqual(['accepted', 'accepted']);
    expect(refusal(deep(401))).toMatch(/sub-schemas nested deeper than 400$/);
    expect(refusal(wide(200_001))).toMatch(/more than 200000 sub-schemas$/);
    expect(trustedLimits).toMatchObject({ plainReferences: false });
  });
});

describe('a keyword is refused at its place, with what is expected', () => {
  const name = 'expected a schema (an object or a boolean), got ';
  test.each<readonly [place: string, says: string, schema: unknown]>([
    ['#', `${name}\`string\` (string)`, 'string'],
    ['/properties/a', `${name}an array`, { properties: { a: ['b'] } }],
    ['/properties/b~1c', `${name}null`, { properties: { a: {}, 'b/c': null } }],
    ['/allOf/1/not', `${name}\`5\` (number)`, { allOf: [{ not: {} }, { not: 5 }] }],
    ['/items/2', `${name}null`, { items: [{ items: [true] }, true, null] }],
    [
      '/$defs/b/pattern',
      'expected a regular expression as a string, got `5` (number)',
      { $defs: { a: { pattern: 'a' }, b: { pattern: 5 } } },
    ],
    ['/anyOf', 'expected a non-empty array of schemas, got an array', { anyOf: [] }],
    ['/maxItems', 'expected an integer of at least 0, got `-1` (number)', { maxItems: -1 }],
    ['/multipleOf', 'expected a number above 0, got `0` (number)', { multipleOf: 0 }],
    ['/minimum', 'expected a number, got null', { minimum: null }],
    ['/uniqueItems', 'expected a boolean, got `0` (number)', { uniqueItems: 0 }],
    ['/enum', 'expected an array, got an object', { enum: {} }],
    ['/dependentRequired', 'expected an object, got an array', { dependentRequired: [] }],
    [
      '/dependentRequired',
      'expected an array of property names, got an array',
      { dependentRequired: { a: ['b'], c: ['d', 5] } },
    ],
    ['/$ref', 'expected a string, got null', { $ref: null }],
    [
      '/$recursiveRef',
      '$recursiveRef is not supported; use $ref, or $dynamicRef of 2020-12',
      { $recursiveRef: '#' },
    ],
  ])('at %s: %s', (place, says, schema) => {
    expect(refusal(schema)).toMatch(/^Invalid JSON Schema at `/);
    expect(refusal(schema)).toContain(`\`${place}\`: ${says}`);
  });

  test.each<readonly [JsonSchemaDocument]>([
    [{ type: ['string'] }],
    [{ allOf: [true] }],
    [{ minItems: 0, maxLength: 1, multipleOf: 0.5 }],
    [{ minimum: -1, maximum: 0, exclusiveMinimum: 0.5 }],
    [{ enum: [], const: 5, required: [] }],
    [{ dependencies: { a: [], b: true }, dependentRequired: { a: [] } }],
    [{ properties: { '(': true }, $defs: { '[': {} } }],
    [{ type: ['string', 'string'] }],
    [{ uniqueItems: true }],
    // Where it leads is known at validation only, whose steps are counted.
    [{ $dynamicAnchor: 'a', $dynamicRef: '#a' }],
  ])('%j is taken', (schema) => {
    expect(refusal(schema)).toBe('accepted');
  });
});

describe('from outside', () => {
  test.each<readonly [schema: JsonSchemaDocument]>([
    [{ uniqueItems: false }],
    [{ type: 'boolean' }],
    [{ type: ['boolean', 'integer'] }],
    [{ $anchor: 'a', items: { $ref: '#a' } }],
  ])('%j is taken', (schema) => {
    expect(within(schema, {})).toBe('accepted');
  });

  test('$dynamicRef is refused', () => {
    expect(within({ $dynamicRef: '#' }, {})).toBe(
      'Invalid JSON Schema at `/$dynamicRef`: $dynamicRef is not accepted in a schema from outside',
    );
  });
});

test('what is nested too deeply is refused in words, before the stack is used up', () => {
  const deep = repeat(50_000, () => 0).reduce<JsonObject>((not) => ({ not }), {});
  expect(() => checkSchema({ $ref: '#/x', x: deep }, { trusted: true })).toThrow(
    'Invalid JSON Schema at `#`: the schema is nested too deeply',
  );
});
