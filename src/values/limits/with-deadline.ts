/** Waits for a promise for a limited time. */
import pTimeout from 'p-timeout';

/**
 * Resolves and rejects like the promise. After the time has passed, it resolves to the result of
 * `fallback`, or rejects with a `TimeoutError` if there is none. The options object has no
 * prototype, so that a `signal` or timers on `Object.prototype` have no effect.
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
