/** Errors of resolvers that may be logged as they are, since this library wrote their texts. */

const safe = new WeakSet<object>();

/** Makes an error whose text holds nothing of what a server has sent. */
export function safeFault(message: string): Error {
  const error = new Error(message);
  safe.add(error);
  return error;
}

export function isSafe(error: unknown): boolean {
  return typeof error === 'object' && error !== null && safe.has(error);
}
