/**
 * Schemas as the libraries and languages write them in which servers are written. Those of libraries
 * for JavaScript and Python were generated with the versions that they name, the others follow the
 * documentation of their generators.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { foreignInput, type UncheckedPart } from '../../../src/surfaces/shared/foreign-schema.ts';
import type { JsonObject } from '../../../src/values/json/index.ts';
import { compileSchema } from '../../../src/values/json-schema/compile.ts';

interface Generated {
  readonly by: string;
  /** Pointers to what only the server can check. */
  readonly left: readonly string[];
  readonly schema: JsonObject;
  /** Arguments that the generator's own library accepts, and some that it refuses. */
  readonly valid: readonly JsonObject[];
  readonly invalid: readonly JsonObject[];
}

const all = JSON.parse(
  readFileSync(new URL('../../data/generated-schemas.json', import.meta.url), 'utf8'),
) as readonly Generated[];

describe('a schema is taken that was written by', () => {
  test.each(all)('$by', ({ left, schema, valid, invalid }) => {
    const unchecked: UncheckedPart[] = [];
    const read = foreignInput({
      schema,
      field: 'inputSchema',
      patterns: { left: 100_000 },
      unchecked,
    });
    expect(read.type).toSatisfy((type: unknown) => type === 'object' || type === undefined);
    expect(unchecked.map(({ path }) => path)).toEqual(left.map((path) => `/inputSchema${path}`));
    const { validate } = compileSchema(read, { trusted: false });
    for (const input of valid) expect(validate(structuredClone(input))).toBeUndefined();
    for (const input of invalid)
      expect(validate(structuredClone(input)), JSON.stringify(input)).toBeDefined();
  });
});
