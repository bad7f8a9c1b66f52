/** The ids of calls: where they come from, and which are in flight. */
import type { Call } from '../state/call.ts';
import type { SessionState } from '../state/session-state.ts';

/** A host's `newId` that throws or answers nonsense must not cost the call. */
export function newId(session: SessionState): string {
  try {
    const id: unknown = session.registry.newId();
    if (typeof id === 'string' && id !== '') return id;
  } catch {
    // Falls through to the session's own count.
  }
  return `${session.sessionId}-${++session.fallbackIds}`;
}

/**
 * Ids are only kept once a caller gives one; those that were given by us until then are looked up.
 */
export function idsInFlight(session: SessionState): Map<string, Call | undefined> {
  const ids = new Map<string, Call | undefined>();
  if (session.inFlight > 0)
    for (let call = session.registry.calls; call !== undefined; call = call.next)
      if (call.session === session) ids.set(call.callId, call);
  return ids;
}
