/** The handler that `create` made for one session. */

import type { ToolEntry } from '../registry/tool-entry.ts';
import type { MadeHandler } from '../tool/definition.ts';
import type { SessionState } from './session-state.ts';

/**
 * It outlives changes to the definition. As long as `create` is the same function, the session
 * keeps its connection and its state. When the tool is removed or gets another `create`, the
 * handler is disposed as soon as the calls on all definitions that use it have ended.
 */
export interface SessionHandler {
  made: Promise<MadeHandler> | undefined;
  /** The handler, once `create` has returned it. */
  now: MadeHandler | undefined;
  /** The definitions whose calls run on it. */
  readonly entries: Set<ToolEntry>;
}

export function createSessionHandler(entry: ToolEntry): SessionHandler {
  return { made: undefined, now: undefined, entries: new Set([entry]) };
}

/**
 * Disposes the handlers of tools that were removed or replaced, without waiting for the next use of
 * the tool.
 */
export function retireHandlers(session: SessionState): void {
  // Binding the name again retires the old binding.
  for (const [name, { entry, handler }] of [...(session.bindings ?? [])])
    if (handler !== undefined && session.entryOf(name) !== entry) session.binding(name);
}
