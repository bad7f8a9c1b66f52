/** An application's answers to calls, over HTTP and WebSockets. */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import type { CallAnswer, CallProgress, SessionDocument } from '../ports/documents.ts';
import { type RelayError, relayError, wrongValue } from '../relay-error.ts';
import { findSession } from './access.ts';
import { fieldOf, maxResultBytes, readObject } from './bodies.ts';
import type { NodeParts, SessionHandlers } from './node-parts.ts';
import { answer } from './responses.ts';

/** Makes the handler of the route. */
export function responseRoute(parts: NodeParts): Pick<SessionHandlers, 'response'> {
  return {
    async response({ request, bounds, document }) {
      return answer(200, await takeResponse(parts, document, await readObject(request, bounds)));
    },
  };
}

/**
 * Takes `{ requestId, result | error }`. The first answer to a call wins. Later ones are accepted
 * but have no effect.
 * @throws RelayError 400 `missing_request_id`, `missing_result_or_error`, 404 `request_not_found`,
 * `session_not_found`, 413, 429
 */
export async function takeResponse(
  { limits, calls, settings }: Pick<NodeParts, 'limits' | 'calls' | 'settings'>,
  { code }: SessionDocument,
  body: JsonObject,
): Promise<JsonObject> {
  const requestId = callIdOf(body);
  const given = readAnswer(body);
  const isLong = requestId.length > 1_024;
  if (isLong) await limits.take('response', code);
  if (!isLong && (await calls.answer(code, requestId, given, limits.uses.response)))
    return { success: true, requestId };
  // The session may have ended since it was read.
  await findSession(settings.store, settings.now(), code);
  throw noSuchCall();
}

/** The id of a call that an application names. @throws RelayError 400 `missing_request_id` */
function callIdOf(body: JsonObject): string {
  const requestId = fieldOf(body, 'requestId', 'id');
  if (typeof requestId === 'string' && requestId !== '') return requestId;
  throw relayError(
    400,
    'missing_request_id',
    'Expected `requestId` to be the id of a `tool-request`.',
  );
}

/** The error for a call that the session does not have. */
function noSuchCall(): RelayError {
  return relayError(
    404,
    'request_not_found',
    'This session has no such request, or no longer has it.',
  );
}

/** 0, false, "" and null are results. An empty error is ignored if there is a result. */
function readAnswer(body: JsonObject): CallAnswer {
  const result = fieldOf(body, 'result', 'content');
  const error = fieldOf(body, 'error');
  if (
    error !== undefined &&
    error !== null &&
    (result === undefined || (error !== false && error !== ''))
  )
    return { error: bounded(error) };
  if (result === undefined)
    throw relayError(400, 'missing_result_or_error', 'Expected `result` (any JSON) or `error`.');
  return { result: bounded(result) };
}

function bounded(value: JsonValue): JsonValue {
  const text = JSON.stringify(value);
  if (text.length * 3 > maxResultBytes && Buffer.byteLength(text) > maxResultBytes)
    throw relayError(
      413,
      'payload_too_large',
      `Expected a result of at most ${maxResultBytes} bytes of JSON.`,
    );
  return value;
}

// The progress of calls, as applications report it over HTTP and WebSockets.

/** Most bytes of a message; a longer one is cut. */
const maxMessageBytes = 256;

/** Makes the handler of the route. */
export function progressRoute(parts: NodeParts): Pick<SessionHandlers, 'progress'> {
  return {
    async progress({ request, bounds, document }) {
      return answer(200, await takeProgress(parts, document, await readObject(request, bounds)));
    },
  };
}

/**
 * Takes `{ requestId, done, total?, message? }`. It has no effect once the call has ended.
 * @throws RelayError 400 `missing_request_id`, `invalid_request`, 404 `request_not_found`, 429
 */
export async function takeProgress(
  { limits, calls }: Pick<NodeParts, 'limits' | 'calls'>,
  { code }: SessionDocument,
  body: JsonObject,
): Promise<JsonObject> {
  const requestId = callIdOf(body);
  const progress = readProgress(body);
  await limits.take('progress', code);
  if (requestId.length > 1_024 || !(await calls.progress(code, requestId, progress)))
    throw noSuchCall();
  return { success: true, requestId };
}

function readProgress(body: JsonObject): CallProgress {
  const done = fieldOf(body, 'done');
  const total = fieldOf(body, 'total') ?? undefined;
  const message = fieldOf(body, 'message') ?? undefined;
  if (!isAmount(done)) throw invalid('done', 'a number from 0', done);
  if (total !== undefined && !isAmount(total))
    throw invalid('total', 'left out or a number from 0', total);
  if (message !== undefined && typeof message !== 'string')
    throw invalid('message', 'left out or a string', message);
  const line = cleanLine(message, maxMessageBytes);
  return {
    done,
    ...(total === undefined ? {} : { total }),
    ...(line === '' ? {} : { message: line }),
  };
}

function isAmount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}

function invalid(field: string, expected: string, got: unknown): RelayError {
  return wrongValue('invalid_request', `\`${field}\``, expected, got);
}
