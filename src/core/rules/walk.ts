/** Finds the values that a path leads to, and judges them by a test. */

import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { type Judged, takeSteps } from './rule.ts';
import type { TestedPlace } from './rule-check.ts';
import { isScalar, noElement } from './scalar-tests.ts';
import type { ValueTest } from './value-test.ts';

/** The deepest nesting that is followed. Inputs have at most 64 levels; others may have more. */
const maxDepth = 200;

/** Thrown if a value is nested too deeply, or has too many digits, to be read. */
const tooDeep = Symbol('too deep');
const tooLarge = Symbol('too large');

export interface Walk {
  readonly path: readonly string[];
  readonly test: ValueTest;
  readonly judged: Judged;
  /** Where the path leads, for a test that only arguments can pass. */
  readonly place: TestedPlace | undefined;
  /** Whether at least one branch led to no value. */
  hole: boolean;
  /**
   * How many values the path led to. Values that only another reading of its names finds are not
   * counted, so that a key with dots does not make a path present.
   */
  found: number;
  /** The keys with dots that the path could mean, by start and end. Created when needed. */
  keys: string[][] | undefined;
}

/** The key that the segments from `at` to `end` make together. */
function keyAt(walk: Walk, at: number, end: number): string {
  const { path } = walk;
  if (end === at) return path[at] as string;
  walk.keys ??= [];
  const { keys } = walk;
  keys[at] ??= [];
  const own = keys[at];
  own[end] ??= path.slice(at, end + 1).join('.');
  return own[end];
}

function count(walk: Walk, depth: number): void {
  spend(walk, 1);
  if (depth > maxDepth) throw tooDeep;
}

function spend({ judged }: Walk, steps: number): void {
  takeSteps(judged, steps);
}

/**
 * Judges one value at the end of the path. The cost of a test grows with the length of the text.
 * @param whole the array that the value is an element of, or else the value itself
 */
function passes({ test, judged, place }: Walk, value: unknown, whole: unknown): boolean {
  return passesTest(test, judged, value, whole, place);
}

function passesTest(
  test: ValueTest,
  judged: Judged,
  value: unknown,
  whole: unknown,
  place: TestedPlace | undefined,
): boolean {
  // The step for the value itself pays for one test.
  const more = test.steps - 1;
  if (typeof value === 'string') takeSteps(judged, more + value.length * test.cost);
  else if (test.writesNumbers) takeSteps(judged, more + writingSteps(value, test.cost));
  else if (more > 0) takeSteps(judged, more);
  return test.judge(value, whole, judged.facts, place) === true;
}

/**
 * {@link anyOf} for a path of one name that leads to a scalar of a plain object, as most do.
 * Undefined for whatever needs a walk, which would cost several times as much: the row `deny` of
 * the benchmarks fails without this.
 */
export function passesAt(
  node: unknown,
  path: readonly string[],
  test: ValueTest,
  judged: Judged,
): boolean | undefined {
  const name = path[0] as string;
  if (path.length !== 1 || name === '*' || name === '0') return undefined;
  if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined;
  if (Object.getPrototypeOf(node) !== Object.prototype) return undefined;
  const value: unknown = (node as JsonObject)[name];
  if (!isScalar(value)) return undefined;
  // The steps of the walk: the object, its key and the value.
  takeSteps(judged, 3);
  return passesTest(test, judged, value, value, undefined);
}

/** Steps for writing a number as text and testing that text. These were measured. */
function writingSteps(value: unknown, cost: number): number {
  if (typeof value === 'boolean') return 5 * cost;
  if (typeof value !== 'number') return 0;
  return Number.isSafeInteger(value) ? 1 + 16 * cost : 10 + 24 * cost;
}

/** Steps for a value that writes its own JSON, such as a date. They were measured. */
const ownJsonSteps = 10;
/** Steps for writing a big integer of at most 308 digits as text. */
const bigIntSteps = 100;

