/** Counts calls over time, for charts. */
import type { CallLine } from '../../inspector-wire.ts';

export interface Series {
  /** The start of each bucket in epoch seconds. */
  readonly times: readonly number[];
  readonly bucketMs: number;
  readonly calls: readonly number[];
  readonly refused: readonly number[];
  /** Half of the calls that ran to an end, and 95 of 100, took at most this; null without any. */
  readonly half: readonly (number | null)[];
  readonly most: readonly (number | null)[];
}

const steps = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400].map((s) => s * 1_000);
const buckets = 60;
/** Seconds that a chart shows at least. */
const leastShown = 10;

/** @param lines Oldest first. */
export function seriesOf(lines: readonly CallLine[], now: number): Series {
  const from = lines.reduce((least, { at }) => Math.min(least, at), now);
  const span = Math.max(60_000, now - from);
  const bucketMs = steps.find((step) => span / step <= buckets) ?? (steps.at(-1) as number);
  const first = Math.floor(from / bucketMs);
  const last = Math.max(Math.floor(now / bucketMs), first);
  const begin = Math.max(first, last - 2 * buckets);
  const length = last - begin + 1;
  const zeros = (): number[] => Array.from({ length }, () => 0);
  const [calls, refused] = [zeros(), zeros()];
  const took: number[][] = Array.from({ length }, () => []);
  for (const line of lines) {
    const { at, status } = line;
    const index = Math.floor(at / bucketMs) - begin;
    if (index < 0 || index >= length) continue;
    calls[index] = (calls[index] ?? 0) + 1;
    if (status === 'rejected') refused[index] = (refused[index] ?? 0) + 1;
    if (ranToAnEnd(line)) took[index]?.push(line.durationMs);
  }
  for (const list of took) list.sort((a, b) => a - b);
  return {
    times: calls.map((_, index) => ((begin + index) * bucketMs) / 1_000),
    bucketMs,
    calls,
    refused,
    half: took.map((list) => ranked(list, 0.5)),
    most: took.map((list) => ranked(list, 0.95)),
  };
}

/** The first and the last second that a chart shows. Its labels differ, even for a single time. */
export function shownTime(times: ArrayLike<number>): [from: number, to: number] {
  const from = times[0] ?? 0;
  return [from, Math.max(times[times.length - 1] ?? 0, from + leastShown)];
}

/** The value in ascending order below or at which this share of them is; null without any. */
function ranked(list: readonly number[], share: number): number | null {
  return list[Math.max(0, Math.ceil(list.length * share) - 1)] ?? null;
}

/** What a call that was refused, is waiting or was cancelled took says nothing about its tool. */
function ranToAnEnd(line: CallLine): line is CallLine & { readonly durationMs: number } {
  const { status, durationMs } = line;
  return durationMs !== undefined && (status === 'succeeded' || status === 'failed');
}

/** How long the calls of one tool took, in milliseconds. All are about the same calls. */
export interface Times {
  readonly mean: number;
  readonly half: number;
  readonly most: number;
}

/** The times of the calls that ran to an end, by their tools. */
export function timesByTool(lines: readonly CallLine[]): ReadonlyMap<string, Times> {
  const took = new Map<string, number[]>();
  for (const line of lines) {
    if (!ranToAnEnd(line)) continue;
    const { tool, durationMs } = line;
    const list = took.get(tool);
    if (list === undefined) took.set(tool, [durationMs]);
    else list.push(durationMs);
  }
  return new Map(
    [...took].map(([tool, list]) => {
      list.sort((a, b) => a - b);
      const mean = list.reduce((sum, value) => sum + value, 0) / list.length;
      return [tool, { mean, half: ranked(list, 0.5) ?? 0, most: ranked(list, 0.95) ?? 0 }];
    }),
  );
}
