/** The open sessions that may suspend calls. An answer finds the session of its call here. */
import type { SessionState } from './session-state.ts';

/** Finds open sessions by id and principal, without keeping them alive. */
export class SuspendingSessions {
  readonly #refs = new Map<string, WeakRef<SessionState>>();
  #sweepAt = 64;

  add(session: SessionState): void {
    const key = keyOf(session.sessionId, session.actor);
    const ref = new WeakRef(session);
    this.#refs.set(key, ref);
    session.atClosing(() => {
      if (this.#refs.get(key) === ref) this.#refs.delete(key);
    });
    if (this.#refs.size < this.#sweepAt) return;
    for (const [other, held] of this.#refs)
      if (held.deref() === undefined) this.#refs.delete(other);
    this.#sweepAt = Math.max(64, this.#refs.size * 2);
  }

  /** The newest open session of this id and principal. */
  find(sessionId: string, principal: string): SessionState | undefined {
    return this.#refs.get(keyOf(sessionId, principal))?.deref();
  }
}

function keyOf(sessionId: string, principal: string): string {
  return JSON.stringify([sessionId, principal]);
}
