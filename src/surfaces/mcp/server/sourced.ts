/** The session of a client, and how it ends. */
import type { ToolSession } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { firstOf } from './acting.ts';

/** A tool session, and whether it was made for this client. */
export interface Sourced {
  readonly session: ToolSession;
  readonly owned: boolean;
  /**
   * Its client has left. A session that was made for it is closed, at once or when no suspended
   * call needs it any more: only there can the host answer an approval.
   */
  end(): Promise<void>;
}

/** The sessions that a source makes. */
export interface OwnSessions {
  /** @param session The one that the client uses. @param made The one that the source has made. */
  of(made: ToolSession, session?: ToolSession): Sourced;
  /** A session of agents that acts for one that all clients share. */
  inside(session: ToolSession): Sourced;
  /** Closes those that suspended calls have kept open. */
  close(): Promise<void>;
}

export function createOwnSessions(report: (error: unknown) => void): OwnSessions {
  const kept = new Set<ToolSession>();
  let isClosed = false;
  const ending = (session: ToolSession, close: ToolSession) => async (): Promise<void> => {
    const needed = isClosed ? undefined : inspectSession(session).needed();
    if (needed === undefined) return close.close();
    kept.add(close);
    needed
      .then(() => close.close())
      .catch(report)
      .finally(() => kept.delete(close));
  };
  return {
    of: (made, session = made) => ({ session, owned: true, end: ending(session, made) }),
    inside: (session) => ({ session, owned: false, end: ending(session, firstOf(session)) }),
    async close() {
      isClosed = true;
      await Promise.all([...kept].map((session) => session.close()));
    },
  };
}
