/** What goes wrong between an application and its relay. */
import type { JsonObject } from './json.ts';

/** A tool that the relay did not take. */
export interface RelayFailedTool {
  /** Its name as the relay shows it: without white space around it and invisible characters. */
  readonly toolName: string;
  /** Why, for people. */
  readonly error: string;
  /** True where the same definition may be taken later. */
  readonly recoverable: boolean;
}

/**
 * Why a connection, a registration or an answer failed. Neither the message nor anything else of it
 * holds the token. `name` is `RelayClientError`; {@link isRelayClientError} tells it from other
 * errors.
 */
export interface RelayClientError extends Error {
  /**
   * What the relay calls it (`session_not_found`, `session_expired`, `rate_limit_exceeded`,
   * `registration_failed` …), or, of our own: `invalid_options`, `network_error`, `timeout`,
   * `disconnected`, `transport_unavailable`, `silent`, `invalid_answer`, `closed`, or the reason of
   * a goodbye, such as `replaced`.
   */
  readonly code: string;
  /** The status that the relay answered with; undefined where it did not answer. */
  readonly status: number | undefined;
  /** Milliseconds after which the relay wants to hear again; undefined where it did not say. */
  readonly retryAfterMs: number | undefined;
  /** The tools that the relay did not take, where that is what went wrong; else empty. */
  readonly failedTools: readonly RelayFailedTool[];
}

/** What an error may know beyond its message. */
export interface ErrorMore {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly failedTools?: readonly RelayFailedTool[];
}

/** Makes one. */
export function relayClientError(
  code: string,
  message: string,
  { status, retryAfterMs, failedTools = [] }: ErrorMore = {},
): RelayClientError {
  return Object.assign(new Error(message), {
    name: 'RelayClientError',
    code,
    status,
    retryAfterMs,
    failedTools,
  });
}

/**
 * True for the errors of this client.
 *
 * @example
 * ```ts
 * import { connectRelay, isRelayClientError } from 'host-tools/relay/client';
 *
 * try {
 *   await connectRelay({ url: 'https://relay.example.com', code: 'abc', token: 'old', tools: [] });
 * } catch (error) {
 *   if (!isRelayClientError(error)) throw error;
 *   console.error(error.code, error.message);
 * }
 * ```
 */
export function isRelayClientError(error: unknown): error is RelayClientError {
  return error instanceof Error && error.name === 'RelayClientError';
}

/** Whatever was thrown, as an error of this client. */
export function asRelayClientError(error: unknown): RelayClientError {
  return isRelayClientError(error)
    ? error
    : relayClientError('invalid_answer', 'The relay sent something that could not be read.');
}

/** True where trying again may help: no answer at all, or one that says "not now". */
export function isPassing({ status, code }: RelayClientError): boolean {
  if (status === undefined) return code !== 'invalid_options';
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** True where the session is not there for us, and never will be. */
export function isFinal({ status }: RelayClientError): boolean {
  return status === 401 || status === 403 || status === 404 || status === 410;
}

/** The `failedTools` of a relay's answer, as far as they can be read. */
export function failedToolsOf({ failedTools }: JsonObject): readonly RelayFailedTool[] {
  if (!Array.isArray(failedTools)) return [];
  return (failedTools as readonly Partial<Record<string, unknown>>[]).flatMap((failed) =>
    typeof failed?.toolName === 'string'
      ? {
          toolName: failed.toolName,
          error: typeof failed.error === 'string' ? failed.error : 'refused',
          recoverable: failed.recoverable === true,
        }
      : [],
  );
}
