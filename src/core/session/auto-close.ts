/** Closes a session automatically: when its caller's signal aborts, or when it has been idle. */

import { currentScope, inScope } from '../../values/limits/async-scope.ts';
import { closeSession } from './close.ts';
import type { SessionState } from './session-state.ts';

export function closeAutomatically(
  session: SessionState,
  signal: AbortSignal | undefined,
  idleTimeoutMs: number | undefined,
): void {
  // Whoever aborts or makes the last call, the session's listeners run where it was created.
  const scope = currentScope();
  const close = (): void => void inScope(scope, () => closeSession(session));
  // The registry must find the session when it closes, so that signal and timer are released.
  session.watch();
  if (signal !== undefined) {
    if (signal.aborted) return close();
    const entry = { aborted: close };
    session.registry.waiting.aborts.add(signal, entry);
    session.atClosing(() => session.registry.waiting.aborts.remove(signal, entry));
  }
  if (idleTimeoutMs === undefined) return undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restart = (): void => {
    clearTimeout(timer);
    if (session.closed || session.calls.inFlight > 0) return;
    timer = setTimeout(() => (session.calls.inFlight > 0 ? undefined : close()), idleTimeoutMs);
    // Some runtimes give a number.
    timer.unref?.();
  };
  session.calls.idled = restart;
  session.atClosing(() => clearTimeout(timer));
  return restart();
}
