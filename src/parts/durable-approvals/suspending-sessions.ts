/** The open sessions that may suspend calls. An answer finds the session of its call here. */
import type { SessionState } from '../../core/session/session-state.ts';
import { longestTimerMs } from '../../values/options/index.ts';

/** Milliseconds between two looks at a clock that may be the host's own. */
const shortestWaitMs = 1_000;

/** Finds open sessions by id and principal. Only calls that wait keep them alive. */
export class SuspendingSessions {
  readonly #now: () => number;
  readonly #refs = new Map<string, WeakRef<SessionState>>();
  #sweepAt = 64;
  /** The expiry, in epoch milliseconds, of each call that waits. The newest session is the last. */
  readonly #waiting = new Map<SessionState, Map<string, number>>();
  readonly #owners = new Map<string, SessionState>();
  readonly #listeners = new Map<SessionState, () => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  add(session: SessionState): void {
    const key = keyOf(session.sessionId, session.actor.principal);
    const ref = new WeakRef(session);
    this.#refs.set(key, ref);
    session.atClosing(() => {
      if (this.#refs.get(key) === ref) this.#refs.delete(key);
      for (const id of this.#waiting.get(session)?.keys() ?? []) this.#owners.delete(id);
      this.#forget(session);
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
  keep(session: SessionState, id: string, expiresAt: number): void {
    for (const [other, calls] of this.#waiting) {
      this.#dropExpired(calls);
      if (calls.size > 0) break;
      this.#forget(other);
    }
    const calls = this.#waiting.get(session) ?? new Map<string, number>();
    // A session that goes on for long may suspend many calls that are never answered.
    this.#dropExpired(calls);
    this.#waiting.delete(session);
    this.#waiting.set(session, calls.set(id, expiresAt));
    this.#owners.set(id, session);
  }

  /** The call of this approval waits no longer. */
  release(id: string): void {
    const session = this.#owners.get(id);
    this.#owners.delete(id);
    const calls = session && this.#waiting.get(session);
    if (session !== undefined && calls?.delete(id) === true && calls.size === 0)
      this.#forget(session);
  }

  /** The session that keeps the call of an approval, or the newest open one that could take it. */
  find(sessionId: string, principal: string, id?: string): SessionState | undefined {
    const key = keyOf(sessionId, principal);
    const owner = id === undefined ? undefined : this.#owners.get(id);
    return owner !== undefined && keyOf(owner.sessionId, owner.actor.principal) === key
      ? owner
      : this.#refs.get(key)?.deref();
  }

  /** Resolves once no call keeps a session any more; undefined if none does. */
  needed(session: SessionState): Promise<void> | undefined {
    return this.#lastOf(session) === undefined ? undefined : this.#ended(session);
  }

  async #ended(session: SessionState): Promise<void> {
    for (let last = this.#lastOf(session); last !== undefined; last = this.#lastOf(session)) {
      const ms = Math.min(longestTimerMs, Math.max(shortestWaitMs, last - this.#now()));
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        // A call that nobody answers keeps no process alive.
        timer.unref?.();
        this.#listeners.set(session, () => {
          clearTimeout(timer);
          resolve();
        });
      });
      this.#listeners.delete(session);
    }
  }

  /** When the last call that keeps a session expires; undefined if there is none. */
  #lastOf(session: SessionState): number | undefined {
    const calls = this.#waiting.get(session);
    if (calls === undefined) return undefined;
    this.#dropExpired(calls);
    if (calls.size === 0) this.#waiting.delete(session);
    return [...calls.values()].at(-1);
  }

  #forget(session: SessionState): void {
    this.#waiting.delete(session);
    this.#listeners.get(session)?.();
  }

  /** Calls of a registry wait equally long, so those that expire first are first. */
  #dropExpired(calls: Map<string, number>): void {
    const now = this.#now();
    for (const [id, expiresAt] of calls) {
      if (expiresAt > now) return;
      calls.delete(id);
      this.#owners.delete(id);
    }
  }
}

function keyOf(sessionId: string, principal: string): string {
  return JSON.stringify([sessionId, principal]);
}
