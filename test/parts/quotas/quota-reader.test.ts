import { describe, expect, test, vi } from 'vitest';
import { maxValues, QuotaReader } from '../../../src/parts/quotas/quota-reader.ts';
import { unreadable } from '../../../src/parts/quotas/quota-values.ts';
import { one } from '../../../src/parts/quotas/units.ts';

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('the quotas of a call', () => {
  test('read each path once, and so the same', () => {
    const toJSON = vi.fn(() => 5);
    class Money {
      toJSON = toJSON;
    }
    const reader = new QuotaReader({}, { a: new Money() });
    expect([reader.sum(['a']), reader.sum(['a'])]).toEqual([5n * one, 5n * one]);
    expect(toJSON).toHaveBeenCalledTimes(1);
    expect(reader.subjects(['a'])).toEqual(reader.subjects(['a']));
    expect(toJSON).toHaveBeenCalledTimes(2);
  });

  test('distinguish paths whose names contain dots', () => {
    const reader = new QuotaReader({ a: { b: 1 }, 'a.b': 2 }, undefined);
    expect(reader.sum(['a.b'])).toBe(2n * one);
    expect(reader.sum(['a', 'b'])).toBe(3n * one);
  });

  test('share one budget, whatever they read', () => {
    const reader = new QuotaReader({ a: many(49_000, (index) => index / 10) }, undefined);
    const paths = many(10, (index) => ['a', ...many(index, () => '*')]);
    const sums = paths.map((path) => reader.sum(path));
    expect(sums[0]).toBe((one / 10n) * ((48_999n * 49_000n) / 2n));
    expect(sums.at(-1)).toBe(unreadable);
  });

  test.each<[string, number, (index: number) => unknown]>([
    ['numbers of many digits', 16_000, (index) => index + 1 / 7],
    ['tiny numbers', 16_000, () => 1e-300],
    ['big integers', 16_000, (index) => BigInt(index)],
    ['dates', 25_000, (index) => new Date(index)],
    ['sets', 50, () => new Set(many(5_000, (index) => index))],
  ])('cannot read too many %s', (_, count, make) => {
    const reader = new QuotaReader({}, { a: many(count, make) });
    expect(reader.sum(['a'])).toBe(unreadable);
    expect(reader.subjects(['a'])).toBe(unreadable);
  });

  test('name one value more than a call may spend for, and stop', () => {
    const reader = new QuotaReader({ a: many(20_000, (index) => index) }, undefined);
    expect(reader.subjects(['a'])).toHaveLength(maxValues + 1);
  });

  test('ignore huge integers', () => {
    for (const value of [10n ** 40n, -(10n ** 40n)])
      expect(new QuotaReader({}, { a: value }).subjects(['a'])).toBe(unreadable);
    const most = 10n ** 40n - 1n;
    expect(new QuotaReader({}, { a: [most, -most] }).subjects(['a'])).toHaveLength(2);
  });
});
