/** Frames that clients send over a WebSocket. */
import { isJsonObject } from '../../json.ts';
import { excessOf, type JsonBounds, type JsonExcess } from '../../text/json-bounds.ts';
import { maxAnswerValues, maxBodyDepth } from '../ports/answer-bounds.ts';
import type { Side } from '../ports/documents.ts';

/** The data of a `response`, or why the frame is refused. */
export type Frame =
  | { readonly data: unknown }
  | { readonly error: string; readonly message: string };

/** A frame holds an answer in `data`, so it is one level deeper. */
const frameBounds: JsonBounds = { maxDepth: maxBodyDepth + 1, maxValues: maxAnswerValues + 20 };
const tooMuch: Readonly<Record<JsonExcess, string>> = {
  depth: `Expected the data of a frame to be nested at most ${maxBodyDepth} levels deep.`,
  values:
    `Expected an answer of at most ${maxAnswerValues} values. A member with a key that is new in ` +
    'the answer counts as five.',
};
/** Reads the text of a frame. Only an application may send one. */
export function readFrame(text: string, side: Side): Frame {
  const excess = excessOf(text, frameBounds);
  if (excess !== undefined) return { error: 'invalid_frame', message: tooMuch[excess] };
  const frame = parse(text);
  if (!isJsonObject(frame) || typeof frame.event !== 'string')
    return {
      error: 'invalid_frame',
      message: 'Expected a text frame with the JSON of `{ event, data }`.',
    };
  if (frame.event !== 'response')
    return {
      error: 'unknown_event',
      message: 'Expected the event `response`. A client sends no other event.',
    };
  if (side !== 'application')
    return {
      error: 'wrong_side',
      message: 'This stream is for agents. Only the application sends responses.',
    };
  return { data: frame.data };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
