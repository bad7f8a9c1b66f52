/** The operations that a store carries out in one step. */
import type { Appended, LogPage, StoredValue } from './stored.ts';

/** Reads documents. */
export interface GetOp {
  /** The kind of operation. */
  readonly op: 'get';
  /** The keys of the documents. */
  readonly keys: readonly string[];
}

/** Writes a document. */
export interface SetOp {
  /** The kind of operation. */
  readonly op: 'set';
  /** The key of the document. */
  readonly key: string;
  /** What is written. */
  readonly value: string;
  /** It fits only over this version; 0: over no document. @default over any */
  readonly version?: number | undefined;
}

/** Removes a document. */
export interface DeleteOp {
  /** The kind of operation. */
  readonly op: 'delete';
  /** The key of the document. */
  readonly key: string;
  /** Only this version is removed. @default any */
  readonly version?: number | undefined;
}

/** Adds an entry to a log. */
export interface AppendOp {
  /** The kind of operation. */
  readonly op: 'append';
  /** The name of the log. */
  readonly log: string;
  /** The entry. */
  readonly value: string;
  /** Most entries that stay. */
  readonly keep: number;
}

/** Reads the oldest entries of a log after an id. */
export interface ReadOp {
  /** The kind of operation. */
  readonly op: 'read';
  /** The name of the log. */
  readonly log: string;
  /** The id after which to read. */
  readonly after: number;
  /** Most entries to read. */
  readonly limit: number;
}

/** Extends a lease, as `renew` of a store does. With 0 ms, it is released. */
export interface RenewOp {
  /** The kind of operation. */
  readonly op: 'renew';
  /** The name of the lease. */
  readonly lease: string;
  /** It fits only if this is the epoch of its holder. */
  readonly epoch: number;
  /** Milliseconds that it lasts from now on. */
  readonly ttlMs: number;
}

/** Counts a use of a key of the session, which ends with the session. */
export interface CountOp {
  /** The kind of operation. */
  readonly op: 'count';
  /** The key. Other sessions, and the store's `count`, have keys of their own. */
  readonly key: string;
  /** It fits only while fewer uses are counted. */
  readonly limit: number;
  /** Milliseconds from the first use to the end of the window. */
  readonly windowMs: number;
}

/** Sends a message to the channel of the session's name, if the store has a `carrier`. */
export interface PublishOp {
  /** The kind of operation. */
  readonly op: 'publish';
  /** The message. */
  readonly message: string;
  /**
   * The index of an earlier `set`: a space and the version that it has given are added to the
   * message. @default nothing is added
   */
  readonly versionOf?: number | undefined;
}

/** One operation of `RelayStore.apply`. Each does what the method of its name does. */
export type StoreOp = GetOp | SetOp | DeleteOp | AppendOp | ReadOp | RenewOp | CountOp | PublishOp;

/** What each kind of operation gives: `set` the new version, `delete` whether there was one. */
interface OpResults {
  readonly get: readonly (StoredValue | undefined)[];
  readonly set: number;
  readonly delete: boolean;
  readonly append: Appended;
  readonly read: LogPage;
  readonly renew: true;
  readonly count: true;
  readonly publish: true;
}

/** What an operation gives. */
export type OpResult<O extends StoreOp = StoreOp> = OpResults[O['op']];
