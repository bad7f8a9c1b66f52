/** The session of a client, and how it ends. */
import type { ToolSession } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';

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
  of(session: ToolSession): Sourced;
  /** Closes those that suspended calls have kept open. */
  close(): Promise<void>;
}

export function createOwnSessions(report: (error: unknown) => void): OwnSessions {
  const kept = new Set<ToolSession>();
  let isClosed = false;
  return {
    of: (session) => ({
      session,
      owned: true,
      async end() {
        const needed = isClosed ? undefined : inspectSession(session).needed();
        if (needed === undefined) return session.close();
        kept.add(session);
        needed
          .then(() => session.close())
          .catch(report)
          .finally(() => kept.delete(session));
      },
    }),
    async close() {
      isClosed = true;
      await Promise.all([...kept].map((session) => session.close()));
    },
  };
}
