/**
 * The port where a relay keeps what must outlive a node: documents, logs, leases, counters and what
 * is due, each of one session but the last two.
 */

/** A document and how often it was written. */
export interface StoredValue {
  /** As it was written. */
  readonly value: string;
  /** From 1; grows by one with each write. */
  readonly version: number;
}

/** An entry of a log. */
export interface LogEntry {
  /** From 1 and without gaps in a log, also after entries were dropped. */
  readonly id: number;
  /** As it was added. */
  readonly value: string;
}

/** Who holds a lease. */
export interface LeaseHolder {
  /** The name that it was taken under. */
  readonly holder: string;
  /**
   * Grows with each change of hands, also after a lease ran out: what a former holder writes can be
   * told by it.
   */
  readonly epoch: number;
  /** Milliseconds until it runs out, by the store's clock. */
  readonly remainingMs: number;
}

/** Something that a node should look after. */
export interface DueItem {
  /** The session that it was scheduled for; there may be none of that name any more. */
  readonly session: string;
  /** What is due, among the session's. */
  readonly key: string;
}

/**
 * Sessions and all that belongs to them. Every operation is atomic, and what has resolved is kept.
 * Nothing is ever written to a session that was not created, that was dropped or that has expired:
 * such writes resolve to `undefined` or `false`, and reads find nothing. Session names, keys and
 * values are any strings without lone surrogates; values up to 8 MB. Rejects only where the store
 * cannot be reached or is broken.
 */
export interface RelayStore {
  /**
   * Creates a session with its first document. False, and nothing changed, when there is one of
   * that name. @param expiresAt epoch milliseconds by the store's clock; the session and all that
   * is kept of it then goes
   */
  create(session: string, key: string, value: string, expiresAt: number): Promise<boolean>;
  /** Removes a session and all that is kept of it. True for the one who removed it. */
  drop(session: string): Promise<boolean>;
  /** The documents of these keys, in their order. */
  get(session: string, keys: readonly string[]): Promise<readonly (StoredValue | undefined)[]>;
  /**
   * Writes a document; with `version`, only over that very version (0: only where there is none).
   * The new version, or undefined when refused. A document that was deleted and comes again goes on
   * counting or starts at 1; either way no version of one life is taken for another's.
   */
  set(session: string, key: string, value: string, version?: number): Promise<number | undefined>;
  /**
   * Removes a document; with `version`, only that very version. True for the one who removed it.
   */
  delete(session: string, key: string, version?: number): Promise<boolean>;
  /**
   * Adds to a log and drops what is older than its last `keep` entries. The entry's id and the
   * values of what was dropped, oldest first; undefined when there is no such session.
   */
  append(
    session: string,
    log: string,
    value: string,
    keep: number,
  ): Promise<{ readonly id: number; readonly dropped: readonly string[] } | undefined>;
  /**
   * The oldest entries after an id, at most `limit`, and the ids of the oldest and the newest entry
   * there is (0 for an empty log; `last` stays when entries are dropped).
   */
  read(
    session: string,
    log: string,
    after: number,
    limit: number,
  ): Promise<{
    /** In order, at most `limit`. */
    readonly entries: readonly LogEntry[];
    /** The number of the oldest entry that is kept. */
    readonly first: number;
    /** The number of the newest entry. */
    readonly last: number;
  }>;
  /**
   * Takes a lease that nobody holds, or, with `steal`, from whoever holds it. The holder who asks
   * again gets a new epoch. Its epoch; undefined where another holds it, or there is no such
   * session.
   */
  acquire(
    session: string,
    lease: string,
    holder: string,
    ttlMs: number,
    steal?: boolean,
  ): Promise<number | undefined>;
  /**
   * Lengthens a lease to `ttlMs` from now. False for an epoch that is no longer the current one, or
   * has run out.
   */
  renew(session: string, lease: string, epoch: number, ttlMs: number): Promise<boolean>;
  /** Gives a lease back. False as for {@link renew}. */
  release(session: string, lease: string, epoch: number): Promise<boolean>;
  /** Who holds a lease now. */
  holder(session: string, lease: string): Promise<LeaseHolder | undefined>;
  /**
   * Counts one use of `key` in a window that starts with its first use and lasts `windowMs`. What
   * is refused does not count. `retryAfterMs`: until the window ends, where refused; else 0.
   */
  count(
    key: string,
    limit: number,
    windowMs: number,
  ): Promise<{ readonly allowed: boolean; readonly retryAfterMs: number }>;
  /**
   * Remembers that something is due in `delayMs`; again, it moves. Not tied to the session's life.
   */
  schedule(session: string, key: string, delayMs: number): Promise<void>;
  /** Forgets it. */
  unschedule(session: string, key: string): Promise<void>;
  /**
   * What is due, oldest first, at most `limit`, and puts each off by `delayMs`: of several who ask
   * at once, one gets it.
   */
  due(limit: number, delayMs: number): Promise<readonly DueItem[]>;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  /**
   * Frees what the store itself holds, such as timers; never a connection that the host made.
   * Idempotent.
   */
  close?(): Promise<void>;
}
