/** What a quota reads in an input: the numbers that it adds up, and the values it is counted for. */
import { isJsonObject } from '../json.ts';
import { capped, mostUnits, unitsOf, unitsOfBigInt } from '../quota/units.ts';

/** The deepest nesting that is followed. Inputs are at most 64 deep; parsed values may be deeper. */
const maxDepth = 200;
/** Most values that are looked at for one path. */
const maxSteps = 200_000;

/** Why a value cannot be read. */
export const unreadable: unique symbol = Symbol('unreadable');
export type Unreadable = typeof unreadable;

interface Walk {
  readonly path: readonly string[];
  readonly leaves: unknown[];
  steps: number;
}

/**
 * The sum of the numbers at a path, in units; 0 if there are none. Of the input as it was sent and
 * as the handler gets it, the larger sum counts.
 */
export function sumAt(
  path: readonly string[],
  input: unknown,
  parsed: unknown,
): bigint | Unreadable {
  const isOne = parsed === undefined || parsed === input;
  // A schema may have made numbers of texts. What reaches the handler must be numbers.
  const sent = sumIn(path, input, !isOne);
  if (isOne || sent === unreadable) return sent;
  const got = sumIn(path, parsed, false);
  return got === unreadable || got > sent ? got : sent;
}

/**
 * The different values at a path, of both the input as it was sent and as the handler gets it.
 * Numbers and booleans are named by their JSON text: `22` and `"22"` are one value.
 */
export function subjectsAt(
  path: readonly string[],
  input: unknown,
  parsed: unknown,
): ReadonlySet<string> | Unreadable {
  const leaves = leavesAt(path, input);
  const others = parsed === undefined || parsed === input ? [] : leavesAt(path, parsed);
  if (leaves === unreadable || others === unreadable) return unreadable;
  const subjects = new Set<string>();
  for (const leaf of [...leaves, ...others]) {
    if (!isName(leaf)) return unreadable;
    subjects.add(String(leaf));
  }
  return subjects.size === 0 ? unreadable : subjects;
}

function isName(leaf: unknown): leaf is string | number | boolean | bigint {
  return (
    typeof leaf === 'string' ||
    typeof leaf === 'boolean' ||
    typeof leaf === 'bigint' ||
    Number.isFinite(leaf)
  );
}

function sumIn(path: readonly string[], root: unknown, texts: boolean): bigint | Unreadable {
  const leaves = leavesAt(path, root);
  if (leaves === unreadable) return unreadable;
  let sum = 0n;
  for (const leaf of leaves) {
    const amount = amountOf(leaf, texts);
    if (amount === unreadable) return unreadable;
    sum += amount;
  }
  return capped(sum);
}

const jsonNumber = /^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function amountOf(leaf: unknown, texts: boolean): bigint | Unreadable {
  if (typeof leaf === 'bigint') {
    if (leaf < 0n) return unreadable;
    return leaf >= mostUnits ? mostUnits : capped(unitsOfBigInt(leaf));
  }
  const value =
    texts && typeof leaf === 'string' && leaf.length <= 400 && jsonNumber.test(leaf)
      ? Number(leaf)
      : leaf;
  return typeof value === 'number' && value >= 0 && value !== Number.POSITIVE_INFINITY
    ? unitsOf(value)
    : unreadable;
}

/**
 * Everything at a path, each place once. Arrays along the path and at its end are walked, `*` also
 * takes a value outside an array, and a key that contains dots is found too: a value that is wrapped
 * differently still counts.
 */
function leavesAt(path: readonly string[], root: unknown): readonly unknown[] | Unreadable {
  const walk: Walk = { path, leaves: [], steps: maxSteps };
  try {
    return visit(root, 0, walk, 0) ? walk.leaves : unreadable;
  } catch {
    // Reading a value that a schema made may run its code.
    return unreadable;
  }
}

/** False where the value is too deep or too large to be read. */
function visit(value: unknown, at: number, walk: Walk, depth: number): boolean {
  if (--walk.steps < 0 || depth > maxDepth) return false;
  const node = plain(value);
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
      if (--walk.steps < 0) return false;
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

/** The JSON form of a value that a schema made, as conditions read it. */
function plain(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const prototype: unknown = Object.getPrototypeOf(node);
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null)
    return node;
  if (node instanceof Set) return [...node];
  if (node instanceof Map) return Object.fromEntries(node);
  if (node instanceof String || node instanceof Number || node instanceof Boolean)
    return node.valueOf();
  const { toJSON } = node as { toJSON?: unknown };
  return typeof toJSON === 'function' ? Reflect.apply(toJSON, node, ['']) : node;
}
