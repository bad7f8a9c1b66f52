/**
 * How a rule's `when` reads an input: paths and tests. Deny and ask take the widest reading of a
 * path, allow the narrowest.
 */
import { isJsonObject, type JsonObject, type JsonPrimitive } from '../json.ts';

/** How a path is read: `any` by a deny or ask, `all` by an allow. */
export type Reading = 'any' | 'all';

/** One condition: a path and a test of the scalars that are found there. */
export interface Condition {
  readonly path: readonly string[];
  readonly test: (value: JsonPrimitive) => boolean;
  /** Steps that the test takes for each character of a text. */
  readonly cost: number;
}

/** The deepest nesting that is followed. Inputs are at most 64 deep; parsed values may be deeper. */
const maxDepth = 200;

/**
 * How many steps the rules of one layer may take together for one call. A step is a value looked
 * at, a key looked up, or a part of a text tested, and takes some tens of nanoseconds.
 */
export const maxRuleSteps = 2_000_000;

/** Thrown when the rules of a layer have used up their steps. */
export const overBudget = Symbol('over the budget of rules');

interface Walk {
  readonly path: readonly string[];
  readonly condition: Condition;
  readonly judged: Judged;
  /** Whether some branch led to no value. */
  hole: boolean;
  /** How many scalars were found. */
  found: number;
}

/** Thrown where a value is nested too deep to be read. */
const tooDeep = Symbol('too deep');

/** The two values of a call, and what is known about the tool's schema. */
export interface Judged {
  /** What was sent, as people and events see it. */
  readonly input: JsonObject;
  /**
   * What the handler gets: the same object where the schema transforms nothing, undefined where
   * there is no parsed value.
   */
  readonly parsed: unknown;
  /**
   * Whether the tool's schema lists a name at its root. An allow must not depend on a member that
   * the schema drops.
   */
  readonly declares: (name: string) => boolean;
  /** Steps left. Starts at {@link maxRuleSteps}. */
  left: number;
}

/** How one value answers an `all` condition. */
type Finding = 'passes' | 'fails' | 'partly there' | 'absent';

/**
 * Whether the condition holds for the call. Both the input and the parsed value are read, since a
 * schema may turn an input into something that a rule would have stopped. A path that only one of
 * them has is judged there.
 * - `any` (deny, ask): one passing value, in the input or the parsed value, is enough. Arrays along
 *   the path and at its end are searched at every depth, `*` also matches a value outside an array,
 *   and a key that contains dots is found too. Wrapping a value differently does not evade the rule.
 * - `all` (allow): every value that the path leads to must pass, in the input and in the parsed
 *   value. There must be at least one, and no branch may be empty. Arrays along the path are entered
 *   only by `*` (every element) or by an index; at the end, all elements count.
 *
 * A value that is nested too deep, or that throws when it is read, matches `any` and does not match
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

/** The cost of a test grows with the length of the text. */
function passes(walk: Walk, value: JsonPrimitive): boolean {
  const { test, cost } = walk.condition;
  if (typeof value === 'string') spend(walk, value.length * cost);
  return test(value);
}

/**
 * The JSON form of a parsed value that is not JSON, so that a rule can judge a date, a set or a URL
 * that a schema made.
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
  // Lenient tools accept `T` for `T[]`, so a value outside an array is read as an array of one.
  return (segment === '*' || segment === '0') && anyOf(node, at + 1, walk, depth + 1);
}

/** Looks up the segment itself, and then longer keys made of the following segments and dots. */
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
 * False as soon as one value does not pass. A branch that leads to no value sets `hole`, which the
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
  // A key that contains dots is another reading of the path. Where it exists, it must pass too.
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
