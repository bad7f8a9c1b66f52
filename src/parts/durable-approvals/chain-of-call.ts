/** The agents of a suspended call. Only a session with the same ones resumes it. */

import { jsonDigest } from '../../core/approval/grants.ts';
import type { CallSession } from '../../core/call/session-port.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { TokenClaims } from './token.ts';

/** The id of the session that a host has created, and for which the others of the chain act. */
export function rootIdOf(session: CallSession): string {
  let root = session;
  while (root.outer !== undefined) root = root.outer;
  return root.sessionId;
}

/** What a token says about the chain of a session; undefined for one that a host has created. */
export function chainDigest(session: SessionState): string | undefined {
  const { chain } = session;
  return chain.length === 0
    ? undefined
    : jsonDigest({
        root: rootIdOf(session),
        chain: chain.map(({ agent, sessionId }) => ({ agent, sessionId })),
      });
}

/**
 * Whether the session may resume the call of a token. One of the same id and principal that acts
 * for no other session could do more than the one that has suspended the call.
 */
export function isOurs(session: SessionState, claims: TokenClaims): boolean {
  const { sessionId, principal, chain } = claims;
  return (
    sessionId === session.sessionId &&
    principal === session.principal &&
    chain === chainDigest(session)
  );
}
