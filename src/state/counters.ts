/** What is counted of a session's calls. */

export interface Counters {
  /** Counts here no more, but there. */
  heir?: Counters | undefined;
  calls: number;
  succeeded: number;
  failed: number;
  rejected: number;
  cancelled: number;
  pending: number;
  denied: number;
}

/** Counts beside those that bindings keep. */
export interface SessionMetrics {
  calls: number;
  /** Calls of names that mean nothing here. */
  unknown: Counters;
  lateSettles: number;
  byReason: Map<string, number>;
}
