import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { waitText, windowText } from '../../../src/values/text/duration.ts';

const unitMs = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1_000 } as const;

/** The milliseconds that a text says. */
function read(text: string): number {
  const parts = [...text.matchAll(/(\d+) (day|hour|minute|second)(s?)/g)];
  let sum = 0;
  for (const [, count, name, plural] of parts) {
    expect(plural === 's').toBe(Number(count) !== 1);
    sum += Number(count) * unitMs[name as keyof typeof unitMs];
  }
  return sum;
}

describe('a time to wait', () => {
  test.each([
    [0, '1 second'],
    [1, '1 second'],
    [1_000, '1 second'],
    [1_001, '2 seconds'],
    [59_001, '1 minute'],
    [60_000, '1 minute'],
    [61_000, '1 minute and 1 second'],
    [3_599_001, '1 hour'],
    [5_400_000, '1 hour and 30 minutes'],
    [5_400_001, '1 hour and 31 minutes'],
    [86_340_000, '23 hours and 59 minutes'],
    [86_340_001, '1 day'],
    [86_400_000, '1 day'],
    [90_000_000, '1 day and 1 hour'],
    [315_576_000_000, '3652 days and 12 hours'],
  ])('of %i ms is %j', (ms, text) => {
    expect(waitText(ms)).toBe(text);
  });

  test('is never too short, names at most two units, and is less than a 24th too long', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 315_576_000_000 }), (ms) => {
        const said = read(waitText(ms));
        expect(said).toBeGreaterThanOrEqual(ms);
        expect(said - ms).toBeLessThan(Math.max(1_000, said / 24));
        expect(waitText(ms).split(' and ').length).toBeLessThanOrEqual(2);
        expect(waitText(ms)).not.toMatch(/\d{5,}/);
      }),
    );
  });
});

describe('a window', () => {
  test.each([
    [1, '1 ms'],
    [1_500, '1500 ms'],
    [1_000, 'second'],
    [2_000, '2 seconds'],
    [86_400_000, 'day'],
    [7_200_000, '2 hours'],
    [90_061_000, '1 day, 1 hour, 1 minute and 1 second'],
  ])('of %i ms is %j', (ms, text) => {
    expect(windowText(ms)).toBe(text);
  });

  test('is exact', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (seconds) => {
        const text = windowText(seconds * 1_000);
        expect(read(/^\d/.test(text) ? text : `1 ${text}`)).toBe(seconds * 1_000);
      }),
    );
  });
});
