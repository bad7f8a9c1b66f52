/** A safe, bounded copy of any value as JSON. */
import { Fault, type JsonFault, refuseExotic, throwingMember, tooDeep } from './fault.ts';
import { define, escapePointer, type JsonValue } from './value.ts';

/** Bounds of one copy. */
export interface CopyLimits {
  /** Deepest nesting of arrays and objects that is copied. */
  readonly maxDepth: number;
  /**
   * Most values (primitives, arrays and objects together) that are copied. In a
   * {@link wideObject wide} object each member counts as several.
   */
  readonly maxValues: number;
  /**
   * Stops the copy once this many characters have been seen. The value is then null and `overflow`
   * is true. @default Infinity
   */
  readonly maxChars?: number | undefined;
  /** Finds an object for `lost`: whether its content is not in its own members. @default none */
  readonly losesData?: ((value: object) => boolean) | undefined;
}

/** The outcome of a copy. */
export type CopyOutcome =
  | {
      readonly ok: true;
      readonly value: JsonValue;
      /** The approximate length of the JSON text in characters; a lower bound. */
      readonly size: number;
      /** More than `maxChars` characters were seen, so `value` is null. */
      readonly overflow: boolean;
      /** Whether an object in the value has an own member `__proto__`. */
      readonly unsafe: boolean;
      /** The first object of a class whose content is not in the copy. Absent if there is none. */
      readonly lost?: object;
    }
  | ({ readonly ok: false } & JsonFault);

/**
 * The state of a walk. It is reused between copies, which are synchronous. A `toJSON` that starts a
 * copy of its own gets a fresh one.
 */
interface Walk {
  maxDepth: number;
  left: number;
  chars: number;
  maxChars: number;
  busy: boolean;
  unsafe: boolean;
  losesData: CopyLimits['losesData'];
  lost: object | undefined;
}
const shared = newWalk();

function newWalk(): Walk {
  return {
    maxDepth: 0,
    left: 0,
    chars: 0,
    maxChars: 0,
    busy: false,
    unsafe: false,
    losesData: undefined,
    lost: undefined,
  };
}

const overflow = Symbol('overflow');

/**
 * The number of members from which engines keep an object as a hash table. Copying such a member
 * takes several times as long as one of a small object. Each further member counts as
 * {@link wideWeight} values, so that a limit on values also limits time.
 */
const wideObject = 100;
const wideWeight = 5;
/**
 * The names of an array's first places, so that copying a short array writes no strings. Each is
 * written at its first use, because an import should cost no more than it must.
 */
const smallIndexes: string[] = [];
function nameOf(index: number): string {
  if (index === smallIndexes.length && index < 1_000) smallIndexes.push(String(index));
  return index < smallIndexes.length ? (smallIndexes[index] as string) : String(index);
}

/**
 * Copies a value as JSON: own enumerable properties only, `undefined` dropped as `JSON.stringify`
 * does, `toJSON` honoured. Refuses values that JSON cannot express (BigInt, symbols, functions,
 * NaN, infinities, cycles, maps, sets, binary data) and names the place. Getters and proxies are
 * read once; one that throws is refused. `__proto__` becomes an own property and never a prototype.
 */
export function copyJson(value: unknown, limits: CopyLimits): CopyOutcome {
  const walk = shared.busy ? newWalk() : shared;
  walk.busy = true;
  walk.unsafe = false;
  walk.maxDepth = limits.maxDepth;
  walk.left = limits.maxValues;
  walk.maxChars = limits.maxChars ?? Number.POSITIVE_INFINITY;
  walk.chars = 0;
  walk.losesData = limits.losesData;
  walk.lost = undefined;
  try {
    const copy = copyValue(value, walk, 0) ?? null;
    walk.busy = false;
    return withLost(walk, {
      ok: true,
      value: copy,
      size: walk.chars,
      overflow: walk.chars > walk.maxChars,
      unsafe: walk.unsafe,
    });
  } catch (error) {
    walk.busy = false;
    if (error === overflow)
      return withLost(walk, {
        ok: true,
        value: null,
        size: walk.chars,
        overflow: true,
        unsafe: false,
      });
    if (error instanceof Fault)
      return {
        ok: false,
        fault: error.fault,
        path: pointerTo(error),
        message: error.message,
      };
    return { ok: false, fault: 'not_json', path: '', message: 'a value that cannot be read' };
  }
}

/** Only the beginning of a long one: in a cycle, the same names return to the last level. */
function pointerTo({ fault, path }: Fault): string {
  const isLong = fault === 'not_json' && path.length > 20;
  const shown = isLong ? [...path.slice(0, 8), '…'] : path;
  return shown.map((name) => `/${name}`).join('');
}

type Copied = Extract<CopyOutcome, { readonly ok: true }>;

