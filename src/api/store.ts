/**
 * The port through which everything is kept that must outlive a process: suspended calls, quotas,
 * outcomes of idempotency keys, offloaded outputs, sessions of the relay and of MCP, and the audit
 * log.
 */
import type { MaybePromise } from '../values/maybe-promise.ts';

/**
 * A database with one kind of step: several operations on one space, all or none. A driver has
 * these few methods; what is kept, and under which names, is decided by the features that use it.
 *
 * Every {@link apply} is atomic, also for callers in other processes, and what has been answered is
 * kept. Clocks are the store's: a time to live starts when the operation takes place.
 * `storeConformance` of `host-tools/testing` checks a driver.
 */
export interface Store {
  /**
   * Carries out 1 to 1 000 operations on one space, in their order and in one atomic step. Each
   * sees the effects of those before it. If one does not fit, none takes place, and the answer says
   * which. All names and values are strings: names have 1 to 2 000 UTF-16 units, values at most 8
   * MB in UTF-8. Times are whole milliseconds; times to live, windows and delays are at most 10^13,
   * which is about 317 years.
   *
   * A store in this process may answer at once; others return a promise.
   * @throws MisuseError `invalid_operation` for an operation that no store can carry out: a name
   * that is empty or too long, a lone surrogate, a number out of its range, an operation that this
   * kind of space does not have. It is thrown or rejected before anything is sent.
   * @throws Error if the store cannot be reached, is full or is broken. Such a step may still have
   * taken place. A store that may hear of it later gives the error a member `late`, a promise of
   * the answer, so that what nobody waits for any more can be taken back.
   */
  apply<const T extends readonly Store.Operation[]>(
    space: Store.Space,
    operations: T,
  ): MaybePromise<Store.Outcome<T>>;
  /**
   * Makes items due in `delayMs`, a whole number from 0, and removes the items in `done` in the
   * same step. An item that is scheduled again moves. Items belong to no space and outlive all of
   * them.
   */
  schedule(
    items: readonly Store.Item[],
    delayMs: number,
    done?: readonly Store.Item[],
  ): MaybePromise<void>;
  /**
   * Takes due items, oldest first, at most `limit` (1 to 1 000). Each is postponed by `delayMs` in
   * the same step, so that only one of several callers gets it, and another one if that caller
   * dies.
   */
  due(limit: number, delayMs: number): MaybePromise<readonly Store.Item[]>;
  /**
   * Listens to the messages of a space from the moment when the promise resolves. Messages of one
   * sender arrive in their order. The listener gets `undefined` when some may have been lost, such
   * as after a reconnection; it must read the store then. A listener that throws does not affect
   * others.
   * @returns stops listening; idempotent
   */
  listen(space: Store.Space, listener: (message: string | undefined) => void): Promise<() => void>;
  /**
   * The longest message that is sent on. Of a longer one, listeners get `undefined`. Undefined if
   * reading the store costs less than a message with a copy of what is in it.
   */
  readonly maxMessageChars?: number | undefined;
  /**
   * The operations that this store does not have, such as a folder of files that cannot add up. A
   * feature that needs one of them refuses the store when it is given. @default none
   */
  readonly lacks?: readonly Store.Operation['op'][] | undefined;
  /**
   * What the store is, for messages and logs, such as `PostgreSQL`. Never an address or a secret.
   */
  readonly kind: string;
  /**
   * Makes the tables of this version, or upgrades older ones. Safe from many processes at once.
   * Absent where there is nothing to make.
   */
  migrate?(): Promise<void>;
  /** The versions of the tables: as found, 0 for none, and as this program needs it. */
  status?(): Promise<Store.Status>;
  /** Resolves if the store answers. */
  ping(): MaybePromise<void>;
  /**
   * Frees what the store itself holds, such as timers and connections that it made, but nothing
   * that the host made. Idempotent.
   */
  close(): Promise<void>;
}

/** The types of {@link Store}. */
// biome-ignore lint/style/noNamespace: the port stays one name, where a module would export thirty.
export declare namespace Store {
  /**
   * A named group of data. A shared space always exists, and what is in it goes when its own time
   * is over. A session is a space with an end: it exists from `open` to its end or to `drop`, and
   * all that is in it goes then. Writing to a session that does not exist does not fit; reading
   * finds nothing.
   */
  type Space = { readonly shared: string } | { readonly session: string };

  /** Opens a session. Does not fit if it exists. Sessions only. */
  interface Open {
    readonly op: 'open';
    /** Epoch milliseconds. */
    readonly expiresAt: number;
  }

  /** Moves the end of a session to a later time; an earlier one changes nothing. Sessions only. */
  interface Extend {
    readonly op: 'extend';
    /** Epoch milliseconds. */
    readonly expiresAt: number;
  }

