/** The counts of a session's calls. */

export interface Counters {
  /** Where calls count from now on, instead of here. */
  heir?: Counters | undefined;
  calls: number;
  succeeded: number;
  failed: number;
  rejected: number;
  cancelled: number;
  pending: number;
  denied: number;
}

/** The counts of a session that do not belong to one tool. */
export interface SessionMetrics {
  calls: number;
  /** Calls to names that no tool of the session has. */
  unknown: Counters;
  lateSettles: number;
  byReason: Map<string, { count: number }>;
}

export function createMetrics(): SessionMetrics {
  return {
    calls: 0,
    unknown: {
      calls: 0,
      succeeded: 0,
      failed: 0,
      rejected: 0,
      cancelled: 0,
      pending: 0,
      denied: 0,
    },
    lateSettles: 0,
    byReason: new Map(),
  };
}

/**
 * Most reasons that are counted separately. Reasons come from host code, so memory needs a bound.
 */
const mostReasons = 1_000;

/** Counts a refusal or failure under its reason. */
export function countReason({ byReason }: SessionMetrics, reason: string): void {
  const known = byReason.get(reason);
  if (known !== undefined) known.count++;
  else if (byReason.size < mostReasons) byReason.set(reason, { count: 1 });
}
