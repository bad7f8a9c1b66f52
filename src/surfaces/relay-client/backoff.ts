/** How long to wait before another attempt. */

/** Most milliseconds between two attempts, before jitter. */
const maxBackoffMs = 30_000;

/** Most milliseconds that a relay can make a client wait. */
export const maxRetryAfterMs = 300_000;

/** The least upper limit, so that a short lease does not make attempts too frequent. */
const leastCapMs = 250;

/**
 * Milliseconds to wait after the `failures`th failure in a row (from 1): 1 s, 2 s, 4 s … 30 s, plus
 * or minus up to 25 %.
 * @param random gives a number from 0 to below 1
 * @param mostMs the longest wait, jitter included; less than 250 ms counts as 250 ms
 */
export function backoffMs(
  failures: number,
  random: () => number,
  maxMs = Number.POSITIVE_INFINITY,
): number {
  const plain = Math.min(
    maxBackoffMs,
    Math.max(leastCapMs, maxMs) / 1.25,
    1_000 * 2 ** (Math.max(1, failures) - 1),
  );
  return Math.round(plain * (0.75 + 0.5 * random()));
}

/**
 * Milliseconds to wait: the client's own backoff or the relay's wish, whichever is longer.
 * @param retryAfterMs what the relay asked for, if it did
 * @param mostMs the longest backoff of our own
 */
export function retryMs(
  failures: number,
  random: () => number,
  retryAfterMs: number | undefined,
  maxMs?: number,
): number {
  return Math.max(backoffMs(failures, random, maxMs), Math.min(maxRetryAfterMs, retryAfterMs ?? 0));
}

/**
 * Milliseconds of a `Retry-After` header with whole seconds. Undefined for a date, because clocks
 * differ, and for anything else.
 */
export function retryAfterMs(header: string | null): number | undefined {
  return header !== null && /^\s*\d{1,9}\s*$/.test(header)
    ? Math.min(maxRetryAfterMs, Number(header) * 1_000)
    : undefined;
}
