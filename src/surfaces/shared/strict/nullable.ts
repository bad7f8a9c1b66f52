/** The types of a value, and null among them. */
import type { JsonObject, JsonValue } from '../../../core.ts';

/**
 * The types that a schema names, each once; without them, the type that its keywords imply. Empty
 * if there are none of either.
 */
export function typesOf({ type, properties }: JsonObject): readonly string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type))
    return [...new Set((type as readonly JsonValue[]).filter((one) => typeof one === 'string'))];
  return properties === undefined ? [] : ['object'];
}

/** Returns a schema that also accepts null. */
export function toNullable(schema: JsonObject): JsonObject {
  const { title, description, ...rest } = schema;
  if (Array.isArray(rest.anyOf))
    return (rest.anyOf as readonly JsonValue[]).some(isNull)
      ? schema
      : { ...schema, anyOf: [...(rest.anyOf as readonly JsonValue[]), { type: 'null' }] };
  const types: readonly JsonValue[] =
    typeof rest.type === 'string' ? [rest.type] : Array.isArray(rest.type) ? rest.type : [];
  if (types.includes('null')) return schema;
  if (types.length > 0 && !types.includes('object')) {
    const values = Array.isArray(rest.enum)
      ? { enum: [...(rest.enum as readonly JsonValue[]), null] }
      : {};
    return { ...schema, type: [...types, 'null'], ...values };
  }
  // The title and description stay outside, where they describe the property and not one of its
  // alternatives.
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    anyOf: [rest, { type: 'null' }],
  };
}

function isNull(schema: JsonValue): boolean {
  return (schema as JsonObject).type === 'null';
}
