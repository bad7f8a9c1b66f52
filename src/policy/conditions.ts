/**
 * How a rule's `when` reads an input: paths and tests. Deny and ask take the widest reading of a
 * path, allow the narrowest.
 */
import { isJsonObject, type JsonObject, type JsonPrimitive } from '../json.ts';

/** What a rule that restricts does with a path, against what a rule that permits does with it. */
export type Reading = 'any' | 'all';

/** One condition: a path and a test of the scalars that are found there. */
export interface Condition {
  readonly path: readonly string[];
  readonly test: (value: JsonPrimitive) => boolean;
  /** Steps that the test takes for each character of a text. */
  readonly cost: number;
}

/** Deepest nesting that is followed; inputs are at most 64 deep, parsed values may be anything. */
const maxDepth = 200;

/**
 * What the rules of one layer may cost together for one call, in steps of some tens of nanoseconds:
 * a value looked at, a key looked up, a part of a text.
 */
export const maxRuleSteps = 2_000_000;

/** Thrown when the rules have cost more than they may. */
export const overBudget = Symbol('over the budget of rules');

interface Walk {
  readonly path: readonly string[];
  readonly condition: Condition;
  readonly judged: Judged;
  /** Some branch led to nothing. */
  hole: boolean;
  /** Scalars that were found. */
  found: number;
}

/** Thrown through the recursion where a value is nested too deep to be read. */
const tooDeep = Symbol('too deep');

/** The two values of a call, and what is known about the tool's schema. */
export interface Judged {
  /** What was sent, as people and events are shown it. */
  readonly input: JsonObject;
  /**
   * What the handler gets. The same object where the schema transforms nothing; undefined where
   * there is none.
   */
  readonly parsed: unknown;
  /**
   * Whether the tool's schema lists a name at its root. An allow does not rest on a member that the
   * schema drops unread.
   */
  readonly declares: (name: string) => boolean;
  /** Steps that are left; starts at {@link maxRuleSteps}. */
  left: number;
}

/** What one value says about an `all` condition. */
type Finding = 'passes' | 'fails' | 'partly there' | 'absent';

/**
 * True when the condition holds for the call. Both values are read, since a schema may turn an
 * input into what a rule would have stopped. A path that only one of them has is judged there.
 * - `any` (deny, ask): one value that passes, in the input or in the parse, is enough. Arrays on
 *   the way or at the end are searched at every depth, `*` also stands for a value that is in no
 *   array, and a key that itself holds dots is found as well: the same value in another wrapping
 *   cannot slip through.
 * - `all` (allow): every value that the path leads to must pass, in the input and in the parse;
 *   there must be one, and no branch may be empty. Arrays on the way are entered only by `*` (every
 *   element) or by an index; at the end all elements count.
 *
 * A value that is nested too deep, or throws when it is read, matches `any` and does not match
 * `all`.
 * @throws overBudget
 */
export function holds(condition: Condition, reading: Reading, judged: Judged): boolean {
  const { path } = condition;
  const { input, parsed, declares } = judged;
  const walk: Walk = { path, condition, judged, hole: false, found: 0 };
  try {
    if (reading === 'any')
      return anyOf(input, 0, walk, 0) || (parsed !== input && anyOf(parsed, 0, walk, 0));
    const sent = findingOf(input, walk);
    if (sent === 'fails' || parsed === input || parsed === undefined) return sent === 'passes';
    const got = findingOf(parsed, walk);
    return got === 'absent' ? sent === 'passes' && declares(path[0] as string) : got === 'passes';
  } catch (error) {
    if (error === overBudget) throw error;
    return reading === 'any';
  }
}

function findingOf(value: unknown, walk: Walk): Finding {
  walk.hole = false;
  walk.found = 0;
  if (!allOf(value, 0, walk, 0)) return 'fails';
  if (walk.found === 0) return 'absent';
  return walk.hole ? 'partly there' : 'passes';
}

function count(walk: Walk, depth: number): void {
  spend(walk, 1);
  if (depth > maxDepth) throw tooDeep;
}

function spend({ judged }: Walk, steps: number): void {
  judged.left -= steps;
  if (judged.left < 0) throw overBudget;
}

/** A test of a scalar costs what the scalar is long. */
function passes(walk: Walk, value: JsonPrimitive): boolean {
  const { test, cost } = walk.condition;
  if (typeof value === 'string') spend(walk, value.length * cost);
  return test(value);
}

