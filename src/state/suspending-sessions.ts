/** The open sessions that may suspend calls. An answer finds the session of its call here. */
import type { SessionState } from './session-state.ts';

/** The calls of one session that wait for a person. */
interface Waiting {
  /** The ids of their approvals. */
  readonly ids: Set<string>;
  /** When the newest of them expires, which is the last to do so. Epoch milliseconds. */
  readonly lastUntil: number;
}

/** Finds open sessions by id and principal. Only calls that wait keep them alive. */
export class SuspendingSessions {
  readonly #refs = new Map<string, WeakRef<SessionState>>();
  #sweepAt = 64;
  /** The approvals that wait. The session that was last suspended is the last. */
  readonly #waiting = new Map<SessionState, Waiting>();

  add(session: SessionState): void {
    const key = keyOf(session.sessionId, session.actor);
    const ref = new WeakRef(session);
    this.#refs.set(key, ref);
    session.atClosing(() => {
      if (this.#refs.get(key) === ref) this.#refs.delete(key);
      this.#waiting.delete(session);
    });
    if (this.#refs.size < this.#sweepAt) return;
    for (const [other, held] of this.#refs)
      if (held.deref() === undefined) this.#refs.delete(other);
    this.#sweepAt = Math.max(64, this.#refs.size * 2);
  }

  /**
   * Keeps a session until its call is answered, or can no longer be. A host may drop a session as
   * soon as its call was suspended, and nothing else could make the session again.
   */
  keep(session: SessionState, id: string, expiresAt: number, now: number): void {
    for (const [other, waiting] of this.#waiting) {
      if (waiting.lastUntil > now) break;
      this.#waiting.delete(other);
    }
    const { ids = new Set<string>() } = this.#waiting.get(session) ?? {};
    this.#waiting.delete(session);
    this.#waiting.set(session, { ids: ids.add(id), lastUntil: expiresAt });
  }

  /** The call of this approval waits no longer. */
  release(session: SessionState, id: string): void {
    const ids = this.#waiting.get(session)?.ids;
    if (ids?.delete(id) === true && ids.size === 0) this.#waiting.delete(session);
  }

  /** The newest open session of this id and principal. */
  find(sessionId: string, principal: string): SessionState | undefined {
    return this.#refs.get(keyOf(sessionId, principal))?.deref();
  }
}

function keyOf(sessionId: string, principal: string): string {
  return JSON.stringify([sessionId, principal]);
}
