/**
 * How a failure of Redis is told: that it is one, and of which kind. What a command carried is
 * never in it.
 */

/**
 * Thrown by everything on Redis when a command failed, was not answered in time or was not sent.
 */
export interface RedisUnreachable extends Error {
  /**
   * The kind: Redis' own word such as `READONLY`, `OOM`, `LOADING`, `CLUSTERDOWN`, a system's such
   * as `ECONNREFUSED`, the connection's status, `timeout` or `failed`.
   */
  readonly reason: string;
}

const brand = Symbol('redis unreachable');

/** The client's errors hold the whole command, so none is a cause. */
export function unreachable(reason: string): RedisUnreachable {
  const message =
    `The store cannot be reached: Redis does not carry out commands (${reason}). Try again ` +
    'later.';
  return Object.assign(new Error(message), { [brand]: true, reason });
}

/** The same of whatever a client rejects with. */
export function asUnreachable(error: unknown): RedisUnreachable {
  return error instanceof Error && brand in error
    ? (error as RedisUnreachable & typeof error)
    : unreachable(reasonOf(error));
}

/** Redis starts its errors with a word in capitals; sockets have a code. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError') return 'timeout';
  if (error.name === 'MaxRetriesPerRequestError') return 'reconnecting';
  const { code } = error as { readonly code?: unknown };
  return (
    /^[A-Z]{2,20}(?=$|[\s:])/.exec(typeof code === 'string' ? code : error.message)?.[0] ?? 'failed'
  );
}
