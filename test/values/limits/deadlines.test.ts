import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Deadline,
  type DeadlineList,
  Deadlines,
} from '../../../src/values/limits/deadlines.ts';
import { programUrl } from '../../runner/programs.ts';

class Probe implements Deadline {
  dlPrev: Deadline | undefined = undefined;
  dlNext: Deadline | undefined = undefined;
  dlAt = 0;
  dlList: DeadlineList | undefined = undefined;
  readonly expiredAt: number[] = [];
  readonly onExpire: (() => void) | undefined;
  constructor(onExpire?: () => void) {
    this.onExpire = onExpire;
  }
  expire(): void {
    this.expiredAt.push(performance.now());
    this.onExpire?.();
  }
}

const add = (deadlines: Deadlines, probe: Deadline, durationMs: number) =>
  deadlines.add(probe, durationMs, performance.now());

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a deadline', () => {
  test.each([1, 5, 19, 20, 21, 100, 120_000, 2 ** 31 - 1])(
    'of %d ms expires after just that time, once',
    (durationMs) => {
      const deadlines = new Deadlines();
      const probe = new Probe();
      const start = performance.now();
      add(deadlines, probe, durationMs);
      vi.advanceTimersByTime(durationMs - 1);
      expect(probe.expiredAt).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(probe.expiredAt).toEqual([start + durationMs]);
      vi.advanceTimersByTime(1_000_000);
      expect(probe.expiredAt).toHaveLength(1);
      expect(deadlines.size).toBe(0);
    },
  );

  test.each([
    [0, 1],
    [-5, 1],
    [Number.NaN, 1],
    [0.25, 1],
    [1.5, 2],
    [2, 2],
    [10.5, 11],
    [2 ** 31, 2 ** 31 - 1],
    [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
  ])('of %d ms is taken for %d ms', (durationMs, expected) => {
    const deadlines = new Deadlines();
    const probe = new Probe();
    add(deadlines, probe, durationMs);
    vi.advanceTimersByTime(expected - 1);
    expect(probe.expiredAt).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(probe.expiredAt).toHaveLength(1);
  });

  test('that is removed never expires; removing it again changes nothing', () => {
    const deadlines = new Deadlines();
    const probe = new Probe();
    add(deadlines, probe, 50);
    deadlines.remove(probe);
    deadlines.remove(probe);
    expect(deadlines.size).toBe(0);
    vi.advanceTimersByTime(1_000);
    expect(probe.expiredAt).toEqual([]);
  });

  test('that is added again starts anew, as an idle timeout does', () => {
    const deadlines = new Deadlines();
    const probe = new Probe();
    add(deadlines, probe, 50);
    for (let i = 0; i < 10; i += 1) {
      vi.advanceTimersByTime(40);
      add(deadlines, probe, 50);
    }
    expect(deadlines.size).toBe(1);
    expect(probe.expiredAt).toEqual([]);
    vi.advanceTimersByTime(50);
    expect(probe.expiredAt).toHaveLength(1);
  });

  test('that is due sooner than all others does not wait for their timer', () => {
    const deadlines = new Deadlines();
    const long = new Probe();
    const short = new Probe();
    add(deadlines, long, 60_000);
    vi.advanceTimersByTime(1_000);
    const start = performance.now();
    add(deadlines, short, 3);
    vi.advanceTimersByTime(3);
    expect(short.expiredAt).toEqual([start + 3]);
    vi.advanceTimersByTime(58_997);
    expect(long.expiredAt).toHaveLength(1);
  });

  test('counted from an older reading of the clock is still in order', () => {
    const deadlines = new Deadlines();
    const order: string[] = [];
    const probe = (name: string) => new Probe(() => order.push(name));
    const older = performance.now();
    vi.advanceTimersByTime(10);
    add(deadlines, probe('second'), 100);
    deadlines.add(probe('first'), 100, older);
    add(deadlines, probe('third'), 100);
    vi.advanceTimersByTime(90);
    expect(order).toEqual(['first']);
    vi.advanceTimersByTime(10);
    expect(order).toEqual(['first', 'second', 'third']);
  });
});

