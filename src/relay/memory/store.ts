/** The store in this process: fast, bounded by what lives, and gone with the process. */

import { fn, numberFrom, readOptions, type TableOf, withDefault } from '../../options.ts';
import type { RelayStore } from '../ports/store.ts';
import {
  type Documents,
  deleteDocument,
  endDocuments,
  getDocument,
  noDocuments,
  type Place,
  setDocument,
} from './documents.ts';
import { memoryDue } from './due.ts';
import { acquireLease, type Leases, leaseHolder, releaseLease, renewLease } from './leases.ts';
import { appendEntry, emptyLog, endLog, type Log, readEntries } from './log.ts';
import { type Timed, timeQueue } from './queue.ts';
import { createSizeBudget } from './size-budget.ts';
import { sharedStrings } from './strings.ts';
import { memoryWindows } from './windows.ts';

/** What {@link memoryStore} may be told. */
export interface MemoryStoreOptions {
  /**
   * Epoch milliseconds: by it sessions expire, and windows end early. Leases and what is due run on
   * a monotonic clock instead. @default `Date.now`
   */
  readonly now?: (() => number) | undefined;
  /**
   * Most characters of all that is kept, with some for each key and entry; equal documents that are
   * shared count once. Over it writes reject, as those of a Redis do that has no memory left; over
   * three quarters of it no session begins. From 1. @default 1 073 741 824, which is 1 to 2 GB
   */
  readonly maxChars?: number | undefined;
}

/** Plain data, as there are many. */
interface Session {
  readonly name: string;
  readonly documents: Documents;
  readonly logs: Map<string, Log>;
  readonly leases: Leases;
  /** `at`: epoch milliseconds. */
  readonly expiry: Timed<string>;
}

const memoryTable = {
  now: withDefault(fn<() => number>(), () => Date.now()),
  maxChars: withDefault(numberFrom(1), 1_024 ** 3),
} satisfies TableOf<MemoryStoreOptions>;
/** Characters that a session takes beside its documents and logs. */
const sessionChars = 500;

/**
 * Most sessions, and most windows, that one operation frees: nobody waits long for many that ended
 * at once.
 */
const sweptAtOnce = 500;

/**
 * Keeps sessions in this process. An expired session is gone for whoever asks from that very moment
 * on; its memory is freed then, or by and by as sessions are created, uses counted, and due items
 * scheduled or asked for. It sets no timers. Equal documents of 1 KB to 1 MB share one string over
 * all sessions.
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
  const sessions = new Map<string, Session>();
  const expiries = timeQueue<string>();
  const windows = memoryWindows(now);
  const dueItems = memoryDue();
  const budget = createSizeBudget(maxChars);
  const place: Place = { budget: budget, strings: sharedStrings(budget) };

  const remove = (session: Session): void => {
    sessions.delete(session.name);
    expiries.remove(session.expiry);
    endDocuments(session.documents, place);
    for (const log of session.logs.values()) endLog(log, budget);
    budget.add(-sessionChars);
  };
  const find = (name: string): Session | undefined => {
    const session = sessions.get(name);
    if (session === undefined || session.expiry.at > now()) return session;
    remove(session);
    return undefined;
  };
  const sweep = (): void => {
    const time = now();
    for (let swept = 0; swept < sweptAtOnce; swept++) {
      const expired = expiries.first(time);
      if (expired === undefined) break;
      remove(sessions.get(expired.item) as Session);
    }
    windows.sweep(sweptAtOnce);
  };

  return {
    async create(name, key, value, expiresAt) {
      sweep();
      if (find(name) !== undefined) return false;
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
        expiry: expiries.add(expiresAt, name),
      });
      return true;
    },
    async drop(name) {
      const session = find(name);
      if (session !== undefined) remove(session);
      return session !== undefined;
    },
    async get(name, keys) {
      const session = find(name);
      return keys.map((key) => session && getDocument(session.documents, key));
    },
    async set(name, key, value, version) {
      const session = find(name);
      return session && setDocument(session.documents, place, key, value, version);
    },
    async delete(name, key, version) {
      const session = find(name);
      return session !== undefined && deleteDocument(session.documents, place, key, version);
    },
    async append(name, logName, value, keep) {
      const session = find(name);
      if (session === undefined) return undefined;
      let log = session.logs.get(logName);
      if (log === undefined) {
        log = emptyLog();
        session.logs.set(logName, log);
      }
      return appendEntry(log, budget, value, keep);
    },
    async read(name, logName, after, limit) {
      const log = find(name)?.logs.get(logName);
      return log === undefined
        ? { entries: [], first: 0, last: 0 }
        : readEntries(log, after, limit);
    },
    async acquire(name, lease, holder, ttlMs, steal = false) {
      const session = find(name);
      return session && acquireLease(session.leases, lease, holder, ttlMs, steal);
    },
    async renew(name, lease, epoch, ttlMs) {
      const session = find(name);
      return session !== undefined && renewLease(session.leases, lease, epoch, ttlMs);
    },
    async release(name, lease, epoch) {
      const session = find(name);
      return session !== undefined && releaseLease(session.leases, lease, epoch);
    },
    async holder(name, lease) {
      const session = find(name);
      return session && leaseHolder(session.leases, lease);
    },
    async count(key, limit, windowMs) {
      sweep();
      return windows.count(key, limit, windowMs);
    },
    async schedule(session, key, delayMs) {
      sweep();
      dueItems.schedule({ session, key }, delayMs);
    },
    async unschedule(session, key) {
      dueItems.unschedule(session, key);
    },
    async due(limit, delayMs) {
      sweep();
      return dueItems.due(limit, delayMs);
    },
    async ping() {},
  };
}
