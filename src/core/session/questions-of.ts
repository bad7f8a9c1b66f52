/** The questions about calls of a session. */

import type { PendingApproval } from '../../api/approval.ts';
import type { SessionState } from './session-state.ts';

/** The calls that wait for a person: here and, if a part keeps some, elsewhere. */
export async function questionsOf(session: SessionState): Promise<readonly PendingApproval[]> {
  const here = [...(session.desk?.waiting.values() ?? [])].map(({ request }) => request);
  return [...here, ...((await session.registry.ports.answers?.pending(session)) ?? [])];
}
