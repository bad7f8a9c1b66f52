/** The sessions that a registry knows of. No others need anything of it when something changes. */

import type { SessionState } from './session-state.ts';

export class KnownSessions {
  /** Those that must learn of changes and of closing. They are not kept alive. */
  readonly watchers = new Set<WeakRef<SessionState>>();
  /** Those that hold something that closing must dispose, so they must not be garbage-collected. */
  readonly held = new Set<SessionState>();

  each(run: (session: SessionState) => void): void {
    for (const session of this.held) run(session);
    for (const ref of this.watchers) {
      const session = ref.deref();
      if (session === undefined) this.watchers.delete(ref);
      else if (!this.held.has(session)) run(session);
    }
  }
}
