/**
 * The gate for schemas from outside: size and shape are bounded before anything is made of them.
 */
import { copyJson, isJsonObject } from '../json.ts';
import { walkSchema } from './json-schema-check.ts';
import { type JsonSchemaDocument, schemaError } from './json-schema-dialect.ts';
import type { SchemaLimits } from './json-schema-limits.ts';
import type { SharedPatterns } from './pattern-budget.ts';

/** Bytes of the schema as JSON text. */
const maxBytes = 65_536;
/** Nesting of arrays and objects of any kind. */
const maxNesting = 64;
/** What a schema from outside may hold at most. */
export const untrustedLimits: SchemaLimits = {
  depth: 32,
  schemas: 5_000,
  properties: 500,
  enum: 1_000,
  expansion: 10_000,
  uniqueItems: 1_000,
  patterns: 200,
  patternSize: 20_000,
  uniqueTypes: true,
  plainReferences: true,
};

/**
 * Checks a schema from outside: at most 64 KB, nested at most 64, sub-schemas nested at most 32 and
 * at most 5 000 of them, at most 500 properties an object, 1 000 values an `enum`, 10 000 schemas
 * applied to one value, `uniqueItems` only with a `maxItems` of at most 1 000, each type of a
 * `type` once, references only inside the document, no `$id`, `$dynamicRef` or `$recursiveRef`, at
 * most 200 different patterns of at most 512 characters that run in linear time.
 * @param patterns is drawn on: what the patterns of several schemas may cost together
 * @returns the private copy that was checked. Use it and not the original, whose getters may answer
 * differently the next time
 * @throws MisuseError `invalid_schema` that names the place and the limit
 */
export function gateSchema(schema: unknown, patterns?: SharedPatterns): JsonSchemaDocument {
  // The copy counts characters roughly and only bounds the work; the bytes are counted after it.
  const copy = copyJson(schema, {
    maxDepth: maxNesting,
    maxValues: maxBytes,
    maxChars: 2 * maxBytes,
  });
  if (!copy.ok)
    throw schemaError(
      copy.path,
      copy.fault === 'too_large' ? `the schema is larger than ${maxBytes} bytes` : copy.message,
    );
  if (copy.overflow || new TextEncoder().encode(JSON.stringify(copy.value)).length > maxBytes)
    throw schemaError('', `the schema is larger than ${maxBytes} bytes`);
  const { value } = copy;
  if (typeof value !== 'boolean' && !isJsonObject(value))
    throw schemaError('', 'expected a schema (an object or a boolean)');
  walkSchema(value, { trusted: false, limits: untrustedLimits, patterns });
  return value;
}
