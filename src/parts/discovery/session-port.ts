/** How surfaces ask what a session with discovery may show, without loading the part. */

import type { SessionState } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import type { Findable } from './discovery.ts';

/** Gives undefined for a session that lists everything that it may show. */
export type FindableIn = (session: SessionState) => Findable | undefined;

export const findablePort = new Slot<FindableIn>();
