/** What only the store in memory promises: its room, its clocks, and answers at once. */
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import { memoryStore } from '../../../src/stores/memory/memory-store.ts';
import { storeConformance } from '../../../src/surfaces/testing/conformance/store-conformance.ts';

const calls: Store.Space = { shared: 'calls' };

/** The answer of a step, which is no promise. */
function step(store: Store, operations: readonly Store.Operation[], space = calls): Store.Outcome {
  return store.apply(space, operations) as Store.Outcome;
}

describe('a store in memory', () => {
  test('a refused step that lowers a sum to nothing leaves it, also if it opens others', () => {
    const store = memoryStore();
    const added = step(store, [{ op: 'add', key: 'kept', amount: 5n }]);
    const [place] = (added.results ?? []) as readonly [string];
    const others = Array.from({ length: 20 }, (_, index) => ({
      op: 'add' as const,
      key: `other ${index}`,
      amount: 1n,
    }));
    const back = { op: 'subtract', key: 'kept', amount: 5n, place } as const;
    const misfit = { op: 'set', key: 'k', value: 'v', version: 7 } as const;
    expect(step(store, [back, ...others, misfit]).refused).toBe(21);
    expect(step(store, [{ op: 'sum', key: 'kept', amount: 0n }]).results).toEqual([
      { used: 5n, retryAfterMs: 0 },
    ]);
  });

  test('answers at once', () => {
    const answer = step(memoryStore(), [{ op: 'set', key: 'k', value: 'v' }]);
    expect(answer).toMatchObject({ results: [expect.any(Number)] });
  });

  test('forgets sums that are over when there is no room for another', () => {
    let now = 1_000;
    const store = memoryStore({ now: () => now, maxSums: 4 });
    const add = (key: string, windowMs?: number) =>
      step(store, [{ op: 'add', key, amount: 1n, windowMs }]);
    for (const key of ['a', 'b', 'c', 'd']) add(key, 10);
    expect(() => add('e')).toThrow(/at most 4 sums/);
    now += 10;
    add('e');
    now += 29 * 86_400_000;
    for (const key of ['f', 'g', 'h']) add(key);
    expect(() => add('i')).toThrow(/Raise `maxSums`/);
    now += 2 * 86_400_000;
    add('i');
  });

  test('lets one holder have no more sums than are left for others', () => {
    const store = memoryStore({ maxSums: 10 });
    const add = (key: string, holder: string) =>
      step(store, [{ op: 'add', key, amount: 1n, holder }]);
    for (let index = 0; index < 5; index++) add(`a${index}`, 'a');
    expect(() => add('a5', 'a')).toThrow(/of one holder no more than are left/);
    add('b', 'b');
  });

  test('says so when it is full, and keeps nothing of a step that does not fit', () => {
    const store = memoryStore({ maxChars: 1_000 });
    const fill = 'x'.repeat(700);
    step(store, [{ op: 'set', key: 'k', value: fill }]);
    expect(() =>
      step(store, [
        { op: 'set', key: 'other', value: '' },
        { op: 'append', log: 'l', value: fill },
      ]),
    ).toThrow(/The memory store is full \(1000 characters\)/);
    expect(
      step(store, [
        { op: 'get', keys: ['other'] },
        { op: 'read', log: 'l', after: 0, limit: 1 },
      ]),
    ).toEqual({ results: [[undefined], { entries: [], first: 0, last: 0 }] });
    step(store, [{ op: 'delete', key: 'k' }]);
    step(store, [{ op: 'append', log: 'l', value: fill }]);
  });

  test('takes no room for what is over', () => {
    let now = 1_000;
    const store = memoryStore({ now: () => now, maxChars: 2_000 });
    for (let round = 0; round < 100; round++) {
      step(store, [{ op: 'set', key: `k${round}`, value: 'x'.repeat(500), ttlMs: 10 }]);
      step(store, [{ op: 'count', key: `c${round}`, limit: 1, windowMs: 10 }]);
      const session: Store.Space = { session: `s${round}` };
      const opened = step(
        store,
        [
          { op: 'open', expiresAt: now + 10 },
          { op: 'append', log: 'l', value: 'x'.repeat(100) },
        ],
        session,
      );
      expect(opened.refused).toBeUndefined();
      now += 11;
    }
  });

  test('holds a lease by a clock that no change of the time affects', () => {
    const real = Date.now;
    const store = memoryStore();
    try {
      step(store, [{ op: 'set', key: 'lease', value: 'me', ttlMs: 60_000 }]);
      Date.now = () => real() + 3_600_000;
      expect(step(store, [{ op: 'get', keys: ['lease'] }])).toMatchObject({
        results: [[{ value: 'me' }]],
      });
    } finally {
      Date.now = real;
    }
  });
});

describe('a store in memory does what the port says', () => {
  for (const rule of storeConformance(() => memoryStore())) test(rule.name, rule.run);
});
