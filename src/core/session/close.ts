/**
 * Closes a session: ends its calls, disposes what it created, and emits `session:end`. Closing a
 * registry closes its sessions.
 */

import { withDeadline } from '../../values/limits/with-deadline.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';

import { releaseExecutor } from '../tool/executors.ts';
import type { SessionState } from './session-state.ts';

/** What keeps a session alive, and what happens when it closes. */
export class SessionLife {
  /** The registry informs it of changes and of closing. */
  watched = false;
  /** How many things it holds that closing must dispose. */
  holds = 0;
  /** Functions that run when it closes. */
  atClose: (() => void | Promise<void>)[] | undefined;
  /** Resolves when closing is done. */
  closing: Promise<void> | undefined;
}

export function closeSession(state: SessionState): Promise<void> {
  const { registry, life } = state;
  if (life.closing !== undefined) return life.closing;
  state.closed = true;
  let resolve: () => void = () => {};
  const closing = new Promise<void>((settle) => {
    resolve = settle;
  });
  life.closing = closing;
  if (state.calls.inFlight > 0) {
    for (let call = registry.calls; call !== undefined; ) {
      const { next } = call;
      if (call.session === state) registry.spine.closed(call);
      // Ending a call also ends its children, and the next call on the list may be one of them.
      call = next?.ended === true ? registry.calls : next;
    }
  }
  const disposals: MaybePromise<void>[] = [];
  for (const binding of state.tools.bindings?.values() ?? []) disposals.push(binding.discard());
  // The tools of a session that acts for another are the other one's.
  if (state.outer === undefined)
    for (const entry of state.tools.own?.values() ?? [])
      disposals.push(releaseExecutor(entry, registry));
  registry.sessions.held.delete(state);
  for (const cleanup of life.atClose ?? []) {
    try {
      disposals.push(cleanup());
    } catch (error) {
      registry.hostFault(
        error,
        { sessionId: state.sessionId, source: 'clean-up' },
        'closing a session: a clean-up failed',
      );
    }
  }
  life.atClose = undefined;
  state.listing.followers = undefined;
  if (state.hasListener('session:end')) state.emit('session:end', {});
  const disposed = Promise.allSettled(disposals);
  // Host code that never returns must not block the closing.
  if (disposals.some((one) => one !== undefined))
    void withDeadline<unknown, void>(disposed, registry.settings.graceMs, () =>
      registry.warn({ session: state.sessionId }, 'closing a session: a clean-up took too long'),
    ).then(() => resolve());
  else resolve();
  return closing;
}
