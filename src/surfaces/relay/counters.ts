/** The counters of a node. */
import type { ToolResult } from '../../core.ts';
import type { RouteName } from './http/route-table.ts';

/**
 * The totals of a node since it started, and the numbers of its open streams and sessions. Plain
 * JSON.
 */
export interface RelayMetrics {
  /** Sessions created on this node. */
  readonly sessionsCreated: number;
  /** Sessions deleted on this node, not counting expired ones. */
  readonly sessionsDeleted: number;
  /** Accepted registrations. */
  readonly registrations: number;
  /** Accepted updates. */
  readonly updates: number;
  /** Accepted calls over REST, whatever their results. */
  readonly requests: number;
  /** Accepted answers of applications, over HTTP and WebSockets. */
  readonly responses: number;
  /** Refused requests, by their `error`. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Results of calls over REST that were sent, by their `metadata.status`. */
  readonly callOutcomes: Readonly<Record<string, number>>;
  /** Open streams and polls. */
  readonly openStreams: number;
  /** Sessions that this node holds in memory. */
  readonly liveSessions: number;
}

/** Counts requests and results. */
export interface Counters {
  /** Counts an answered request. @param error the `error` of the answer if it is an error */
  answered(route: RouteName | undefined, status: number, error: string | undefined): void;
  /** Counts the result of an agent's call over REST. */
  called(result: ToolResult): void;
  snapshot(): Omit<RelayMetrics, 'openStreams' | 'liveSessions'>;
}

/** Routes whose successes are counted, and the names of their totals. */
const counted: ReadonlyMap<RouteName, Total> = new Map<RouteName, Total>([
  ['create', 'sessionsCreated'],
  ['delete', 'sessionsDeleted'],
  ['register-tools', 'registrations'],
  ['update-tools', 'updates'],
  ['request', 'requests'],
  ['response', 'responses'],
]);
type Total =
  | 'sessionsCreated'
  | 'sessionsDeleted'
  | 'registrations'
  | 'updates'
  | 'requests'
  | 'responses';

/** Makes the counters of a node. All start at 0. */
export function createCounters(): Counters {
  const totals: Record<Total, number> = {
    sessionsCreated: 0,
    sessionsDeleted: 0,
    registrations: 0,
    updates: 0,
    requests: 0,
    responses: 0,
  };
  const refusals = new Map<string, number>();
  const outcomes = new Map<string, number>();
  const add = (counts: Map<string, number>, name: string): void =>
    void counts.set(name, (counts.get(name) ?? 0) + 1);
  return {
    answered(route, status, error) {
      if (error !== undefined) return add(refusals, error);
      const name = route === undefined ? undefined : counted.get(route);
      if (name !== undefined && status < 300) totals[name]++;
    },
    called: ({ metadata }) => add(outcomes, metadata.status),
    snapshot: () => ({
      ...totals,
      refusals: Object.fromEntries(refusals),
      callOutcomes: Object.fromEntries(outcomes),
    }),
  };
}
