/** The tools that a session lists. */

import type { Dropped, Prerequisite } from '../../api/session.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { SessionState } from './session-state.ts';

/** The part of a view that is listed. */
export interface Listing {
  readonly names: readonly string[];
  readonly entries: ReadonlyMap<string, ToolEntry>;
  readonly dropped: readonly Dropped[];
  readonly prerequisites: readonly Prerequisite[];
  readonly hash: string;
}

/** All that the session may show, or what a part selects of it. */
export function listingOf(session: SessionState): Listing {
  const { registry } = session;
  const view = registry.viewOf(session);
  return registry.ports.listing?.(session, view) ?? view;
}
