/** Tells listeners and surfaces of a session when the tools that it shows have changed. */

import type { ChangeReason } from '../../api/events.ts';
import type { HostTool } from '../../api/session.ts';
import { deepFreeze } from '../../values/json/index.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { SessionState } from './session-state.ts';
import { listingOf, type SharedView } from './view.ts';

type Listing = ReadonlyMap<string, ToolEntry>;

/** What the listings of one session keep, until something changes. */
export class ListingCache {
  /** What sessions share that see the same tools. */
  shared: SharedView | undefined;
  /** The stamp of the session at which {@link shared} was found. */
  sharedStamp = -1;
  hostTools: readonly HostTool[] | undefined;
  hostToolsStamp = -1;
  /** The last listing, with which `tools:changed` compares. */
  shown: Listing | undefined;
  /** Functions that run when the listing may have changed. Mounts and surfaces add them. */
  followers: Set<() => void> | undefined;
}

/** Emits `tools:changed` if the listing differs from the last one, and runs the followers. */
export function emitListingChange(session: SessionState, reason: ChangeReason): void {
  const { registry, listing } = session;
  const { shown: before, followers } = listing;
  if (before !== undefined) {
    const after = listingOf(session).entries;
    listing.shown = after;
    const change = changeBetween(before, after);
    if (change !== undefined)
      session.hub?.emit(
        'tools:changed',
        deepFreeze({ type: 'tools:changed', at: registry.now(), ...change, reason }),
      );
  }
  if (followers !== undefined) for (const follower of [...followers]) follower();
}

/** The differences between two listings; undefined if there are none. */
function changeBetween(
  before: Listing,
  after: Listing,
):
  | { readonly added: string[]; readonly removed: string[]; readonly modified: string[] }
  | undefined {
  if (before === after) return undefined;
  const added = [...after.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const modified = [...after]
    .filter(([name, entry]) => before.has(name) && before.get(name) !== entry)
    .map(([name]) => name);
  return added.length + removed.length + modified.length > 0
    ? { added, removed, modified }
    : undefined;
}
