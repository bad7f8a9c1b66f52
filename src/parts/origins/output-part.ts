/**
 * The texts of one output as a record keeps them, and the place in the output where a text
 * occurred.
 */

import type { SeenAt } from '../../api/origins.ts';
import type { Echoes } from './echoes.ts';
import type { Containers, LeafTexts } from './output-texts.ts';
import type { Block } from './shelf.ts';
import { leafEnd } from './text.ts';

/** What is known about the texts of one output. */
export interface OutputPart {
  readonly callId: string;
  readonly toolName: string;
  readonly containers: Containers;
  readonly texts: Pick<LeafTexts, 'within' | 'keys'>;
  /** Whether each leaf vouches only for the whole of itself. */
  readonly onlyWhole: boolean;
  /** What the output may repeat. Undefined if nothing is known about the call. */
  readonly echoes: Echoes | undefined;
  /** Where each leaf begins. Computed on first use. */
  starts: Int32Array | undefined;
}

/** The call, and the path in its output, for a place in a remembered text. */
export function seenAt({ text, about }: Block<OutputPart>, at: number): SeenAt {
  const { callId, toolName, containers, texts } = about;
  about.starts ??= leafStarts(text, texts.within.length);
  const starts = about.starts;
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= at) low = middle;
    else high = middle - 1;
  }
  const path = containers.path(texts.within[low] as number, texts.keys[low]);
  return path === undefined ? { callId, toolName } : { callId, toolName, path };
}

function leafStarts(text: string, count: number): Int32Array {
  const starts = new Int32Array(count);
  for (let leaf = 1, at = 0; leaf < count; leaf++) {
    at = text.indexOf(leafEnd, at) + 1;
    starts[leaf] = at;
  }
  return starts;
}