/** No rule looks at longer integers: writing a million digits as text takes a tenth of a second. */
function plainBigInt(value: bigint, walk: Walk): number | string {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  if (!Number.isFinite(number)) throw tooLarge;
  spend(walk, bigIntSteps);
  return String(value);
}

/**
 * The JSON form of a parsed value that is not JSON, so that a rule can judge a date, a set or a
 * URL.
 */
function plain(node: unknown, walk: Walk): unknown {
  if (typeof node === 'bigint') return plainBigInt(node, walk);
  if (typeof node !== 'object' || node === null) return node;
  const prototype: unknown = Object.getPrototypeOf(node);
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null)
    return node;
  if (node instanceof Set || node instanceof Map) {
    spend(walk, node.size * 4);
    return node instanceof Set ? [...node] : Object.fromEntries(node);
  }
  if (node instanceof String || node instanceof Number || node instanceof Boolean)
    return node.valueOf();
  const { toJSON } = node as { toJSON?: unknown };
  if (typeof toJSON !== 'function') return node;
  spend(walk, ownJsonSteps + (ArrayBuffer.isView(node) ? node.byteLength : 0));
  return Reflect.apply(toJSON, node, ['']);
}

/**
 * Undefined at the end of the path. Reading past the end of an array would search
 * `Array.prototype`.
 */
function segmentAt({ path }: Walk, at: number): string | undefined {
  return at < path.length ? path[at] : undefined;
}

function isIndex(segment: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(segment);
}

/**
 * True as soon as one value passes, on any reading of the path. An array matches if one of its
 * elements does, whatever part of the path is left.
 */
export function anyOf(value: unknown, at: number, walk: Walk, depth: number): boolean {
  count(walk, depth);
  const node = plain(value, walk);
  const segment = segmentAt(walk, at);
  if (segment === undefined) {
    if (node === undefined) return false;
    walk.found++;
    return Array.isArray(node) ? anyElement(node, node, walk, depth) : passes(walk, node, node);
  }
  if (Array.isArray(node)) return anyBranch(node, segment, at, walk, depth);
  if (anyKey(node, at, walk, depth)) return true;
  // Lenient tools accept `T` for `T[]`, so a value outside an array is read as an array of one.
  return (segment === '*' || segment === '0') && anyOf(node, at + 1, walk, depth + 1);
}

/** An array before the end of the path. Each element is a branch of its own. */
function anyBranch(
  node: readonly unknown[],
  segment: string,
  at: number,
  walk: Walk,
  depth: number,
): boolean {
  const { found, hole: earlier } = walk;
  const namesOne = isIndex(segment);
  const place = namesOne ? Number(segment) : node.length;
  if (place < node.length && anyOf(node[place], at + 1, walk, depth + 1)) return true;
  const { hole } = walk;
  for (const item of node) {
    const before = walk.found;
    if (segment === '*') {
      if (anyOf(item, at + 1, walk, depth + 1)) return true;
      const { hole: lacks } = walk;
      const isFound = walk.found > before;
      if (Array.isArray(item) ? anyOf(item, at, walk, depth + 1) : anyKey(item, at, walk, depth))
        return true;
      // If the first reading of the star found a value, the second one need not find it.
      if (isFound) walk.hole = lacks;
    } else if (anyOf(item, at, walk, depth + 1)) return true;
    if (walk.found === before) walk.hole = true;
  }
  // If the path names an element, the other elements may lack the rest of the path.
  if (namesOne) walk.hole = hole;
  // If no element has a value, the array as a whole lacks it, which the caller judges.
  if (walk.found === found) walk.hole = earlier;
  return false;
}

/** An array at the end of the path, searched at every depth. */
function anyElement(
  node: readonly unknown[],
  whole: readonly unknown[],
  walk: Walk,
  depth: number,
): boolean {
  if (node.length === 0) return passes(walk, noElement, whole);
  for (const item of node) {
    count(walk, depth + 1);
    const element = plain(item, walk);
    if (Array.isArray(element)) {
      if (anyElement(element, whole, walk, depth + 1)) return true;
    } else if (passes(walk, element, whole)) return true;
  }
  return false;
}

