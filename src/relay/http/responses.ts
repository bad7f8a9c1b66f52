/** Answers over HTTP: JSON, and errors as `{ error, message, code }`. */
import type { JsonObject } from '../../index.ts';
import { isRelayError, type RelayError, relayError } from '../relay-error.ts';
import type { Reply } from './reply.ts';

/** On every answer: nothing here is for a cache, and nothing is what it does not say it is. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

/** JSON under a status. */
export function answer(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    text: JSON.stringify(body),
  };
}

/** What a relay error says. */
export function errorBody({ details, error, message, code }: RelayError): JsonObject {
  return { ...details, error, message, code };
}

/** A relay error as its response. */
export function errorAnswer(error: RelayError): Reply {
  return answer(error.status, errorBody(error), error.headers);
}

/**
 * Whatever was thrown as a relay error: what is none is a fault of ours or the host's, and says no
 * more than that.
 */
export function toRelayError(error: unknown, report: (fault: unknown) => void): RelayError {
  if (isRelayError(error)) return error;
  report(error);
  return relayError(
    500,
    'internal_server_error',
    'The relay met a fault of its own. The request may have had no effect.',
  );
}
