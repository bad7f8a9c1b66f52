/** What hosts write and read of undo, idempotency, kept outputs and discovery. */

import type { Store } from './store.ts';

/** What is kept of calls that `session.revert` can take back. */
export interface UndoOptions {
  /** Keeps the calls. @default `store` of the registry, or `memoryStore()` on its clock */
  readonly store?: Store | undefined;
  /**
   * Milliseconds for which a call can be taken back. Above 0, at most 2^31-1 (over 24 days).
   * @default 86_400_000
   */
  readonly ttlMs?: number | undefined;
}

/**
 * What `session.revert` returns for a call whose own calls were taken back. If it fails, the same
 * is in `details` of its error, with `stoppedAt`: the id of the call at which it stopped.
 */
export interface RevertedCalls {
  /** The ids of the calls that were taken back now, in this order. */
  readonly reverted: readonly string[];
  /**
   * The calls that cannot be taken back, the last one first. Of a program, also those of tools
   * without `revert`. Calls that never ran and calls of `readOnly` tools are not among them.
   */
  readonly left: readonly CallLeft[];
}

/** A call that `session.revert` leaves as it is. */
export interface CallLeft {
  /** Its id. */
  readonly callId: string;
  /** Its tool, as the program named it. */
  readonly toolName: string;
  /** Why it stays. */
  readonly reason: Left;
}

/**
 * - `no_revert`: its tool cannot take calls back
 * - `not_succeeded`: it ran and failed, or was stopped, so what it did is not known
 * - `not_kept`: it was too large, is too old, or its process died before it was kept
 * - `definition_changed`: its tool was changed or removed since
 * - `revert_ran`: its `revert` has begun before, and failed or was not seen to end
 */
type Left = 'no_revert' | 'not_succeeded' | 'not_kept' | 'definition_changed' | 'revert_ran';

/** What is kept of calls with an idempotency key. */
export interface IdempotencyOptions {
  /**
   * Keeps the outcomes. @default `store` of the registry, or `memoryStore()` on its clock
   */
  readonly store?: Store | undefined;
  /**
   * Milliseconds for which an outcome is kept. Above 0, at most 2^31-1 (over 24 days).
   * @default 86_400_000
   */
  readonly ttlMs?: number | undefined;
  /**
   * Milliseconds after which a process that has not renewed its claim counts as dead. A claim is
   * renewed three times within this time. Above 0, at most 2^31-1.
   * @default 10_000
   */
  readonly leaseMs?: number | undefined;
}

/** How outputs over their budget are kept, for `outputStrategy: "offload"`. */
export interface OffloadOptions {
  /**
   * Keeps the outputs. @default `store` of the registry, or `memoryStore()` on its clock
   */
  readonly store?: Store | undefined;
  /**
   * The most UTF-8 bytes that one session keeps, and that one output may have. The oldest outputs
   * of the session are removed first. A longer output is cut instead. From 1 to 2^26.
   * @default 4_194_304
   */
  readonly maxBytes?: number | undefined;
  /** Milliseconds for which an output is kept. Above 0, at most 2^31-1. @default 3_600_000 */
  readonly ttlMs?: number | undefined;
}

/** What a session lists from the start, and how much it may find. */
export interface DiscoveryOptions {
  /** Names or globs of tools that are always listed. @default none */
  readonly keep?: string | readonly string[] | undefined;
  /**
   * The most tokens of the tools that were found, counted as one token for every four characters of
   * their names, descriptions and schemas. When more are found, those that have not been called for
   * the longest time are removed. From 1.
   * @default 8_000
   */
  readonly maxTokens?: number | undefined;
  /** The most tools that one call to `find_tools` returns. From 1 to 100. @default 8 */
  readonly limit?: number | undefined;
  /**
   * The host's own embedding model. Its ranking is merged with the ranking by words. Each tool is
   * embedded once. If it fails, only words count, and the error is logged.
   * @default words alone
   */
  readonly embed?: Embed | undefined;
}

/** Computes the meaning of each text, as a list of numbers. All lists have the same length. */
export type Embed = (
  texts: readonly string[],
) => Promise<readonly (readonly number[] | Float32Array | Float64Array)[]>;

/** Options of `session.search`. */
export interface SearchOptions {
  /** The most tools that are returned. From 1 to 100. @default 8 */
  readonly limit?: number | undefined;
}

/** A tool that a query describes. */
export interface FoundTool {
  /** The tool's name. */
  readonly name: string;
  /** The tool's description, as a model sees it. */
  readonly description: string;
  /**
   * How well the query describes the tool, from 0 to 1, where 1 is the best of this answer. Scores
   * of two answers cannot be compared.
   */
  readonly score: number;
  /** Whether a call to it needs an approval, or may need one. */
  readonly requiresApproval: boolean;
  /** The words of the query that were found in the tool. */
  readonly why: readonly string[];
}
