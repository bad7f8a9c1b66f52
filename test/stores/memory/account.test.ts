import { expect, test } from 'vitest';
import { Account, type Bucket } from '../../../src/stores/memory/account.ts';

test('a window keeps a bounded number of reservations, however many there are', () => {
  const windowMs = 1_000_000;
  const account = new Account(windowMs);
  const buckets = new Map<Bucket, number>();
  for (let time = 0; time < 3 * windowMs; time += 10) {
    account.slide(time);
    buckets.set(account.add(1n, time), time);
    if (time % 10_000 !== 0) continue;
    for (const [bucket, at] of buckets) if (at + windowMs <= time) buckets.delete(bucket);
    expect(buckets.size).toBeLessThan(2_100);
  }
  expect(account.total).toBeGreaterThanOrEqual(100_000n);
  expect(account.total).toBeLessThanOrEqual(100_100n);
});

test('reservations of the same millisecond are one, without any loss', () => {
  const account = new Account(1_000);
  account.slide(5);
  const first = account.add(1n, 5);
  expect(account.add(2n, 5)).toBe(first);
  expect(account.add(4n, 6)).not.toBe(first);
  account.takeOff(first, 2n);
  expect(account.total).toBe(5n);
  account.slide(1_005);
  expect(account.total).toBe(4n);
  account.takeOff(first, 1n);
  expect(account.total).toBe(4n);
});

test('the time until an amount fits is exact, or that of the window if it is costly', () => {
  const account = new Account(1_000);
  for (let time = 0; time < 100; time++) account.add(1n, account.slide(time));
  const waitFor = (amount: bigint, left: number): number | undefined =>
    account.fitsIn(amount, 100n, 99, { left });
  expect(waitFor(1n, 100)).toBe(901);
  expect(waitFor(50n, 100)).toBe(950);
  expect(waitFor(50n, 50)).toBe(950);
  expect(waitFor(50n, 49)).toBe(1_000);
  expect(waitFor(1n, 0)).toBe(1_000);
  expect(waitFor(101n, 100)).toBeUndefined();
});
