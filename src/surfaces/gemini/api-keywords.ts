/**
 * Converts the keywords of the Gemini API's schemas that do not depend on the rest of the schema.
 */
import type { JsonObject, JsonValue } from '../../core.ts';
import { escapePointer } from '../../values/json/index.ts';

/** Keywords that stay as they are. */
const plain = [
  'title',
  'description',
  'minimum',
  'maximum',
  'pattern',
  'default',
  'propertyOrdering',
];
/** Keywords whose whole numbers the API writes as text. */
const counts = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'];
/** Keywords that are converted elsewhere, or that say nothing about the input. */
const handled = [
  'type',
  'properties',
  'required',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  'enum',
  'const',
  'format',
  '$defs',
  'definitions',
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  'nullable',
];

/** Converts the keywords that the API accepts, and calls `lose` for each of the others. */
export function convertKeywords(
  schema: JsonObject,
  path: string,
  lose: (path: string, message: string) => void,
): JsonObject {
  const made: Record<string, JsonValue> = {};
  for (const [keyword, inner] of Object.entries(schema)) {
    if (plain.includes(keyword)) made[keyword] = inner;
    else if (counts.includes(keyword)) made[keyword] = String(inner);
    else if (keyword === 'additionalProperties' && inner === false) continue;
    else if (!handled.includes(keyword))
      lose(
        `${path}/${escapePointer(keyword)}`,
        `\`${keyword}\` was removed, because the API's schemas have no such keyword. Calls are ` +
          'still checked against it.',
      );
  }
  return made;
}

/** The values that a schema lists; undefined if it lists none. */
export function valuesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum as readonly JsonValue[];
  return Object.hasOwn(schema, 'const') ? [schema.const as JsonValue] : undefined;
}

/** The types of the listed values, for a schema that gives no type. */
export function typesOfValues(schema: JsonObject): readonly string[] {
  if (schema.type !== undefined) return [];
  return (valuesOf(schema) ?? []).map((value) =>
    value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value,
  );
}
