/** How long to wait before trying again. */

/** Most milliseconds between two attempts, before jitter. */
export const maxBackoffMs = 30_000;

/** Most milliseconds that a relay can make a client wait. */
export const maxRetryAfterMs = 300_000;

/** However short a lease is, no relay is asked more often than this. */
const leastCapMs = 250;

/**
 * Milliseconds after the `failures`th failure in a row (from 1): 1 s, 2 s, 4 s … 30 s, each 25 %
 * more or less.
 * @param random gives a number from 0 up to 1
 * @param mostMs the longest of them, chance included; less than 250 ms counts as that
 */
export function backoffMs(
  failures: number,
  random: () => number,
  mostMs = Number.POSITIVE_INFINITY,
): number {
  const plain = Math.min(
    maxBackoffMs,
    Math.max(leastCapMs, mostMs) / 1.25,
    1_000 * 2 ** (Math.max(1, failures) - 1),
  );
  return Math.round(plain * (0.75 + 0.5 * random()));
}

/**
 * The later of the two: our own turn, and when the relay wants to hear from us. @param retryAfterMs
 * what the relay said, if it did @param mostMs of our own turn
 */
export function retryMs(
  failures: number,
  random: () => number,
  retryAfterMs: number | undefined,
  mostMs?: number,
): number {
  return Math.max(
    backoffMs(failures, random, mostMs),
    Math.min(maxRetryAfterMs, retryAfterMs ?? 0),
  );
}

/**
 * Milliseconds of a `Retry-After` header: whole seconds. Undefined for a date (clocks differ) and
 * anything else.
 */
export function retryAfterMs(header: string | null): number | undefined {
  return header !== null && /^\s*\d{1,9}\s*$/.test(header)
    ? Math.min(maxRetryAfterMs, Number(header) * 1_000)
    : undefined;
}
