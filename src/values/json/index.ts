/**
 * JSON values: their types, a safe bounded copy, and canonical text. Everything that crosses the
 * library's boundary passes here.
 */

import { define, type JsonObject, type JsonValue } from './value.ts';

export { type CopyLimits, type CopyOutcome, copyJson } from './copy.ts';
export {
  define,
  escapePointer,
  isJsonObject,
  type JsonObject,
  type JsonPrimitive,
  type JsonValue,
  ownMember,
  pointerSegments,
} from './value.ts';
export { wellFormedJson, wireText } from './well-formed.ts';

/**
 * Copies a value that is already JSON, without checks, because the first copy made them. An
 * interface of this library counts as JSON too, although its type has no index signature.
 */
export function cloneJson<T extends JsonValue | object>(value: T): T;
export function cloneJson(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => cloneJson(item));
  const copy = { ...value } as Record<string, JsonValue>;
  for (const key in copy) {
    const member = copy[key] as JsonValue;
    if (typeof member === 'object' && member !== null && Object.hasOwn(copy, key))
      define(copy, key, cloneJson(member));
  }
  return copy;
}

/**
 * Canonical JSON text of a value that is already JSON: keys sorted by code unit, no white space,
 * numbers as ECMAScript writes them (RFC 8785).
 */
export function canonicalJson(value: JsonValue | object): string {
  if (isScalar(value)) return JSON.stringify(value);
  // Long lists mostly hold numbers or strings, which `JSON.stringify` writes several times as fast.
  if (Array.isArray(value))
    return value.every(isScalar)
      ? JSON.stringify(value)
      : `[${value.map((item: JsonValue) => canonicalJson(item)).join(',')}]`;
  const object = value as JsonObject;
  let members = '';
  for (const key of Object.keys(object).sort()) {
    const member = canonicalJson(object[key] as JsonValue);
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${member}`;
  }
  return `{${members}}`;
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/**
 * Makes a frozen copy of a value that is already JSON. The copy is built member by member, because
 * a spread copy takes five times the memory once it is frozen.
 */
export function frozenJson<T extends JsonValue | object>(value: T): T;
export function frozenJson(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((item: JsonValue) => frozenJson(item)));
  const copy: Record<string, JsonValue> = {};
  for (const key in value) {
    // A member of a polluted prototype is not the value's own.
    if (!Object.hasOwn(value, key)) continue;
    const member = (value as JsonObject)[key] as JsonValue;
    define(copy, key, typeof member === 'object' ? frozenJson(member) : member);
  }
  return Object.freeze(copy);
}

/** Freezes a plain value all the way down, in place. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null)
      return value;
    Object.freeze(value);
    for (const key of Object.keys(value)) deepFreeze((value as Record<string, unknown>)[key]);
  }
  return value;
}
