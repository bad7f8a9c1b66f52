/** How a rule's `when` reads an input: paths and tests. Deny and ask take the widest reading of a path, allow the narrowest. */
import { isJsonObject, type JsonObject, type JsonPrimitive } from './json.ts';

/** What a rule that restricts does with a path, against what a rule that permits does with it. */
export type Reading = 'any' | 'all';

/** One condition: a path and a test of the scalars that are found there. */
export interface Condition {
  readonly path: readonly string[];
  readonly test: (value: JsonPrimitive) => boolean;
}

/** Values that one condition may look at. Far above what an accepted input holds; only a path of many `*` over nested arrays reaches it. */
const maxSteps = 1_000_000;
/** Deepest nesting that is followed; inputs are at most 64 deep, parsed values may be anything. */
const maxDepth = 200;

interface Walk {
  readonly path: readonly string[];
  readonly test: (value: JsonPrimitive) => boolean;
  steps: number;
  /** Some branch led to nothing, so the parsed input has to be asked as well. */
  hole: boolean;
  /** Scalars that were found. */
  found: number;
}

/** Thrown through the recursion when a walk is beyond its bounds: then restricting rules match and permitting ones do not. */
const beyond = Symbol('beyond');

/**
 * True when the condition holds for the input. What the canonical input does not hold is looked up in the parsed one, where defaults are.
 * - `any` (deny, ask): one value that passes is enough. Arrays on the way or at the end are searched at every depth, `*` also stands for a value that
 *   is in no array, and a key that itself holds dots is found as well: the same value in another wrapping cannot slip through.
 * - `all` (allow): every value that the path leads to must pass, there must be one, and no branch may be empty. Arrays on the way are
 *   entered only by `*` (every element) or by an index; at the end all elements count.
 */
export function holds(condition: Condition, reading: Reading, input: JsonObject, parsed: () => unknown): boolean {
  const { path, test } = condition;
  const walk: Walk = { path, test, steps: 0, hole: false, found: 0 };
  const step = reading === 'any' ? anyOf : allOf;
  try {
    if (step(input, 0, walk, 0)) {
      if (reading === 'any' || !walk.hole) return reading === 'any' || walk.found > 0;
    } else if (reading === 'all') return false;
    if (!walk.hole) return false;
    walk.hole = false;
    walk.found = 0;
    const passed = step(parsed(), 0, walk, 0);
    return reading === 'any' ? passed : passed && !walk.hole && walk.found > 0;
  } catch (error) {
    if (error === beyond) return reading === 'any';
    throw error;
  }
}

function count(walk: Walk, depth: number): void {
  if (++walk.steps > maxSteps || depth > maxDepth) throw beyond;
}

function isScalar(value: unknown): value is JsonPrimitive {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isIndex(segment: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(segment);
}

/** True as soon as one value on any reading of the path passes. An array matches whenever one of its elements does, whatever is left of the path. */
function anyOf(node: unknown, at: number, walk: Walk, depth: number): boolean {
  count(walk, depth);
  const segment = walk.path[at];
  if (Array.isArray(node)) {
    if (segment === undefined) return node.some((item) => anyOf(item, at, walk, depth + 1));
    if (node.length === 0) walk.hole = true;
    if (segment === '*') {
      return node.some(
        (item) => anyOf(item, at + 1, walk, depth + 1) || (Array.isArray(item) ? anyOf(item, at, walk, depth + 1) : anyKey(item, at, walk, depth) === true),
      );
    }
    if (!isIndex(segment) || Number(segment) >= node.length) return node.some((item) => anyOf(item, at, walk, depth + 1));
    if (anyOf(node[Number(segment)], at + 1, walk, depth + 1)) return true;
    // The index was there: that the elements have no such key is not a hole.
    const { hole } = walk;
    if (node.some((item) => anyOf(item, at, walk, depth + 1))) return true;
    walk.hole = hole;
    return false;
  }
  if (segment === undefined) {
    if (node === undefined) walk.hole = true;
    return isScalar(node) && walk.test(node);
  }
  const found = anyKey(node, at, walk, depth);
  if (found === true) return true;
  // A value outside an array is read as an array of one: `T` for `T[]` is what lenient tools accept.
  if (segment === '*' || segment === '0') return anyOf(node, at + 1, walk, depth + 1);
  if (found === undefined) walk.hole = true;
  return false;
}

/** Own keys of an object: the segment itself, and the segments from here on joined by dots. Undefined when it has none of them. */
function anyKey(node: unknown, at: number, walk: Walk, depth: number): boolean | undefined {
  let present = false;
  if (isJsonObject(node)) {
    let key = '';
    for (let end = at; end < walk.path.length; end++) {
      key = end === at ? (walk.path[end] as string) : `${key}.${walk.path[end]}`;
      if (!Object.hasOwn(node, key)) continue;
      present = true;
      if (anyOf(node[key], end + 1, walk, depth + 1)) return true;
    }
  }
  return present ? false : undefined;
}

/** False as soon as one value does not pass. Branches that lead nowhere leave a hole, which the caller judges. */
function allOf(node: unknown, at: number, walk: Walk, depth: number): boolean {
  count(walk, depth);
  const segment = walk.path[at];
  if (segment === undefined) {
    if (Array.isArray(node)) return node.length > 0 && node.every((item) => allOf(item, at, walk, depth + 1));
    if (node === undefined) {
      walk.hole = true;
      return true;
    }
    if (!isScalar(node) || !walk.test(node)) return false;
    walk.found++;
    return true;
  }
  if (Array.isArray(node)) {
    if (segment === '*') return node.length > 0 && node.every((item) => allOf(item, at + 1, walk, depth + 1));
    if (isIndex(segment) && Number(segment) < node.length) return allOf(node[Number(segment)], at + 1, walk, depth + 1);
    walk.hole = true;
    return true;
  }
  const object = isJsonObject(node) ? node : undefined;
  if (segment === '*' || (segment === '0' && (object === undefined || !Object.hasOwn(object, segment)))) return allOf(node, at + 1, walk, depth + 1);
  if (object === undefined || !Object.hasOwn(object, segment)) walk.hole = true;
  else if (!allOf(object[segment], at + 1, walk, depth + 1)) return false;
  // A key that holds the dots is another reading of the path: where it exists, it must pass too.
  return object === undefined || allDotted(object, at, walk, depth);
}

function allDotted(object: JsonObject, at: number, walk: Walk, depth: number): boolean {
  let key = walk.path[at] as string;
  for (let end = at + 1; end < walk.path.length; end++) {
    key += `.${walk.path[end]}`;
    if (Object.hasOwn(object, key) && !allOf(object[key], end + 1, walk, depth + 1)) return false;
  }
  return true;
}
