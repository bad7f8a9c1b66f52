/** A clock of the host that may fail. */

/**
 * Wraps the host's clock. If it throws or returns something other than a finite number, the
 * machine's clock is used.
 */
export function safeClock(now: () => number): () => number {
  return () => {
    try {
      const time: unknown = now();
      if (typeof time === 'number' && Number.isFinite(time)) return time;
    } catch {
      // Falls through to the machine's clock.
    }
    return Date.now();
  };
}
