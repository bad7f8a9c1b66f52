/** What a client of the relay did wrong, or cannot have now: the 4xx and 503 of the protocol. */
import type { JsonObject } from '../index.ts';

const brand = Symbol('relay error');

/** Thrown by handlers of routes; answered as `{ error, message, code, ...details }`. */
export interface RelayError extends Error {
  readonly status: number;
  /** Stable, snake_case. */
  readonly error: string;
  /** The older code where there is one, such as `REQUEST_RATE_LIMIT`; else `error` again. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Further members of the answer. */
  readonly details: JsonObject;
}

/** What {@link relayError} may add. */
export interface RelayErrorMore {
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/**
 * Makes one. @param message for people: what was expected, what came, what to do; never a secret,
 * never another session's data
 */
export function relayError(
  status: number,
  error: string,
  message: string,
  more: RelayErrorMore = {},
): RelayError {
  const { code = error, headers = {}, details = {}, cause } = more;
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), {
    [brand]: true,
    status,
    error,
    code,
    headers,
    details,
  });
}

/** True for what {@link relayError} made. */
export function isRelayError(error: unknown): error is RelayError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** 503: the store does not answer. */
export function storeUnavailable(cause: unknown): RelayError {
  return relayError(
    503,
    'store_unavailable',
    'The relay cannot reach its store at the moment. Try again.',
    { headers: { 'Retry-After': '1' }, cause },
  );
}

/** 503: the node ends. */
export function leaving(cause?: unknown): RelayError {
  return relayError(
    503,
    'shutting_down',
    'This node is shutting down. Try again: another one answers.',
    { headers: { 'Retry-After': '1' }, cause },
  );
}

/** 404, in the same words whatever the reason. */
export function sessionNotFound(): RelayError {
  return relayError(404, 'session_not_found', 'Session not found or expired');
}
