/** What bounds one session: slots, locks, calls a minute. Made when first needed. */
import { createLocks, type Locks } from '../limits/locks.ts';
import { RateWindow } from '../limits/rate-window.ts';
import { Semaphore } from '../limits/semaphore.ts';
import type { SessionState } from './session-state.ts';

/** Slots of the session, when its limits bound them. */
export function slotsOf(session: SessionState): Semaphore | undefined {
  const { maxConcurrentCalls } = session.limits;
  if (maxConcurrentCalls === undefined) return undefined;
  session.slots ??= new Semaphore(maxConcurrentCalls, { waits: session.registry.waits });
  if (session.slots.capacity !== maxConcurrentCalls) session.slots.capacity = maxConcurrentCalls;
  return session.slots;
}

/** The locks that resource keys name: the session's own, or the registry's. */
export function locksOf(session: SessionState): Locks {
  if (session.registry.locks !== undefined) return session.registry.locks;
  session.locks ??= createLocks(session.registry.waits);
  return session.locks;
}

/** Admits one more call this minute. Milliseconds to wait when not. */
export function admitRate(session: SessionState, now: number): number | undefined {
  const { callsPerMinute } = session.limits;
  if (callsPerMinute === undefined) {
    // A profile without a limit may be left for one with a limit: what was called meanwhile counts there.
    if (session.registry.limitsRate) session.rate ??= new RateWindow(Number.POSITIVE_INFINITY);
    session.rate?.count(now);
    return undefined;
  }
  session.rate ??= new RateWindow(callsPerMinute);
  // What happened in the last minute counts whatever the limit was then.
  session.rate.limit = callsPerMinute;
  return session.rate.take(now) ? undefined : session.rate.retryAfterMs(now);
}
