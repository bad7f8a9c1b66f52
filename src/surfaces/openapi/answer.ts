/** Turns what an API answers into a handler's outcome. */
import { fail, type JsonObject } from '../../core.ts';
import { copyJson, type JsonValue } from '../../values/json/index.ts';
import { excessOf } from '../../values/text/json-bounds.ts';
import { executorError } from '../shared/executor-fault.ts';
import { cleanText } from '../shared/outside-text.ts';
import { isJsonType, isTextType, mediaType } from './media.ts';

/** Most bytes of an answer. */
export const maxAnswerBytes = 8 * 1_048_576;
const bounds = { maxDepth: 72, maxValues: 200_000 };
/** Most bytes of a server's text in an error. */
const maxErrorBytes = 4_000;
/** Most characters of the body in an error's details. */
const maxDetails = 12_000;

/** An answer that has arrived. */
export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}

/**
 * Reads a body.
 * @returns undefined if it is too large
 */
export async function readBytes(
  { body }: Pick<Response, 'body'>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    size += value.byteLength;
    if (size > maxBytes) {
      void reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
}

/**
 * The outcome of a call.
 * @param hide removes credentials from a text
 */
export function outcomeOf(
  answer: Answer,
  answers: 'json' | 'text' | 'any',
  hide: (text: string) => string,
  mayRetry: boolean,
): unknown {
  const { status, bytes } = answer;
  const type = mediaType(answer.type);
  if (status < 200 || status > 299) return refused(answer, type, hide, mayRetry);
  if (bytes.length === 0) return null;
  const isJson = isJsonType(type) || (type === '' && answers === 'json');
  const isText = isTextType(type) || (type === '' && answers !== 'json');
  if (answers === 'json' ? !isJson : !isJson && !isText)
    throw wrongAnswer(
      `The API answered with ${type === '' ? 'no media type' : `\`${cleanText(type, 100)}\``}. ` +
        `Expected ${answers === 'json' ? 'JSON' : 'JSON or text'}.`,
      status,
    );
  const text = textOf(bytes);
  if (text === undefined) throw wrongAnswer('The API answered with what is not UTF-8.', status);
  if (!isJson || answers === 'text') return hide(text);
  const value = parsed(hide(text));
  if (typeof value === 'string') throw wrongAnswer(value, status);
  return value.json;
}

/** What the call cannot use although the API has done its work. */
function wrongAnswer(message: string, status: number): Error {
  return executorError(
    'invalid_output',
    'http_response',
    `${message} The operation may have been carried out.`,
    undefined,
    { status },
  );
}

export function tooLarge(): unknown {
  return fail({
    message: `The API answered with more than ${maxAnswerBytes} bytes. Ask for less at a time.`,
    reason: 'result_too_large',
  });
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The value of a text, or what is wrong with it. */
function parsed(text: string): { readonly json: JsonValue } | string {
  const excess = excessOf(text, bounds);
  if (excess !== undefined)
    return excess === 'depth'
      ? `The API answered with JSON that is nested deeper than ${bounds.maxDepth} levels.`
      : `The API answered with JSON of more than ${bounds.maxValues} values.`;
  try {
    return { json: JSON.parse(text) as JsonValue };
  } catch {
    return 'The API answered with what is not JSON.';
  }
}

/** Statuses after which the same request may succeed later. */
const later = new Set([429, 502, 503, 504]);

function refused(
  { status, statusText, bytes }: Answer,
  type: string,
  hide: (text: string) => string,
  mayRetry: boolean,
): unknown {
  const text = hide(textOf(bytes) ?? '');
  const value = isJsonType(type) && text.length <= maxDetails ? parsed(text) : '';
  const body = typeof value === 'string' ? undefined : bounded(value.json);
  const shown = isJsonType(type) || isTextType(type) ? cleanText(text, maxErrorBytes) : '';
  const name = cleanText(statusText, 100);
  const details: JsonObject = { status, ...(body === undefined ? {} : { body }) };
  return fail({
    message:
      `The API answered ${status}${name === '' ? '' : ` ${name}`}` +
      `${shown === '' ? '.' : `: ${shown}`}`,
    reason: 'http_error',
    details,
    // What was refused for too many requests was not carried out.
    retryable: status === 429 || (mayRetry && later.has(status)),
  });
}

function bounded(value: JsonValue): JsonValue | undefined {
  const copy = copyJson(value, { maxDepth: 60, maxValues: 5_000, maxChars: maxDetails });
  return copy.ok && !copy.overflow ? copy.value : undefined;
}
