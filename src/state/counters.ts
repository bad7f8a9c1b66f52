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
  byReason: Map<string, { count: number }>;
}

/** Most reasons that are told apart: they come from host code, and are bounded whatever it does. */
const mostReasons = 1_000;

/** Counts one refusal or failure under its reason. */
export function countReason({ byReason }: SessionMetrics, reason: string): void {
  const known = byReason.get(reason);
  if (known !== undefined) known.count++;
  else if (byReason.size < mostReasons) byReason.set(reason, { count: 1 });
}
