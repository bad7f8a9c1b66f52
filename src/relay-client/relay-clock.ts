/**
 * The relay's clock, as far as it can be told from here: deadlines are the relay's, and no two
 * clocks agree.
 */

/** Tells how much time a deadline leaves. */
export interface RelayClock {
  /**
   * The relay has just said what time it is. @param timestamp ISO 8601; anything else is ignored
   */
  heard(timestamp: unknown): void;
  /**
   * Milliseconds until a deadline of the relay, rather too many than too few. @param deadline epoch
   * milliseconds; anything else is taken for none, and gets the default
   */
  remainingMs(deadline: unknown): number;
}

/** For a call without a deadline, and the least where the relay's clock is not known. */
export const defaultCallMs = 30_000;
/** What a call gets beyond its deadline: what is late by a little may still be in time. */
const graceMs = 1_000;

/** @param now milliseconds of a clock that never jumps */
export function createRelayClock(now: () => number = () => performance.now()): RelayClock {
  /** The relay's epoch milliseconds when our clock was at 0. */
  let origin: number | undefined;
  return {
    heard(timestamp) {
      const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
      if (Number.isFinite(at)) origin = at - now();
    },
    remainingMs(deadline) {
      if (typeof deadline !== 'number' || !Number.isFinite(deadline)) return defaultCallMs;
      if (origin === undefined) return Math.max(defaultCallMs, deadline - Date.now());
      return Math.max(0, deadline - origin - now()) + graceMs;
    },
  };
}
