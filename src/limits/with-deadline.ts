/** Waiting for a promise no longer than so many milliseconds. */
import pTimeout from 'p-timeout';

/**
 * What the promise resolves to, or what `fallback` answers once the time is over; without one it
 * rejects with a `TimeoutError`. Rejects as the promise does. The options inherit nothing: a
 * `signal` or timers on `Object.prototype` are not ours.
 */
export function withDeadline<T, F = never>(
  promise: PromiseLike<T>,
  milliseconds: number,
  fallback?: () => F | Promise<F>,
): Promise<T | F> {
  const options = Object.assign(
    Object.create(null) as { milliseconds: number; fallback?: () => F | Promise<F> },
    { milliseconds },
  );
  if (fallback !== undefined) options.fallback = fallback;
  return pTimeout<T, F>(promise, options);
}
