/**
 * Refuses what no store can carry out, before anything is sent. Every driver calls these first, so
 * they are cheap: nothing is put together unless something is wrong.
 */
import type { Store } from '../../api/store.ts';
import { MisuseError } from '../../values/errors/index.ts';
import {
  amount,
  duration,
  maxDurationMs,
  name,
  names,
  type Problem,
  text,
  time,
  version,
  whole,
} from './check-values.ts';

/** The most operations of a step, documents and entries that it reads, and items at once. */
const maxAtOnce = 1_000;
const maxLists = 8;
const maxKept = 100_000;

/** @throws MisuseError `invalid_operation` */
export function checkSpace(space: Store.Space): void {
  const { shared, session } = space as { readonly shared?: string; readonly session?: string };
  const problem =
    (shared === undefined) === (session === undefined)
      ? 'expected one of `shared` and `session`, got both or neither'
      : name('name', shared ?? session);
  if (problem !== undefined) throw misuse('space', problem);
}

/**
 * Checks what is given to `apply`.
 * @throws MisuseError `invalid_operation`
 */
export function checkStep(space: Store.Space, operations: readonly Store.Operation[]): void {
  checkSpace(space);
  const { length } = operations;
  if (length < 1 || length > maxAtOnce)
    throw misuse('apply', `expected 1 to ${maxAtOnce} operations, got ${length}`);
  const shared = (space as { readonly shared?: string }).shared !== undefined;
  let documents = 0;
  let entries = 0;
  let sums = 0;
  for (let index = 0; index < length; index++) {
    const operation = operations[index] as Store.Operation;
    const { op } = operation;
    const problem = (shared ? notShared.has(op) : onlyShared.has(op))
      ? `expected it only in ${shared ? 'sessions' : 'shared spaces'}`
      : problemOf(operation, index, operations, shared);
    if (problem !== undefined) throw misuse(`operation ${index} (\`${op}\`)`, problem);
    if (op === 'get') documents += operation.keys.length;
    else if (op === 'list') documents += operation.limit;
    else if (op === 'read') entries += operation.limit;
    else if (op === 'add' || op === 'sum' || op === 'subtract') sums++;
  }
  if (documents > maxAtOnce || entries > maxAtOnce)
    throw misuse(
      'apply',
      `expected at most ${maxAtOnce} documents and as many entries of logs to be read in a step, ` +
        `got ${documents} and ${entries}`,
    );
  if (sums > 1) checkSums(operations);
}

/**
 * Checks what is given to `schedule`.
 * @throws MisuseError `invalid_operation`
 */
export function checkSchedule(
  items: readonly Store.Item[],
  delayMs: number,
  done: readonly Store.Item[] = [],
): void {
  const problem =
    whole('delayMs', delayMs, 0, maxDurationMs) ?? itemsOf('items', items) ?? itemsOf('done', done);
  if (problem !== undefined) throw misuse('schedule', problem);
}

/**
 * Checks what is given to `due`.
 * @throws MisuseError `invalid_operation`
 */
export function checkDue(limit: number, delayMs: number): void {
  const problem =
    whole('limit', limit, 1, maxAtOnce) ?? whole('delayMs', delayMs, 0, maxDurationMs);
  if (problem !== undefined) throw misuse('due', problem);
}

const notShared: ReadonlySet<string> = new Set(['open', 'extend', 'drop']);
const onlyShared: ReadonlySet<string> = new Set(['list', 'add', 'sum', 'subtract']);

function misuse(where: string, problem: string): MisuseError {
  return new MisuseError('invalid_operation', `Store, ${where}: ${problem}.`);
}

