/** Parts that the JSON Schemas of the relay's OpenAPI document are made of. */
import type { JsonObject } from '../../../core.ts';

export const string: JsonObject = { type: 'string' };
export const boolean: JsonObject = { type: 'boolean' };
export const count: JsonObject = { type: 'integer', minimum: 0 };
export const anything: JsonObject = {};
export const anyObject: JsonObject = { type: 'object' };
export const time: JsonObject = { type: 'string', format: 'date-time' };
export const names: JsonObject = { type: 'array', items: string };
export const side: JsonObject = { enum: ['application', 'agent'] };
export const nullableString: JsonObject = { type: ['string', 'null'] };

/** Makes a reference to a schema of the document. */
export function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Makes the schema of an object. Members are required unless `optional` names them. */
export function object(
  properties: JsonObject,
  optional: readonly string[] = [],
  more: JsonObject = {},
): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), ...more };
}

/** Makes the schema of an array. */
export function list(of: JsonObject): JsonObject {
  return { type: 'array', items: of };
}

/** Makes the schema of an array that may also be null. */
export function nullableList(of: JsonObject): JsonObject {
  return { type: ['array', 'null'], items: of };
}
