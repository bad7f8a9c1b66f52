import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import {
  checkSchema,
  compileSchema,
  type JsonSchemaDocument,
} from '../../../src/values/json-schema/compile.ts';
import { gateSchema } from '../../../src/values/json-schema/gate.ts';
import { schema, schemaDocument, thenKeyword, value } from '../schema/unsafe-schemas.ts';

const accepts = (schema: JsonSchemaDocument, trusted: boolean, value: JsonValue): boolean =>
  compileSchema(schema, { trusted }).validate(structuredClone(value)) === undefined;

test('what a schema from outside accepts is accepted when parts of it are removed', () => {
  let lost = 0;
  fc.assert(
    fc.property(
      schemaDocument,
      fc.array(value, { minLength: 1, maxLength: 5 }),
      (document, values) => {
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
      },
    ),
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
      { properties: { a: { if: unsafe, [thenKeyword]: false } } },
      { properties: { a: { [thenKeyword]: false } } },
      ['/properties/a/if'],
    ],
    ['oneOf', { oneOf: [unsafe, {}] }, { anyOf: [told, {}] }, ['/oneOf']],
    [
      'oneOf beside anyOf',
      { oneOf: [unsafe, {}], anyOf: [true], allOf: [true] },
      { anyOf: [true], allOf: [true, { anyOf: [told, {}] }] },
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

describe('where validators differ, a schema accepts what any of them accepts', () => {
  const $schema = 'http://json-schema.org/draft-07/schema#';
  const ip = { type: 'string', format: 'ipv4' };
  const kind = (name: string) => ({
    type: 'object',
    properties: { kind: { const: name }, ip },
    required: ['kind'],
  });
  test.each<readonly [what: string, schema: object, kept: object, also: readonly string[]]>([
    ['a format alone', { properties: { a: ip } }, { properties: { a: ip } }, []],
    [
      'a format beside alternatives and closed objects',
      { properties: { a: ip, b: { oneOf: [{}] } }, unevaluatedProperties: false },
      { properties: { a: ip, b: { oneOf: [{}] } }, unevaluatedProperties: false },
      [],
    ],
    ['a format in oneOf', { oneOf: [ip, {}] }, { anyOf: [ip, {}] }, ['/oneOf']],
    [
      'a format in alternatives of different types',
      { oneOf: [ip, { type: 'object' }] },
      { oneOf: [ip, { type: 'object' }] },
      [],
    ],
    [
      'a format in alternatives that a property distinguishes, by way of references',
      {
        oneOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
        $defs: { a: kind('a'), b: kind('b') },
      },
      {
        oneOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
        $defs: { a: kind('a'), b: kind('b') },
      },
      [],
    ],
    ['a format in not', { not: { items: ip } }, {}, ['/not']],
    [
      'a format in if',
      { if: { properties: { a: ip } }, else: { required: ['a'] }, unevaluatedProperties: false },
      { else: { required: ['a'] } },
      ['/unevaluatedProperties', '/if'],
    ],
    [
      'a fraction',
      { not: { multipleOf: 0.01 }, oneOf: [{ multipleOf: 3 }] },
      { oneOf: [{ multipleOf: 3 }] },
      ['/not'],
    ],
    [
      'keywords beside a reference of draft-07',
      { $schema, properties: { a: { oneOf: [{ $ref: '#', minLength: 2 }, {}] } } },
      { $schema, properties: { a: { anyOf: [{ $ref: '#', minLength: 2 }, {}] } } },
      ['/properties/a/oneOf'],
    ],
    [
      'words beside a reference of draft-07',
      { $schema, properties: { a: { oneOf: [{ $ref: '#', title: 'A' }, {}] } } },
      { $schema, properties: { a: { oneOf: [{ $ref: '#', title: 'A' }, {}] } } },
      [],
    ],
    ['nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }, []],
    [
      'nullable with null',
      { type: ['null', 'string'], nullable: true },
      { type: ['null', 'string'] },
      [],
    ],
    [
      'nullable: false',
      { type: 'string', nullable: false },
      { type: 'string', nullable: false },
      [],
    ],
    ['nullable without a type', { nullable: true }, { nullable: true }, []],
    [
      'nullable in not',
      { properties: { a: { not: { type: 'string', nullable: true } } } },
      { properties: { a: {} } },
      ['/properties/a/not'],
    ],
  ])('%s', (_what, given, kept, also) => {
    expect(gateSchema(given)).toEqual({
      schema: kept,
      left: also.map((path) => ({
        path,
        message: 'it depends on a keyword that the sender may check in another way',
      })),
    });
  });

  /** As the protocol's SDK makes them. */
  const options = { strict: false, validateSchema: false, allErrors: true, logger: false } as const;

  test('what Ajv accepts with its formats is accepted', () => {
    const { one } = fc.letrec<{ one: JsonObject }>((tie) => {
      const few = fc.array(tie('one'), { minLength: 1, maxLength: 2 });
      const some = (keywords: Record<string, fc.Arbitrary<unknown>>) =>
        fc.record(keywords, { requiredKeys: [] });
      return {
        one: fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.constantFrom({ type: 'string', nullable: true }, { type: 'null' }, { enum: ['a', 1] }),
          fc.constantFrom({ format: 'ipv4' }, { multipleOf: 0.01 }, { $ref: '#/definitions/x' }),
          fc.constantFrom({ $ref: '#/definitions/x', minLength: 2 }, { minLength: 3 }),
          some({ oneOf: few, anyOf: few, not: tie('one') }),
          some({ if: tie('one'), [thenKeyword]: tie('one'), else: tie('one') }),
          some({
            properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('one'), { maxKeys: 2 }),
            additionalProperties: fc.oneof(fc.boolean(), tie('one')),
            unevaluatedProperties: fc.boolean(),
            required: fc.subarray(['a', 'b']),
          }),
          some({
            items: tie('one'),
            contains: tie('one'),
            maxContains: fc.nat(2),
            uniqueItems: fc.boolean(),
          }),
        ) as fc.Arbitrary<JsonObject>,
      };
    });
    const texts = fc.constantFrom<JsonValue>('a', '1.2.3.4', '2026-01-01', 'long', 0.07, 1, null);
    const values = fc.oneof(
      texts,
      fc.array(texts, { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), texts),
    );
    let accepted = 0;
    fc.assert(
      fc.property(one, one, fc.boolean(), fc.array(values), (root, other, isOlder, list) => {
        // Without references in a circle.
        const x: unknown = JSON.parse(JSON.stringify(other).replaceAll('ns/x', 'ns/y'));
        const document = {
          ...(isOlder ? { $schema } : {}),
          ...root,
          definitions: { x, y: { format: 'date' } },
        };
        const ajv = isOlder ? new Ajv(options) : new Ajv2020(options);
        addFormats.default(ajv as never);
        const taken = list.filter((value) => ajv.validate(document, structuredClone(value)));
        accepted += taken.length;
        const gated = gateSchema(document).schema;
        expect(taken.filter((value) => !accepts(gated, false, value))).toEqual([]);
      }),
      { numRuns: 800 },
    );
    expect(accepted).toBeGreaterThan(200);
  });
});
