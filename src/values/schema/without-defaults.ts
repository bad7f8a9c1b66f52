/** A JSON Schema without what means the same as nothing, for comparisons. */

import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';

/** Keywords, and their values that the specification says mean the same as their absence. */
const defaults: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ...['minLength', 'minItems', 'minProperties'].map((name) => [name, isZero] as const),
  ...['uniqueItems', 'deprecated', 'readOnly', 'writeOnly', 'secret', 'x-secret'].map(
    (name) => [name, isFalse] as const,
  ),
  ...[
    'properties',
    'patternProperties',
    '$defs',
    'definitions',
    'dependentRequired',
    'dependentSchemas',
    'dependencies',
  ].map((name) => [name, isEmpty] as const),
  ['required', (value) => Array.isArray(value) && value.length === 0],
  ['minContains', (value) => value === 1],
  ['propertyNames', isAnything],
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
/** Keywords whose value has schemas, or lists of names, by name. */
const maps: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'properties',
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
    if (defaults.get(name)?.(value) === true) continue;
    if (judging.has(name) && isAnything(value) && !whole.hasUnevaluated) continue;
    kept[name] = plainValue(name, value, (one) => plain(one, whole));
  }
  return kept;
}

/** The value of a keyword, with its sub-schemas made plain. */
function plainValue(
  name: string,
  value: JsonValue,
  within: (schema: JsonValue) => JsonValue,
): JsonValue {
  if (schemas.has(name)) return Array.isArray(value) ? value.map(within) : within(value);
  if (maps.has(name))
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

function isZero(value: JsonValue): boolean {
  return value === 0;
}

function isFalse(value: JsonValue): boolean {
  return value === false;
}

function isEmpty(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** A schema that accepts everything. */
function isAnything(value: JsonValue): boolean {
  return value === true || isEmpty(value);
}
