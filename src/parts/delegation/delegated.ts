/** What a session that was delegated to keeps. */

import type { DelegatedAgent } from '../../api/delegation.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import type { JsonObject } from '../../values/json/index.ts';

export interface Delegated {
  /** The first agent first, this one last. */
  readonly chain: readonly DelegatedAgent[];
  /** The tools that it may use; undefined for those of its outer session. */
  readonly tools: ReadonlySet<string> | undefined;
  /** Its scopes are its own, so those of the outer session do not follow. */
  readonly hasScopes: boolean;
  /** The facts of the outer session that were taken over. */
  facts: JsonObject;
}

/** Kept in the setup, so that the session shares no view with others. */
export const delegated = new Slot<Delegated>();

const direct: readonly DelegatedAgent[] = Object.freeze([]);

/** The agents for which a session acts. Empty for a session that a host has created. */
export function chainOf({ setup }: SessionState): readonly DelegatedAgent[] {
  return delegated.of(setup)?.chain ?? direct;
}
