import { describe, expect, test } from 'vitest';
import type { Call } from '../../../src/core/call/call.ts';
import {
  admitRate,
  boundSlots,
  lacksSlot,
  locksOf,
} from '../../../src/core/call/session-limits.ts';
import type { SessionState } from '../../../src/core/session/session-state.ts';
import { createLocks } from '../../../src/values/limits/locks.ts';
import { Semaphore } from '../../../src/values/limits/semaphore.ts';
import { createWaitGraph } from '../../../src/values/limits/wait-graph.ts';

/** What the limits read of a registry, of a session and of a call. */
const registryOf = (more: { readonly waiting?: object; readonly sessions?: object } = {}) => ({
  waiting: { graph: createWaitGraph(), locks: undefined, ...more.waiting },
  calls: undefined as Call | undefined,
  sessions: { limitsRate: false, ...more.sessions },
});
const sessionOf = (
  limits: SessionState['limits'] = {},
  registry: object = registryOf(),
): SessionState =>
  ({
    registry,
    limits,
    calls: { inFlight: 0, slots: undefined, rate: undefined, locks: undefined },
  }) as unknown as SessionState;

/** A call under way, the newest one of its registry. */
function callOf(
  session: SessionState,
  more: { state?: Call['state']; parent?: Call; holds?: Semaphore[] } = {},
): Call {
  const { state = 'running' as Call['state'], parent, holds } = more;
  const call = {
    session,
    owner: session,
    state,
    parent,
    waitingFor: undefined,
    next: session.registry.calls,
    more: { holds },
    extra: undefined,
  };
  session.registry.calls = call as unknown as Call;
  session.calls.inFlight++;
  return call as unknown as Call;
}

describe('the slots of a session', () => {
  test(
    'are made when its limits first say so, and stay, without a bound where there is no limit ' +
      'any more',
    () => {
      const session = sessionOf();
      boundSlots(session);
      expect(session.calls.slots).toBeUndefined();
      session.limits = { maxConcurrentCalls: 2 };
      boundSlots(session);
      const { slots } = session.calls;
      expect(slots?.capacity).toBe(2);
      session.limits = {};
      boundSlots(session);
      expect(session.calls.slots).toBe(slots);
      expect(slots?.capacity).toBe(Number.POSITIVE_INFINITY);
      session.limits = { maxConcurrentCalls: 0 };
      boundSlots(session);
      expect(session.calls.slots).toBe(slots);
      expect(slots?.capacity).toBe(0);
    },
  );

  test('are taken by running calls, but not by other sessions or calls at the gates', () => {
    const registry = registryOf();
    const session = sessionOf({ maxConcurrentCalls: 1 }, registry);
    const other = sessionOf({}, registry);
    const oldest = callOf(session);
    callOf(session, { state: 'gates' });
    callOf(other);
    const newest = callOf(session);
    boundSlots(session);
    expect(session.calls.slots).toMatchObject({ held: 2, capacity: 1 });
    for (const call of [oldest, newest]) expect(call.more.holds).toEqual([session.calls.slots]);
    expect([registry.calls?.next?.more.holds, registry.calls?.next?.next?.more.holds]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('are taken by one call that runs, beside what it holds', () => {
    const session = sessionOf({ maxConcurrentCalls: 3 });
    const slotsOfTool = new Semaphore(1);
    const call = callOf(session, { holds: [slotsOfTool] });
    boundSlots(session);
    expect(session.calls.slots?.held).toBe(1);
    expect(call.more.holds).toEqual([slotsOfTool, session.calls.slots]);
  });

  test('are taken once by a call and what it has called', () => {
    const session = sessionOf({ maxConcurrentCalls: 3 });
    const parent = callOf(session);
    callOf(session, { parent });
    boundSlots(session);
    expect(session.calls.slots?.held).toBe(1);
  });

  test('are lacked by a call that passed before there were any', () => {
    const session = sessionOf();
    const call = callOf(session, { state: 'gates' });
    const lacks = (holds?: readonly (Semaphore | undefined)[]): boolean =>
      lacksSlot({ ...call, extra: holds && { holds } } as unknown as Call);
    expect([lacks(), lacks([undefined]), lacks([new Semaphore(1)])]).toEqual([false, false, false]);
    session.limits = { maxConcurrentCalls: 1 };
    boundSlots(session);
    expect([
      lacks(),
      lacks([]),
      lacks([new Semaphore(1)]),
      lacks([new Semaphore(1), session.calls.slots]),
    ]).toEqual([true, true, true, false]);
  });
});

describe('the locks that resource keys name', () => {
  test("are the registry's where it has some", () => {
    const locks = createLocks(createWaitGraph());
    const session = sessionOf({}, registryOf({ waiting: { locks } }));
    expect(locksOf(session)).toBe(locks);
    expect(session.calls.locks).toBeUndefined();
  });

  test("are the session's own otherwise, the same ones each time", () => {
    const session = sessionOf();
    const locks = locksOf(session);
    expect(locksOf(session)).toBe(locks);
    expect(locksOf(sessionOf())).not.toBe(locks);
  });
});

describe('calls a minute', () => {
  test('are counted, and of one too many is said how long it has to wait', () => {
    const session = sessionOf({ callsPerMinute: 2 });
    expect([0, 10_000, 20_000, 60_000, 60_001].map((now) => admitRate(session, now))).toEqual([
      undefined,
      undefined,
      40_000,
      undefined,
      9_999,
    ]);
  });

  test('count under a limit that came later, was another one, or had been left away', () => {
    const registry = registryOf({ sessions: { limitsRate: true } });
    const session = sessionOf({}, registry);
    const askedAt = (now: number, limits: SessionState['limits']) => {
      session.limits = limits;
      return admitRate(session, now);
    };
    expect([askedAt(0, {}), askedAt(10_000, {})]).toEqual([undefined, undefined]);
    expect(askedAt(20_000, { callsPerMinute: 2 })).toBe(40_000);
    expect(askedAt(20_000, { callsPerMinute: 3 })).toBeUndefined();
    expect(askedAt(30_000, {})).toBeUndefined();
    expect(askedAt(40_000, { callsPerMinute: 4 })).toBe(20_000);
    expect(askedAt(40_000, { callsPerMinute: 5 })).toBeUndefined();
  });

  test('are not counted where no profile of the registry limits them', () => {
    const session = sessionOf();
    admitRate(session, 0);
    expect(session.calls.rate).toBeUndefined();
  });
});
