/**
 * The error for a failure of Redis. It names the kind of failure, and contains nothing of the
 * command.
 */

/**
 * Every operation on Redis rejects with this if its command failed, was not answered in time, or
 * was not sent.
 */
export interface RedisUnreachable extends Error {
  /**
   * The kind of failure: Redis' own word such as `READONLY`, `OOM`, `LOADING` or `CLUSTERDOWN`, a
   * code of the system such as `ECONNREFUSED`, the status of the connection, `timeout` or `failed`.
   */
  readonly reason: string;
}

const brand = Symbol('redis unreachable');

/** It has no `cause`, because the client's errors contain the whole command. */
export function unreachable(reason: string): RedisUnreachable {
  const message =
    `The store cannot be reached: Redis did not execute the command (${reason}). Try again ` +
    'later.';
  return Object.assign(new Error(message), { [brand]: true, reason });
}

/** Converts whatever a client rejects with. */
export function asUnreachable(error: unknown): RedisUnreachable {
  return error instanceof Error && brand in error
    ? (error as RedisUnreachable & typeof error)
    : unreachable(reasonOf(error));
}

/** Redis starts its errors with a word in capitals, and errors of sockets have a code. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError') return 'timeout';
  if (error.name === 'MaxRetriesPerRequestError') return 'reconnecting';
  const { code } = error as { readonly code?: unknown };
  return (
    /^[A-Z]{2,20}(?=$|[\s:])/.exec(typeof code === 'string' ? code : error.message)?.[0] ?? 'failed'
  );
}
