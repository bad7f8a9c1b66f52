/** The values that a store returns. */

/** A document and its version. */
export interface StoredValue {
  /** The value as it was written. */
  readonly value: string;
  /** A whole number from 1. It grows by one with each write. */
  readonly version: number;
}

/** An entry of a log. */
export interface LogEntry {
  /** A whole number from 1, without gaps within a log, even after entries were dropped. */
  readonly id: number;
  /** The value as it was added. */
  readonly value: string;
}

/** The result of `RelayStore.read`. */
export interface LogPage {
  /** The entries in order, at most as many as requested. */
  readonly entries: readonly LogEntry[];
  /** The id of the oldest entry that is kept; 0 for an empty log. */
  readonly first: number;
  /** The id of the newest entry. It stays when entries are dropped. */
  readonly last: number;
}

/** The result of adding an entry. */
export interface Appended {
  /** The entry's id. */
  readonly id: number;
  /** The values of the entries that were dropped, oldest first. */
  readonly dropped: readonly string[];
}
