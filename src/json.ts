/** JSON values: their types, a safe bounded copy, and canonical text. Everything that crosses the library's boundary passes here. */

export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** Bounds of one copy. */
export interface CopyLimits {
  /** Deepest nesting of arrays and objects that is copied. */
  readonly maxDepth: number;
  /** Most values (primitives, arrays and objects together) that are copied. */
  readonly maxValues: number;
  /** Stop copying once so many characters have been seen. The copy is then partial and `overflow` is true. @default Infinity */
  readonly maxChars?: number | undefined;
}

/** Why a value is not JSON. Thrown by the copy, caught at the boundary, never shown raw. */
export interface JsonFault {
  readonly fault: 'not_json' | 'too_deep' | 'too_large';
  /** JSON pointer of the offending value. */
  readonly path: string;
  readonly message: string;
}

export type CopyOutcome =
  | { readonly ok: true; readonly value: JsonValue; /** About how many characters the JSON text has; a lower bound. */ readonly size: number; readonly overflow: boolean; /** Somewhere in it stands an own `__proto__`. */ readonly unsafe: boolean }
  | ({ readonly ok: false } & JsonFault);

/** Walk state, reused between copies: the copy is synchronous and a `toJSON` that copies again gets a fresh one. */
interface Walk {
  maxDepth: number;
  left: number;
  chars: number;
  maxChars: number;
  seen: object[];
  busy: boolean;
  unsafe: boolean;
}
const shared: Walk = { maxDepth: 0, left: 0, chars: 0, maxChars: 0, seen: [], busy: false, unsafe: false };

class Fault {
  path: string[] = [];
  readonly fault: JsonFault['fault'];
  readonly message: string;
  constructor(fault: JsonFault['fault'], message: string) {
    this.fault = fault;
    this.message = message;
  }
}
const overflow = Symbol('overflow');

/**
 * Copies a value as JSON: own enumerable properties only, `undefined` dropped as `JSON.stringify` does, `toJSON` honoured.
 * Refuses what JSON cannot hold (BigInt, symbols, functions, NaN, infinities, cycles, maps, sets, binary data) and names where it is.
 * Getters and proxies are read once, here; one that throws is refused. `__proto__` becomes an own property and never a prototype.
 */
export function copyJson(value: unknown, limits: CopyLimits): CopyOutcome {
  const walk: Walk = shared.busy ? { maxDepth: 0, left: 0, chars: 0, maxChars: 0, seen: [], busy: false, unsafe: false } : shared;
  walk.busy = true;
  walk.unsafe = false;
  walk.maxDepth = limits.maxDepth;
  walk.left = limits.maxValues;
  walk.maxChars = limits.maxChars ?? Number.POSITIVE_INFINITY;
  walk.chars = 0;
  try {
    return { ok: true, value: copyValue(value, walk, 0) ?? null, size: walk.chars, overflow: walk.chars > walk.maxChars, unsafe: walk.unsafe };
  } catch (error) {
    if (error === overflow) return { ok: true, value: null, size: walk.chars, overflow: true, unsafe: false };
    if (error instanceof Fault) return { ok: false, fault: error.fault, path: error.path.length === 0 ? '' : `/${error.path.join('/')}`, message: error.message };
    return { ok: false, fault: 'not_json', path: '', message: 'a value that cannot be read' };
  } finally {
    walk.busy = false;
    walk.seen.length = 0;
  }
}

function copyValue(value: unknown, walk: Walk, depth: number): JsonValue | undefined {
  if (--walk.left < 0) throw new Fault('too_large', 'more values than the limit allows');
  switch (typeof value) {
    case 'string':
      walk.chars += value.length + 2;
      if (walk.chars > walk.maxChars) throw overflow;
      return value;
    case 'number':
      if (value - value !== 0) throw new Fault('not_json', `${value} is not a JSON number`);
      walk.chars += value < 10 && value >= 0 ? 1 : 6;
      return value === 0 ? 0 : value;
    case 'boolean':
      walk.chars += 4;
      return value;
    case 'undefined':
      return undefined;
    case 'object':
      if (value === null) {
        walk.chars += 4;
        return null;
      }
      return copyObject(value, walk, depth);
    default:
      throw new Fault('not_json', `a ${typeof value} is not JSON`);
  }
}

