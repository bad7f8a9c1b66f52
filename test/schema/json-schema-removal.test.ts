import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/json/index.ts';
import { checkSchema, compileSchema, type JsonSchemaDocument } from '../../src/schema/compile.ts';
import { gateSchema } from '../../src/schema/gate.ts';
import { schema, schemaDocument, thenKeyword, value } from './unsafe-schemas.ts';

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
