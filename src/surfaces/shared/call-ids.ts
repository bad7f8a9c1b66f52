/** Ids for calls that come without one. */
import type { ToolSession } from '../../index.ts';
import { newId, stateOf } from '../../surface-port.ts';

/** An id as the session gives it to calls of its own. */
export function freshCallId(session: ToolSession): string {
  return newId(stateOf(session));
}
