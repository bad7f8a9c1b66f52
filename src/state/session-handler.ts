/** The handler that `create` made for one session. */
import type { MadeHandler } from '../tool/definition.ts';
import type { SessionState } from './session-state.ts';
import type { ToolEntry } from './tool-entry.ts';

/**
 * Outlives a change of the definition around it: as long as `create` is the same, a session keeps
 * its connection and its state. It is disposed when the tool is gone or `create` is another one,
 * once the calls on all definitions that ran on it have ended.
 */
export interface SessionHandler {
  made: Promise<MadeHandler> | undefined;
  /** What was made, once it has been. */
  now: MadeHandler | undefined;
  /** The definitions whose calls run on it. */
  readonly entries: Set<ToolEntry>;
}

export function createSessionHandler(entry: ToolEntry): SessionHandler {
  return { made: undefined, now: undefined, entries: new Set([entry]) };
}

/**
 * Handlers of tools that are gone or replaced are disposed now, not when somebody asks for the tool
 * again.
 */
export function retireHandlers(session: SessionState): void {
  // Binding the name anew retires what was bound to it.
  for (const [name, { entry, handler }] of [...(session.bindings ?? [])])
    if (handler !== undefined && session.entryOf(name) !== entry) session.binding(name);
}
