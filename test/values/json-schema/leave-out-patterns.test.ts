import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/values/json/index.ts';
import { compileSchema } from '../../../src/values/json-schema/compile.ts';
import { leaveOutPatterns } from '../../../src/values/json-schema/leave-out-patterns.ts';
import { schemaDocument, value } from '../schema/unsafe-schemas.ts';

const keeps = (pattern: string): boolean => !/\(\?|\\1/.test(pattern);

describe('patterns are left out', () => {
  const unsafe = { type: 'string', pattern: 'a(?=b)' };
  const told = { type: 'string', description: '(pattern: a(?=b))' };
  test.each<readonly [where: string, given: JsonObject, shown: JsonObject, paths: string[]]>([
    [
      'of a property',
      { properties: { a: unsafe } },
      { properties: { a: told } },
      ['/properties/a/pattern'],
    ],
    [
      'of a property that is called pattern',
      { properties: { pattern: { ...unsafe, description: 'A text.' } } },
      { properties: { pattern: { ...told, description: 'A text. (pattern: a(?=b))' } } },
      ['/properties/pattern/pattern'],
    ],
    [
      'of names, with what is said about the others',
      { patternProperties: { 'a(?=b)': {}, '^c': {} }, additionalProperties: false },
      { patternProperties: { '^c': {} } },
      ['/patternProperties/a(?=b)'],
    ],
    [
      'in a place that only a reference names',
      { $ref: '#/x/y', x: { y: unsafe } },
      { $ref: '#/x/y', x: { y: told } },
      ['/x/y/pattern'],
    ],
    [
      'in definitions, once for all references, and `not` goes with them',
      { $defs: { a: unsafe }, not: { $ref: '#/$defs/a' }, items: { $ref: '#/$defs/a' } },
      { $defs: { a: told }, items: { $ref: '#/$defs/a' } },
      ['/$defs/a/pattern'],
    ],
  ])('%s', (_where, given, shown, paths) => {
    const before = structuredClone(given);
    const { schema, leftOut } = leaveOutPatterns(given, keeps);
    expect(schema).toEqual(shown);
    expect(leftOut.map(({ path }) => path)).toEqual(paths);
    expect(leftOut.every(({ pattern }) => pattern === 'a(?=b)')).toBe(true);
    expect(given).toEqual(before);
    expect(Object.isFrozen(schema)).toBe(true);
  });

  test('but not from data', () => {
    const data = { pattern: 'a(?=b)' };
    const schema = { const: data, enum: [data], default: data, examples: [data], 'x-a': data };
    expect(leaveOutPatterns(schema, keeps)).toEqual({ schema, leftOut: [] });
    expect(leaveOutPatterns(schema, keeps).schema).toBe(schema);
  });
});

/** Undefined for references in a circle. */
function compiled(schema: JsonObject, trusted: boolean) {
  try {
    return compileSchema(schema, { trusted });
  } catch {
    return undefined;
  }
}

test('a schema without some patterns accepts whatever it accepted with them', () => {
  fc.assert(
    fc.property(schemaDocument, fc.array(value, { maxLength: 5 }), (document, values) => {
      const before = compiled(document, true);
      if (before === undefined) return;
      const after = compiled(leaveOutPatterns(document, keeps).schema, false);
      for (const one of values)
        if (before.validate(structuredClone(one)) === undefined)
          expect(after?.validate(structuredClone(one))).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});
