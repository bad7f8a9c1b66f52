/** How much of a quota is used, as people and programs are shown it. */

/** A quota as one call finds it. If it is counted for several values, the one that is used most. */
export interface QuotaLevel {
  /** The id of the quota. */
  readonly quota: string;
  /** Where the quota was written: `registry`, `profile:<id>` or `session`. */
  readonly source: string;
  /** What the calls of a window may add up to. */
  readonly max: number;
  /** What they add up to now, without this call. */
  readonly used: number;
  /** What this call adds. */
  readonly amount: number;
  /**
   * Milliseconds until the call fits if nothing else is spent: 0 if it fits now, null if waiting
   * does not help.
   */
  readonly retryAfterMs: number | null;
}
