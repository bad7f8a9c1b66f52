/** What a node has counted since it began. */
import type { ToolResult } from '../index.ts';
import type { RouteName } from './http/route-table.ts';

/** What a node has counted since it began, and what is open on it now. JSON. */
export interface RelayMetrics {
  /** Sessions created here. */
  readonly sessionsCreated: number;
  /** Sessions deleted here, not those that have expired. */
  readonly sessionsDeleted: number;
  /** Registrations that were taken. */
  readonly registrations: number;
  /** Updates that were taken. */
  readonly updates: number;
  /** Calls over REST that were taken, whatever came of them. */
  readonly requests: number;
  /** Answers of applications that were taken over HTTP. */
  readonly responses: number;
  /** Refused requests by their `error`. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Calls over REST whose result was answered, by its `metadata.status`. */
  readonly callOutcomes: Readonly<Record<string, number>>;
  /** Streams and polls that are open. */
  readonly openStreams: number;
  /** Sessions that this node holds in memory. */
  readonly liveSessions: number;
}

/** Counts what is answered. */
export interface Counters {
  /** A request was answered. @param error of the answer, where it is one */
  answered(route: RouteName | undefined, status: number, error: string | undefined): void;
  /** A call of an agent over REST has a result. */
  called(result: ToolResult): void;
  snapshot(): Omit<RelayMetrics, 'openStreams' | 'liveSessions'>;
}

/** Routes whose successes are counted, by what they are called there. */
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
