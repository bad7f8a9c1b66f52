/** Makes what `metrics()` returns of the counts of a session or a registry. */

import type {
  CallCounts,
  CallMetrics,
  DurationMetrics,
  RuleMetrics,
  ToolMetrics,
} from '../../api/metrics.ts';
import {
  type Counters,
  durationBounds,
  type ReasonCount,
  type RuleCount,
  type ToolCounts,
} from '../call/counters.ts';

// Type aliases, because the compiler does not accept an interface as a `JsonObject`.

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Counts that are summed up. */
interface Sum {
  readonly counts: Writable<CallCounts>;
  totalMs: number;
  /** How many calls each bucket has, as in {@link ToolCounts}. */
  readonly buckets: number[];
}

/** Most places that are named. */
const maxExecutors = 100;

/** @param counters Undefined if no call has ended yet. */
export function metricsOf(counters: Counters | undefined): CallMetrics {
  const all = emptySum();
  const places = new Map<string, Sum>();
  const byTool: [string, ToolMetrics][] = [];
  for (const [name, counts] of counters?.byTool ?? []) {
    const sum = emptySum();
    for (let one: ToolCounts | undefined = counts; one !== undefined; one = one.twin) {
      add(sum, one);
      add(placeOf(places, one.executor ?? ''), one);
      add(all, one);
    }
    const byReason = reasonsOf(counts);
    byTool.push([name, { ...sum.counts, byReason, durationMs: durationsOf(sum) }]);
  }
  if (counters !== undefined) add(all, counters.others);
  const totals = all.counts;
  return {
    ...totals,
    denyRate: totals.calls === 0 ? 0 : totals.denied / totals.calls,
    lateSettles: counters?.lateSettles ?? 0,
    byTool: Object.fromEntries(byTool),
    byExecutor: Object.fromEntries(
      [...places].map(([place, sum]) => [place, { ...sum.counts, durationMs: durationsOf(sum) }]),
    ),
    byReason: recordOf(counters?.byReason),
    byRule: rulesOf(counters?.byRule),
  };
}

/** How calls end, as both kinds of counts name it. */
const ends = ['succeeded', 'failed', 'rejected', 'cancelled', 'pending'] as const;

function emptySum(): Sum {
  return {
    counts: {
      calls: 0,
      succeeded: 0,
      failed: 0,
      rejected: 0,
      cancelled: 0,
      pending: 0,
      denied: 0,
    },
    totalMs: 0,
    buckets: new Array<number>(durationBounds.length).fill(0),
  };
}

function placeOf(places: Map<string, Sum>, executor: string): Sum {
  const name = places.has(executor) || places.size < maxExecutors ? executor : '_other';
  let sum = places.get(name);
  if (sum === undefined) {
    sum = emptySum();
    places.set(name, sum);
  }
  return sum;
}

function add(sum: Sum, counts: ToolCounts): void {
  const { buckets } = counts;
  const to = sum.counts;
  for (const end of ends) {
    to[end] += counts[end];
    to.calls += counts[end];
  }
  to.denied += counts.denied;
  sum.totalMs += counts.totalMs;
  if (buckets === undefined) return;
  for (let index = 0; index < sum.buckets.length; index++)
    (sum.buckets[index] as number) += buckets[index] ?? 0;
}

function durationsOf({ counts, totalMs, buckets }: Sum): DurationMetrics {
  let count = 0;
  const cumulative = durationBounds.map((le, index) => {
    count += buckets[index] ?? 0;
    return { le, count };
  });
  return { count: counts.succeeded + counts.failed, sum: totalMs, buckets: cumulative };
}

/** The reasons of a tool, wherever its calls ran. */
function reasonsOf(counts: ToolCounts): Record<string, number> {
  if (counts.twin === undefined) return recordOf(counts.byReason);
  const sums = new Map<string, number>();
  for (let one: ToolCounts | undefined = counts; one !== undefined; one = one.twin)
    for (const [reason, { count }] of one.byReason ?? [])
      sums.set(reason, (sums.get(reason) ?? 0) + count);
  return Object.fromEntries(sums);
}

function recordOf(counts: ReadonlyMap<string, ReasonCount> | undefined): Record<string, number> {
  return Object.fromEntries([...(counts ?? [])].map(([reason, { count }]) => [reason, count]));
}

function rulesOf(counts: ReadonlyMap<string, RuleCount> | undefined): Record<string, RuleMetrics> {
  return Object.fromEntries(
    // The count is made when the rule matches, and the call is counted when it ends.
    [...(counts ?? [])].flatMap(([id, { matched, shadow }]) =>
      matched === 0 ? [] : [[id, { matched, shadow }] as const],
    ),
  );
}
