/**
 * Cleans text from outside, such as from a server or an application. The text becomes bounded,
 * without invisible characters and without those that change the direction of text.
 */
import type { JsonObject, JsonValue } from '../../core.ts';
import { isJsonObject } from '../../values/json/index.ts';

/**
 * Control characters other than tab and line feed, separators, bidirectional and invisible
 * characters (including tags), and lone surrogates. The selector that colours emoji is not
 * included.
 */
const unseen =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are meant.
  /(?![\t\n\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Removes invisible characters, and cuts between characters.
 * @param maxBytes The most bytes of UTF-8. A cut is marked by `…`.
 */
export function cleanText(text: string, maxBytes: number): string {
  // The end of a long text would be cut off anyway, so it is removed before the cleaning.
  const clean = text
    .slice(0, 4 * maxBytes)
    .replaceAll('\r\n', '\n')
    .replace(unseen, '')
    .trim();
  if (clean.length * 3 <= maxBytes) return clean;
  let bytes = 0;
  let kept = '';
  for (const char of clean) {
    bytes += Buffer.byteLength(char);
    // The mark takes three bytes.
    if (bytes > maxBytes - 3) return Buffer.byteLength(clean) <= maxBytes ? clean : `${kept}…`;
    kept += char;
  }
  return clean;
}

/** One line for messages: cleaned, and without line breaks. */
export function cleanLine(text: unknown, maxBytes: number): string {
  return typeof text === 'string'
    ? cleanText(text.slice(0, 4 * maxBytes).replace(/\s+/g, ' '), maxBytes)
    : '';
}

/**
 * Keywords whose values decide what is accepted. `default` is one of them, because it is filled in.
 */
const validating = new Set([
  ...['const', 'enum', 'default', 'pattern', 'type', 'required', 'dependentRequired'],
  ...['$schema', '$id', 'id', '$ref', '$dynamicRef', '$recursiveRef', '$anchor', '$dynamicAnchor'],
]);
/** Keywords that hold schemas by names that the tool chooses. */
const named = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** Keywords that hold a schema, or a list of them. */
const nested = new Set([
  ...[
    'items',
    'additionalItems',
    'prefixItems',
    'contains',
    'unevaluatedItems',
    'additionalProperties',
    'unevaluatedProperties',
    'propertyNames',
  ],
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'contentSchema'],
]);

/**
 * Represents each step of a reference that is written with escapes. No step contains a slash, so
 * this value is free.
 */
const escaped = '/';

/**
 * Cleans the strings of a schema under every keyword that does not validate, including unknown
 * ones. The schema accepts the same values as before. It must have passed the schema gate, so that
 * its depth is bounded.
 */
export function cleanSchema<T extends JsonValue>(schema: T): T {
  return cleanNode(schema, addSteps(schema, new Set())) as T;
}

function cleanNode(node: JsonValue, steps: ReadonlySet<string>): JsonValue {
  if (Array.isArray(node)) return node.map((one) => cleanNode(one, steps));
  if (!isJsonObject(node)) return cleanAll(node);
  return mapEntries(node, (key, value) => {
    if (validating.has(key)) return value;
    // An unknown format accepts everything. Cleaning must not turn it into a known one.
    if (key === 'format' && typeof value === 'string') return value.replace(unseen, '?');
    // A list under such a keyword contains the names that a dependency requires.
    if (named.has(key) && isJsonObject(value))
      return mapEntries(value, (_, inner) =>
        Array.isArray(inner) ? inner : cleanNode(inner, steps),
      );
    // The value of an unknown keyword is a schema only if a reference leads there. A reference that
    // is written with escapes may lead anywhere.
    const schema = nested.has(key) || steps.has(key) || steps.has(escaped);
    return schema ? cleanNode(value, steps) : cleanAll(value);
  });
}

/** Cleans the strings of a JSON value, but not its keys. Its depth must be bounded. */
export function cleanAll(node: JsonValue): JsonValue {
  if (typeof node === 'string') return node.replace(unseen, '');
  if (Array.isArray(node)) return node.map(cleanAll);
  return isJsonObject(node) ? mapEntries(node, (_, value) => cleanAll(value)) : node;
}

/** Adds the steps of everything that could be a reference. Steps that are not used do no harm. */
function addSteps(node: JsonValue, steps: Set<string>): Set<string> {
  if (Array.isArray(node)) for (const one of node) addSteps(one, steps);
  else if (isJsonObject(node)) {
    for (const [key, value] of Object.entries(node)) {
      if (key !== '$ref' || typeof value !== 'string') addSteps(value, steps);
      else for (const step of value.split('/')) steps.add(/[%~]/.test(step) ? escaped : step);
    }
  }
  return steps;
}

function mapEntries(
  object: JsonObject,
  map: (key: string, value: JsonValue) => JsonValue,
): JsonObject {
  // `fromEntries` keeps `__proto__` as an own key.
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(key, value)]));
}