/**
 * What a parse may hold beside JSON, as the JSON that stands for it: a rule must see a date, a set
 * or a URL that a schema made.
 */
function plain(node: unknown, walk: Walk): unknown {
  if (typeof node === 'bigint')
    return Number.isSafeInteger(Number(node)) ? Number(node) : String(node);
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
  if (ArrayBuffer.isView(node)) spend(walk, node.byteLength);
  return Reflect.apply(toJSON, node, ['']);
}

function isScalar(value: unknown): value is JsonPrimitive {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  );
}

/**
 * Undefined at the end of the path. An index beyond it would be looked up on `Array.prototype` and
 * further.
 */
function segmentAt({ path }: Walk, at: number): string | undefined {
  return at < path.length ? path[at] : undefined;
}

function isIndex(segment: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(segment);
}

/**
 * True as soon as one value on any reading of the path passes. An array matches whenever one of its
 * elements does, whatever is left of the path.
 */
function anyOf(value: unknown, at: number, walk: Walk, depth: number): boolean {
  count(walk, depth);
  const node = plain(value, walk);
  const segment = segmentAt(walk, at);
  if (Array.isArray(node)) {
    if (segment === '*') {
      return node.some(
        (item) =>
          anyOf(item, at + 1, walk, depth + 1) ||
          (Array.isArray(item) ? anyOf(item, at, walk, depth + 1) : anyKey(item, at, walk, depth)),
      );
    }
    if (
      segment !== undefined &&
      isIndex(segment) &&
      Number(segment) < node.length &&
      anyOf(node[Number(segment)], at + 1, walk, depth + 1)
    )
      return true;
    return node.some((item) => anyOf(item, at, walk, depth + 1));
  }
  if (segment === undefined) return isScalar(node) && passes(walk, node);
  if (anyKey(node, at, walk, depth)) return true;
  // A value outside an array is read as an array of one: `T` for `T[]` is what lenient tools
  // accept.
  return (segment === '*' || segment === '0') && anyOf(node, at + 1, walk, depth + 1);
}

/** Own keys of an object: the segment itself, and the segments from here on joined by dots. */
function anyKey(value: unknown, at: number, walk: Walk, depth: number): boolean {
  const node = plain(value, walk);
  if (!isJsonObject(node)) return false;
  let key = '';
  for (let end = at; end < walk.path.length; end++) {
    spend(walk, 1);
    key = end === at ? (walk.path[end] as string) : `${key}.${walk.path[end]}`;
    if (Object.hasOwn(node, key) && anyOf(node[key], end + 1, walk, depth + 1)) return true;
  }
  return false;
}

/**
 * False as soon as one value does not pass. Branches that lead nowhere leave a hole, which the
 * caller judges.
 */
function allOf(value: unknown, at: number, walk: Walk, depth: number): boolean {
  count(walk, depth);
  const node = plain(value, walk);
  const segment = segmentAt(walk, at);
  if (segment === undefined) {
    if (Array.isArray(node))
      return node.length > 0 && node.every((item) => allOf(item, at, walk, depth + 1));
    if (node === undefined) {
      walk.hole = true;
      return true;
    }
    if (!isScalar(node) || !passes(walk, node)) return false;
    walk.found++;
    return true;
  }
  if (Array.isArray(node)) {
    if (segment === '*')
      return node.length > 0 && node.every((item) => allOf(item, at + 1, walk, depth + 1));
    if (isIndex(segment) && Number(segment) < node.length)
      return allOf(node[Number(segment)], at + 1, walk, depth + 1);
    walk.hole = true;
    return true;
  }
  const object = isJsonObject(node) ? node : undefined;
  if (
    segment === '*' ||
    (segment === '0' && (object === undefined || !Object.hasOwn(object, segment)))
  )
    return allOf(node, at + 1, walk, depth + 1);
  if (object === undefined || !Object.hasOwn(object, segment)) walk.hole = true;
  else if (!allOf(object[segment], at + 1, walk, depth + 1)) return false;
  // A key that holds the dots is another reading of the path: where it exists, it must pass too.
  return object === undefined || allDotted(object, at, walk, depth);
}

function allDotted(object: JsonObject, at: number, walk: Walk, depth: number): boolean {
  let key = walk.path[at] as string;
  for (let end = at + 1; end < walk.path.length; end++) {
    spend(walk, 1);
    key += `.${walk.path[end]}`;
    if (Object.hasOwn(object, key) && !allOf(object[key], end + 1, walk, depth + 1)) return false;
  }
  return true;
}
