/** Checks schemas from outside: their size and shape are bounded before they are used. */
import { copyJson, isJsonObject } from '../json/index.ts';
import { walkSchema } from './json-schema-check.ts';
import { type JsonSchemaDocument, schemaError } from './json-schema-dialect.ts';
import type { SchemaLimits } from './json-schema-limits.ts';
import type { SharedPatterns } from './pattern-budget.ts';

/** Maximum bytes of the schema as JSON text. */
const maxBytes = 65_536;
/** Maximum nesting of arrays and objects of any kind. */
const maxNesting = 64;
/** The limits of a schema from outside. */
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
 * Checks a schema from outside. It may have at most 64 KB, 64 levels of nesting, 32 levels of
 * sub-schemas, 5 000 sub-schemas, 500 properties per object, 1 000 values per `enum`, and 10 000
 * schemas that apply to one value. `uniqueItems` needs a `maxItems` of at most 1 000. A `type`
 * names each type once. References lead only inside the document; `$id`, `$dynamicRef` and
 * `$recursiveRef` are refused. At most 200 different patterns are accepted, of at most 512
 * characters each, and they must run in linear time.
 * @param patterns the budget that the patterns of several schemas share; this schema's patterns are
 * deducted from it
 * @returns the private copy that was checked. Use it instead of the original, whose getters may
 * return something else the next time
 * @throws MisuseError `invalid_schema` that names the place and the limit
 */
export function gateSchema(schema: unknown, patterns?: SharedPatterns): JsonSchemaDocument {
  // The copy counts characters only roughly, to bound the work. The bytes are counted afterwards.
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
