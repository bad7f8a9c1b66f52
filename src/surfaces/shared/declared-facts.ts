/**
 * The capabilities that another party declares become facts of a session, which tools can require.
 */

import type { ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { capabilityFacts } from '../../values/capabilities.ts';

/**
 * Sets the facts of the session. Those of an earlier declaration that no longer hold are removed.
 * A fact that the host has set itself stays as it is. Does nothing for a session that is closed.
 * @param prefix The prefix of all these facts, such as `client.capabilities.`, with the dot.
 */
export function learnDeclared(session: ToolSession, prefix: string, declared: unknown): void {
  inspectSession(session).declareFacts(prefix, capabilityFacts(prefix, declared));
}
