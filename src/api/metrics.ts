/** The counts of a session or a registry, as `metrics()` returns them. */

/** How many calls there were, by how they ended. */
export type CallCounts = {
  /** All calls that have ended, or were suspended. */
  readonly calls: number;
  /** Calls that ended with a result. */
  readonly succeeded: number;
  /** Calls whose handler or executor failed. */
  readonly failed: number;
  /** Calls that were refused before their handler ran. */
  readonly rejected: number;
  /** Calls that were cancelled by their caller, or ended by the closing of the session. */
  readonly cancelled: number;
  /** Calls that were suspended for an approval. */
  readonly pending: number;
  /** Calls that ended as `policy_denied`, `policy_error` or `approval_denied`. */
  readonly denied: number;
};

/**
 * A histogram of durations in milliseconds, from a call's arrival to its end, waits for approvals
 * and slots included. It has the calls that succeeded or failed.
 */
export type DurationMetrics = {
  /** How many calls it has. */
  readonly count: number;
  /** The milliseconds of all of them together. */
  readonly sum: number;
  /**
   * For each upper bound `le`, in milliseconds and ascending, how many calls took that long or
   * less. Calls beyond the last bound are counted only in `count`, the bucket of `+Inf`.
   */
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
};

/** The counts of one tool. */
export type ToolMetrics = CallCounts & {
  /** How often each reason occurred; the code, if an error has no reason. */
  readonly byReason: Readonly<Record<string, number>>;
  /** How long its calls took. */
  readonly durationMs: DurationMetrics;
};

/** The counts of the calls that run in one place. */
export type ExecutorMetrics = CallCounts & {
  /** How long these calls took. */
  readonly durationMs: DurationMetrics;
};

/** The counts of one rule. */
export type RuleMetrics = {
  /** Calls that it matched, whether or not it decided them. */
  readonly matched: number;
  /** Calls that it, as a shadow rule, would have decided differently. */
  readonly shadow: number;
};

/** The counts of a session, or of all sessions of a registry. Plain JSON, and a copy. */
export type CallMetrics = CallCounts & {
  /** `denied` divided by `calls`, from 0 to 1. */
  readonly denyRate: number;
  /** Handlers that settled after their call had ended. */
  readonly lateSettles: number;
  /** The counts of each tool that was called. Calls to unknown names are in the totals only. */
  readonly byTool: Readonly<Record<string, ToolMetrics>>;
  /**
   * The counts of the calls by the place where their tool runs: `inline`, `external`, or the name
   * that its executor gives. Calls to unknown names are in the totals only. Beyond 100 places, the
   * rest is `_other`.
   */
  readonly byExecutor: Readonly<Record<string, ExecutorMetrics>>;
  /** How often each reason occurred; the code, if an error has no reason. */
  readonly byReason: Readonly<Record<string, number>>;
  /** The counts of each rule that has matched, by its id. Rules with the same id share one. */
  readonly byRule: Readonly<Record<string, RuleMetrics>>;
};
