/** Estimates the relay's clock. Deadlines come from the relay, and no two clocks agree. */

/** Computes how much time a deadline leaves. */
export interface RelayClock {
  /**
   * Takes the current time of the relay. @param timestamp ISO 8601; anything else is ignored
   */
  heard(timestamp: unknown): void;
  /**
   * Milliseconds until a deadline of the relay, rather too many than too few.
   * @param deadline epoch milliseconds; anything else counts as no deadline and gives the default
   */
  remainingMs(deadline: unknown): number;
}

/** Milliseconds for a call without a deadline; also the least if the relay's clock is unknown. */
const defaultCallMs = 30_000;
/** Milliseconds added to each deadline, because the estimate may be slightly wrong. */
const graceMs = 1_000;

/** @param now milliseconds of a clock that never jumps */
export function createRelayClock(now: () => number = () => performance.now()): RelayClock {
  /** The relay's epoch milliseconds when the local clock was at 0. */
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
