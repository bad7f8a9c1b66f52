/**
 * Counts the uses of keys within time windows, in memory. A window ends by a monotonic clock or by
 * the host's clock, whichever is first, so that a clock jump never makes it longer.
 */
import { timeQueue } from './queue.ts';

interface Window {
  readonly key: string;
  /** Monotonic milliseconds. */
  readonly end: number;
  /** Epoch milliseconds. */
  readonly until: number;
  used: number;
}

/** Counts uses. */
export interface MemoryWindows {
  count(
    key: string,
    limit: number,
    windowMs: number,
  ): { readonly allowed: boolean; readonly retryAfterMs: number };
  /** Removes up to `most` windows that have ended. */
  sweep(most: number): void;
  /** How many windows are kept. */
  size(): number;
}

/** Makes the counters of a store. @param now epoch milliseconds */
export function memoryWindows(now: () => number = () => Date.now()): MemoryWindows {
  const windows = new Map<string, Window>();
  const ends = timeQueue<Window>();
  return {
    count(key, limit, windowMs) {
      const time = performance.now();
      const date = now();
      const known = windows.get(key);
      const open =
        known !== undefined && known.end > time && known.until > date ? known : undefined;
      if ((open?.used ?? 0) >= limit)
        return {
          allowed: false,
          retryAfterMs:
            open === undefined ? windowMs : Math.min(open.end - time, open.until - date),
        };
      if (open !== undefined) open.used += 1;
      else {
        const window: Window = { key, end: time + windowMs, until: date + windowMs, used: 1 };
        windows.set(key, window);
        ends.add(window.end, window);
      }
      return { allowed: true, retryAfterMs: 0 };
    },
    sweep(most) {
      const time = performance.now();
      for (let swept = 0; swept < most; swept++) {
        const ended = ends.first(time);
        if (ended === undefined) return;
        ends.remove(ended);
        // Another window of the same key may have begun.
        if (windows.get(ended.item.key) === ended.item) windows.delete(ended.item.key);
      }
    },
    size: () => windows.size,
  };
}
