/** What providers that read definitions later may be given, without loading the part. */

import type { MadeCall } from '../../core/registry/ports.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';

/** What a session with discovery may show. */
export interface Findable {
  readonly kept: readonly string[];
  readonly finder: string | undefined;
  readonly others: readonly string[];
}

/** What is left of it where programs call the others. The same object for the same one. */
export type InCode = <T extends Findable>(session: SessionState, found: T) => T;

export const inCodePort = new Slot<InCode>();

/** Where a call of a program stands in it. */
export interface Place {
  readonly source: string;
  readonly line: number;
}

/** The places of the calls that a program has made, by their ids. In the call that runs it. */
export const placeSlot = new Slot<ReadonlyMap<string, Place>>();

/** The calls of a program that have ended, by their ids. In the call that runs it. */
export const madeSlot = new Slot<ReadonlyMap<string, MadeCall>>();
