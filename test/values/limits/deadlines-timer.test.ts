/** What the one timer does and when, and that the lists stay whole whatever comes and goes. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Deadline,
  type DeadlineList,
  Deadlines,
} from '../../../src/values/limits/deadlines.ts';

class Probe implements Deadline {
  dlPrev: Deadline | undefined = undefined;
  dlNext: Deadline | undefined = undefined;
  dlAt = 0;
  dlList: DeadlineList | undefined = undefined;
  readonly expire: () => void;
  constructor(expire: () => void = () => {}) {
    this.expire = expire;
  }
}

/** What the timers of the platform are asked for: the delays, and how often one is cleared. */
function spied(): { delays: () => (number | undefined)[]; clears: () => number } {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const clear = vi.spyOn(globalThis, 'clearTimeout');
  return {
    delays: () => set.mock.calls.map(([, delay]) => delay),
    clears: () => clear.mock.calls.length,
  };
}

/** Sets what `performance.now` says; timers go on by themselves. */
function clock(now: number): void {
  vi.spyOn(performance, 'now').mockReturnValue(now);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('the one timer', () => {
  test(
    'is armed for 20 ms at most by a new entry, and for just the nearest deadline by one that ' +
      'has fired',
    () => {
      const deadlines = new Deadlines();
      const { delays } = spied();
      clock(1_000);
      deadlines.add(new Probe(), 120_000, 1_000);
      deadlines.add(new Probe(), 60_000, 1_000);
      deadlines.add(new Probe(), 90_000, 1_000);
      clock(1_020);
      vi.advanceTimersByTime(20);
      expect(delays()).toEqual([20, 59_980]);
    },
  );

  test(
    'is armed anew for what is due sooner, and for nothing that is due at the same time or ' +
      'later',
    () => {
      const deadlines = new Deadlines();
      const { delays, clears } = spied();
      for (const duration of [10, 10, 12, 9]) deadlines.add(new Probe(), duration, 1_000);
      expect([delays(), clears()]).toEqual([[10, 9], 1]);
    },
  );

  test.each([
    [20, 0],
    [21, 1],
  ])(
    'that was armed for %d ms is cleared %d times when the last entry goes: a short one is ' +
      'left to fire',
    (left, cleared) => {
      const deadlines = new Deadlines();
      const probe = new Probe();
      const { clears } = spied();
      clock(1_000);
      deadlines.add(probe, 20 + left, 1_000);
      clock(1_020);
      vi.advanceTimersByTime(20);
      deadlines.remove(probe);
      expect(clears()).toBe(cleared);
      // What is gone is not cleared again.
      deadlines.add(probe, 20, 1_020);
      expect(clears()).toBe(cleared);
    },
  );

  test.each([1_010, 9_000])(
    'that has fired, at %d, is not cleared, and is armed once for all that is added meanwhile',
    (now) => {
      const deadlines = new Deadlines();
      const { delays, clears } = spied();
      clock(1_000);
      const again = [new Probe(), new Probe(), new Probe()];
      const first = new Probe(() => {
        for (const probe of again) deadlines.add(probe, 15, now);
        deadlines.remove(again[0] as Probe);
      });
      deadlines.add(first, 10, 1_000);
      clock(now);
      vi.advanceTimersByTime(10);
      expect([delays(), clears(), deadlines.size]).toEqual([[10, 15], 0, 2]);
      clock(now + 15);
      vi.advanceTimersByTime(15);
      expect([delays(), clears(), deadlines.size]).toEqual([[10, 15], 0, 0]);
    },
  );

  test.each<[what: string, late: number, armed: number]>([
    ['a second overdue is waited for', 1_000, 1],
    ['more than a second overdue is taken for lost', 1_001, 2],
  ])('that is %s', (_, late, armed) => {
    const deadlines = new Deadlines();
    const { delays } = spied();
    deadlines.add(new Probe(), 10, 5_000);
    deadlines.add(new Probe(), 120_000, 5_010 + late);
    expect(delays()).toHaveLength(armed);
  });

  test.each<[what: string, ahead: number, armed: number]>([
    ['a second ahead is waited for', 1_000, 1],
    ['more than a second ahead is taken for lost', 1_001, 2],
  ])('that was armed at a time %s', (_, ahead, armed) => {
    const deadlines = new Deadlines();
    const { delays } = spied();
    deadlines.add(new Probe(), 10, 5_000);
    deadlines.add(new Probe(), 120_000, 5_000 - ahead);
    expect(delays()).toHaveLength(armed);
  });
});

describe('the clock', () => {
  test.each([
    [5, 0],
    [5.5, 5.5],
    [100, 100],
  ])('of the timers is taken to be ahead when one fires %d ms early: by %d ms', (early, ahead) => {
    const deadlines = new Deadlines();
    clock(1_000);
    deadlines.add(new Probe(), 120_000, 1_000);
    const first = new Probe();
    deadlines.add(first, 10, 1_000);
    clock(1_010 - early);
    vi.advanceTimersByTime(10);
    expect(first.dlList).toBeUndefined();
    const next = new Probe();
    deadlines.add(next, 500, 1_200);
    expect(next.dlAt).toBe(1_700 + ahead);
  });

  test('of the timers is no longer ahead once nothing waits', () => {
    const deadlines = new Deadlines();
    clock(1_000);
    const probe = new Probe();
    deadlines.add(probe, 100, 1_000);
    vi.advanceTimersByTime(100);
    expect(deadlines.size).toBe(0);
    deadlines.add(probe, 100, 1_000);
    expect(probe.dlAt).toBe(1_100);
  });

  test('a late timer expires all due entries, even if the clock is ahead', () => {
    const deadlines = new Deadlines();
    clock(0);
    for (const duration of [10, 1_000, 1_005]) deadlines.add(new Probe(), duration, 0);
    vi.advanceTimersByTime(10);
    expect(deadlines.size).toBe(2);
    // The clock is 10 ms ahead. The event loop is held up until 1 010 of its time.
    clock(1_000);
    vi.advanceTimersByTime(990);
    expect(deadlines.size).toBe(0);
  });
});

describe('lists', () => {
  const durations = Array.from({ length: 40 }, (_, index) => 1_000 + index);

  /** Adds and removes an entry of each duration; gives the list that each one was in. */
  function round(deadlines: Deadlines): unknown[] {
    return durations.map((duration) => {
      const probe = new Probe();
      deadlines.add(probe, duration, 0);
      const list = probe.dlList;
      deadlines.remove(probe);
      return list;
    });
  }

  test('of the first 32 durations are kept while empty, and no more', () => {
    const deadlines = new Deadlines();
    const first = round(deadlines);
    expect(round(deadlines).map((list, index) => list === first[index])).toEqual(
      durations.map((_, index) => index < 32),
    );
  });

  test('whose entries have expired are dropped, however few there are', () => {
    const deadlines = new Deadlines();
    const probe = new Probe();
    deadlines.add(probe, 10, 0);
    const before = probe.dlList;
    clock(10);
    vi.advanceTimersByTime(10);
    deadlines.add(probe, 10, 10);
    expect(probe.dlList).not.toBe(before);
    expect(before).toMatchObject({ head: undefined });
  });

  test(
    'beyond 32 lose no entry: neither one that stays behind nor one that is added after the ' +
      'last has gone',
    () => {
      const deadlines = new Deadlines();
      const expired: number[] = [];
      for (const duration of durations)
        deadlines.add(new Probe(() => expired.push(duration)), duration, 0);
      const gone = new Probe();
      deadlines.add(gone, 1_000, 0);
      deadlines.remove(gone);
      deadlines.add(gone, 2_000, 0);
      deadlines.remove(gone);
      deadlines.add(new Probe(() => expired.push(2_000)), 2_000, 0);
      clock(3_000);
      vi.advanceTimersByTime(20);
      expect(expired).toEqual([...durations, 2_000]);
    },
  );

  test('more than 32 lose no entry that is added while another one is removed', () => {
    const deadlines = new Deadlines();
    for (const duration of durations) deadlines.add(new Probe(), 100_000 + duration, 0);
    let expired = 0;
    const other = new Probe();
    deadlines.add(
      new Probe(() => {
        deadlines.add(new Probe(() => (expired += 1)), 1, 10);
        deadlines.remove(other);
      }),
      10,
      0,
    );
    deadlines.add(other, 10, 0);
    clock(10);
    vi.advanceTimersByTime(10);
    clock(11);
    vi.advanceTimersByTime(1);
    expect([expired, deadlines.size]).toEqual([1, 40]);
  });

  test('let go of what leaves them: it holds on to none of its neighbours', () => {
    const deadlines = new Deadlines();
    const probes = Array.from({ length: 4 }, () => new Probe());
    for (const probe of probes) deadlines.add(probe, 10, 0);
    deadlines.remove(probes[1] as Probe);
    clock(10);
    vi.advanceTimersByTime(10);
    expect(probes.map(({ dlPrev, dlNext, dlList }) => [dlPrev, dlNext, dlList])).toEqual(
      probes.map(() => [undefined, undefined, undefined]),
    );
  });

  test('stay whole when entries that expire together add themselves, each other and more', () => {
    const deadlines = new Deadlines();
    const expired: string[] = [];
    const note = (name: string): Probe => new Probe(() => expired.push(name));
    const third = note('third');
    const second = note('second');
    const first: Probe = new Probe(() => {
      expired.push('first');
      // The third moves behind a new one; then the second, which stood between them, goes.
      for (const probe of [note('fourth'), third, note('fifth')]) deadlines.add(probe, 30, 10);
      deadlines.remove(second);
    });
    const again: Probe = new Probe(() => {
      if (expired.filter((name) => name === 'again').length === 0) {
        deadlines.add(again, 30, 10);
        deadlines.add(note('last'), 30, 10);
      }
      expired.push('again');
    });
    for (const probe of [first, second, third, again, note('beside')]) deadlines.add(probe, 10, 0);
    clock(10);
    vi.advanceTimersByTime(10);
    expect(expired).toEqual(['first', 'again', 'beside']);
    deadlines.remove(third);
    clock(40);
    vi.advanceTimersByTime(30);
    expect(expired.slice(3)).toEqual(['fourth', 'fifth', 'again', 'last']);
    expect(deadlines.size).toBe(0);
  });
});

test(
  'whatever readings of the clock entries come with and whichever leave, the rest expires in ' +
    'its order, first come first where it is due at the same time',
  () => {
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          late: fc.constantFrom(0, 0, 0, 1, 2, 5, 9),
          duration: fc.constantFrom(100, 100, 100, 104),
        }),
      },
      { weight: 1, arbitrary: fc.record({ remove: fc.nat() }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        vi.clearAllTimers();
        clock(1_000);
        const deadlines = new Deadlines();
        const expired: Deadline[] = [];
        let waiting: { probe: Probe; at: number; duration: number }[] = [];
        for (const action of steps) {
          if ('remove' in action) {
            const leaving = waiting[action.remove % (waiting.length || 1)];
            if (leaving !== undefined) deadlines.remove(leaving.probe);
            waiting = waiting.filter((one) => one !== leaving);
          } else {
            const probe: Probe = new Probe(() => expired.push(probe));
            deadlines.add(probe, action.duration, 1_000 - action.late);
            waiting.push({
              probe,
              at: 1_000 - action.late + action.duration,
              duration: action.duration,
            });
          }
          expect(deadlines.size).toBe(waiting.length);
        }
        // What is due up to here, then the rest.
        for (const now of [1_097, 1_200]) {
          clock(now);
          vi.advanceTimersByTime(now === 1_097 ? 20 : 1_000);
          expect(expired.map((probe) => (probe as Probe).dlAt)).toEqual(
            waiting
              .map(({ at }) => at)
              .filter((at) => at <= now)
              .sort((a, b) => a - b),
          );
        }
        for (const duration of [100, 104]) {
          const own = waiting.filter((one) => one.duration === duration);
          const order = [...own].sort((a, b) => a.at - b.at).map(({ probe }) => probe);
          expect(expired.filter((probe) => own.some((one) => one.probe === probe))).toEqual(order);
        }
      }),
      { numRuns: 200 },
    );
  },
);