function problemOf(
  operation: Store.Operation,
  index: number,
  operations: readonly Store.Operation[],
  shared: boolean,
): Problem {
  switch (operation.op) {
    case 'open':
    case 'extend':
      return time('expiresAt', operation.expiresAt);
    case 'drop':
      return index === operations.length - 1 ? undefined : 'expected it to be the last operation';
    case 'get':
      return names('keys', operation.keys, maxAtOnce);
    case 'set':
      if (!shared && operation.lists !== undefined) return 'expected `lists` only in shared spaces';
      return setProblem(operation);
    case 'touch':
      return (
        name('key', operation.key) ??
        whole('version', operation.version, 0) ??
        duration('ttlMs', operation.ttlMs)
      );
    case 'delete':
      return name('key', operation.key) ?? version(operation.version);
    case 'list':
      return listProblem(operation);
    case 'append':
      return appendProblem(operation);
    case 'read':
      return (
        name('log', operation.log) ??
        whole('after', operation.after, 0) ??
        whole('limit', operation.limit, 0, maxAtOnce)
      );
    case 'count':
      return (
        name('key', operation.key) ??
        whole('limit', operation.limit, 1) ??
        duration('windowMs', operation.windowMs)
      );
    case 'add':
    case 'sum':
      return slidingProblem(operation);
    case 'subtract':
      return (
        name('key', operation.key) ??
        amount('amount', operation.amount) ??
        name('place', operation.place)
      );
    case 'publish':
      return publishProblem(operation, index, operations);
    default:
      return 'expected a known operation';
  }
}

function setProblem({ key, value, version: expected, ttlMs, expiresAt, lists }: Store.Set) {
  const problem = name('key', key) ?? text('value', value) ?? version(expected);
  if (problem !== undefined) return problem;
  if (ttlMs !== undefined) {
    if (expiresAt !== undefined) return 'expected at most one of `ttlMs` and `expiresAt`';
    return duration('ttlMs', ttlMs) ?? listsProblem(lists);
  }
  return (
    (expiresAt === undefined ? undefined : time('expiresAt', expiresAt)) ?? listsProblem(lists)
  );
}

function listsProblem(lists: readonly string[] | undefined): Problem {
  if (lists === undefined) return undefined;
  for (let index = 1; index < lists.length; index++)
    if (lists.indexOf(lists[index] as string) < index) return 'expected each of `lists` once';
  return names('lists', lists, maxLists);
}

function listProblem({ list, after, limit, bytes }: Store.List): Problem {
  return (
    name('list', list) ??
    whole('limit', limit, 1, maxAtOnce) ??
    (bytes === undefined ? undefined : whole('bytes', bytes, 1)) ??
    (after === undefined
      ? undefined
      : (name('after.key', after.key) ??
        (after.expiresAt === null ? undefined : time('after.expiresAt', after.expiresAt))))
  );
}

function appendProblem({ log, value, keep, after }: Store.Append): Problem {
  return (
    name('log', log) ??
    text('value', value) ??
    (keep === undefined ? undefined : whole('keep', keep, 1, maxKept)) ??
    (after === undefined ? undefined : whole('after', after, 0))
  );
}

function slidingProblem({ key, amount: added, max, windowMs, owner }: Store.Sliding): Problem {
  return (
    name('key', key) ??
    amount('amount', added) ??
    (max === undefined ? undefined : amount('max', max)) ??
    (windowMs === undefined ? undefined : duration('windowMs', windowMs)) ??
    (owner === undefined || (typeof owner === 'object' && owner !== null)
      ? undefined
      : '`owner`: expected an object')
  );
}

function publishProblem(
  { message, versionOf }: Store.Publish,
  index: number,
  operations: readonly Store.Operation[],
): Problem {
  const problem = text('message', message);
  if (problem !== undefined || versionOf === undefined) return problem;
  return versionOf < index && operations[versionOf]?.op === 'set'
    ? undefined
    : '`versionOf`: expected the index of an earlier `set`';
}

/** A sum that is added to or read occurs once in a step, so that its use has one meaning. */
function checkSums(operations: readonly Store.Operation[]): void {
  const seen = new Map<string, 'subtract' | 'add'>();
  operations.forEach((operation, index) => {
    const { op } = operation;
    if (op !== 'add' && op !== 'sum' && op !== 'subtract') return;
    const before = seen.get(operation.key);
    const kind = op === 'subtract' ? 'subtract' : 'add';
    if (before !== undefined && (before === 'add' || kind === 'add'))
      throw misuse(`operation ${index} (\`${op}\`)`, 'expected its key to occur once in a step');
    seen.set(operation.key, kind);
  });
}

function itemsOf(member: string, items: readonly Store.Item[]): Problem {
  if (items.length > maxAtOnce)
    return `\`${member}\`: expected at most ${maxAtOnce}, got ${items.length}`;
  for (const { owner, key } of items) {
    const problem = name('owner', owner) ?? name('key', key);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
