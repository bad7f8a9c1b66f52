/** Counts calls over time, for charts. */
import type { CallLine } from '../../inspector-wire.ts';

export interface Series {
  /** The start of each bucket in epoch seconds. */
  readonly times: readonly number[];
  readonly bucketMs: number;
  readonly calls: readonly number[];
  readonly refused: readonly number[];
  /** Half of the calls that ended, and 95 of 100, took at most this; null without any. */
  readonly half: readonly (number | null)[];
  readonly most: readonly (number | null)[];
}

const steps = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400].map((s) => s * 1_000);
const buckets = 60;

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
  for (const { at, status, durationMs } of lines) {
    const index = Math.floor(at / bucketMs) - begin;
    if (index < 0 || index >= length) continue;
    calls[index] = (calls[index] ?? 0) + 1;
    if (status === 'rejected') refused[index] = (refused[index] ?? 0) + 1;
    if (durationMs !== undefined && status !== 'rejected') took[index]?.push(durationMs);
  }
  for (const list of took) list.sort((a, b) => a - b);
  const at = (share: number) => (list: readonly number[]) =>
    list.length === 0
      ? null
      : (list[Math.min(list.length - 1, Math.floor(list.length * share))] ?? null);
  return {
    times: calls.map((_, index) => ((begin + index) * bucketMs) / 1_000),
    bucketMs,
    calls,
    refused,
    half: took.map(at(0.5)),
    most: took.map(at(0.95)),
  };
}

/** The bound of the bucket in which the call of this rank is. */
export function quantile(
  buckets: readonly { readonly le: number; readonly count: number }[],
  count: number,
  share: number,
): string {
  if (count === 0) return '–';
  const found = buckets.find((bucket) => bucket.count >= count * share);
  const last = buckets.at(-1)?.le ?? 0;
  return found === undefined ? `> ${bound(last)}` : `≤ ${bound(found.le)}`;
}

function bound(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`;
}