/**
 * Looks up the segment itself, and then longer keys made of the following segments and dots. Such a
 * key is another reading of the path, and so is a key that is a star.
 */
function anyKey(value: unknown, at: number, walk: Walk, depth: number): boolean {
  const node = plain(value, walk);
  if (!isJsonObject(node)) return false;
  for (let end = at; end < walk.path.length; end++) {
    spend(walk, 1);
    const key = keyAt(walk, at, end);
    if (!Object.hasOwn(node, key)) continue;
    const { found, hole } = walk;
    if (anyOf(node[key], end + 1, walk, depth + 1)) return true;
    if (end > at || key === '*') {
      walk.found = found;
      walk.hole = hole;
    }
  }
  return false;
}

/**
 * False as soon as one value does not pass. A branch that leads to no value sets `hole`, which the
 * caller judges.
 */
export function allOf(value: unknown, at: number, walk: Walk, depth: number): boolean {
  count(walk, depth);
  const node = plain(value, walk);
  const segment = segmentAt(walk, at);
  if (segment === undefined) {
    if (node === undefined) {
      walk.hole = true;
      return true;
    }
    walk.found++;
    return Array.isArray(node) ? everyElement(node, node, walk, depth) : passes(walk, node, node);
  }
  if (Array.isArray(node)) {
    if (segment === '*') {
      if (node.length > 0) return node.every((item) => allOf(item, at + 1, walk, depth + 1));
      walk.hole = true;
      return true;
    }
    if (isIndex(segment) && Number(segment) < node.length)
      return allOf(node[Number(segment)], at + 1, walk, depth + 1);
    walk.hole = true;
    return true;
  }
  const object = isJsonObject(node) ? node : undefined;
  const hasKey = object !== undefined && segment !== '*' && Object.hasOwn(object, segment);
  if (segment === '*' || (segment === '0' && !hasKey)) {
    if (!allOf(node, at + 1, walk, depth + 1)) return false;
  } else if (!hasKey) walk.hole = true;
  else if (!allOf(object[segment], at + 1, walk, depth + 1)) return false;
  return object === undefined || allTwins(object, at, walk, depth);
}

/**
 * A key that contains dots, or that is a star, is another reading of the path. If it exists, all
 * values that it may lead to must pass too, but it does not make the path present.
 */
function allTwins(object: JsonObject, at: number, walk: Walk, depth: number): boolean {
  for (let end = at; end < walk.path.length; end++) {
    const key = keyAt(walk, at, end);
    if (end === at && key !== '*') continue;
    spend(walk, 1);
    if (Object.hasOwn(object, key) && !allReadings(object[key], end + 1, walk, depth + 1))
      return false;
  }
  return true;
}

/** Whether each value in the widest reading of the path passes. */
export function allReadings(value: unknown, at: number, walk: Walk, depth: number): boolean {
  const { path, test, judged, place, keys } = walk;
  const { cost, steps, writesNumbers } = test;
  const failing: ValueTest = {
    judge: (one, whole, facts, at) => test.judge(one, whole, facts, at) !== true,
    cost,
    steps,
    writesNumbers,
    holdsWhereAbsent: false,
  };
  return !anyOf(
    value,
    at,
    { path, test: failing, judged, place, hole: false, found: 0, keys },
    depth,
  );
}

/** An array at the end of the path. All of its elements count, at every depth. */
function everyElement(
  node: readonly unknown[],
  whole: readonly unknown[],
  walk: Walk,
  depth: number,
): boolean {
  if (node.length === 0) return passes(walk, noElement, whole);
  return node.every((item) => {
    count(walk, depth + 1);
    const element = plain(item, walk);
    return Array.isArray(element)
      ? everyElement(element, whole, walk, depth + 1)
      : passes(walk, element, whole);
  });
}
