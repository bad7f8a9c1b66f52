/**
 * The values that a quota reads in an input: the numbers that it sums, and the values for which it
 * counts.
 */
import { isJsonObject } from '../../values/json/index.ts';
import { capped, maxUnits, UnitSum, unitsOf, unitsOfBigInt } from './units.ts';

/**
 * The deepest nesting that is followed. Inputs are at most 64 deep; parsed values may be deeper.
 */
const maxDepth = 200;

/** The steps that all quotas of a call together may take to read. */
export interface ReadBudget {
  /** Steps left. A value takes one, or more if it takes longer to read. */
  left: number;
}

/** A budget for all quotas of one call: 250 000 steps, of some tens of nanoseconds each. */
export function readBudget(): ReadBudget {
  return { left: 250_000 };
}

/** Further steps for a number that is not a decimal with at most six places. They were measured. */
const longNumberSteps = 15;
/** Further steps for a value that writes its own JSON, such as a date. */
const ownJsonSteps = 10;
/** Most digits of a bigint that is read. Longer ones take long to write as text. */
const maxNamed = 10n ** 40n;

/** Why a value cannot be read. */
export const unreadable: unique symbol = Symbol('unreadable');
export type Unreadable = typeof unreadable;

interface Walk {
  readonly path: readonly string[];
  readonly leaves: unknown[];
  readonly budget: ReadBudget;
}

/**
 * The sum of the numbers at a path, in units; 0 if there are none. It is computed for the input as
 * it was sent and as the handler gets it, and the larger sum counts.
 */
export function sumAt(
  path: readonly string[],
  input: unknown,
  parsed: unknown,
  budget: ReadBudget = readBudget(),
): bigint | Unreadable {
  const isOne = parsed === undefined || parsed === input;
  // A schema may have turned texts into numbers. The values that reach the handler must be numbers.
  const sent = sumIn(path, input, !isOne, budget);
  if (isOne || sent === unreadable) return sent;
  const got = sumIn(path, parsed, false, budget);
  return got === unreadable || got > sent ? got : sent;
}

/**
 * The different values at a path, in the input as it was sent and as the handler gets it. Numbers
 * and booleans are identified by their JSON text, so `22` and `"22"` are one value.
 */
export function subjectsAt(
  path: readonly string[],
  input: unknown,
  parsed: unknown,
  budget: ReadBudget = readBudget(),
): ReadonlySet<string> | Unreadable {
  const leaves = leavesAt(path, input, budget);
  const others = parsed === undefined || parsed === input ? [] : leavesAt(path, parsed, budget);
  if (leaves === unreadable || others === unreadable) return unreadable;
  const subjects = new Set<string>();
  for (const some of [leaves, others]) {
    for (const leaf of some) {
      if (!isName(leaf)) return unreadable;
      subjects.add(String(leaf));
    }
  }
  return subjects.size === 0 ? unreadable : subjects;
}

function isName(leaf: unknown): leaf is string | number | boolean | bigint {
  return (
    typeof leaf === 'string' ||
    typeof leaf === 'boolean' ||
    (typeof leaf === 'bigint' && leaf < maxNamed && -leaf < maxNamed) ||
    Number.isFinite(leaf)
  );
}

function sumIn(
  path: readonly string[],
  root: unknown,
  texts: boolean,
  budget: ReadBudget,
): bigint | Unreadable {
  const leaves = leavesAt(path, root, budget);
  if (leaves === unreadable) return unreadable;
  const sum = new UnitSum();
  for (const leaf of leaves) {
    const number = texts && typeof leaf === 'string' ? numberIn(leaf, budget) : leaf;
    if (typeof number === 'number' && sum.addShort(number)) continue;
    budget.left -= longNumberSteps;
    if (budget.left < 0) return unreadable;
    const amount = amountOf(number);
    if (amount === unreadable) return unreadable;
    sum.add(amount);
  }
  return capped(sum.units);
}

