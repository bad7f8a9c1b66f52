/** The capabilities that a client declares become facts of its session, which tools can require. */
import type { ToolSession } from '../../../core.ts';
import { learnDeclared } from '../../shared/declared-facts.ts';

/**
 * Sets the facts of the session. Only for a session that was made for this client, because others
 * would see what it declares.
 */
export function learnCapabilities(session: ToolSession, declared: unknown): void {
  learnDeclared(session, 'client.capabilities.', declared);
}
