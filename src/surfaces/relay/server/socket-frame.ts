/** Frames that clients send over a WebSocket. */
import { isJsonObject, type JsonObject } from '../../../values/json/index.ts';
import { excessOf, type JsonBounds, type JsonExcess } from '../../../values/text/json-bounds.ts';
import { maxAnswerValues, maxBodyDepth } from '../ports/answer-bounds.ts';
import type { Side } from '../ports/documents.ts';
import type { SocketAdmission, SocketFrame } from './server-port.ts';

/** A frame that was read, or why it is refused. */
export type Frame =
  | {
      readonly data: unknown;
      /** Undefined for a `response`. */
      readonly frame: SocketFrame | undefined;
    }
  | { readonly error: string; readonly message: string };

/** A frame holds an answer in `data`, so it is one level deeper. */
const frameBounds: JsonBounds = { maxDepth: maxBodyDepth + 1, maxValues: maxAnswerValues + 20 };
const tooMuch: Readonly<Record<JsonExcess, string>> = {
  depth: `Expected the data of a frame to be nested at most ${maxBodyDepth} levels deep.`,
  values:
    `Expected an answer of at most ${maxAnswerValues} values. A member with a key that is new in ` +
    'the answer counts as five.',
};
/** Most bytes and values of a frame in addition to its data. */
const around = { bytes: 1_024, values: 20 } as const;

/** Reads the text of a frame. */
export function readFrame(
  text: string,
  { stream: { side }, frames }: Pick<SocketAdmission, 'stream' | 'frames'>,
): Frame {
  const excess = excessOf(text, frameBounds);
  if (excess !== undefined) return { error: 'invalid_frame', message: tooMuch[excess] };
  const given = parse(text);
  if (!isJsonObject(given) || typeof given.event !== 'string')
    return {
      error: 'invalid_frame',
      message: 'Expected a text frame with the JSON of `{ event, data }`.',
    };
  const frame = frames?.get(given.event);
  if (frame !== undefined) return bounded(text, given, frame);
  if (given.event !== 'response' && given.event !== 'progress')
    return {
      error: 'unknown_event',
      message: expectedOf(side, frames),
    };
  if (side !== 'application')
    return {
      error: 'wrong_side',
      message: 'This stream is for agents. Only the application sends responses and progress.',
    };
  return { data: given.data, frame: undefined };
}

function bounded(text: string, { event, data }: JsonObject, frame: SocketFrame): Frame {
  const maxBytes = frame.bounds.maxBytes + around.bytes;
  if (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes)
    return {
      error: 'invalid_frame',
      message: `Expected a frame \`${event}\` of at most ${maxBytes} bytes.`,
    };
  const maxValues = frame.bounds.maxValues + around.values;
  if (excessOf(text, { maxDepth: maxBodyDepth + 1, maxValues }) !== undefined)
    return {
      error: 'invalid_frame',
      message:
        `Expected a frame \`${event}\` of at most ${maxValues} values. A member with a key that ` +
        'is new in the frame counts as five.',
    };
  return { data, frame };
}

function expectedOf(side: Side, frames: SocketAdmission['frames']): string {
  const names = [...(side === 'application' ? ['response'] : []), ...(frames?.keys() ?? [])];
  return names.length === 0
    ? 'Expected no event: this stream is only read. An agent sends its calls at `agent`.'
    : `Expected the event ${names.map((name) => `\`${name}\``).join(' or ')}. A client sends no ` +
        'other event.';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
