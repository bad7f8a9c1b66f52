/** A JSON Schema without what means the same as nothing, for comparisons. */

import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { type Dialect, dialectOf, isLoneReference } from './dialect.ts';

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

/**
 * Two schemas that differ only in defaults that one of them writes out become equal, and so do
 * lists whose order means nothing. Schemas that become equal accept the same values.
 */
export function withoutDefaults(schema: JsonObject): JsonValue {
  const dialect = dialectOf(schema);
  const hasUnevaluated = /"unevaluated(?:Properties|Items)":/.test(JSON.stringify(schema));
  const { $schema, ...rest } = plain(schema, dialect, hasUnevaluated) as JsonObject;
  const isDefault = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(String($schema));
  return $schema === undefined || isDefault ? rest : { $schema, ...rest };
}

function plain(schema: JsonValue, dialect: Dialect, hasUnevaluated: boolean): JsonValue {
  if (!isJsonObject(schema) || isLoneReference(schema, dialect)) return schema;
  const within = (value: JsonValue): JsonValue => plain(value, dialect, hasUnevaluated);
  const kept: Record<string, JsonValue> = Object.create(null) as Record<string, JsonValue>;
  for (const [name, value] of Object.entries(schema)) {
    if (defaults.get(name)?.(value) === true) continue;
    if (judging.has(name) && isAnything(value) && !hasUnevaluated) continue;
    kept[name] = plainValue(name, value, dialect, within);
  }
  return kept;
}

/** The value of a keyword, with its sub-schemas made plain. */
function plainValue(
  name: string,
  value: JsonValue,
  dialect: Dialect,
  within: (schema: JsonValue) => JsonValue,
): JsonValue {
  switch (dialect.keywords.get(name)) {
    case 'schema':
    case 'schemas':
    case 'items':
      return Array.isArray(value) ? value.map(within) : within(value);
    case 'schemaMap':
    case 'dependencies':
      return mapped(value, (one) => (Array.isArray(one) ? sorted(one) : within(one)));
    case 'nameLists':
      return mapped(value, sorted);
    case 'names':
      return sorted(value);
    case 'type':
      return Array.isArray(value) && value.length === 1 ? (value[0] as JsonValue) : sorted(value);
    default:
      return value;
  }
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
