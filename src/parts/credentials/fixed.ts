/** The credentials that files name, which are the same for all principals. */

import { Slot } from '../../core/slot.ts';

/** By name. Each is read when a call needs it; undefined if it is not there. */
export const fixedSlot = new Slot<Map<string, () => string | undefined>>();
