/** Finds the sessions of a registry that are open. */

import type { ToolSession } from '../../api/session.ts';
import { sessionOf } from '../session/session.ts';
import type { SessionState } from '../session/session-state.ts';
import type { RegistryState } from './registry-state.ts';

/** An open session. */
export interface OpenSession {
  /** An object that is the same for one session each time. */
  readonly state: SessionState;
  /** A handle on the session; a new one each time. */
  readonly session: ToolSession;
}

/**
 * The open sessions that the registry knows of: those that began while someone listened to
 * `session:start` or `session:end`, and those that hold something. It keeps none of them alive.
 */
export function openSessions(registry: RegistryState): OpenSession[] {
  const states = new Set(registry.held);
  for (const ref of registry.watchers) {
    const state = ref.deref();
    if (state !== undefined) states.add(state);
  }
  return [...states]
    .filter(({ closed }) => !closed)
    .map((state) => ({ state, session: sessionOf(state) }));
}