describe('expiry', () => {
  test('an entry that throws does not stop the others', () => {
    const deadlines = new Deadlines();
    const fail = () => {
      throw new Error('expire failed');
    };
    const probes = [new Probe(fail), new Probe(), new Probe(fail), new Probe()];
    for (const probe of probes) add(deadlines, probe, 30);
    const later = new Probe();
    add(deadlines, later, 40);
    vi.advanceTimersByTime(40);
    expect([...probes, later].map((probe) => probe.expiredAt.length)).toEqual([1, 1, 1, 1, 1]);
  });

  test('an entry that another one removes as it expires does not expire', () => {
    const deadlines = new Deadlines();
    const second = new Probe();
    const first = new Probe(() => deadlines.remove(second));
    add(deadlines, first, 30);
    add(deadlines, second, 30);
    vi.advanceTimersByTime(100);
    expect(first.expiredAt).toHaveLength(1);
    expect(second.expiredAt).toEqual([]);
    expect(deadlines.size).toBe(0);
  });

  test('what an entry adds as it expires waits its full time', () => {
    const deadlines = new Deadlines();
    const start = performance.now();
    const probe: Probe = new Probe(() => {
      if (probe.expiredAt.length < 4) add(deadlines, probe, 30);
    });
    add(deadlines, probe, 30);
    vi.advanceTimersByTime(1_000);
    expect(probe.expiredAt.map((at) => at - start)).toEqual([30, 60, 90, 120]);
  });

  test('after a blocked event loop, the earlier deadline still expires first', () => {
    const deadlines = new Deadlines();
    const order: string[] = [];
    const now = performance.now();
    deadlines.add(new Probe(() => order.push('parent')), 1_000, now);
    deadlines.add(new Probe(() => order.push('child')), 900, now + 10);
    // Time passes without a timer firing, then one fires late.
    vi.spyOn(performance, 'now').mockReturnValue(now + 5_000);
    vi.advanceTimersByTime(20);
    expect(order).toEqual(['child', 'parent']);
    vi.restoreAllMocks();
  });
});

describe('the one timer', () => {
  test('is not touched while calls come and go within a tick', () => {
    const set = vi.spyOn(globalThis, 'setTimeout');
    const clear = vi.spyOn(globalThis, 'clearTimeout');
    const deadlines = new Deadlines();
    const probe = new Probe();
    for (let i = 0; i < 1_000; i += 1) {
      add(deadlines, probe, 120_000);
      deadlines.remove(probe);
    }
    expect([set.mock.calls.length, clear.mock.calls.length]).toEqual([1, 0]);
    expect(set.mock.calls[0]?.[1]).toBeLessThanOrEqual(20);
    vi.restoreAllMocks();
  });

  test('is one for any number of deadlines and durations', () => {
    const deadlines = new Deadlines();
    for (let i = 0; i < 500; i += 1) add(deadlines, new Probe(), 1_000 + i * 7);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect(deadlines.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('ends within 20 ms of the last removal, and at once when it was a long one', () => {
    const deadlines = new Deadlines();
    const probe = new Probe();
    add(deadlines, probe, 120_000);
    deadlines.remove(probe);
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(0);

    add(deadlines, probe, 120_000);
    vi.advanceTimersByTime(500);
    expect(vi.getTimerCount()).toBe(1);
    deadlines.remove(probe);
    expect(vi.getTimerCount()).toBe(0);
  });

  test(
    'a process whose deadlines are all removed ends by itself, long before they would have ' +
      'expired',
    () => {
      const source = `
      import { Deadlines } from ${JSON.stringify(programUrl('src/values/limits/deadlines.ts'))};
      const entry = { expire() {}, dlPrev: undefined, dlNext: undefined, dlAt: 0, dlList: undefined };
      const deadlines = new Deadlines();
      deadlines.add(entry, 120_000, performance.now());
      setTimeout(() => deadlines.remove(entry), 50);`;
      const child = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
        timeout: 30_000,
        encoding: 'utf8',
      });
      expect([child.stderr, child.status, child.signal]).toEqual(['', 0, null]);
    },
  );
});

describe('unusual clocks', () => {
  test('timers that are faked without `performance` expire what they reach', () => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const deadlines = new Deadlines();
    const first = new Probe();
    add(deadlines, first, 120_000);
    vi.advanceTimersByTime(119_900);
    expect(first.expiredAt).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(first.expiredAt).toHaveLength(1);
  });

  test('there, too, what an entry adds as it expires waits its full time', () => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const deadlines = new Deadlines();
    const grace = new Probe();
    add(deadlines, new Probe(() => add(deadlines, grace, 30_000)), 120_000);
    vi.advanceTimersByTime(120_100);
    vi.advanceTimersByTime(29_000);
    expect(grace.expiredAt).toEqual([]);
    vi.advanceTimersByTime(1_100);
    expect(grace.expiredAt).toHaveLength(1);
  });

  test('a timer that fires early still expires its entry', () => {
    const deadlines = new Deadlines();
    const probe = new Probe();
    const start = performance.now();
    add(deadlines, probe, 10);
    vi.spyOn(performance, 'now').mockReturnValue(start + 9.2);
    vi.advanceTimersByTime(10);
    expect(probe.expiredAt).toHaveLength(1);
    vi.restoreAllMocks();
  });

  test('fake timers that go while a timer is armed take no later deadline with them', () => {
    const deadlines = new Deadlines();
    add(deadlines, new Probe(), 120_000);
    vi.useRealTimers();
    vi.useFakeTimers();
    vi.advanceTimersByTime(5_000);
    const probe = new Probe();
    add(deadlines, probe, 1_000);
    vi.advanceTimersByTime(1_000);
    expect(probe.expiredAt).toHaveLength(1);
  });

  test('fake timers that come while a timer is armed hold for what is added under them', () => {
    vi.advanceTimersByTime(500_000);
    const deadlines = new Deadlines();
    add(deadlines, new Probe(), 120_000);
    vi.useRealTimers();
    vi.useFakeTimers();
    const probe = new Probe();
    add(deadlines, probe, 120_000);
    vi.advanceTimersByTime(120_000);
    expect(probe.expiredAt).toHaveLength(1);
  });

  test('a late timer with overdue entries is not put off by new ones', () => {
    const deadlines = new Deadlines();
    const overdue = new Probe();
    const start = performance.now();
    add(deadlines, overdue, 100);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(start + 10_000);
    add(deadlines, new Probe(), 120_000);
    vi.advanceTimersByTime(20);
    expect(overdue.expiredAt).toHaveLength(1);
    clock.mockRestore();
  });
});

