/** How much of a quota is used, for people and programs. */

/**
 * A quota as one call finds it. If it is counted for several values, this is the one with the
 * highest use.
 */
export interface QuotaLevel {
  /** The id of the quota. */
  readonly quota: string;
  /** Where the quota was written: `registry`, `profile:<id>` or `session`. */
  readonly source: string;
  /** The most that the calls of a window may add up to. */
  readonly max: number;
  /** The present sum, without this call. */
  readonly used: number;
  /** The amount that this call adds. */
  readonly amount: number;
  /**
   * Milliseconds until the call fits if nothing else is spent: 0 if it fits now, null if waiting
   * does not help.
   */
  readonly retryAfterMs: number | null;
}