function copyObject(value: object, walk: Walk, depth: number): JsonValue | undefined {
  if (depth >= walk.maxDepth) throw new Fault('too_deep', `nested deeper than ${walk.maxDepth} levels`);
  const { seen } = walk;
  for (let index = seen.length; index-- > 0; ) if (seen[index] === value) throw new Fault('not_json', 'a cycle is not JSON');
  let key: string | undefined;
  try {
    const toJSON: unknown = (value as { toJSON?: unknown }).toJSON;
    if (typeof toJSON === 'function' && !Object.hasOwn(value, '~standard')) {
      seen.push(value);
      const replaced: unknown = Reflect.apply(toJSON, value, []);
      const result = copyValue(replaced, walk, depth + 1);
      seen.pop();
      return result;
    }
    seen.push(value);
    walk.chars += 2;
    if (walk.chars > walk.maxChars) throw overflow;
    if (Array.isArray(value)) {
      const { length } = value;
      if (length > walk.left) throw new Fault('too_large', 'more values than the limit allows');
      const array: JsonValue[] = [];
      for (let index = 0; index < length; index++) {
        key = String(index);
        array.push(copyValue(value[index], walk, depth + 1) ?? null);
        walk.chars += 1;
      }
      seen.pop();
      return array;
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) refuseExotic(value);
    const copy: Record<string, JsonValue> = {};
    for (key in value) {
      if (!Object.hasOwn(value, key)) continue;
      const item = copyValue((value as Record<string, unknown>)[key], walk, depth + 1);
      if (item === undefined) continue;
      walk.chars += key.length + 4;
      if (key === '__proto__') {
        walk.unsafe = true;
        Object.defineProperty(copy, key, { value: item, enumerable: true, configurable: true, writable: true });
      } else copy[key] = item;
    }
    seen.pop();
    return copy;
  } catch (error) {
    if (error instanceof Fault) {
      if (key !== undefined) error.path.unshift(escapePointer(key));
      throw error;
    }
    if (error === overflow) throw error;
    const fault = new Fault('not_json', 'reading the value threw');
    if (key !== undefined) fault.path.unshift(escapePointer(key));
    throw fault;
  }
}

const exotic = [Map, Set, WeakMap, WeakSet, Promise, RegExp, ArrayBuffer, Error] as const;
function refuseExotic(value: object): void {
  if (ArrayBuffer.isView(value)) throw new Fault('not_json', 'binary data is not JSON; give base64 text');
  for (const type of exotic) if (value instanceof type) throw new Fault('not_json', `a ${type.name} is not JSON`);
}

/** One segment of a JSON pointer (RFC 6901). */
export function escapePointer(segment: string): string {
  return segment.includes('~') || segment.includes('/') ? segment.replaceAll('~', '~0').replaceAll('/', '~1') : segment;
}

/** A second copy of a value that is already JSON. No checks: the first copy made them. */
export function cloneJson<T extends JsonValue>(value: T): T;
export function cloneJson(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => cloneJson(item));
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    const item = cloneJson((value as JsonObject)[key] as JsonValue);
    if (key === '__proto__') Object.defineProperty(copy, key, { value: item, enumerable: true, configurable: true, writable: true });
    else copy[key] = item;
  }
  return copy;
}

/** Canonical JSON text: keys sorted by code unit, no white space, numbers as ECMAScript writes them (RFC 8785). */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => canonicalJson(item)).join(',')}]`;
  const object = value as JsonObject;
  const members = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key] as JsonValue)}`);
  return `{${members.join(',')}}`;
}

/** Freezes a plain value all the way down, in place. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return value;
    Object.freeze(value);
    for (const key of Object.keys(value)) deepFreeze((value as Record<string, unknown>)[key]);
  }
  return value;
}

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
