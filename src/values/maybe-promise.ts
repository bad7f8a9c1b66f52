/** A value, or a promise of one: host code may return either. */
export type MaybePromise<T> = T | Promise<T>;

/** Whether host code returned a thenable. Throws if reading `then` throws. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

/** Goes on with an answer: at once, unless it is a promise. */
export function after<T, R>(
  answer: MaybePromise<T>,
  go: (settled: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isThenable(answer) ? Promise.resolve(answer).then(go) : go(answer);
}

/** Handles the rejection of a promise that is not awaited, so that it does not end the process. */
export function ignoreRejection(answer: unknown): void {
  try {
    if (isThenable(answer)) Promise.resolve(answer).then(undefined, () => {});
  } catch {
    // The getter of `then` throws, so nothing can reject.
  }
}
