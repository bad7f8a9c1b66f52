/** The types of JSON values, and what every reader and writer of them needs. */

/** A JSON value that holds no others. Numbers are finite. */
export type JsonPrimitive = string | number | boolean | null;
/** Any value that JSON can represent. */
export type JsonValue =
  | JsonPrimitive
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
/** A JSON object. Its keys come from outside, so check `Object.hasOwn` before you read one. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets a member. It defines `__proto__`, because assigning that would set the prototype. */
export function define(copy: Record<string, JsonValue>, key: string, item: JsonValue): void {
  if (key === '__proto__')
    Object.defineProperty(copy, key, {
      value: item,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else copy[key] = item;
}

/** Escapes one segment of a JSON pointer (RFC 6901). */
export function escapePointer(segment: string): string {
  return segment.includes('~') || segment.includes('/')
    ? segment.replaceAll('~', '~0').replaceAll('/', '~1')
    : segment;
}

/** The segments of a JSON pointer; none for the root, `''`. */
export function pointerSegments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** An own member of an object that comes from outside; undefined if there is none. */
export function ownMember(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Whether a value has its own member of this name. `in` would also find one on a polluted
 * `Object.prototype`, and take a refusal for an allowance.
 */
export function hasOwn<T extends object, K extends string>(
  value: T,
  name: K,
): value is Extract<T, { readonly [Name in K]: unknown }> {
  return Object.hasOwn(value, name);
}

/** Arguments of a call as models send them. */
const longestText = 4_194_304;

/** Parses a string that contains JSON. Anything else stays as it is. */
export function readArguments(input: unknown): unknown {
  if (typeof input !== 'string' || input.length > longestText) return input;
  if (input.trim() === '') return input;
  try {
    return JSON.parse(input) as JsonValue;
  } catch {
    return input;
  }
}
