/** Where the calls of a program stand in it. */

import type { MadeCall } from '../../core/registry/ports.ts';
import { Slot } from '../../core/slot.ts';

/** Where a call of a program stands in it. */
export interface Place {
  readonly source: string;
  readonly line: number;
}

/** The places of the calls that a program has made, by their ids. In the call that runs it. */
export const placeSlot = new Slot<ReadonlyMap<string, Place>>();

/** The calls of a program that have ended, by their ids. In the call that runs it. */
export const madeSlot = new Slot<ReadonlyMap<string, MadeCall>>();
