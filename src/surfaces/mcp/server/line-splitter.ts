/** Splits text that arrives in chunks into lines. */

import type { JsonObject, JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { type RpcId, type RpcMessage, readMessage } from './rpc.ts';

/** Takes the text as it arrives. */
export interface LineSplitter {
  /** Takes a chunk. Lines that it completes are passed on before this returns. */
  add(chunk: string): void;
  /** Passes on what follows the last line feed, if anything does. */
  end(): void;
}

/** Where the lines go. */
export interface LineTaker {
  /** A line without its line feed. */
  take(line: string): void;
  /** A line that is too long, of which only the two ends were kept. */
  refuse(beginning: string, end: string): void;
}

/**
 * Each chunk is searched once, and each line is put together once, however small its chunks are. A
 * line that is too long is never kept as a whole.
 * @param maxLength most characters of a line
 */
export function lineSplitter(maxLength: number, { take, refuse }: LineTaker): LineSplitter {
  let pieces: string[] = [];
  let length = 0;
  /** The two ends of a line that is too long. */
  let ends: { readonly beginning: string; end: string } | undefined;

  const hold = (piece: string): void => {
    if (ends !== undefined) {
      ends.end = (ends.end + piece).slice(-keptOfLine);
      return;
    }
    pieces.push(piece);
    length += piece.length;
    if (length <= maxLength) return;
    const text = pieces.join('');
    ends = { beginning: text.slice(0, keptOfLine), end: text.slice(-keptOfLine) };
    pieces = [];
  };
  const finish = (): void => {
    const line = pieces.join('');
    const tooLong = ends;
    pieces = [];
    length = 0;
    ends = undefined;
    // A long line is refused only here, because the id may be at its end.
    if (tooLong === undefined) take(line);
    else refuse(tooLong.beginning, tooLong.end);
  };
  return {
    add(chunk) {
      let start = 0;
      for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', start)) {
        hold(chunk.slice(start, at));
        finish();
        start = at + 1;
      }
      if (start < chunk.length) hold(chunk.slice(start));
    },
    end() {
      if (length > 0) finish();
    },
  };
}

// Finds the id of the request in a line that is refused because it is too long or contains too
// much, so that the client gets an answer.

/** Characters that are kept of each end. An id has at most 256. */
export const keptOfLine = 1_024;

const scalar = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/.source;
const member = `\\s*"(\\w+)"\\s*:\\s*(${scalar})\\s*`;
const firstMembers = new RegExp(`^\\s*\\{(?:${member},)*`);
const lastMembers = new RegExp(`(?:,${member})+\\}\\s*$`);

/**
 * The id of the request in a line, read from both of its ends; null if it cannot be found. A
 * message without a method is a response, and its id belongs to another request.
 */
export function idOfSkipped(beginning: string, end: string): RpcId | null {
  try {
    const members = new Map([
      ...membersIn(firstMembers.exec(beginning)?.[0] ?? ''),
      ...membersIn(lastMembers.exec(end)?.[0] ?? ''),
    ]);
    return requestIdOf({ id: members.get('id'), method: members.get('method') });
  } catch {
    // The text has an escape that JSON does not allow.
    return null;
  }
}

function membersIn(text: string): [string, unknown][] {
  return [...text.matchAll(new RegExp(member, 'g'))].map(([, name = '', value = '']) => [
    name,
    JSON.parse(value) as unknown,
  ]);
}

// The forms of a message that the protocol's package accepts. It drops any other message without an
// answer, so such messages are refused before they get there.

/**
 * The checks below replace the package's schemas, which take far longer than parsing on a message
 * with many members.
 */
const relatedTaskKey = 'io.modelcontextprotocol/related-task';

/** The members of a message, by its kind. It may have no others. */
const members = {
  request: ['jsonrpc', 'id', 'method', 'params'],
  notification: ['jsonrpc', 'method', 'params'],
  response: ['jsonrpc', 'id', 'result', 'error'],
} as const;

/** Reads a message; undefined if the package would drop it. */
export function readExactly(value: unknown): RpcMessage | undefined {
  const message = readMessage(value);
  if (message === undefined) return undefined;
  const object = value as JsonObject;
  const known: readonly string[] = members[message.kind];
  if (!Object.keys(object).every((key) => known.includes(key))) return undefined;
  const fits =
    message.kind === 'response'
      ? isOutcome(object)
      : message.params === undefined || isMeta((message.params as JsonObject)._meta);
  return fits ? message : undefined;
}

/**
 * The id of a request, even if its other members are malformed, so that the client gets an answer.
 * Null if there is none.
 */
export function requestIdOf(value: unknown): RpcId | null {
  if (!isJsonObject(value)) return null;
  const message = readMessage({ jsonrpc: '2.0', id: value.id, method: value.method });
  return message?.kind === 'request' ? message.id : null;
}

/** Whether this can be the `_meta` of a request or a notification. */
function isMeta(meta: JsonValue | undefined): boolean {
  if (meta === undefined) return true;
  if (!isJsonObject(meta)) return false;
  const { progressToken, [relatedTaskKey]: task } = meta;
  return (
    (progressToken === undefined ||
      typeof progressToken === 'string' ||
      Number.isSafeInteger(progressToken)) &&
    (task === undefined || (isJsonObject(task) && typeof task.taskId === 'string'))
  );
}

/** Whether a response has a result or an error, and not both. */
function isOutcome({ result, error }: JsonObject): boolean {
  if (error === undefined)
    return isJsonObject(result) && (result._meta === undefined || isJsonObject(result._meta));
  return (
    result === undefined &&
    isJsonObject(error) &&
    Number.isSafeInteger(error.code) &&
    typeof error.message === 'string'
  );
}
