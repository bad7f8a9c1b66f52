/** Which scopes a tool needs in a session. Surfaces ask before they answer, without the part. */
import type { SessionState } from '../../core/session/session-state.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';

const none: readonly string[] = Object.freeze([]);

/** Those of the tool, and those that the profile adds. */
export function neededScopes(
  { profile }: SessionState,
  { name, internals }: ToolEntry,
): readonly string[] {
  const own = internals.scopes ?? none;
  const added = profile?.tools.get(name)?.more?.scopes as readonly string[] | undefined;
  return added === undefined ? own : [...new Set([...own, ...added])];
}
