/** Request bodies: JSON objects within limits of size, values, depth and time. */

import type { JsonObject, JsonValue } from '../../../core.ts';
import { type BodyFault, bodyTimeoutMs, readBodyText } from '../../../values/http/body.ts';
import { headerOf } from '../../../values/http/direct-body.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { nextTurn } from '../../../values/limits/stretches.ts';
import { excessOf } from '../../../values/text/json-bounds.ts';
import { maxAnswerValues, maxBodyDepth } from '../ports/answer-bounds.ts';
import { type RelayError, relayError, wrongValue } from '../relay-error.ts';

/** How much a body may hold. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** Values as {@link excessOf} counts them. */
  readonly maxValues: number;
}

/** Most bytes of an application's result, as JSON. */
export const maxResultBytes = 4 * 1_048_576;

/** For bodies with one member or none, which any client may send. */
export const smallBody: BodyBounds = { maxBytes: 1_024, maxValues: 1_024 };
/** For the progress of a call: the longest id, and a message that is cut. */
export const progressBody: BodyBounds = { maxBytes: 8_192, maxValues: 1_024 };
/**
 * For calls, MCP messages and approvals: the 50 000 values of an input, and the members around it.
 */
export const callBody: BodyBounds = { maxBytes: 1_048_576, maxValues: 50_100 };
/** For registrations and updates. */
export const toolsBody: BodyBounds = { maxBytes: 1_048_576, maxValues: 150_000 };
/** For an application's answer. */
export const responseBody: BodyBounds = {
  maxBytes: maxResultBytes + 65_536,
  maxValues: maxAnswerValues,
};
/** Characters above which a body is processed in a new turn of the event loop. */
const longBody = 65_536;

/**
 * Reads the JSON object of a body.
 * @throws RelayError 400 `invalid_json` or `invalid_request`, 408, 413, 415
 */
export async function readObject(request: Request, bounds: BodyBounds): Promise<JsonObject> {
  const text = await readText(request, bounds.maxBytes);
  const body = parseBody(text, bounds);
  if (text.length > longBody) await nextTurn();
  if (!isJsonObject(body)) throw wrongValue('invalid_request', 'the body', 'a JSON object', body);
  return body;
}

/**
 * Reads the text of a body with a JSON content type.
 * @throws RelayError 400 `invalid_json` for a body that is not UTF-8, 408, 413, 415
 */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  checkContentType(request);
  const read = await readBodyText(request, maxBytes);
  if ('text' in read) return read.text;
  throw faultOf(read.fault, maxBytes);
}

/**
 * Parses the text of a body.
 * @throws RelayError 400 `invalid_json`, also when it is nested too deeply; 413 for too many values
 */
export function parseBody(text: string, bounds: Pick<BodyBounds, 'maxValues'>): JsonValue {
  checkText(text, bounds);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw invalidJson('The body is not valid JSON.');
  }
}

/**
 * Checks the text before it is parsed, so that no value is built that is too deep or too large.
 * @throws RelayError 400 `invalid_json` when it is nested too deeply; 413 `payload_too_large` for
 * too many values
 */
export function checkText(text: string, { maxValues }: Pick<BodyBounds, 'maxValues'>): void {
  const excess = excessOf(text, { maxDepth: maxBodyDepth, maxValues });
  if (excess === 'depth')
    throw invalidJson(`The body is nested deeper than ${maxBodyDepth} levels.`);
  if (excess === 'values')
    throw relayError(
      413,
      'payload_too_large',
      `Expected a body of at most ${maxValues} values. A member with a key that is new in the ` +
        'body counts as five.',
    );
}

/** The first of these members that the object has as its own property. */
export function fieldOf(body: JsonObject, ...names: readonly string[]): JsonValue | undefined {
  for (const name of names) if (Object.hasOwn(body, name)) return body[name];
  return undefined;
}

function checkContentType(request: Request): void {
  if (!isJson(headerOf(request, 'content-type') ?? ''))
    throw relayError(
      415,
      'unsupported_media_type',
      'Expected a body in UTF-8 with `Content-Type: application/json`.',
    );
  if ((headerOf(request, 'content-encoding') ?? 'identity').toLowerCase() !== 'identity')
    throw relayError(415, 'unsupported_media_type', 'Expected a body without `Content-Encoding`.');
}

function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='));
  const plain =
    charset === undefined || charset === 'charset=utf-8' || charset === 'charset="utf-8"';
  return type.trim() === 'application/json' && plain;
}

function faultOf(fault: BodyFault, maxBytes: number): RelayError {
  if (fault === 'unreadable') return invalidJson('The body is not UTF-8, or was cut off.');
  const headers = { Connection: 'close' };
  return fault === 'too_late'
    ? relayError(
        408,
        'request_timeout',
        `The body did not arrive within ${bodyTimeoutMs / 1_000} seconds.`,
        { headers },
      )
    : relayError(413, 'payload_too_large', `The body has more than ${maxBytes} bytes.`, {
        headers,
      });
}

function invalidJson(message: string): RelayError {
  return relayError(400, 'invalid_json', message);
}
