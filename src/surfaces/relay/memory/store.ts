/** The store in memory. It is fast, limited in size, and lost when the process ends. */

import { type Timed, type TimeQueue, timeQueue } from '../../../stores/memory/queue.ts';
import {
  fn,
  numberFrom,
  readOptions,
  type TableOf,
  withDefault,
} from '../../../values/options/index.ts';
import { singleOperations } from '../ports/single-operations.ts';
import type { RelayStore } from '../ports/store.ts';
import { applyOps, type SessionData } from './apply.ts';
import { endDocuments, noDocuments, type Place, setDocument } from './documents.ts';
import { type MemoryDue, memoryDue } from './due.ts';
import { acquireLease, leaseHolder, releaseLease } from './leases.ts';
import { endLog } from './log.ts';
import { createSizeBudget, type SizeBudget } from './size-budget.ts';
import { sharedStrings } from './strings.ts';
import { type MemoryWindows, memoryWindows } from './windows.ts';

/** Settings of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * The time in epoch milliseconds. Sessions expire by this clock. If it jumps, a window may end
   * early. Leases and due items use a monotonic clock instead. @default `Date.now`
   */
  readonly now?: (() => number) | undefined;
  /**
   * The most characters that the store keeps, from 1. The count includes an overhead for each key
   * and entry; a document that sessions share counts once. When the store is full, writes reject,
   * as they do in a Redis that has run out of memory. Once it is three quarters full, no session
   * can be created.
   * @default 1_073_741_824, which takes 1 to 2 GB of memory
   */
  readonly maxChars?: number | undefined;
}

/** A session. It is plain data, because there are many sessions. */
interface Session extends SessionData {
  readonly name: string;
  /** Its `at` is in epoch milliseconds. */
  expiry: Timed<string>;
}

const memoryTable = {
  now: withDefault(fn<() => number>(), () => Date.now()),
  maxChars: withDefault(numberFrom(1), 1_024 ** 3),
} satisfies TableOf<MemoryStoreOptions>;

/** Everything that a store keeps. */
interface Memory {
  readonly now: () => number;
  readonly sessions: Map<string, Session>;
  readonly expiries: TimeQueue<string>;
  readonly windows: MemoryWindows;
  readonly dueItems: MemoryDue;
  readonly budget: SizeBudget;
  readonly place: Place;
}

/** Characters that a session takes in addition to its documents and logs. */
const sessionChars = 500;

/**
 * The most sessions and the most windows that one operation frees. The limit keeps callers from
 * waiting long when many end at once.
 */
const sweptAtOnce = 500;

/**
 * Keeps sessions in this process. A session cannot be read once it has expired. Its memory is freed
 * at that time or later, when sessions are created, uses are counted, or due items are scheduled or
 * requested. The store sets no timers. Sessions with equal documents of 1 KB to 1 MB share one
 * string.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { createRelay, memoryStore } from 'host-tools/relay';
 *
 * const relay = createRelay({ store: memoryStore({ maxChars: 64 * 1024 * 1024 }) });
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): RelayStore {
  const { now, maxChars } = readOptions('memoryStore', options, memoryTable);
  const budget = createSizeBudget(maxChars);
  const memory: Memory = {
    now,
    sessions: new Map(),
    expiries: timeQueue(),
    windows: memoryWindows(now),
    dueItems: memoryDue(),
    budget,
    place: { budget, strings: sharedStrings(budget) },
  };
  const apply: RelayStore['apply'] = async (name, ops) => applyOps(memory, find(memory, name), ops);
  return {
    apply,
    ...singleOperations(apply),
    ...sessionOperations(memory),
    ...leaseOperations(memory),
    ...timeOperations(memory),
  };
}

/** Finds a session by its name, unless it has expired. */
function find(memory: Memory, name: string): Session | undefined {
  const session = memory.sessions.get(name);
  if (session === undefined || session.expiry.at > memory.now()) return session;
  remove(memory, session);
  return undefined;
}

function remove({ sessions, expiries, place, budget }: Memory, session: Session): void {
  sessions.delete(session.name);
  expiries.remove(session.expiry);
  endDocuments(session.documents, place);
  for (const log of session.logs.values()) endLog(log, budget);
  budget.add(-sessionChars);
}

/** Frees expired sessions and ended windows. */
function sweep(memory: Memory): void {
  const time = memory.now();
  for (let swept = 0; swept < sweptAtOnce; swept++) {
    const expired = memory.expiries.first(time);
    if (expired === undefined) break;
    remove(memory, memory.sessions.get(expired.item) as Session);
  }
  memory.windows.sweep(sweptAtOnce);
}

function sessionOperations(memory: Memory): Pick<RelayStore, 'create' | 'extend' | 'drop'> {
  const { sessions, expiries, place, budget } = memory;
  return {
    async create(name, key, value, expiresAt) {
      sweep(memory);
      if (find(memory, name) !== undefined) return false;
      budget.admit();
      const documents = noDocuments();
      budget.add(sessionChars);
      try {
        setDocument(documents, place, key, value);
      } catch (error) {
        budget.add(-sessionChars);
        throw error;
      }
      sessions.set(name, {
        name,
        documents,
        logs: new Map(),
        leases: new Map(),
        counts: undefined,
        expiry: expiries.add(expiresAt, name),
      });
      return true;
    },
    async extend(name, expiresAt) {
      const session = find(memory, name);
      if (session !== undefined && expiresAt > session.expiry.at) {
        expiries.remove(session.expiry);
        session.expiry = expiries.add(expiresAt, name);
      }
      return session !== undefined;
    },
    async drop(name) {
      const session = find(memory, name);
      if (session !== undefined) remove(memory, session);
      return session !== undefined;
    },
  };
}

function leaseOperations(memory: Memory): Pick<RelayStore, 'acquire' | 'release' | 'holder'> {
  return {
    async acquire(name, lease, holder, ttlMs, steal = false) {
      const session = find(memory, name);
      return session && acquireLease(session.leases, lease, holder, ttlMs, steal);
    },
    async release(name, lease, epoch) {
      const session = find(memory, name);
      return session !== undefined && releaseLease(session.leases, lease, epoch);
    },
    async holder(name, lease) {
      const session = find(memory, name);
      return session && leaseHolder(session.leases, lease);
    },
  };
}

function timeOperations(
  memory: Memory,
): Pick<RelayStore, 'count' | 'schedule' | 'unschedule' | 'due' | 'ping'> {
  const { windows, dueItems } = memory;
  return {
    async count(key, limit, windowMs) {
      sweep(memory);
      return windows.count(key, limit, windowMs);
    },
    async schedule(session, key, delayMs, done = []) {
      sweep(memory);
      for (const item of done) dueItems.unschedule(item.session, item.key);
      dueItems.schedule({ session, key }, delayMs);
    },
    async unschedule(session, key) {
      dueItems.unschedule(session, key);
    },
    async due(limit, delayMs) {
      sweep(memory);
      return dueItems.due(limit, delayMs);
    },
    async ping() {},
  };
}
