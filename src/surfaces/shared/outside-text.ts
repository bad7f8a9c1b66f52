/**
 * Text that somebody outside brings, such as a server or an application: bounded, and without
 * characters that people cannot see or that turn lines around.
 */
import type { JsonObject, JsonValue } from '../../index.ts';
import { isJsonObject } from '../../json.ts';

/**
 * Controls but for tab and line feed, separators, bidirectional and invisible characters (tags
 * among them), lone surrogates; not the selector that colours emoji.
 */
const unseen =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are meant.
  /(?![\t\n\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Strips what cannot be seen and cuts at a character. @param maxBytes most bytes of UTF-8; a cut is
 * marked by `…`
 */
export function cleanText(text: string, maxBytes: number): string {
  // Nothing is gained by cleaning a text that is cut anyway.
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
    // The mark takes three.
    if (bytes > maxBytes - 3) return Buffer.byteLength(clean) <= maxBytes ? clean : `${kept}…`;
    kept += char;
  }
  return clean;
}

/** One line for messages: cleaned, without breaks. */
export function cleanLine(text: unknown, maxBytes: number): string {
  return typeof text === 'string'
    ? cleanText(text.slice(0, 4 * maxBytes).replace(/\s+/g, ' '), maxBytes)
    : '';
}

/**
 * Keywords whose strings decide what is accepted, or are data that does; `default` is filled in.
 */
const validating = new Set([
  ...['const', 'enum', 'default', 'pattern', 'type', 'required', 'dependentRequired'],
  ...['$schema', '$id', 'id', '$ref', '$dynamicRef', '$recursiveRef', '$anchor', '$dynamicAnchor'],
]);
/** Keywords that hold schemas by names of the tool's own choosing. */
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

/** Stands for each step of a reference that is written with escapes; no step has a slash. */
const escaped = '/';

/**
 * A schema whose strings are cleaned under every keyword that does not validate, whatever it is
 * called. What it accepts is the same. The schema must have passed the gate: its depth is bounded.
 */
export function cleanSchema<T extends JsonValue>(schema: T): T {
  return cleanNode(schema, addSteps(schema, new Set())) as T;
}

function cleanNode(node: JsonValue, steps: ReadonlySet<string>): JsonValue {
  if (Array.isArray(node)) return node.map((one) => cleanNode(one, steps));
  if (!isJsonObject(node)) return cleanAll(node);
  return mapEntries(node, (key, value) => {
    if (validating.has(key)) return value;
    // A format that nobody knows accepts everything; cleaned, it must not become one that is known.
    if (key === 'format' && typeof value === 'string') return value.replace(unseen, '?');
    // A list there is of names: those that a dependency asks for.
    if (named.has(key) && isJsonObject(value))
      return mapEntries(value, (_, inner) =>
        Array.isArray(inner) ? inner : cleanNode(inner, steps),
      );
    // What an unknown keyword holds is a schema only where a reference leads there. One that is
    // written with escapes may lead anywhere.
    const schema = nested.has(key) || steps.has(key) || steps.has(escaped);
    return schema ? cleanNode(value, steps) : cleanAll(value);
  });
}

/** A JSON value whose strings are cleaned, keys left as they are. Its depth must be bounded. */
export function cleanAll(node: JsonValue): JsonValue {
  if (typeof node === 'string') return node.replace(unseen, '');
  if (Array.isArray(node)) return node.map(cleanAll);
  return isJsonObject(node) ? mapEntries(node, (_, value) => cleanAll(value)) : node;
}

/** Adds the steps of all that could be a reference: more than there are do no harm. */
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
  // From entries: `__proto__` stays an own key.
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(key, value)]));
}
