/** What bounds one session: slots, locks, calls a minute. Made when first needed. */
import { createLocks, type Locks } from '../limits/locks.ts';
import { RateWindow } from '../limits/rate-window.ts';
import { Semaphore } from '../limits/semaphore.ts';
import type { Call } from './call.ts';
import type { SessionState } from './session-state.ts';

/**
 * Makes the session's slots what its limits say. Once there are slots they stay, without a bound
 * where there is no limit: what runs counts under a limit that comes back.
 */
export function boundSlots(session: SessionState): void {
  const { maxConcurrentCalls } = session.limits;
  if (session.slots === undefined && maxConcurrentCalls === undefined) return;
  session.slots ??= takenSlots(session);
  session.slots.capacity = maxConcurrentCalls ?? Number.POSITIVE_INFINITY;
}

/** Slots that the session's running calls have taken, however many these are. */
function takenSlots(session: SessionState): Semaphore {
  const { registry } = session;
  const slots = new Semaphore(Number.POSITIVE_INFINITY, { waits: registry.waits });
  if (session.inFlight === 0) return slots;
  const running: Call[] = [];
  for (let { calls: call } = registry; call !== undefined; call = call.next)
    if (call.session === session && call.state !== 'gates') running.push(call);
  // The oldest first: a child passes on the slot of its caller.
  for (const call of running.reverse()) {
    slots.acquire(call, () => {});
    call.more.holds ??= [];
    call.more.holds.push(slots);
  }
  return slots;
}

/** Whether a call has come past the slots at a time when there were none. */
export function lacksSlot({ session, extra }: Call): boolean {
  return session.slots !== undefined && extra?.holds?.includes(session.slots) !== true;
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
    // A profile without a limit may be left for one with a limit: what was called meanwhile counts
    // there.
    if (session.registry.limitsRate) session.rate ??= new RateWindow(Number.POSITIVE_INFINITY);
    session.rate?.count(now);
    return undefined;
  }
  session.rate ??= new RateWindow(callsPerMinute);
  // What happened in the last minute counts whatever the limit was then.
  session.rate.limit = callsPerMinute;
  return session.rate.take(now) ? undefined : session.rate.retryAfterMs(now);
}
