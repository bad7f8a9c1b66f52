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
