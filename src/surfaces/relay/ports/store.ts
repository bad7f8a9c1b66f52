/**
 * The port through which a relay keeps what must outlive a node: documents, logs, leases and
 * counters of sessions, and counters and due items that do not belong to a session.
 */

import type { OpResult, StoreOp } from './store-ops.ts';
import type { Appended, LogPage, StoredValue } from './stored.ts';

/** The holder of a lease. */
export interface LeaseHolder {
  /** The name under which the lease was taken. */
  readonly holder: string;
  /**
   * Grows each time the lease is taken, even after it has expired. It distinguishes the writes of a
   * former holder from those of the current one.
   */
  readonly epoch: number;
  /** Milliseconds until the lease expires, by the store's clock. */
  readonly remainingMs: number;
}

/** The outcome if one operation did not fit. None of them has taken place. */
export interface Refused {
  /** Always absent. */
  readonly results?: undefined;
  /** The index of the first operation that did not fit. */
  readonly refused: number;
  /** Whether the operation was refused because the session does not exist. */
  readonly gone: boolean;
  /** For a refused `count`: the milliseconds until its window ends. Otherwise 0. */
  readonly retryAfterMs: number;
}

/** The outcome if all operations have taken place. */
export interface AppliedAll<T extends readonly StoreOp[] = readonly StoreOp[]> {
  /** The result of each operation, in their order. */
  readonly results: { readonly [I in keyof T]: OpResult<T[I]> };
  /** Always absent. */
  readonly refused?: undefined;
}

/** The results of the operations of {@link RelayStore.apply}, or the operation that did not fit. */
export type Applied<T extends readonly StoreOp[] = readonly StoreOp[]> = AppliedAll<T> | Refused;

/** An item that a node should attend to. */
export interface DueItem {
  /** The session that the item was scheduled for. It may no longer exist. */
  readonly session: string;
  /** Identifies the item within its session. */
  readonly key: string;
}

/**
 * Sessions and everything that belongs to them. Every operation is atomic, and a write that has
 * resolved is kept. A session that was not created, was dropped or has expired accepts no writes:
 * they resolve to `undefined` or `false`, and reads find nothing. Session names, keys and values
 * are any strings without lone surrogates; values have up to 8 MB. Operations reject only when the
 * store cannot be reached or is broken.
 */
export interface RelayStore {
  /**
   * Carries out 1 to 100 operations on one session, in their order and in one atomic step. They get
   * at most 1 000 keys. Each operation sees the effects of those before it. If one does not fit,
   * none takes place. These do not fit: a `set` over another version, a `renew` that {@link renew}
   * would refuse, a `count` above its limit, and every `set`, `append`, `renew` and `count` in an
   * unknown session. `singleOperations` makes `get`, `set`, `delete`, `append`, `read` and `renew`
   * from it.
   */
  apply<const T extends readonly StoreOp[]>(session: string, ops: T): Promise<Applied<T>>;
  /**
   * Identifies what carries the messages that {@link apply} publishes. Listeners of a bus with the
   * same carrier get them. Without a carrier, `publish` does nothing, and the relay sends the
   * messages itself once the operations have taken place. @default none
   */
  readonly carrier?: object | undefined;
  /**
   * Creates a session with its first document. If a session with that name exists, nothing changes
   * and the result is false.
   * @param expiresAt epoch milliseconds by the store's clock; the session and everything in it is
   * removed then
   */
  create(session: string, key: string, value: string, expiresAt: number): Promise<boolean>;
  /**
   * Moves the end of a session to `expiresAt`, in epoch milliseconds by the store's clock. It never
   * becomes earlier. False for a session that does not exist.
   */
  extend(session: string, expiresAt: number): Promise<boolean>;
  /** Removes a session and everything in it. True for the caller that removed it. */
  drop(session: string): Promise<boolean>;
  /** Reads the documents of these keys, in the order of the keys. */
  get(session: string, keys: readonly string[]): Promise<readonly (StoredValue | undefined)[]>;
  /**
   * Writes a document. With `version`, it replaces only exactly that version; 0 means that the
   * document must not exist.
   * @returns the new version; undefined when the write was refused. The versions of a document that
   * was deleted and written again may continue or start at 1; in both cases a version from before
   * the deletion never matches one from after it.
   */
  set(session: string, key: string, value: string, version?: number): Promise<number | undefined>;
  /**
   * Removes a document. With `version`, it removes only exactly that version. True for the caller
   * that removed it.
   */
  delete(session: string, key: string, version?: number): Promise<boolean>;
  /**
   * Adds an entry to a log and drops all but its last `keep` entries.
   * @returns undefined for an unknown session
   */
  append(session: string, log: string, value: string, keep: number): Promise<Appended | undefined>;
  /**
   * Reads the oldest entries after an id, at most `limit`, and the ids of the oldest and the newest
   * entry of the log.
   */
  read(session: string, log: string, after: number, limit: number): Promise<LogPage>;
  /**
   * Takes a free lease or, with `steal`, also a held one. A holder that takes its lease again gets
   * a new epoch.
   * @returns the epoch; undefined when another holder has the lease, and for an unknown session
   */
  acquire(
    session: string,
    lease: string,
    holder: string,
    ttlMs: number,
    steal?: boolean,
  ): Promise<number | undefined>;
  /**
   * Extends a lease to `ttlMs` from now. False when the epoch is not the current one, or when the
   * lease has expired.
   */
  renew(session: string, lease: string, epoch: number, ttlMs: number): Promise<boolean>;
  /** Releases a lease. False in the same cases as {@link renew}. */
  release(session: string, lease: string, epoch: number): Promise<boolean>;
  /** Finds the current holder of a lease. */
  holder(session: string, lease: string): Promise<LeaseHolder | undefined>;
  /**
   * Counts one use of `key` in a window that starts with its first use and lasts `windowMs`. A
   * refused use does not count. `retryAfterMs` is the number of milliseconds until the window ends
   * if the use is refused, otherwise 0.
   */
  count(
    key: string,
    limit: number,
    windowMs: number,
  ): Promise<{ readonly allowed: boolean; readonly retryAfterMs: number }>;
  /**
   * Schedules an item that is due in `delayMs`. Scheduling it again moves it. The item outlives its
   * session.
   * @param done scheduled items that are removed in the same step. @default none
   */
  schedule(session: string, key: string, delayMs: number, done?: readonly DueItem[]): Promise<void>;
  /** Removes a scheduled item. */
  unschedule(session: string, key: string): Promise<void>;
  /**
   * Takes the due items, oldest first, at most `limit`. Postpones each by `delayMs`, so that only
   * one of several callers gets it.
   */
  due(limit: number, delayMs: number): Promise<readonly DueItem[]>;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  /**
   * Frees what the store itself holds, such as timers, but never a connection that the host made.
   * Idempotent.
   */
  close?(): Promise<void>;
}