describe('memory', () => {
  test('no end of different durations leaves nothing behind', () => {
    const deadlines = new Deadlines();
    const probe = new Probe();
    const seen = new Set<DeadlineList | undefined>();
    for (let i = 0; i < 1_000; i += 1) {
      add(deadlines, probe, 1_000 + i);
      seen.add(probe.dlList);
      deadlines.remove(probe);
    }
    // The first ones are kept for reuse, the rest was dropped: a second round meets new lists.
    for (let i = 500; i < 1_000; i += 1) {
      add(deadlines, probe, 1_000 + i);
      expect(seen.has(probe.dlList)).toBe(false);
      deadlines.remove(probe);
    }
    expect([probe.dlPrev, probe.dlNext, probe.dlList]).toEqual([undefined, undefined, undefined]);
  });
});

describe('property', () => {
  type Step = { add: number; durationMs: number } | { remove: number } | { advance: number };
  const entries = 12;
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      add: fc.nat(entries - 1),
      durationMs: fc.oneof(
        fc.constantFrom(1, 5, 20, 30, 100, 1_000),
        fc.integer({ min: 1, max: 3_000 }),
      ),
    }),
    fc.record({ remove: fc.nat(entries - 1) }),
    fc.record({
      advance: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 2_000 })),
    }),
  );

  test('any history of adds, removals and time gives what a naive list of deadlines gives', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        vi.clearAllTimers();
        const origin = performance.now();
        const deadlines = new Deadlines();
        const probes = Array.from({ length: entries }, () => new Probe());
        const model = new Map<number, number>();
        const expected: number[][] = probes.map(() => []);
        let now = 0;
        for (const action of steps) {
          if ('add' in action) {
            const probe = probes[action.add];
            if (probe !== undefined) add(deadlines, probe, action.durationMs);
            model.set(action.add, now + action.durationMs);
          } else if ('remove' in action) {
            const probe = probes[action.remove];
            if (probe !== undefined) deadlines.remove(probe);
            model.delete(action.remove);
          } else {
            vi.advanceTimersByTime(action.advance);
            now += action.advance;
            for (const [index, at] of model) {
              if (at > now) continue;
              expected[index]?.push(at);
              model.delete(index);
            }
          }
          expect(deadlines.size).toBe(model.size);
          expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
        }
        expect(probes.map((probe) => probe.expiredAt.map((at) => Math.round(at - origin)))).toEqual(
          expected,
        );
        vi.advanceTimersByTime(5_000);
        expect([deadlines.size, vi.getTimerCount()]).toEqual([0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});
