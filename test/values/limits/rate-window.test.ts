import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateWindow } from '../../../src/values/limits/rate-window.ts';

describe('a rate window', () => {
  test('allows its limit within a minute, and again as the oldest ones leave the window', () => {
    const window = new RateWindow(3);
    expect([0, 10_000, 20_000, 30_000].map((now) => window.take(now))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(window.take(59_999)).toBe(false);
    expect(window.take(60_000)).toBe(true);
    expect(window.take(60_001)).toBe(false);
    expect(window.take(70_000)).toBe(true);
  });

  test('slides: twice the limit never fits around the turn of a minute', () => {
    const window = new RateWindow(10, 60_000);
    const allowed = Array.from({ length: 20 }, (_, i) => window.take(59_990 + i)).filter(Boolean);
    expect(allowed).toHaveLength(10);
  });

  test('what was refused does not count', () => {
    const window = new RateWindow(1, 1_000);
    window.take(0);
    for (let now = 1; now < 1_000; now += 1) window.take(now);
    expect(window.take(1_000)).toBe(true);
  });

  test('says after how long another one is allowed', () => {
    const window = new RateWindow(2, 1_000);
    expect(window.retryAfterMs(0)).toBe(0);
    window.take(100);
    expect(window.retryAfterMs(150)).toBe(0);
    window.take(300);
    expect(window.retryAfterMs(400)).toBe(700);
    expect(window.retryAfterMs(1_099)).toBe(1);
    expect(window.retryAfterMs(1_100)).toBe(0);
  });

  test('a limit of 0 refuses all, an infinite one allows all', () => {
    const none = new RateWindow(0, 500);
    expect([none.take(0), none.retryAfterMs(0)]).toEqual([false, 500]);
    const all = new RateWindow(Number.POSITIVE_INFINITY);
    for (let i = 0; i < 10_000; i += 1) expect(all.take(i / 100)).toBe(true);
  });

  test('a clock reading older than the last one is taken for the last one', () => {
    const window = new RateWindow(2, 1_000);
    expect([window.take(500), window.take(100), window.take(1_400), window.take(1_500)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });

  test(
    'a wait with a limit of 0 is the length of the window, whatever was counted and however ' +
      'late it is',
    () => {
      const window = new RateWindow(0, 500);
      expect(window.retryAfterMs(100)).toBe(500);
      window.count(200);
      expect(window.retryAfterMs(300)).toBe(500);
    },
  );

  test(
    'a wait is told from the reading it is asked with, also when that is older than the last ' +
      'one',
    () => {
      const window = new RateWindow(1, 1_000);
      window.take(0);
      window.take(1_000);
      expect(window.retryAfterMs(500)).toBe(1_500);
      expect(window.retryAfterMs(1_500)).toBe(500);
    },
  );

  test('what was counted while no limit applied counts once there is one', () => {
    const window = new RateWindow(Number.POSITIVE_INFINITY, 1_000);
    for (const now of [0, 100, 50, 200]) window.count(now);
    window.limit = 4;
    expect([window.take(300), window.retryAfterMs(300)]).toEqual([false, 700]);
    // The one that was counted with an older reading stands where the last one stood.
    expect([window.take(1_000), window.take(1_099)]).toEqual([true, false]);
    expect([window.take(1_100), window.take(1_100), window.take(1_100)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('when the limit was lowered, the wait lasts until enough have left the window', () => {
    const window = new RateWindow(4, 1_000);
    for (const now of [0, 100, 200, 300]) window.take(now);
    window.limit = 2;
    expect(window.retryAfterMs(300)).toBe(900);
    expect([window.take(1_199), window.take(1_200)]).toEqual([false, true]);
  });

  test('when the limit was lowered by one, the second oldest must leave, not the newest', () => {
    const window = new RateWindow(4, 1_000);
    for (const now of [0, 100, 200, 300]) window.take(now);
    window.limit = 3;
    expect(window.retryAfterMs(300)).toBe(800);
  });

  test(
    'a wait whose fractions of a millisecond round down is one longer, since it would end too ' +
      'early',
    () => {
      const [taken, asked] = [0.06491949579805747, 156.06491949579802];
      const window = new RateWindow(1, 500);
      window.take(taken);
      // The difference is 344 to the last digit that a number holds, and yet 344 later the window
      // has not passed.
      expect([taken + 500 - asked, asked + 344 < taken + 500]).toEqual([344, true]);
      expect(window.retryAfterMs(asked)).toBe(345);
      expect(window.take(asked + 344)).toBe(false);
      expect(window.take(asked + 345)).toBe(true);
    },
  );

  test.each([5, 9, 20, 60, 100])(
    'every moment leaves the window by itself, also when a denser time makes the store grow: ' +
      '%d in 200 ms',
    (limit) => {
      const window = new RateWindow(limit, 200);
      let taken: number[] = [];
      let now = 0;
      for (const [count, gap] of [
        [50, 10],
        [300, 1],
        [60, 7],
        [300, 1],
        [40, 25],
      ] as const)
        for (let n = 0; n < count; n += 1) {
          now += gap;
          taken = taken.filter((at) => at + 200 > now);
          expect(window.retryAfterMs(now)).toBe(
            taken.length < limit ? 0 : (taken[0] as number) + 200 - now,
          );
          expect(window.take(now)).toBe(taken.length < limit);
          if (taken.length < limit) taken.push(now);
        }
      // Nothing is left of all that.
      const later = Array.from({ length: limit + 1 }, () => window.take(now + 200));
      expect(later.filter(Boolean)).toHaveLength(limit);
    },
  );

  test('counting without a limit takes no more memory, however long it runs', () => {
    let longest = 0;
    const { push } = Array.prototype;
    const noted = function (this: unknown[], ...items: unknown[]): number {
      const length = push.apply(this, items);
      longest = Math.max(longest, length);
      return length;
    };
    const window = new RateWindow(Number.POSITIVE_INFINITY, 1_024);
    Object.assign(Array.prototype, { push: noted });
    try {
      for (let now = 0; now < 20 * 1_024; now += 2) window.count(now);
    } finally {
      Object.assign(Array.prototype, { push });
    }
    // 512 moments are in the window, and as many may have left it.
    expect(longest).toBeGreaterThanOrEqual(512);
    expect(longest).toBeLessThanOrEqual(1_024);
  });

  test(
    'above 1 024, moments within a 1 024th of the window are taken for their latest one, and ' +
      'those further apart are not',
    () => {
      const window = new RateWindow(1_025, 1_024);
      for (let i = 0; i < 1_024; i += 1) window.take(0);
      window.take(1);
      expect([window.take(1_024), window.take(1_025)]).toEqual([false, true]);
      const exact = new RateWindow(1_024, 1_024);
      for (let i = 0; i < 1_023; i += 1) exact.take(0);
      exact.take(1);
      expect(exact.take(1_024)).toBe(true);
      const apart = new RateWindow(1_025, 1_024);
      for (let i = 0; i < 1_024; i += 1) apart.take(0);
      apart.take(1.5);
      expect(apart.take(1_024)).toBe(true);
    },
  );

  test('above 1 024 it is exact for moments that are far apart, even late', () => {
    const window = new RateWindow(1_025, 1_024);
    for (let i = 0; i < 1_024; i += 1) window.take(5_000);
    window.take(5_500);
    expect([window.take(6_023), window.retryAfterMs(6_023), window.take(6_024)]).toEqual([
      false,
      1,
      true,
    ]);
  });

  test('a huge limit is reached exactly in a burst, and keeps little in memory', () => {
    const window = new RateWindow(2_000_000, 60_000);
    let allowed = 0;
    for (let i = 0; i < 2_100_000; i += 1) if (window.take(i / 100)) allowed += 1;
    expect(allowed).toBe(2_000_000);
    expect(window.take(59_999)).toBe(false);
    expect(window.take(60_100)).toBe(true);
  });
});

describe('property', () => {
  const gaps = fc.array(
    fc.oneof(
      fc.constant(0),
      fc.double({ min: 0, max: 3, noNaN: true }),
      fc.double({ min: 0, max: 400, noNaN: true }),
    ),
    {
      maxLength: 300,
      size: 'max',
    },
  );

  test(
    'an exact window answers what counting the accepted ones of the window answers, and ' +
      'retryAfterMs is the least sufficient wait',
    () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 20 }), gaps, (limit, steps) => {
          const windowMs = 500;
          const window = new RateWindow(limit, windowMs);
          const accepted: number[] = [];
          const recent = (at: number) => accepted.filter((time) => time + windowMs > at).length;
          let now = 0;
          for (const gap of steps) {
            now += gap;
            const allowed = recent(now) < limit;
            const wait = window.retryAfterMs(now);
            expect(wait === 0).toBe(allowed);
            expect(recent(now + wait)).toBeLessThan(limit);
            if (wait > 1) expect(recent(now + wait - 1.001)).toBe(limit);
            expect(window.take(now)).toBe(allowed);
            if (allowed) accepted.push(now);
          }
        }),
      );
    },
  );

  test(
    'an approximate one never allows more than its limit in any window, and refuses at most a 1 ' +
      '024th of the window too long',
    () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1_025, max: 1_200 }),
          fc.array(
            fc.tuple(
              fc.integer({ min: 1, max: 400 }),
              fc.double({ min: 0, max: 2_000, noNaN: true }),
            ),
            { maxLength: 30, size: 'max' },
          ),
          (limit, bursts) => {
            const windowMs = 10_000;
            const slackMs = windowMs / 1_024;
            const window = new RateWindow(limit, windowMs);
            const accepted: number[] = [];
            const since = (from: number) => accepted.filter((time) => time > from).length;
            let now = 0;
            for (const [count, gap] of bursts) {
              now += gap;
              for (let i = 0; i < count; i += 1) {
                const allowed = window.take(now);
                if (allowed) accepted.push(now);
                else if (since(now - windowMs - slackMs) < limit)
                  throw new Error(`Refused too early at ${now}`);
              }
              expect(since(now - windowMs)).toBeLessThanOrEqual(limit);
            }
          },
        ),
        { numRuns: 30 },
      );
    },
  );
});