  /**
   * Removes the session and everything in it. True if it existed. It is the last operation of its
   * step. Sessions only.
   */
  interface Drop {
    readonly op: 'drop';
  }

  /** Reads documents. Together, the `get`s and `list`s of a step read at most 1 000. */
  interface Get {
    readonly op: 'get';
    readonly keys: readonly string[];
  }

  /** Writes a document. Returns its new version. */
  interface Set {
    readonly op: 'set';
    readonly key: string;
    readonly value: string;
    /**
     * The version that the document must have; 0 if it must not exist. The operation does not fit
     * otherwise, and the answer has the document as `found`. @default any
     */
    readonly version?: number | undefined;
    /**
     * Milliseconds until the document goes, a whole number from 1. At most one of this and
     * `expiresAt`. @default with its session; never in a shared space
     */
    readonly ttlMs?: number | undefined;
    /** Epoch milliseconds at which the document goes. */
    readonly expiresAt?: number | undefined;
    /**
     * The lists that the document is in while it exists, at most 8, each once; they replace those
     * it was in. Shared spaces only. @default none
     */
    readonly lists?: readonly string[] | undefined;
  }

  /**
   * Starts the time to live of a document again. Its value, version and lists stay. It does not fit
   * if the document is gone or has another version. A document with a time to live is a lease: who
   * wrote it holds it, the version tells this holding from any other, and `touch` renews it.
   */
  interface Touch {
    readonly op: 'touch';
    readonly key: string;
    readonly version: number;
    /** A whole number from 1. */
    readonly ttlMs: number;
  }

  /**
   * Removes a document. True if it was removed; a missing one, or another version, fits as well.
   */
  interface Delete {
    readonly op: 'delete';
    readonly key: string;
    /** The document is removed only if it has this version. @default any */
    readonly version?: number | undefined;
    /** Whether the step must not take place unless the document is removed. @default false */
    readonly required?: boolean | undefined;
  }

  /**
   * Reads the documents of a list in the order of their ends, those without an end last, then of
   * their keys' UTF-8 bytes. Shared spaces only.
   */
  interface List {
    readonly op: 'list';
    readonly list: string;
    /**
     * Where to go on: the end and the key of the last document that was read. @default the start
     */
    readonly after?: { readonly expiresAt: number | null; readonly key: string } | undefined;
    /** From 1 to 1 000. */
    readonly limit: number;
    /**
     * Reads only the beginnings of values: at least so many bytes of UTF-8 where there are so many.
     * The last character may be damaged. @default whole values
     */
    readonly bytes?: number | undefined;
  }

  /** Adds an entry to a log. */
  interface Append {
    readonly op: 'append';
    readonly log: string;
    readonly value: string;
    /** How many of the newest entries the log keeps, 1 to 100 000. @default all */
    readonly keep?: number | undefined;
    /**
     * The id of the newest entry, 0 for an empty log. The operation does not fit otherwise.
     * @default any
     */
    readonly after?: number | undefined;
  }

  /**
   * Reads the oldest entries of a log after an id. Together, the `read`s of a step have a limit of
   * at most 1 000.
   */
  interface Read {
    readonly op: 'read';
    readonly log: string;
    readonly after: number;
    /** From 0, which reads only the ids of the oldest and the newest entry, to 1 000. */
    readonly limit: number;
  }

  /**
   * Counts one use of a key in a window that starts with its first use. Does not fit if `limit`
   * uses were counted in it; the answer says when it ends.
   */
  interface Count {
    readonly op: 'count';
    readonly key: string;
    /** From 1. */
    readonly limit: number;
    /** A whole number from 1. */
    readonly windowMs: number;
  }

  /**
   * A sum over a window that slides: an amount counts until it is `windowMs` old. Shared spaces
   * only.
   */
  interface Sliding {
    /** The key of the sum. No other operation of the step on a sum has it. */
    readonly key: string;
    /** From 0 to 10^34. */
    readonly amount: bigint;
    /** The most that the sum may reach with this amount, from 0 to 10^34. @default any sum fits */
    readonly max?: bigint | undefined;
    /**
     * Milliseconds, a whole number from 1, always the same for a key. Undefined for a sum that does
     * not slide: it is forgotten 30 days after the last amount. @default undefined
     */
    readonly windowMs?: number | undefined;
    /**
     * For a store in this process, which must not keep what nobody can ask for any more: a sum that
     * does not slide is forgotten when this object is garbage-collected. Others ignore it.
     */
    readonly owner?: object | undefined;
    /**
     * For a store in this process, which has bounded room: whose share of it the sum takes. Others
     * ignore it.
     */
    readonly holder?: string | undefined;
  }

