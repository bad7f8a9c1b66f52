/** Carries out several operations on one session in memory, in one step. */
import type { Applied, Refused } from '../ports/store.ts';
import type { OpResult, StoreOp } from '../ports/store-ops.ts';
import {
  type Documents,
  deleteDocument,
  getDocument,
  type Place,
  roomFor,
  setDocument,
} from './documents.ts';
import { isHeld, type Leases, renewLease } from './leases.ts';
import { appendEntry, emptyLog, entryChars, type Log, readEntries } from './log.ts';
import { countUse, leftOf, type Window } from './windows.ts';

/**
 * The parts of a session that operations work on. It is plain data, because there are many
 * sessions.
 */
export interface SessionData {
  readonly documents: Documents;
  readonly logs: Map<string, Log>;
  readonly leases: Leases;
  /** Counted uses by key; undefined before the first use. */
  counts: Map<string, Window> | undefined;
}

/** What operations need besides the session. */
export interface ApplyWorld {
  readonly place: Place;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Carries out all operations, or none if one of them does not fit.
 * @throws Error when the store is full
 */
export function applyOps<T extends readonly StoreOp[]>(
  world: ApplyWorld,
  session: SessionData | undefined,
  ops: T,
): Applied<T> {
  const refused = session === undefined ? refusedOfNone(ops) : firstMisfit(world, session, ops);
  if (refused !== undefined) return refused;
  const { budget } = world.place;
  // Each operation checks the size budget itself. The sum is checked first, so that no operation
  // takes place if a later one does not fit into the budget.
  if (session !== undefined && ops.length > 1)
    budget.check(ops.reduce((sum, op) => sum + roomOf(session, op), 0));
  return { results: ops.map((op) => run(world, session, op)) } as unknown as Applied<T>;
}

const writing: ReadonlySet<StoreOp['op']> = new Set(['set', 'append', 'renew', 'count']);

function refusedOfNone(ops: readonly StoreOp[]): Refused | undefined {
  const refused = ops.findIndex(({ op }) => writing.has(op));
  return refused === -1 ? undefined : { refused, gone: true, retryAfterMs: 0 };
}

/**
 * Finds the first operation that does not fit, given the effects of those before it. Changes
 * nothing.
 */
function firstMisfit(
  { now }: ApplyWorld,
  { documents, leases, counts }: SessionData,
  ops: readonly StoreOp[],
): Refused | undefined {
  // The changes that the operations so far would make. Later operations depend on them.
  let versions: Map<string, number> | undefined;
  let released: Set<string> | undefined;
  let uses: Map<string, number> | undefined;
  let { floor } = documents;
  const last = ops.length - 1;
  for (let refused = 0; refused <= last; refused++) {
    const op = ops[refused] as StoreOp;
    let retryAfterMs: number | undefined;
    if (op.op === 'set' || op.op === 'delete') {
      const version = versions?.get(op.key) ?? documents.kept.get(op.key)?.version ?? 0;
      const fits = op.version === undefined || op.version === version;
      if (op.op === 'set' && !fits) retryAfterMs = 0;
      else if (refused < last && (op.op === 'set' || (fits && version > 0))) {
        versions ??= new Map();
        versions.set(op.key, op.op === 'set' ? (version || floor) + 1 : 0);
        if (op.op === 'delete') floor = Math.max(floor, version);
      }
    } else if (op.op === 'renew') {
      if (released?.has(op.lease) || !isHeld(leases, op.lease, op.epoch)) retryAfterMs = 0;
      if (op.ttlMs <= 0) released = (released ?? new Set()).add(op.lease);
    } else if (op.op === 'count') {
      const { key, limit, windowMs } = op;
      const used = uses?.get(key) ?? 0;
      const left = leftOf(counts?.get(key), limit - used, windowMs, now());
      if (left > 0) retryAfterMs = left;
      if (refused < last) uses = (uses ?? new Map()).set(key, used + 1);
    }
    if (retryAfterMs !== undefined) return { refused, gone: false, retryAfterMs };
  }
  return undefined;
}

/** The most characters that an operation may add. */
function roomOf({ documents }: SessionData, op: StoreOp): number {
  if (op.op === 'set') return Math.max(0, roomFor(documents, op.key, op.value));
  return op.op === 'append' ? entryChars + op.value.length : 0;
}

/**
 * Carries out an operation that fits. The session is undefined only for operations that do not
 * write.
 */
function run({ place, now }: ApplyWorld, session: SessionData | undefined, op: StoreOp): OpResult {
  switch (op.op) {
    case 'get':
      return op.keys.map((key) => session && getDocument(session.documents, key));
    case 'set':
      return setDocument((session as SessionData).documents, place, op.key, op.value) as number;
    case 'delete':
      return session !== undefined && deleteDocument(session.documents, place, op.key, op.version);
    case 'append':
      return appendEntry(logOf(session as SessionData, op.log), place.budget, op.value, op.keep);
    case 'read': {
      const log = session?.logs.get(op.log);
      return log === undefined
        ? { entries: [], first: 0, last: 0 }
        : readEntries(log, op.after, op.limit);
    }
    case 'renew':
      renewLease((session as SessionData).leases, op.lease, op.epoch, op.ttlMs);
      return true;
    case 'count': {
      const counted = session as SessionData;
      counted.counts ??= new Map();
      counted.counts.set(op.key, countUse(counted.counts.get(op.key), op.windowMs, now()));
      return true;
    }
    case 'publish':
      return true;
  }
}

function logOf({ logs }: SessionData, name: string): Log {
  const found = logs.get(name);
  if (found !== undefined) return found;
  const log = emptyLog();
  logs.set(name, log);
  return log;
}