function withLost(walk: Walk, copied: Copied): Copied {
  const { lost } = walk;
  if (lost === undefined) return copied;
  walk.lost = undefined;
  return { ...copied, lost };
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
      walk.chars += value < 10 && value >= 0 ? 1 : 2;
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

// Longer than 60 lines, since the `catch` needs to know which member was being read, and a function
// call for each member would slow down the most frequent walk in the library.
function copyObject(value: object, walk: Walk, depth: number): JsonValue | undefined {
  if (depth >= walk.maxDepth) throw tooDeep(value, walk.maxDepth);
  let key: string | undefined;
  try {
    const isArray = Array.isArray(value);
    // Reading the constructor is much cheaper than reading the prototype, and it identifies most
    // plain values.
    if (value.constructor !== (isArray ? Array : Object)) {
      const prototype: unknown = Object.getPrototypeOf(value);
      if (
        prototype !== Object.prototype &&
        prototype !== null &&
        !(isArray && prototype === Array.prototype)
      ) {
        const { toJSON } = value as { toJSON?: unknown };
        if (typeof toJSON === 'function') {
          // That of a buffer is a list of numbers.
          if (walk.losesData !== undefined && ArrayBuffer.isView(value)) walk.lost ??= value;
          return copyValue(Reflect.apply(toJSON, value, ['']), walk, depth + 1);
        }
        refuseExotic(value);
        if (!isArray) noticeLoss(walk, value);
      }
    }
    // Counts one bracket. Each member adds a comma, so the last comma accounts for the other
    // bracket.
    walk.chars += 1;
    if (walk.chars > walk.maxChars) throw overflow;
    if (isArray) {
      const { length } = value as unknown[];
      if (length > walk.left) throw new Fault('too_large', 'more values than the limit allows');
      const array: JsonValue[] = [];
      for (let index = 0; index < length; index++) {
        const item = (value as unknown[])[index];
        key = nameOf(index);
        array.push(copyValue(item, walk, depth + 1) ?? null);
        walk.chars += 1;
      }
      return array;
    }
    // Members are counted before the copy, because copying a million members only to refuse them
    // would take seconds.
    let members = 0;
    for (const _ in value)
      if (++members > walk.left) throw new Fault('too_large', 'more values than the limit allows');
    // Iterators have the constructor of plain objects.
    if (members === 0) noticeLoss(walk, value);
    if (members > wideObject) {
      walk.left -= (members - wideObject) * (wideWeight - 1);
      if (members > walk.left) throw new Fault('too_large', 'more values than the limit allows');
    }
    // Spreading reads each member once and defines it, `__proto__` included. It is several times
    // faster than a loop of assignments.
    const copy = { ...value } as Record<string, JsonValue>;
    for (key in copy) {
      const member: unknown = copy[key];
      if (--walk.left < 0) throw new Fault('too_large', 'more values than the limit allows');
      switch (typeof member) {
        case 'string':
          walk.chars += member.length + key.length + 6;
          if (walk.chars > walk.maxChars) throw overflow;
          break;
        case 'number':
          if (member - member !== 0) throw new Fault('not_json', `${member} is not a JSON number`);
          walk.chars += key.length + 5;
          // The member may be -0, which JSON does not have.
          if (member === 0) copyMember(copy, key, 0);
          break;
        case 'boolean':
          walk.chars += key.length + 8;
          break;
        default: {
          // A member of a polluted prototype is not the value's own.
          if (!Object.hasOwn(copy, key)) continue;
          if (typeof member === 'function' && key === 'toJSON')
            return copyValue(Reflect.apply(member, value, ['']), walk, depth + 1);
          walk.left++;
          const item = copyValue(member, walk, depth + 1);
          if (item === undefined) {
            delete copy[key];
            continue;
          }
          walk.chars += key.length + 4;
          if (item !== member) define(copy, key, item);
        }
      }
      if (key === '__proto__') walk.unsafe = true;
    }
    return copy;
  } catch (error) {
    if (error instanceof Fault) {
      if (key !== undefined) error.path.unshift(escapePointer(key));
      throw error;
    }
    if (error === overflow) throw error;
    const fault = new Fault(
      'not_json',
      error instanceof RangeError ? 'nested too deeply to be read' : 'reading the value threw',
    );
    const where = key ?? throwingMember(value);
    if (where !== undefined) fault.path.unshift(escapePointer(where));
    throw fault;
  }
}

function noticeLoss(walk: Walk, value: object): void {
  if (walk.lost === undefined && walk.losesData?.(value) === true) walk.lost = value;
}

/** Replaces a member, unless it is inherited from a polluted prototype. */
function copyMember(copy: Record<string, JsonValue>, key: string, item: JsonValue): void {
  if (Object.hasOwn(copy, key)) define(copy, key, item);
}