  /**
   * Adds an amount to a sum, exactly. Does not fit if the sum would be over `max`; the answer has
   * the use of every `add` of the step then.
   *
   * A store keeps 1 024 amounts of a sum one by one. Beyond that, those of a 1 024th of the window
   * may count together until the last of them is old enough, so that a sum is never too small.
   */
  interface Add extends Sliding {
    readonly op: 'add';
  }

  /** Takes an amount back that `add` has answered. Nothing happens once it is old. */
  interface Subtract {
    readonly op: 'subtract';
    readonly key: string;
    readonly amount: bigint;
    /** What `add` returned. */
    readonly place: string;
  }

  /** Reads a sum, and how the amount would fit. */
  interface Sum extends Sliding {
    readonly op: 'sum';
  }

  /**
   * Sends a message to those who {@link Store.listen} to the space, once the step has taken place.
   */
  interface Publish {
    readonly op: 'publish';
    readonly message: string;
    /**
     * The index of an earlier `set`: a space and the version that it returned are appended to the
     * message. @default nothing is appended
     */
    readonly versionOf?: number | undefined;
  }

  type Operation =
    | Open
    | Extend
    | Drop
    | Get
    | Set
    | Touch
    | Delete
    | List
    | Append
    | Read
    | Count
    | Add
    | Subtract
    | Sum
    | Publish;

  /** A document as it is found. */
  interface Document {
    readonly value: string;
    /**
     * A whole number from 1 that grows with each write. A document that was removed, or is over,
     * and is written again never has a version that it had before.
     */
    readonly version: number;
    /** Milliseconds until it goes, above 0; undefined if it has no end of its own. */
    readonly remainingMs: number | undefined;
  }

  /** A document of a list. */
  interface Listed extends Document {
    readonly key: string;
    /** Epoch milliseconds; null without an end. */
    readonly expiresAt: number | null;
  }

  /** An entry of a log. */
  interface Entry {
    /** A whole number from 1, without gaps within a log, even after entries were dropped. */
    readonly id: number;
    readonly value: string;
  }

  /** What {@link Read} finds. */
  interface Page {
    readonly entries: readonly Entry[];
    /** The id of the oldest entry that is kept; 0 for an empty log. */
    readonly first: number;
    /** The id of the newest entry. It stays when entries are dropped. */
    readonly last: number;
  }

  /** How a sum and an amount compare. */
  interface Use {
    /** The sum without the amount. */
    readonly used: bigint;
    /**
     * Milliseconds until the amount fits if nothing else is added, never too short: 0 if it fits
     * now, undefined if waiting does not help.
     */
    readonly retryAfterMs: number | undefined;
  }

  /** What each operation returns. */
  interface Results {
    readonly open: true;
    readonly extend: true;
    readonly drop: boolean;
    readonly get: readonly (Document | undefined)[];
    /** The new version. */
    readonly set: number;
    readonly touch: true;
    readonly delete: boolean;
    readonly list: readonly Listed[];
    /** The id of the entry, and the values that were dropped, oldest first. */
    readonly append: { readonly id: number; readonly dropped: readonly string[] };
    readonly read: Page;
    readonly count: true;
    /** What {@link Subtract} takes as its `place`. */
    readonly add: string;
    readonly subtract: true;
    readonly sum: Use;
    readonly publish: true;
  }

  /** All operations have taken place: what each returned, in their order. */
  interface Applied<T extends readonly Operation[] = readonly Operation[]> {
    readonly results: { readonly [I in keyof T]: Results[T[I]['op']] };
    readonly refused?: undefined;
  }

  /** No operation has taken place, because one did not fit. */
  interface Refused {
    readonly results?: undefined;
    /** The index of the first operation that did not fit. */
    readonly refused: number;
    /** Whether it did not fit because its session does not exist. */
    readonly gone: boolean;
    /** For a `count`: milliseconds until its window ends, above 0. Otherwise 0. */
    readonly retryAfterMs: number;
    /** For a `set`, a `touch` or a `delete`: the document as it is; undefined if there is none. */
    readonly found?: Document | undefined;
    /** For an `add`: the use of every `add` of the step, in their order. */
    readonly uses?: readonly Use[] | undefined;
  }

  /** The answer of {@link Store.apply}. */
  type Outcome<T extends readonly Operation[] = readonly Operation[]> = Applied<T> | Refused;

  /** Something that is to be looked after at its time. Two names identify it. */
  interface Item {
    readonly owner: string;
    readonly key: string;
  }

  /** What {@link Store.status} answers. */
  interface Status {
    /** The version of the tables that were found; 0 if there are none. */
    readonly found: number;
    /** The version that this program needs. */
    readonly needed: number;
  }
}
