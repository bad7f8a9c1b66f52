import { describe, expect, test } from 'vitest';
import { type IdempotencyClaim, memoryIdempotency } from '../../../src/index.ts';
import { fixedClock, idempotencyStoreConformance } from '../../../src/surfaces/testing/index.ts';

const claim = (key: string, more: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
  key,
  input: 'i',
  holder: 'a',
  leaseMs: 1_000,
  ttlMs: 5_000,
  takeOver: false,
  ...more,
});

describe('keeps the contract', () => {
  for (const rule of idempotencyStoreConformance(() => memoryIdempotency()))
    test(rule.name, rule.run);
});

test('leases and times to live run by the clock that is given', () => {
  const { now, advance } = fixedClock();
  const store = memoryIdempotency({ now });
  void store.claim(claim('k'));
  expect(store.claim(claim('k', { holder: 'b' }))).toEqual({ state: 'running', leaseMs: 1_000 });
  advance(999);
  expect(store.claim(claim('k', { holder: 'b' }))).toEqual({ state: 'running', leaseMs: 1 });
  advance(1);
  expect(store.claim(claim('k', { holder: 'b' }))).toEqual({ state: 'lost' });
  advance(4_999);
  expect(store.claim(claim('k', { holder: 'b' }))).toEqual({ state: 'lost' });
  advance(1);
  expect(store.claim(claim('k', { holder: 'b' }))).toEqual({ state: 'claimed' });
  void store.finish('k', 'b', 'x', 5_000);
  advance(4_999);
  expect(store.claim(claim('k'))).toEqual({ state: 'done', outcome: 'x' });
  advance(1);
  expect(store.claim(claim('k'))).toEqual({ state: 'claimed' });
});

test.each([
  [
    'throws',
    (): number => {
      throw new Error('no clock');
    },
  ],
  ['is not a number', (): number => Number.NaN],
])('a clock that %s is replaced by that of the machine', (_what, now) => {
  const store = memoryIdempotency({ now });
  void store.claim(claim('k'));
  expect(store.claim(claim('k', { holder: 'b' }))).toMatchObject({ state: 'running' });
});

test('a further key is refused where there is no room, until one expires', () => {
  const { now, advance } = fixedClock();
  const store = memoryIdempotency({ now, maxKeys: 2 });
  void store.claim(claim('a'));
  void store.claim(claim('b', { ttlMs: 60_000 }));
  expect(() => store.claim(claim('c'))).toThrow(
    'memoryIdempotency: expected at most 2 keys with 67108864 characters of outcomes at the same ' +
      'time, got a call with a further key. Raise `maxKeys` or `maxChars`, shorten `ttlMs`, or ' +
      'keep them in Redis.',
  );
  // Known keys go on.
  expect(store.claim(claim('b', { ttlMs: 60_000 }))).toEqual({ state: 'claimed' });
  advance(6_000);
  expect(store.claim(claim('c'))).toEqual({ state: 'claimed' });
});

test('outcomes count as long as they are kept', () => {
  const { now, advance } = fixedClock();
  const store = memoryIdempotency({ now, maxChars: 10 });
  void store.claim(claim('a'));
  void store.finish('a', 'a', 'x'.repeat(10), 1_000);
  expect(() => store.claim(claim('b'))).toThrow('at most 100000 keys with 10 characters');
  advance(1_000);
  expect(store.claim(claim('b'))).toEqual({ state: 'claimed' });
  expect(store.finish('b', 'a', 'x'.repeat(9), 1_000)).toBe(true);
  expect(store.claim(claim('c'))).toEqual({ state: 'claimed' });
});

test.each([
  [{ maxKey: 1 }, 'memoryIdempotency: unknown option `maxKey`; did you mean `maxKeys`?'],
  [
    { maxKeys: 0 },
    'memoryIdempotency: expected `maxKeys` to be a whole number from 1, got `0` (number).',
  ],
  [
    { maxChars: 1.5 },
    'memoryIdempotency: expected `maxChars` to be a whole number from 1, got `1.5` (number).',
  ],
])('wrong options are named: %j', (options, message) => {
  expect(() => memoryIdempotency(options as never)).toThrow(message);
});
