/** Answers over HTTP: JSON, and errors as `{ error, message, code }`. */
import type { JsonObject } from '../../../core.ts';
import { wireText } from '../../../values/json/index.ts';
import { isRelayError, type RelayError, relayError } from '../relay-error.ts';

/** Headers of every answer. Answers must not be cached, and browsers must not guess their type. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

/** Headers of an answer in JSON. */
export const jsonHeaders: Readonly<Record<string, string>> = { 'Content-Type': 'application/json' };

/** Makes a JSON answer with a status. */
export function answer(
  status: number,
  body: object,
  headers?: Readonly<Record<string, string>>,
): Reply {
  return {
    status,
    headers: headers === undefined ? jsonHeaders : { ...jsonHeaders, ...headers },
    text: wireText(body),
  };
}

/** The body of a relay error. */
export function errorBody({ details, error, message, code }: RelayError): JsonObject {
  return { ...details, error, message, code };
}

/** Answers with a relay error. */
export function errorAnswer(error: RelayError): Reply {
  return answer(error.status, errorBody(error), error.headers);
}

/**
 * Converts whatever was thrown to a relay error. Any other error is a bug of the relay or the host.
 * It is reported, and the client learns no details.
 */
export function toRelayError(error: unknown, report: (fault: unknown) => void): RelayError {
  if (isRelayError(error)) return error;
  report(error);
  return relayError(
    500,
    'internal_server_error',
    'The relay had an internal error. The request may have had no effect.',
  );
}

// Answers whose text is known. `serveRelay` writes them directly; for other servers they become a
// Response.

/** Status, headers and text. */
export interface Reply {
  readonly status: number;
  /** Header values by name, spelled as they are sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for an answer without a body, such as one to HEAD. */
  readonly text: string | undefined;
}

/** What a handler returns: a reply, or a response whose body may arrive over time. */
export type Answered = Response | Reply;

/**
 * True for a reply. It does not test with `instanceof`, since some servers replace the global
 * Response and there may be several such classes.
 */
export function isReply(answered: Answered): answered is Reply {
  return typeof answered.text !== 'function';
}

/** Converts an answer to a Response. */
export function toResponse(answered: Answered): Response {
  if (!isReply(answered)) return answered;
  const { status, headers, text = null } = answered;
  return new Response(text, { status, headers });
}
