/** A JSON Schema without what means the same as nothing, for comparisons. */

import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';

/** Keywords whose value has schemas, or lists of names, by name. */
export const schemasByName: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** Keywords that the specification says mean nothing if they are 0, false or empty. */
const emptied: ReadonlySet<string> = new Set([
  ...schemasByName,
  'minLength',
  'minItems',
  'minProperties',
  'uniqueItems',
  'deprecated',
  'readOnly',
  'writeOnly',
  'secret',
  'x-secret',
  'required',
]);

/** The same where nothing says what becomes of members and items that no keyword has judged. */
const judging: ReadonlySet<string> = new Set(['additionalProperties', 'items', 'additionalItems']);

/** Keywords whose value is a schema, or a list of schemas. */
const schemas: ReadonlySet<string> = new Set([
  ...judging,
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** What the whole schema says about the meaning of its parts. */
interface Whole {
  /** Keywords beside a reference mean nothing. */
  readonly isOld: boolean;
  readonly hasUnevaluated: boolean;
}

/**
 * Two schemas that differ only in defaults that one of them writes out become equal, and so do
 * lists whose order means nothing. Schemas that become equal accept the same values.
 */
export function withoutDefaults(schema: JsonObject): JsonValue {
  const { $schema: dialect } = schema;
  const whole = {
    isOld: /\/draft-07\//.test(String(dialect)),
    hasUnevaluated: /"unevaluated(?:Properties|Items)":/.test(JSON.stringify(schema)),
  };
  const { $schema, ...rest } = plain(schema, whole) as JsonObject;
  const isDefault = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(String(dialect));
  return $schema === undefined || isDefault ? rest : { $schema, ...rest };
}

function plain(schema: JsonValue, whole: Whole): JsonValue {
  if (!isJsonObject(schema) || (whole.isOld && Object.hasOwn(schema, '$ref'))) return schema;
  const kept: Record<string, JsonValue> = Object.create(null) as Record<string, JsonValue>;
  for (const [name, value] of Object.entries(schema)) {
    if (!meansNothing(name, value, whole))
      kept[name] = plainValue(name, value, (one) => plain(one, whole));
  }
  return kept;
}

function meansNothing(name: string, value: JsonValue, whole: Whole): boolean {
  if (name === 'propertyNames') return isAnything(value);
  if (judging.has(name)) return !whole.hasUnevaluated && isAnything(value);
  return name === 'minContains' ? value === 1 : emptied.has(name) && isEmpty(value);
}

/** The value of a keyword, with its sub-schemas made plain. */
function plainValue(
  name: string,
  value: JsonValue,
  within: (schema: JsonValue) => JsonValue,
): JsonValue {
  if (schemas.has(name)) return Array.isArray(value) ? value.map(within) : within(value);
  if (schemasByName.has(name))
    return mapped(value, (one) => (Array.isArray(one) ? sorted(one) : within(one)));
  if (name === 'type' && Array.isArray(value) && value.length === 1) return value[0] as JsonValue;
  return name === 'type' || name === 'required' ? sorted(value) : value;
}

function mapped(value: JsonValue, change: (one: JsonValue) => JsonValue): JsonValue {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(one)]))
    : value;
}

/** A list of names whose order means nothing. */
function sorted(value: JsonValue): JsonValue {
  return Array.isArray(value) ? [...new Set(value)].sort() : value;
}

function isEmpty(value: JsonValue): boolean {
  if (typeof value !== 'object') return value === 0 || value === false;
  return value !== null && Object.keys(value).length === 0;
}

/** A schema that accepts everything. */
function isAnything(value: JsonValue): boolean {
  return value === true || (isJsonObject(value) && isEmpty(value));
}
