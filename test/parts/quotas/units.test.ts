import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  maxUnits,
  numberOf,
  one,
  UnitSum,
  unitsOf,
  unitsOfBigInt,
} from '../../../src/parts/quotas/units.ts';

describe('the units of a number', () => {
  test.each([
    [0, 0n],
    [-0, 0n],
    [1, one],
    [0.1, one / 10n],
    [0.3, (3n * one) / 10n],
    [1e-9, 10n ** 9n],
    [1e-18, 1n],
    [1.5e-7, 150_000_000_000n],
    [1_000_000_000.1, 1_000_000_000n * one + one / 10n],
    [Number.MAX_SAFE_INTEGER, BigInt(Number.MAX_SAFE_INTEGER) * one],
  ])('%d is the decimal that it prints as', (value, units) => {
    expect(unitsOf(value)).toBe(units);
  });

  test('what is beyond the last decimal is rounded up, so that no sum is too small', () => {
    expect(unitsOf(1e-19)).toBe(1n);
    expect(unitsOf(Number.MIN_VALUE)).toBe(1n);
    expect(unitsOf(1.1e-18)).toBe(2n);
  });

  test('what is beyond all quotas counts as the same large amount', () => {
    for (const value of [2 ** 53, 1e21, 1e308, Number.MAX_VALUE])
      expect(unitsOf(value)).toBe(maxUnits);
    expect(maxUnits).toBeGreaterThan(unitsOf(Number.MAX_SAFE_INTEGER));
    expect(unitsOfBigInt(12n)).toBe(12n * one);
  });

  test('and back: every number up to the largest exact one comes back as it was', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.nat({ max: Number.MAX_SAFE_INTEGER }),
          fc
            .tuple(fc.nat({ max: 10 ** 9 }), fc.nat({ max: 999_999 }))
            .map(([whole, rest]) => Number(`${whole}.${String(rest).padStart(6, '0')}`)),
        ),
        (value) => numberOf(unitsOf(value)) === value,
      ),
    );
  });

  test('the sum of decimals is the decimal sum', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 10 ** 12 }), { maxLength: 50 }), (cents) => {
        const sum = cents.reduce((all, cent) => all + unitsOf(cent / 100), 0n);
        expect(sum).toBe((cents.reduce((all, cent) => all + BigInt(cent), 0n) * one) / 100n);
      }),
    );
  });
});

describe('adding up', () => {
  test('gives what the units give, however many decimals there are', () => {
    const amount = fc.oneof(
      fc.double({ min: 0, max: Number.MAX_SAFE_INTEGER, noNaN: true }),
      fc.double({ min: 0, max: 1e-6, noNaN: true }),
      fc.nat({ max: Number.MAX_SAFE_INTEGER }),
      fc.tuple(fc.nat({ max: 10 ** 15 }), fc.nat({ max: 9 })).map(([n, at]) => n / 10 ** at),
      fc.constantFrom(-0, 0.1, 0.000_001, 0.000_000_1, 999_999_999.999_999, 1e9, 1e15, 2 ** 53),
    );
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 30 }), (amounts) => {
        const sum = new UnitSum();
        for (const value of amounts) if (!sum.addShort(value)) sum.add(unitsOf(value));
        expect(sum.units).toBe(amounts.reduce((all, value) => all + unitsOf(value), 0n));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([-1, -1e-9, -Number.MIN_VALUE, Number.NaN, Number.POSITIVE_INFINITY, 1e15, 1e-7])(
    '%d is not added as one with few decimals',
    (value) => {
      const sum = new UnitSum();
      expect(sum.addShort(value)).toBe(false);
      expect(sum.units).toBe(0n);
    },
  );
});
