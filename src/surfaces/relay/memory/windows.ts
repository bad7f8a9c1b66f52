/**
 * Counts the uses of keys within time windows, in memory. A window ends by a monotonic clock or by
 * the host's clock, whichever is first, so that a clock jump never makes it longer.
 */
import { timeQueue } from '../../../stores/memory/queue.ts';

/** A window, and how much of it is used. */
export interface Window {
  /** Monotonic milliseconds. */
  readonly end: number;
  /** Epoch milliseconds. */
  readonly until: number;
  used: number;
}

/**
 * Computes the milliseconds until a use is allowed; 0 if it is allowed now.
 * @param window the window of the last use, which may have ended
 */
export function leftOf(
  window: Window | undefined,
  limit: number,
  windowMs: number,
  date: number,
): number {
  const open = openOf(window, performance.now(), date);
  if ((open?.used ?? 0) < limit) return 0;
  return open === undefined ? windowMs : Math.min(open.end - performance.now(), open.until - date);
}

/** Counts a use that is allowed. @returns the window that it belongs to */
export function countUse(window: Window | undefined, windowMs: number, date: number): Window {
  const time = performance.now();
  const open = openOf(window, time, date);
  if (open === undefined) return { end: time + windowMs, until: date + windowMs, used: 1 };
  open.used += 1;
  return open;
}

function openOf(window: Window | undefined, time: number, date: number): Window | undefined {
  return window !== undefined && window.end > time && window.until > date ? window : undefined;
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
  const ends = timeQueue<{ readonly key: string; readonly window: Window }>();
  return {
    count(key, limit, windowMs) {
      const known = windows.get(key);
      const retryAfterMs = leftOf(known, limit, windowMs, now());
      if (retryAfterMs > 0) return { allowed: false, retryAfterMs };
      const window = countUse(known, windowMs, now());
      if (window !== known) {
        windows.set(key, window);
        ends.add(window.end, { key, window });
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
        const { key, window } = ended.item;
        if (windows.get(key) === window) windows.delete(key);
      }
    },
    size: () => windows.size,
  };
}
