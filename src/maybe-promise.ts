/** A value now or later: host code may answer either way. */
export type MaybePromise<T> = T | Promise<T>;

/** Whether an answer of host code comes later. Throws where reading `then` throws. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

/** Takes the rejection of an answer that nobody waits for, so that it ends no process. */
export function ignoreRejection(answer: unknown): void {
  try {
    if (isThenable(answer)) Promise.resolve(answer).then(undefined, () => {});
  } catch {
    // A getter that throws: then there is nothing that could reject.
  }
}
