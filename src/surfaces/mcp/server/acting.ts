/** Sessions for agents that act for the person of a token (RFC 8693). */
import { isMisuseError, type ToolSession } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';

/** The agents of a token cannot be the chain of a session. */
export class ActorsRefused extends Error {}

/** A session of agents: the session that it acts for, and the first of its chain. */
interface Acting {
  readonly root: ToolSession;
  readonly first: ToolSession;
}

const acting = new WeakMap<ToolSession, Acting>();
/** The agents of the token for which a session was made. */
const madeFor = new WeakMap<ToolSession, readonly string[]>();

/** The session that learns what a client declares: agents have what it has. */
export function learnerOf(session: ToolSession): ToolSession {
  return acting.get(session)?.root ?? session;
}

/** What is closed when its client leaves. */
export function firstOf(session: ToolSession): ToolSession {
  return acting.get(session)?.first ?? session;
}

/**
 * The session that the last of these agents uses. It may do what the given session may do, or less.
 * Its id is the same for each request of the same agents. The host may have made a chain itself.
 * @throws ActorsRefused
 */
export function actThrough(root: ToolSession, actors: readonly string[]): ToolSession {
  let session = root;
  if (inspectSession(root).agents.length === 0)
    try {
      for (const agent of actors) {
        // No other chain has this id: an agent `a/b` is not `a` and then `b`.
        const part = agent.replace(/[%/]/g, encodeURIComponent);
        const inner = session.delegate({ agent, sessionId: `${session.sessionId}/${part}` });
        inspectSession(inner).shareScopes();
        acting.set(inner, { root, first: acting.get(session)?.first ?? inner });
        session = inner;
      }
    } catch (error) {
      if (!isMisuseError(error)) throw error;
      throw new ActorsRefused(`The agents of a token were refused: ${error.message}`);
    }
  madeFor.set(session, actors);
  return session;
}

/** Whether a session was made for these agents. */
export function isMadeFor(session: ToolSession, actors: readonly string[] | undefined): boolean {
  return sameActors(madeFor.get(session), actors);
}

/** Whether these are the agents of one chain. What a store gives may be anything. */
export function sameActors(one: unknown, other: readonly string[] | undefined): boolean {
  return JSON.stringify(one ?? []) === JSON.stringify(other ?? []);
}
