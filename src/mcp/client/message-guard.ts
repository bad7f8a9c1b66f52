/**
 * What one message of a server may hold, counted in its bytes as they arrive: before the SDK parses
 * it and reads it by its schemas.
 */
import { createJsonCount, type JsonBounds } from '../../text/json-bounds.ts';

/** Most bytes of one message: a JSON body, one event of a stream, or one line. */
export const maxMessageBytes = 8 * 1_048_576;

/**
 * What there may be in one message. Reading a message of so many values takes the SDK about 50 ms.
 */
export const messageBounds: JsonBounds = { maxDepth: 100, maxValues: 150_000 };

/**
 * What there may be in a message of the handshake, and in several messages in one body. The SDK
 * tells of each wrong part of the one, and reads each message of the other by itself: both take
 * longer for each value than a result does.
 */
export const smallBounds: JsonBounds = { maxDepth: 100, maxValues: 5_000 };

/**
 * Where a message ends: with its body, at an empty line (an event of a stream), or with its line.
 */
export type MessageEnd = 'body' | 'emptyLine' | 'line';

/** Counts what arrives. */
export interface MessageGuard {
  /** Takes the next bytes. @throws Error that says which bound the message is over */
  take(chunk: Uint8Array): void;
  /** Nothing comes any more. @throws as `take` does */
  end(): void;
}

const lineFeed = 10;
const carriageReturn = 13;

/** A body that is a list, after white space and the bytes of a byte order mark. */
const list = /^[\s\u00ef\u00bb\u00bf]*\[/;

/**
 * Makes a guard for messages that come one after another. Each of them is bounded, and not how many
 * there are.
 * @param boundsNow asked as each message begins
 */
export function createMessageGuard(
  end: MessageEnd,
  maxBytes = maxMessageBytes,
  boundsNow = () => messageBounds,
): MessageGuard {
  let bounds = messageBounds;
  // Made with the first line of a message: the handshake may have ended since the last.
  let count: ReturnType<typeof createJsonCount> | undefined;
  let bytes = 0;
  let line: Uint8Array[] = [];
  let emptyLine = true;

  const countLine = (): void => {
    if (line.length === 0) return;
    // Only ASCII matters to the count, and no byte of another character looks like it.
    const text = Buffer.concat(line).toString('latin1');
    line = [];
    // What stands before a body is white space: it is not yet the message.
    if (count === undefined && !/[^\s\u00ef\u00bb\u00bf]/.test(text)) return;
    if (count === undefined) {
      bounds = end === 'body' && list.test(text) ? smaller(boundsNow(), smallBounds) : boundsNow();
      count = createJsonCount(bounds);
    }
    const excess = count(text);
    if (excess === 'depth')
      throw new Error(
        `The server sent a message that is nested deeper than ${bounds.maxDepth} levels.`,
      );
    if (excess === 'values')
      throw new Error(`The server sent a message of more than ${bounds.maxValues} values.`);
  };
  const countBytes = (): void => {
    if (bytes > maxBytes)
      throw new Error(`The server sent a message of more than ${maxBytes} bytes.`);
  };
  return {
    take(chunk) {
      let start = 0;
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at];
        if (byte !== lineFeed && byte !== carriageReturn) {
          emptyLine = false;
          continue;
        }
        // No string of JSON goes on over a line, so each line is counted by itself, whatever stands
        // in the lines around it.
        bytes += at + 1 - start;
        countBytes();
        if (at > start) line.push(chunk.subarray(start, at));
        countLine();
        start = at + 1;
        if (byte === carriageReturn) continue;
        if (end === 'line' || (end === 'emptyLine' && emptyLine)) {
          count = undefined;
          bytes = 0;
        }
        emptyLine = true;
      }
      bytes += chunk.length - start;
      countBytes();
      if (start < chunk.length) line.push(chunk.subarray(start));
    },
    end: countLine,
  };
}

function smaller(one: JsonBounds, other: JsonBounds): JsonBounds {
  return one.maxValues < other.maxValues ? one : other;
}
