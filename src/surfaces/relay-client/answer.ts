/** Turns what a handler returned or threw into the answer for the relay. */
import { excessOf, type JsonBounds } from '../../values/text/json-bounds.ts';
import { maxAnswerValues, maxBodyDepth } from '../relay/ports/answer-bounds.ts';

/** An answer as text. */
export interface Answer {
  readonly requestId: string;
  /** JSON: `{ requestId, result }` or `{ requestId, error }`. */
  readonly body: string;
  /** The length of `body` in UTF-8. */
  readonly bytes: number;
}

/** Most bytes of an answer. */
const maxAnswerBytes = 4 * 1_048_576;
/** The bounds that a relay enforces. */
const bounds: JsonBounds = { maxDepth: maxBodyDepth, maxValues: maxAnswerValues };
/** Most characters of an error's message. */
const maxMessageChars = 8_192;

/**
 * The answer of a handler that returned. A result that is not JSON, or too large, becomes an error
 * that says so.
 */
export function resultAnswer(requestId: string, tool: string, result: unknown): Answer {
  try {
    const answer = answerOf(requestId, 'result', jsonOf(result));
    if (excessOf(answer.body, bounds) !== undefined)
      return errorAnswer(
        requestId,
        `The result of ${tool} has too many values or is nested too deeply. A relay accepts at ` +
          `most ${maxAnswerValues} values and ${maxBodyDepth} levels. Return less, or one part ` +
          'at a time.',
      );
    if (answer.bytes <= maxAnswerBytes) return answer;
    const megabytes = (answer.bytes / 1_048_576).toFixed(1);
    return errorAnswer(
      requestId,
      `The result of ${tool} is ${megabytes} MB as JSON. A relay accepts at most 4 MB. Return ` +
        'less, or one part at a time.',
    );
  } catch (error) {
    return errorAnswer(
      requestId,
      `The result of ${tool} cannot be sent as JSON: ${messageOf(error)}`,
    );
  }
}

/** The answer of a handler that threw. */
export function thrownAnswer(requestId: string, thrown: unknown): Answer {
  return errorAnswer(requestId, messageOf(thrown));
}

/** An answer that is an error. */
export function errorAnswer(requestId: string, message: string): Answer {
  return answerOf(
    requestId,
    'error',
    JSON.stringify({ message: message.slice(0, maxMessageChars) }),
  );
}

/** The message of whatever was thrown. Never throws itself. */
function messageOf(thrown: unknown): string {
  try {
    const { message } = (thrown ?? {}) as { readonly message?: unknown };
    return typeof message === 'string' && message !== ''
      ? message
      : `The handler threw ${String(thrown)}.`;
  } catch {
    return 'The handler threw something that cannot be read.';
  }
}

function answerOf(requestId: string, key: 'result' | 'error', json: string): Answer {
  const body = `{"requestId":${JSON.stringify(requestId)},"${key}":${json}}`;
  return { requestId, body, bytes: new TextEncoder().encode(body).length };
}

/** The value as JSON. Throws if JSON would silently leave something out. */
function jsonOf(result: unknown): string {
  if (result === undefined) return 'null';
  const json = JSON.stringify(result, (key, value: unknown) => {
    const fault = faultOf(value);
    if (fault !== undefined)
      throw new TypeError(`${key === '' ? 'it' : JSON.stringify(key)} is ${fault}.`);
    return value;
  }) as string | undefined;
  if (json === undefined) throw new TypeError('its toJSON returns nothing.');
  return json;
}

function faultOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value);
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    return `a ${typeof value}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (ArrayBuffer.isView(value)) return 'binary data (encode it as text)';
  const prototype: unknown = Object.getPrototypeOf(value);
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  // JSON would turn a Map, a Promise or an Error into an empty object.
  return plain || Object.keys(value).length > 0
    ? undefined
    : `a ${Object.prototype.toString.call(value).slice(8, -1)}, which has no JSON form`;
}

// Remembers ended calls, so that one that is delivered again does not run again.

/** The last calls, with their answers as far as they fit. */
export interface AnswerCache {
  /** True for a call that is over, whether or not its answer is still kept. */
  has(requestId: string): boolean;
  /** The answer of a call, if it had one that is still kept. */
  get(requestId: string): Answer | undefined;
  /** Remembers a call. @param answer undefined if the call was cancelled or ran out of time */
  add(requestId: string, answer?: Answer): void;
  /** The number of calls that are remembered. */
  readonly size: number;
  /** Bytes of the answers that are kept. */
  readonly bytes: number;
}

/** How much is kept. */
export interface AnswerCacheLimits {
  /** Most calls. @default 1 000 */
  readonly ids?: number;
  /** Most bytes of all answers. @default 4 MB */
  readonly bytes?: number;
  /** Most bytes of one answer. Of a larger one only the id is kept. @default 256 KB */
  readonly answerBytes?: number;
}

export function createAnswerCache({
  ids = 1_000,
  bytes: maxBytes = 4 * 1_048_576,
  answerBytes = 262_144,
}: AnswerCacheLimits = {}): AnswerCache {
  // Oldest first.
  const answers = new Map<string, Answer | undefined>();
  let bytes = 0;
  const forget = (requestId: string): void => {
    bytes -= answers.get(requestId)?.bytes ?? 0;
    answers.delete(requestId);
  };
  const makeRoom = (): void => {
    for (const [requestId, answer] of answers) {
      if (bytes <= maxBytes) return;
      if (answer === undefined) continue;
      // The id keeps its place.
      answers.set(requestId, undefined);
      bytes -= answer.bytes;
    }
  };
  return {
    has: (requestId) => answers.has(requestId),
    get: (requestId) => answers.get(requestId),
    add(requestId, answer) {
      forget(requestId);
      const kept = answer !== undefined && answer.bytes <= answerBytes ? answer : undefined;
      answers.set(requestId, kept);
      bytes += kept?.bytes ?? 0;
      for (const [oldest] of answers) {
        if (answers.size <= ids) break;
        forget(oldest);
      }
      makeRoom();
    },
    get size() {
      return answers.size;
    },
    get bytes() {
      return bytes;
    },
  };
}
