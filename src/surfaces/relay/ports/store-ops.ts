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
  /** The new value. */
  readonly value: string;
  /** The version that the document must have; 0 means that it must not exist. @default any */
  readonly version?: number | undefined;
}

/** Removes a document. */
export interface DeleteOp {
  /** The kind of operation. */
  readonly op: 'delete';
  /** The key of the document. */
  readonly key: string;
  /** The document is removed only if it has this version. @default any */
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
  /** How many of the newest entries the log keeps. */
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
  /** The most entries to read. */
  readonly limit: number;
}

/** Extends a lease, like `renew` of a store. With 0 milliseconds, it releases the lease. */
export interface RenewOp {
  /** The kind of operation. */
  readonly op: 'renew';
  /** The name of the lease. */
  readonly lease: string;
  /** The epoch of the holder. The operation does not fit if it is not the current one. */
  readonly epoch: number;
  /** How many milliseconds the lease lasts from now. */
  readonly ttlMs: number;
}

/** Counts one use of a key of the session. The count ends with the session. */
export interface CountOp {
  /** The kind of operation. */
  readonly op: 'count';
  /** The key. It is separate from the keys of other sessions and of the store's `count`. */
  readonly key: string;
  /** The most uses in a window. The operation does not fit if as many were counted. */
  readonly limit: number;
  /** Milliseconds from the first use to the end of the window. */
  readonly windowMs: number;
}

/** Sends a message to the channel that has the session's name, if the store has a `carrier`. */
export interface PublishOp {
  /** The kind of operation. */
  readonly op: 'publish';
  /** The message. */
  readonly message: string;
  /**
   * The index of an earlier `set`. A space and the version that this `set` returned are appended to
   * the message. @default nothing is appended
   */
  readonly versionOf?: number | undefined;
}

/** One operation of `RelayStore.apply`. Each does what the method of the same name does. */
export type StoreOp = GetOp | SetOp | DeleteOp | AppendOp | ReadOp | RenewOp | CountOp | PublishOp;

/**
 * The result of each kind of operation. `set` returns the new version, and `delete` whether it has
 * removed a document.
 */
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

/** The result of an operation. */
export type OpResult<O extends StoreOp = StoreOp> = OpResults[O['op']];
