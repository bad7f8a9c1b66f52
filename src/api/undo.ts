/** How calls are taken back. */

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

/** What `session.revert` returns for a call whose own calls were taken back. */
export interface RevertedCalls {
  /** The ids of the calls that were taken back now, in this order. */
  readonly reverted: readonly string[];
}
