/** What a session that was delegated to keeps. */

import { Slot } from '../../core/slot.ts';
import type { JsonObject } from '../../values/json/index.ts';

export interface Delegated {
  /** The tools that it may use; undefined for those of its outer session. */
  readonly tools: ReadonlySet<string> | undefined;
  /** Its scopes are its own, so those of the outer session do not follow. */
  readonly hasScopes: boolean;
  /** The facts of the outer session that were taken over. */
  facts: JsonObject;
}

/** Kept in the setup, so that the session shares no view with others. */
export const delegated = new Slot<Delegated>();
