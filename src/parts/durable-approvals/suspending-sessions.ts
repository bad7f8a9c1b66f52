/** The open sessions that may suspend calls. An answer finds the session of its call here. */
import type { SessionState } from '../../core/session/session-state.ts';

/** Finds open sessions by id and principal. Only calls that wait keep them alive. */
export class SuspendingSessions {
  readonly #refs = new Map<string, WeakRef<SessionState>>();
  #sweepAt = 64;
  /** The expiry, in epoch milliseconds, of each call that waits. The newest session is the last. */
  readonly #waiting = new Map<SessionState, Map<string, number>>();

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
    for (const [other, calls] of this.#waiting) {
      dropExpired(calls, now);
      if (calls.size > 0) break;
      this.#waiting.delete(other);
    }
    const calls = this.#waiting.get(session) ?? new Map<string, number>();
    // A session that goes on for long may suspend many calls that are never answered.
    dropExpired(calls, now);
    this.#waiting.delete(session);
    this.#waiting.set(session, calls.set(id, expiresAt));
  }

  /** The call of this approval waits no longer. */
  release(session: SessionState, id: string): void {
    const calls = this.#waiting.get(session);
    if (calls?.delete(id) === true && calls.size === 0) this.#waiting.delete(session);
  }

  /** The newest open session of this id and principal. */
  find(sessionId: string, principal: string): SessionState | undefined {
    return this.#refs.get(keyOf(sessionId, principal))?.deref();
  }
}

/** Calls of a registry wait equally long, so those that expire first are first. */
function dropExpired(calls: Map<string, number>, now: number): void {
  for (const [id, expiresAt] of calls) {
    if (expiresAt > now) return;
    calls.delete(id);
  }
}

function keyOf(sessionId: string, principal: string): string {
  return JSON.stringify([sessionId, principal]);
}
