/** The errors of a relay client. */
import type { JsonObject } from './json.ts';

/** A tool that the relay refused. */
export interface RelayFailedTool {
  /** Its name as the relay shows it, without surrounding white space and invisible characters. */
  readonly toolName: string;
  /** Why it was refused, for people. */
  readonly error: string;
  /** True if the same definition may be accepted later. */
  readonly recoverable: boolean;
}

/** A part of a tool's schemas that the relay does not check. It accepted the tool all the same. */
export interface RelayToolWarning {
  /** The tool's name. */
  readonly toolName: string;
  /** JSON pointer into the definition, such as `/parameters/properties/guest/pattern`. */
  readonly path: string;
  /** Why it is not checked, for people. */
  readonly message: string;
}

/**
 * Why a connection, a registration or an answer failed. It never contains the token. `name` is
 * `RelayClientError`; use {@link isRelayClientError} to recognize it.
 */
export interface RelayClientError extends Error {
  /**
   * The relay's code (`session_not_found`, `session_expired`, `rate_limit_exceeded`,
   * `registration_failed` …), one of the client (`invalid_options`, `network_error`, `timeout`,
   * `disconnected`, `transport_unavailable`, `silent`, `invalid_answer`, `closed`), or the reason
   * for which the relay ended the connection, such as `replaced`.
   */
  readonly code: string;
  /** The HTTP status of the relay's answer; undefined if there was no answer. */
  readonly status: number | undefined;
  /** Milliseconds after which the relay wants the next attempt; undefined if it did not say. */
  readonly retryAfterMs: number | undefined;
  /** The refused tools, if that is what went wrong; else empty. */
  readonly failedTools: readonly RelayFailedTool[];
}

/** What an error may have besides its message. */
export interface ErrorMore {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly failedTools?: readonly RelayFailedTool[];
}

/** Makes an error. */
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

/** Converts whatever was thrown into an error of this client. */
export function asRelayClientError(error: unknown): RelayClientError {
  return isRelayClientError(error)
    ? error
    : relayClientError('invalid_answer', 'The relay sent something that could not be read.');
}

/** True if trying again may help: there was no answer, or one that says "not now". */
export function isPassing({ status, code }: RelayClientError): boolean {
  if (status === undefined) return code !== 'invalid_options';
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** True if this application cannot use the session, now or later. */
export function isFinal({ status }: RelayClientError): boolean {
  return status === 401 || status === 403 || status === 404 || status === 410;
}

/** The `warnings` in a relay's answer. Malformed entries are left out. */
export function toolWarningsOf({ warnings }: JsonObject): readonly RelayToolWarning[] {
  if (!Array.isArray(warnings)) return [];
  return (warnings as readonly Partial<Record<string, unknown>>[]).flatMap((one) =>
    typeof one?.toolName === 'string' &&
    typeof one.path === 'string' &&
    typeof one.message === 'string'
      ? { toolName: one.toolName, path: one.path, message: one.message }
      : [],
  );
}

/** The `failedTools` in a relay's answer. Malformed entries are left out. */
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

// Keeps the token out of errors, whatever the relay or the network puts into them.

/** What takes the token out of texts from outside. */
export interface Scrub {
  /** Removes the token from a message, and shortens it. */
  message(text: string): string;
  /**
   * The relay's code, unchanged, since programs compare it.
   * @param otherwise the code if the relay gave none, or a text that cannot be a code
   */
  code(text: string | undefined, otherwise: string): string;
}

const maxMessageChars = 1_000;
/** A shorter token could be a part of a word. Redaction elsewhere has the same limit. */
const leastTokenChars = 4;
const code = /^[A-Za-z][\w-]{0,63}$/;
/** No code has a word of its own that is as long as this. */
const leastTokenInCode = 16;

export function createScrub(token: string): Scrub {
  const isHidden = token.length >= leastTokenChars;
  return {
    message: (text) => (isHidden ? text.replaceAll(token, '***') : text).slice(0, maxMessageChars),
    code(text = '', otherwise) {
      const hasToken = token.length >= leastTokenInCode && text.includes(token);
      return code.test(text) && !hasToken ? text : otherwise;
    },
  };
}
