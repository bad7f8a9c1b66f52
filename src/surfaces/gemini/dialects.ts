/** The Gemini API's two dialects: JSON Schema, and its own subset of OpenAPI. */
import type { JsonObject, JsonValue, Surface } from '../../core.ts';
import { escapePointer, isJsonObject } from '../../values/json/index.ts';
import type { ConvertedSchema, Dialect, SchemaLoss } from '../shared/listing.ts';
import { toObjectRoot } from '../shared/object-root.ts';
import { toGeminiApiSchema } from './api-schema.ts';

// Input schemas for `parametersJsonSchema`.

/** The keywords that the API reads, by its documentation. It ignores all others. */
const read = [
  ...[
    '$id',
    '$defs',
    '$ref',
    '$anchor',
    'type',
    'format',
    'title',
    'description',
    'enum',
    'items',
    'prefixItems',
    'minItems',
    'maxItems',
  ],
  ...[
    'minimum',
    'maximum',
    'anyOf',
    'oneOf',
    'properties',
    'additionalProperties',
    'required',
    'propertyOrdering',
  ],
];
const silent = ['$schema', '$comment'];
/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const one = [
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const several = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const named = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];

/**
 * Returns the schema almost unchanged. Its root becomes an object, and `const` an enumeration of
 * one value. A reference may have only `$` keywords beside it, so other keywords are moved around
 * it. Keywords that the API does not read stay, each with a warning: they cost nothing, and a later
 * version may read them.
 */
function toGeminiJsonSchema(schema: JsonObject): ConvertedSchema {
  const root = toObjectRoot(schema);
  const losses: SchemaLoss[] = [...root.losses];
  return { schema: convert(root.schema, '') as JsonObject, losses };

  function convert(value: JsonValue, path: string): JsonValue {
    if (!isJsonObject(value)) return value;
    const entries: [string, JsonValue][] = [];
    for (const [keyword, inner] of Object.entries(value)) {
      const at = `${path}/${escapePointer(keyword)}`;
      if (silent.includes(keyword)) continue;
      if (keyword === 'const' && (typeof inner === 'string' || typeof inner === 'number'))
        entries.push(['enum', [inner]]);
      else {
        if (!read.includes(keyword) && keyword !== 'definitions')
          losses.push({
            path: at,
            message:
              `\`${keyword}\` is shown, but the API does not read it. Calls are still checked ` +
              'against it.',
          });
        entries.push([keyword, convertMember(keyword, inner, at)]);
      }
    }
    const converted = Object.fromEntries(entries);
    const { $ref, ...beside } = converted;
    // A schema with alternatives of its own has no other place for the reference.
    if (
      $ref === undefined ||
      beside.anyOf !== undefined ||
      Object.keys(beside).every((keyword) => keyword.startsWith('$'))
    )
      return converted;
    return { ...beside, anyOf: [{ $ref }] };
  }

  function convertMember(keyword: string, inner: JsonValue, path: string): JsonValue {
    if (one.includes(keyword)) return convert(inner, path);
    if (several.includes(keyword) && Array.isArray(inner))
      return (inner as readonly JsonValue[]).map((each, index) =>
        convert(each, `${path}/${index}`),
      );
    if (!named.includes(keyword) || !isJsonObject(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([name, each]) => [
        name,
        convert(each, `${path}/${escapePointer(name)}`),
      ]),
    );
  }
}

/**
 * The rule that all descriptions of the API have in common. Some also allow colons, or up to 128
 * characters.
 */
const names = Object.freeze({ pattern: /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, maxLength: 64 });

export const jsonSchemaDialect: Dialect = Object.freeze({
  names,
  convert: toGeminiJsonSchema,
} satisfies Dialect);
export const apiSchemaDialect: Dialect = Object.freeze({
  names,
  convert: toGeminiApiSchema,
} satisfies Dialect);

export const geminiSurface: Surface = Object.freeze({ name: 'gemini' });
