/**
 * The limits of one session: slots, locks and calls per minute. Each is created on first use. And
 * how a call gives back what it holds of them.
 */
import { createLocks, type Locks } from '../../values/limits/locks.ts';
import { RateWindow } from '../../values/limits/rate-window.ts';
import { Semaphore } from '../../values/limits/semaphore.ts';
import type { Call, FoundCall } from './call.ts';
import type { CallSession } from './session-port.ts';

/**
 * Applies the session's limit to its slots. Slots are kept even when the limit is lifted, with
 * unlimited capacity, so that running calls count if a limit is set again.
 */
export function boundSlots(session: CallSession): void {
  const { maxConcurrentCalls } = session.limits;
  if (session.calls.slots === undefined && maxConcurrentCalls === undefined) return;
  session.calls.slots ??= takenSlots(session);
  session.calls.slots.capacity = maxConcurrentCalls ?? Number.POSITIVE_INFINITY;
}

/** Creates slots that the session's running calls have already taken, however many there are. */
function takenSlots(session: CallSession): Semaphore {
  const { registry } = session;
  const slots = new Semaphore(Number.POSITIVE_INFINITY, { waits: registry.waiting.graph });
  if (session.calls.inFlight === 0) return slots;
  const running: Call[] = [];
  for (let { calls: call } = registry; call !== undefined; call = call.next)
    if (sessionsOf(call.session).includes(session) && call.state !== 'gates') running.push(call);
  // The oldest call takes its slot first, so that its child calls can share it.
  for (const call of running.reverse()) {
    slots.acquire(call, () => {});
    call.more.holds ??= [];
    call.more.holds.push(slots);
  }
  return slots;
}

/** A session with those for which it acts, the outermost one first. */
export function sessionsOf(session: CallSession): readonly CallSession[] {
  const all = [session];
  for (let at = session.outer; at !== undefined; at = at.outer) all.unshift(at);
  return all;
}

/** The slots that a call of a session needs, the outermost ones first. */
export function slotsOf(session: CallSession): Semaphore[] {
  return sessionsOf(session).flatMap(({ calls: { slots: callSlots } }) => callSlots ?? []);
}

/** Whether a call passed this stage before its sessions had slots. */
export function lacksSlot({ session, extra }: Call): boolean {
  if (session.calls.slots === undefined && session.outer === undefined) return false;
  return slotsOf(session).some((slots) => extra?.holds?.includes(slots) !== true);
}

/** The locks that resource keys name: the session's own, or the registry's. */
export function locksOf(session: CallSession): Locks {
  if (session.registry.waiting.locks !== undefined) return session.registry.waiting.locks;
  session.calls.locks ??= createLocks(session.registry.waiting.graph);
  return session.calls.locks;
}

/**
 * Counts one more call in this minute, in one session. Returns the milliseconds to wait if the
 * limit is reached.
 */
export function admitRate(session: CallSession, now: number): number | undefined {
  const { callsPerMinute } = session.limits;
  if (callsPerMinute === undefined) {
    // The session may switch to a profile with a limit. The calls made until then count towards it.
    if (session.registry.sessions.limitsRate)
      session.calls.rate ??= new RateWindow(Number.POSITIVE_INFINITY);
    session.calls.rate?.count(now);
    return undefined;
  }
  const rate = rateOf(session, callsPerMinute);
  return rate.take(now) ? undefined : rate.retryAfterMs(now);
}

/** The milliseconds that a call would have to wait now. Counts nothing, for `explain`. */
export function rateWait(session: CallSession, now: number): number | undefined {
  const { callsPerMinute } = session.limits;
  if (callsPerMinute === undefined) return undefined;
  const wait = rateOf(session, callsPerMinute).retryAfterMs(now);
  return wait === 0 ? undefined : wait;
}

function rateOf(session: CallSession, callsPerMinute: number): RateWindow {
  session.calls.rate ??= new RateWindow(callsPerMinute);
  // Calls of the last minute count, even if the limit was different then.
  session.calls.rate.limit = callsPerMinute;
  return session.calls.rate;
}

/** Lets parts take back what the call has reserved, since its handler does not start now. */
export function giveBack(call: FoundCall): void {
  for (const release of call.session.registry.ports.calls.release) release(call);
}

/** Releases its place, slots and locks, what it acquired last first. */
export function releaseAll(call: Call): void {
  const { extra } = call;
  if (extra === undefined) return;
  const { holds, place } = extra;
  extra.place = undefined;
  place?.release();
  if (holds === undefined) return;
  extra.holds = undefined;
  for (const semaphore of holds.reverse()) semaphore.release(call);
}
