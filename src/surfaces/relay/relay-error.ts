/** Errors that clients of the relay get: the 4xx and 503 of the protocol. */

import type { JsonObject } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';

const brand = Symbol('relay error');

/** An error that route handlers throw. The answer is `{ error, message, code, ...details }`. */
export interface RelayError extends Error {
  readonly status: number;
  /** A stable name in snake_case. */
  readonly error: string;
  /** The older code if there is one, such as `REQUEST_RATE_LIMIT`; else `error` again. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Further members of the answer. */
  readonly details: JsonObject;
}

/** The optional parts of {@link relayError}. */
export interface RelayErrorMore {
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/**
 * Makes a relay error.
 * @param message for people: what was expected, what was got, and what to do. It must not have a
 * secret or data of another session
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

/** Makes the 400 for a value of the wrong form. @param what such as `the body` */
export function wrongValue(
  error: 'invalid_request' | 'validation_error',
  what: string,
  expected: string,
  got: unknown,
): RelayError {
  return relayError(400, error, `Expected ${what} to be ${expected}, got ${describe(got)}.`);
}

/**
 * Makes the 400 `validation_error` for a field of the wrong form, with its path.
 * @param path such as `environment.version`
 */
export function wrongField(path: string, expected: string, got: unknown): RelayError {
  return relayError(
    400,
    'validation_error',
    `Expected \`${path}\` to be ${expected}, got ${describe(got)}.`,
    { details: { path } },
  );
}

/** True for errors made by {@link relayError}. */
export function isRelayError(error: unknown): error is RelayError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** Makes the 503 for when the store cannot be reached. */
export function storeUnavailable(cause: unknown): RelayError {
  return relayError(503, 'store_unavailable', 'The relay cannot reach its store. Try again.', {
    headers: { 'Retry-After': '1' },
    cause,
  });
}

/** Makes the 503 for when the node is shutting down. */
export function leaving(cause?: unknown): RelayError {
  return relayError(
    503,
    'shutting_down',
    'This node is shutting down. Try again to reach another node.',
    { headers: { 'Retry-After': '1' }, cause },
  );
}

/**
 * Makes the 404 for a session. Its words are the same for every reason, so that it reveals nothing.
 */
export function sessionNotFound(): RelayError {
  return relayError(404, 'session_not_found', 'Session not found or expired');
}
