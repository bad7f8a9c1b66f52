/** Bodies of requests: JSON objects, read up to a limit of size, depth and time. */
import type { JsonObject, JsonValue } from '../index.ts';
import { describe, isJsonObject } from '../internal.ts';
import { directBody, headerOf, type ReadDirectly } from './direct-body.ts';
import { isRelayError, type RelayError, relayError } from './relay-error.ts';

/** Bytes of most bodies. */
export const maxBodyBytes = 1_048_576;
/** Bytes of an application's result, as JSON. */
export const maxResultBytes = 4 * 1_048_576;
/** Bytes of the body that a result comes in. */
export const maxResponseBodyBytes = maxResultBytes + 65_536;
/** Deepest nesting of arrays and objects in a body. */
export const maxBodyDepth = 100;
const bodyTimeoutMs = 30_000;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON object of a body. @throws RelayError 400 `invalid_json` or `invalid_request`, 408, 413, 415 */
export async function readObject(request: Request, maxBytes: number): Promise<JsonObject> {
  const body = parseBody(await readText(request, maxBytes));
  if (!isJsonObject(body)) throw relayError(400, 'invalid_request', `Expected the body to be a JSON object, got ${describe(body)}.`);
  return body;
}

/** The text of a body that says that it is JSON. @throws RelayError 400 `invalid_json` for what is no UTF-8, 408, 413, 415 */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  checkContentType(request);
  const direct = directBody(request);
  if (direct !== undefined) return readWhole(direct, maxBytes);
  const { body } = request;
  if (Number(request.headers.get('content-length')) > maxBytes) {
    await body?.cancel().catch(() => {});
    throw tooLarge(maxBytes);
  }
  if (body === null) return '';
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const stop = (): void => void reader.cancel().catch(() => {});
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    stop();
  }, bodyTimeoutMs);
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let text = '';
    for (let bytes = 0; ; ) {
      const { done, value } = await reader.read();
      if (late) throw tooLate();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > maxBytes) {
        stop();
        throw tooLarge(maxBytes);
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    throw isRelayError(error) ? error : unreadable();
  } finally {
    clearTimeout(timer);
  }
}

/** The server bounds the time. */
async function readWhole(read: ReadDirectly, maxBytes: number): Promise<string> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = await read(maxBytes);
    if (bytes !== undefined) return strictUtf8.decode(bytes);
  } catch {
    throw unreadable();
  }
  throw tooLarge(maxBytes);
}

/** @throws RelayError 400 `invalid_json`, also for what is nested too deep */
export function parseBody(text: string): JsonValue {
  if (isTooDeep(text)) throw invalidJson(`The body is nested deeper than ${maxBodyDepth} levels.`);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw invalidJson('The body is not valid JSON.');
  }
}

/** The first of these members that the object has itself. */
export function fieldOf(body: JsonObject, ...names: readonly string[]): JsonValue | undefined {
  for (const name of names) if (Object.hasOwn(body, name)) return body[name];
  return undefined;
}

function checkContentType(request: Request): void {
  const [type = '', ...parameters] = (headerOf(request, 'content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='));
  const plain = charset === undefined || charset === 'charset=utf-8' || charset === 'charset="utf-8"';
  if (type.trim() !== 'application/json' || !plain)
    throw relayError(415, 'unsupported_media_type', 'Expected a body with `Content-Type: application/json`, in UTF-8.');
  if ((headerOf(request, 'content-encoding') ?? 'identity').toLowerCase() !== 'identity')
    throw relayError(415, 'unsupported_media_type', 'Expected a body without `Content-Encoding`.');
}

/** True for JSON text that is nested deeper than a body may be. Looks at the text, so that nothing deep is ever built. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (quoted) {
      if (char === 0x5c) at++;
      else if (char === 0x22) quoted = false;
    } else if (char === 0x22) quoted = true;
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > maxBodyDepth) return true;
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return false;
}

function tooLate(): RelayError {
  return relayError(408, 'request_timeout', `The body did not arrive within ${bodyTimeoutMs / 1_000} seconds.`, { headers: { Connection: 'close' } });
}

/** A decoder or a connection that failed. */
function unreadable(): RelayError {
  return invalidJson('The body is not UTF-8, or was cut off.');
}

function tooLarge(maxBytes: number): RelayError {
  return relayError(413, 'payload_too_large', `A body may have ${maxBytes} bytes at most here.`, { headers: { Connection: 'close' } });
}

function invalidJson(message: string): RelayError {
  return relayError(400, 'invalid_json', message);
}
