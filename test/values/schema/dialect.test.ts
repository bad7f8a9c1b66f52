import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/values/json/index.ts';
import {
  childrenOf,
  dialectOf,
  isLoneReference,
  keyword,
  schemaError,
} from '../../../src/values/schema/dialect.ts';

const later = dialectOf({});
const draft07 = dialectOf({ $schema: 'http://json-schema.org/draft-07/schema#' });
const child = (mark: number): JsonObject => ({ const: mark });

describe('the dialect of a schema', () => {
  test.each([
    [true, '2020-12'],
    [{ type: 'object' }, '2020-12'],
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema' }, '2020-12'],
    [{ $schema: 'http://json-schema.org/draft/2019-09/schema#' }, '2020-12'],
    [{ $schema: 'https://json-schema.org/draft-07/schema' }, 'draft-07'],
  ])('%j is read as %s', (schema, draft) => {
    expect(dialectOf(schema).draft).toBe(draft);
  });

  test.each([
    5,
    null,
    '',
    'draft-07',
    'https://json-schema.org/draft-07/schema/x',
    'ftp://json-schema.org/draft-07/schema',
  ])('%j is none that is known', ($schema) => {
    expect(() => dialectOf({ $schema })).toThrow(
      /^Invalid JSON Schema at `\/\$schema`: .* is not a dialect that is known here; use draft-07 or 2020-12/,
    );
  });

  test('is not one that a schema only inherits', () => {
    expect(dialectOf(Object.create({ $schema: 'no' }) as JsonObject).draft).toBe('2020-12');
  });
});

describe('a keyword of a schema', () => {
  test('is its own, and one that its dialect knows', () => {
    const schema = { prefixItems: [true], other: 1 };
    expect([
      keyword(schema, 'prefixItems', later),
      keyword(schema, 'prefixItems', draft07),
    ]).toEqual([[true], undefined]);
    expect([keyword(schema, 'other', later), keyword(schema, 'items', later)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(keyword(Object.create({ items: true }) as JsonObject, 'items', later)).toBeUndefined();
  });

  test('means nothing beside a reference of draft-07', () => {
    const schema = { $ref: '#' };
    expect([
      isLoneReference(schema, draft07),
      isLoneReference(schema, later),
      isLoneReference({}, draft07),
    ]).toEqual([true, false, false]);
    expect(isLoneReference(Object.create(schema) as JsonObject, draft07)).toBe(false);
  });
});

describe('the sub-schemas of a schema', () => {
  test('are found by keyword, and those that apply to the same value are known', () => {
    const schema: JsonObject = {
      type: 'object',
      enum: [child(0)],
      const: child(0),
      default: child(0),
      required: ['a'],
      'x-other': child(0),
      not: child(1),
      if: child(2),
      // biome-ignore lint/suspicious/noThenProperty: the name of a keyword
      then: child(3),
      else: child(4),
      allOf: [child(5), false],
      anyOf: [child(6)],
      oneOf: [child(7)],
      items: child(8),
      additionalItems: child(9),
      prefixItems: [child(10), child(11)],
      contains: child(12),
      unevaluatedItems: child(13),
      properties: { a: child(14), 'b/c': true },
      patternProperties: { '~': child(15) },
      additionalProperties: child(16),
      propertyNames: child(17),
      unevaluatedProperties: child(18),
      dependentSchemas: { a: child(19) },
      dependentRequired: { a: ['b'] },
      dependencies: { a: child(20), b: ['c'] },
      definitions: { a: child(21) },
      $defs: { a: child(22) },
    };
    expect(
      childrenOf(schema, later).map(({ pointer, inPlace, schema }) => [
        pointer,
        inPlace,
        typeof schema === 'object' ? (schema as JsonObject).const : schema,
      ]),
    ).toEqual([
      ['/not', true, 1],
      ['/if', true, 2],
      ['/then', true, 3],
      ['/else', true, 4],
      ['/allOf/0', true, 5],
      ['/allOf/1', true, false],
      ['/anyOf/0', true, 6],
      ['/oneOf/0', true, 7],
      ['/items', false, 8],
      ['/additionalItems', false, 9],
      ['/prefixItems/0', false, 10],
      ['/prefixItems/1', false, 11],
      ['/contains', false, 12],
      ['/unevaluatedItems', false, 13],
      ['/properties/a', false, 14],
      ['/properties/b~1c', false, true],
      ['/patternProperties/~0', false, 15],
      ['/additionalProperties', false, 16],
      ['/propertyNames', false, 17],
      ['/unevaluatedProperties', false, 18],
      ['/dependentSchemas/a', true, 19],
      ['/dependencies/a', true, 20],
      ['/definitions/a', false, 21],
      ['/$defs/a', false, 22],
    ]);
  });

  test(
    'are each one of `items` where that is an array, and none where draft-07 does not know the ' +
      'keyword',
    () => {
      expect(childrenOf({ items: [child(1), true], prefixItems: [child(2)] }, draft07)).toEqual([
        { schema: child(1), pointer: '/items/0', inPlace: false },
        { schema: true, pointer: '/items/1', inPlace: false },
      ]);
    },
  );
});

test('a refusal names the place, or the whole document, and what it came from', () => {
  const cause = new Error('why');
  expect(schemaError('', 'no')).toMatchObject({
    code: 'invalid_schema',
    message: 'Invalid JSON Schema at `#`: no',
  });
  expect('cause' in schemaError('', 'no')).toBe(false);
  expect(schemaError('/a', 'no', cause)).toMatchObject({
    message: 'Invalid JSON Schema at `/a`: no',
    cause,
  });
});
