/** Ids for calls that come without one. */
import type { ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';

/** Returns an id like those that the session makes itself. */
export function freshCallId(session: ToolSession): string {
  return inspectSession(session).newCallId();
}
