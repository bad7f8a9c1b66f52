/** An output that a call reads back, after another call has returned it. */

import type { OutputOrigin } from '../../api/origins.ts';
import type { Call } from '../../core/call/call.ts';
import { Slot } from '../../core/slot.ts';
import type { EchoFilter } from './echo-filter.ts';

/** What is known about the output. */
export interface ReadBack {
  /** The tool that returned it. */
  readonly tool: string;
  readonly origin: OutputOrigin;
  readonly echoes: EchoFilter | undefined;
  /** What the model is shown of it, without pieces of words. */
  words: string;
}

export const ofReader = new Slot<ReadBack>();

/** What the call reads back; undefined if it reads nothing back. */
export function readBackBy({ extra }: Call): ReadBack | undefined {
  return extra === undefined ? undefined : ofReader.of(extra);
}
