/**
 * The bounds of one message of a server. Its bytes are counted as they arrive, before the SDK
 * parses the message and checks it with its schemas.
 */
import {
  createJsonCount,
  type JsonBounds,
  type JsonExcess,
} from '../../../values/text/json-bounds.ts';

/** Most bytes of one message: a JSON body, one event of a stream, or one line. */
export const maxMessageBytes = 8 * 1_048_576;

/** The bounds of one message. The SDK takes about 50 ms to read a message with this many values. */
export const messageBounds: JsonBounds = { maxDepth: 100, maxValues: 150_000 };

/**
 * The bounds of a message of the handshake, and of several messages in one body. The SDK describes
 * each wrong part of a handshake message, and reads each message of a list by itself. Both take
 * longer for each value than a result does.
 */
export const smallBounds: JsonBounds = { maxDepth: 100, maxValues: 5_000 };

/** Where a message ends: with its body, or at an empty line (an event of a stream). */
export type MessageEnd = 'body' | 'emptyLine';

/** Counts what arrives. */
export interface MessageGuard {
  /** Takes the next bytes. @throws Error that names the bound which the message exceeds */
  take(chunk: Uint8Array): void;
  /** Nothing more will arrive. @throws as `take` does */
  end(): void;
}

const lineFeed = 10;
const carriageReturn = 13;

/** A body that is a list, after white space and the bytes of a byte order mark. */
const list = /^[\s\u00ef\u00bb\u00bf]*\[/;

interface State {
  readonly ends: MessageEnd;
  readonly maxBytes: number;
  readonly boundsNow: () => JsonBounds;
  /** Of the current message. */
  bounds: JsonBounds;
  /**
   * Made with the first line of a message, because the handshake may have ended since the last one.
   */
  count: ReturnType<typeof createJsonCount> | undefined;
  /** Of the current message. */
  bytes: number;
  /** The parts of the current line. */
  line: Uint8Array[];
  /** The current line has no characters yet. */
  emptyLine: boolean;
}

/**
 * Makes a guard for messages that come one after another. Each of them is bounded; their number is
 * not.
 * @param boundsNow asked as each message begins
 */
export function createMessageGuard(
  ends: MessageEnd,
  maxBytes = maxMessageBytes,
  boundsNow = () => messageBounds,
): MessageGuard {
  const state: State = {
    ends,
    maxBytes,
    boundsNow,
    bounds: messageBounds,
    count: undefined,
    bytes: 0,
    line: [],
    emptyLine: true,
  };
  return {
    take: (chunk) => takeChunk(state, chunk),
    end: () => countLine(state),
  };
}

function takeChunk(state: State, chunk: Uint8Array): void {
  let start = 0;
  for (let at = 0; at < chunk.length; at++) {
    const byte = chunk[at];
    if (byte !== lineFeed && byte !== carriageReturn) {
      state.emptyLine = false;
      continue;
    }
    // No JSON string continues over a line break, so each line can be counted by itself, whatever
    // the lines around it contain.
    addBytes(state, at + 1 - start);
    if (at > start) state.line.push(chunk.subarray(start, at));
    countLine(state);
    start = at + 1;
    if (byte === carriageReturn) continue;
    if (state.ends === 'emptyLine' && state.emptyLine) {
      state.count = undefined;
      state.bytes = 0;
    }
    state.emptyLine = true;
  }
  addBytes(state, chunk.length - start);
  if (start < chunk.length) state.line.push(chunk.subarray(start));
}

function addBytes(state: State, bytes: number): void {
  state.bytes += bytes;
  if (state.bytes > state.maxBytes)
    throw new Error(`The server sent a message of more than ${state.maxBytes} bytes.`);
}

/** Counts the JSON values of the line that has just ended. */
function countLine(state: State): void {
  if (state.line.length === 0) return;
  // Only ASCII matters to the count, and no byte of any other character looks like ASCII.
  const text = Buffer.concat(state.line).toString('latin1');
  state.line = [];
  // White space before a body is not part of the message yet.
  if (state.count === undefined && !/[^\s\u00ef\u00bb\u00bf]/.test(text)) return;
  if (state.count === undefined) {
    const { ends, boundsNow } = state;
    state.bounds =
      ends === 'body' && list.test(text) ? smaller(boundsNow(), smallBounds) : boundsNow();
    state.count = createJsonCount(state.bounds);
  }
  const excess = state.count(text);
  if (excess !== undefined) throw new Error(excessText(excess, state.bounds));
}

/** Names the bound that a message exceeds. */
export function excessText(excess: JsonExcess, { maxDepth, maxValues }: JsonBounds): string {
  return excess === 'depth'
    ? `The server sent a message that is nested deeper than ${maxDepth} levels.`
    : `The server sent a message of more than ${maxValues} values.`;
}

function smaller(one: JsonBounds, other: JsonBounds): JsonBounds {
  return one.maxValues < other.maxValues ? one : other;
}
