import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, retryAfterMs, retryMs } from '../../../src/surfaces/relay-client/backoff.ts';

const middle = (): number => 0.5;

describe('the wait before the next attempt', () => {
  test('doubles from one second to thirty', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 1000].map((failures) => backoffMs(failures, middle))).toEqual([
      1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
    ]);
  });

  test('is a quarter more or less, by chance', () => {
    expect([0, 0.999999].map((number) => backoffMs(3, () => number))).toEqual([3000, 5000]);
    fc.assert(
      fc.property(
        fc.nat(2000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (failures, number) => {
          const plain = backoffMs(failures, middle);
          const ms = backoffMs(failures, () => number);
          expect(ms).toBeGreaterThanOrEqual(plain * 0.75);
          expect(ms).toBeLessThanOrEqual(plain * 1.25);
        },
      ),
    );
  });

  test('is not shorter than the relay wants, up to five minutes', () => {
    expect(retryMs(1, middle, 5000)).toBe(5000);
    expect(retryMs(5, middle, 5000)).toBe(16_000);
    expect(retryMs(1, middle, undefined)).toBe(1000);
    expect(retryMs(1, middle, 1e12)).toBe(300_000);
  });

  test('is never longer than its cap, whatever chance gives, and still differs by chance', () => {
    fc.assert(
      fc.property(
        fc.nat(2000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 250, max: 100_000 }),
        (failures, number, most) => {
          expect(backoffMs(failures, () => number, most)).toBeLessThanOrEqual(most);
        },
      ),
    );
    expect([0, 0.5, 0.999].map((number) => backoffMs(9, () => number, 5000))).toEqual([
      3000, 4000, 4998,
    ]);
    expect(backoffMs(1, middle, 5000)).toBe(1000);
  });

  test('is not much shorter than a quarter of a second, however low the cap', () => {
    expect([0, -1, 1, 250].map((most) => backoffMs(5, middle, most))).toEqual([200, 200, 200, 200]);
  });

  test('is as long as the relay wants, whatever the cap', () => {
    expect(retryMs(5, middle, 20_000, 5000)).toBe(20_000);
    expect(retryMs(5, middle, undefined, 5000)).toBe(4000);
  });

  test.each([
    ['3', 3000],
    [' 0 ', 0],
    ['999999999', 300_000],
    ['-1', undefined],
    ['1.5', undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    ['', undefined],
    [null, undefined],
  ])('reads Retry-After: %s', (header, ms) => {
    expect(retryAfterMs(header)).toBe(ms);
  });
});