const jsonNumber = /^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The number that a text represents by the grammar of JSON, or else the text. */
function numberIn(text: string, budget: ReadBudget): unknown {
  budget.left -= ownJsonSteps;
  return text.length <= 400 && jsonNumber.test(text) ? Number(text) : text;
}

function amountOf(leaf: unknown): bigint | Unreadable {
  if (typeof leaf === 'bigint') {
    if (leaf < 0n) return unreadable;
    return leaf >= maxUnits ? maxUnits : capped(unitsOfBigInt(leaf));
  }
  return typeof leaf === 'number' && leaf >= 0 && leaf !== Number.POSITIVE_INFINITY
    ? unitsOf(leaf)
    : unreadable;
}

/**
 * Everything at a path, each place once. Arrays along the path and at its end are walked, `*` also
 * matches a value outside an array, and a key that contains dots is found too. So a value in
 * another wrapping still counts.
 */
function leavesAt(
  path: readonly string[],
  root: unknown,
  budget: ReadBudget,
): readonly unknown[] | Unreadable {
  const walk: Walk = { path, leaves: [], budget };
  try {
    return visit(root, 0, walk, 0) ? walk.leaves : unreadable;
  } catch {
    // Reading a parsed value may run the schema's code.
    return unreadable;
  }
}

/** False if the value is too deep or too large to be read. */
function visit(value: unknown, at: number, walk: Walk, depth: number): boolean {
  if (--walk.budget.left < 0 || depth > maxDepth) return false;
  const node = plain(value, walk.budget);
  if (walk.budget.left < 0) return false;
  if (node === undefined) return true;
  const segment = at < walk.path.length ? walk.path[at] : undefined;
  if (Array.isArray(node)) {
    const items: readonly unknown[] = node;
    const index = segment === undefined ? undefined : indexIn(items, segment);
    if (index !== undefined) return visit(items[index], at + 1, walk, depth + 1);
    const next = segment === '*' ? at + 1 : at;
    for (const item of items) if (!visit(item, next, walk, depth + 1)) return false;
    return true;
  }
  if (segment === undefined) {
    walk.leaves.push(node);
    return true;
  }
  const isMember = isJsonObject(node) && Object.hasOwn(node, segment);
  if (isJsonObject(node)) {
    let key = '';
    for (let end = at; end < walk.path.length; end++) {
      if (--walk.budget.left < 0) return false;
      key = end === at ? segment : `${key}.${walk.path[end]}`;
      if (Object.hasOwn(node, key) && !visit(node[key], end + 1, walk, depth + 1)) return false;
    }
  }
  // Lenient tools accept `T` for `T[]`, so a value outside an array is read as an array of one.
  return isMember || (segment !== '*' && segment !== '0')
    ? true
    : visit(node, at + 1, walk, depth + 1);
}

function indexIn(items: readonly unknown[], segment: string): number | undefined {
  return /^(?:0|[1-9]\d{0,9})$/.test(segment) && Number(segment) < items.length
    ? Number(segment)
    : undefined;
}

/** The JSON form of a parsed value, as conditions read it. Undefined once the budget is spent. */
function plain(node: unknown, budget: ReadBudget): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const prototype: unknown = Object.getPrototypeOf(node);
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null)
    return node;
  if (node instanceof Set || node instanceof Map) {
    budget.left -= node.size * 4;
    if (budget.left < 0) return undefined;
    return node instanceof Set ? [...node] : Object.fromEntries(node);
  }
  if (node instanceof String || node instanceof Number || node instanceof Boolean)
    return node.valueOf();
  const { toJSON } = node as { toJSON?: unknown };
  if (typeof toJSON !== 'function') return node;
  budget.left -= ownJsonSteps + (ArrayBuffer.isView(node) ? node.byteLength : 0);
  return budget.left < 0 ? undefined : Reflect.apply(toJSON, node, ['']);
}
