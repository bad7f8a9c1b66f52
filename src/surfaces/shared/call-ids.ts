/** Ids for calls that come without one. */
import type { ToolSession } from '../../index.ts';
import { newId, stateOf } from '../../surface-port.ts';

/** Returns an id like those that the session makes itself. */
export function freshCallId(session: ToolSession): string {
  return newId(stateOf(session));
}
