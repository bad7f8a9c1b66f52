import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryQuotas, type QuotaSpend, type QuotaStore } from '../../../src/index.ts';
import { fixedClock, quotaStoreConformance } from '../../../src/surfaces/testing/index.ts';

describe('the store in memory keeps the contract', () => {
  for (const rule of quotaStoreConformance(() => memoryQuotas())) test(rule.name, rule.run);
});

const spend = (key: string, more: Partial<QuotaSpend> = {}): QuotaSpend => ({
  key,
  amount: 1n,
  max: 3n,
  windowMs: 1_000,
  ...more,
});

/** The answer of a store that answers at once. */
function at<T>(answer: T | Promise<T>): T {
  expect(answer).not.toBeInstanceOf(Promise);
  return answer as T;
}

function fits(store: QuotaStore, ...spends: QuotaSpend[]): boolean {
  return 'reservation' in at(store.reserve(spends));
}

function usedOf(store: QuotaStore, key: string, windowMs: number | undefined = 1_000): bigint {
  const [use] = at(store.look([spend(key, { amount: 0n, windowMs })]));
  return use?.used ?? -1n;
}

describe('windows slide', () => {
  test('an amount counts for its window, to the millisecond', () => {
    const clock = fixedClock();
    const store = memoryQuotas({ now: clock.now });
    for (const wait of [0, 400, 400]) {
      clock.advance(wait);
      expect(fits(store, spend('k'))).toBe(true);
    }
    const [use] = at(store.look([spend('k')]));
    expect(use).toEqual({ used: 3n, retryAfterMs: 200 });
    clock.advance(199);
    expect(fits(store, spend('k'))).toBe(false);
    clock.advance(1);
    expect(fits(store, spend('k'))).toBe(true);
    expect(fits(store, spend('k'))).toBe(false);
  });

  test('the time to wait is that of the oldest amounts that must go', () => {
    const clock = fixedClock();
    const store = memoryQuotas({ now: clock.now });
    fits(store, spend('k', { amount: 1n }));
    clock.advance(100);
    fits(store, spend('k', { amount: 2n }));
    const wait = (amount: bigint): unknown => at(store.look([spend('k', { amount })]))[0];
    expect(wait(1n)).toEqual({ used: 3n, retryAfterMs: 900 });
    expect(wait(2n)).toEqual({ used: 3n, retryAfterMs: 1_000 });
    expect(wait(4n)).toEqual({ used: 3n, retryAfterMs: undefined });
  });

  test('a clock that goes back frees nothing early, and one that fails is replaced', () => {
    const clock = fixedClock();
    const store = memoryQuotas({ now: clock.now });
    fits(store, spend('k', { amount: 3n }));
    clock.advance(-10_000);
    expect(fits(store, spend('k'))).toBe(false);
    clock.advance(10_999);
    expect(fits(store, spend('k'))).toBe(false);
    clock.advance(1);
    expect(fits(store, spend('k'))).toBe(true);
    for (const now of [() => Number.NaN, () => 'noon' as never, () => raise()]) {
      const broken = memoryQuotas({ now });
      expect(fits(broken, spend('k', { amount: 3n, windowMs: 3_600_000 }))).toBe(true);
      expect(fits(broken, spend('k', { windowMs: 3_600_000 }))).toBe(false);
    }
  });

  test('more than a thousand reservations: never too early, at most a 1 024th too late', () => {
    const clock = fixedClock(0);
    const store = memoryQuotas({ now: clock.now });
    const windowMs = 102_400;
    const many = { windowMs, max: 4_000n };
    for (let index = 0; index < 4_000; index++) {
      expect(fits(store, spend('k', many))).toBe(true);
      clock.advance(10);
    }
    let freed = 0;
    for (let time = 40_000; time < windowMs + 40_000; time += 10) {
      // All those that are older than the window, were they kept one by one.
      const exact = Math.max(0, Math.floor((time - windowMs) / 10) + 1);
      freed = Number(4_000n - usedOf(store, 'k', windowMs));
      expect(freed).toBeLessThanOrEqual(exact);
      expect(freed).toBeGreaterThanOrEqual(exact - 11);
      clock.advance(10);
    }
    expect(freed).toBe(4_000);
  });
});

describe('by a naive model', () => {
  type Step =
    | { readonly do: 'reserve'; readonly spends: readonly { key: number; amount: number }[] }
    | { readonly do: 'give back'; readonly which: number }
    | { readonly do: 'wait'; readonly ms: number };
  const steps = fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('reserve' as const),
          spends: fc.uniqueArray(
            fc.record({ key: fc.nat({ max: 3 }), amount: fc.integer({ min: 1, max: 40 }) }),
            { minLength: 1, maxLength: 3, selector: ({ key }) => key },
          ),
        }),
      },
      fc.record({ do: fc.constant('give back' as const), which: fc.nat({ max: 30 }) }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 700 }) }),
    ),
    { maxLength: 60 },
  );
  const keyed = (key: number): Pick<QuotaSpend, 'key' | 'max' | 'windowMs'> => ({
    key: `k${key}`,
    // One key is agreed to, and one counts as long as the session.
    max: key === 2 ? undefined : BigInt(50 + key * 30),
    windowMs: key === 3 ? undefined : 1_000 * (key + 1),
  });

  test('the same answers, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(steps, (all: readonly Step[]) => {
        const clock = fixedClock(0);
        const store = memoryQuotas({ now: clock.now });
        const entries: { key: number; amount: number; at: number; group: number }[] = [];
        const groups: object[] = [];
        const usedIn = (key: number): number =>
          entries
            .filter((entry) => entry.key === key)
            .filter(({ at }) => key === 3 || at + 1_000 * (key + 1) > clock.now())
            .reduce((sum, { amount }) => sum + amount, 0);
        for (const step of all) {
          if (step.do === 'wait') clock.advance(step.ms);
          if (step.do === 'give back' && groups[step.which] !== undefined) {
            void store.giveBack(groups[step.which] as object);
            for (let index = entries.length - 1; index >= 0; index--)
              if (entries[index]?.group === step.which) entries.splice(index, 1);
          }
          if (step.do === 'reserve') {
            const spends = step.spends.map(({ key, amount }) => ({
              ...keyed(key),
              amount: BigInt(amount),
            }));
            const wanted = step.spends.every(({ key, amount }) => {
              const { max } = keyed(key);
              return max === undefined || BigInt(usedIn(key) + amount) <= max;
            });
            const answer = at(store.reserve(spends));
            expect('reservation' in answer).toBe(wanted);
            if ('reservation' in answer) {
              for (const { key, amount } of step.spends)
                entries.push({ key, amount, at: clock.now(), group: groups.length });
              groups.push(answer.reservation);
            } else {
              expect(answer.refused.map(({ used }) => used)).toEqual(
                step.spends.map(({ key }) => BigInt(usedIn(key))),
              );
              for (const [index, { retryAfterMs }] of answer.refused.entries()) {
                if (retryAfterMs === undefined || retryAfterMs === 0) continue;
                expect(waitOf(step.spends[index] as never, retryAfterMs)).toBe(true);
              }
            }
          }
          for (const key of [0, 1, 2, 3])
            expect(usedOf(store, `k${key}`, keyed(key).windowMs)).toBe(BigInt(usedIn(key)));
        }
        /** Whether an amount fits after that time, and not a millisecond earlier. */
        function waitOf({ key, amount }: { key: number; amount: number }, ms: number): boolean {
          const max = Number(keyed(key).max);
          const usedAt = (time: number): number =>
            entries
              .filter((entry) => entry.key === key && entry.at + 1_000 * (key + 1) > time)
              .reduce((sum, entry) => sum + entry.amount, 0);
          const now = clock.now();
          return usedAt(now + ms) + amount <= max && usedAt(now + ms - 1) + amount > max;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('memory is bounded', () => {
  test('sums that no longer count are dropped as others are added', () => {
    const clock = fixedClock();
    const store = memoryQuotas({ now: clock.now, maxKeys: 100 });
    for (let index = 0; index < 10_000; index++) {
      expect(fits(store, spend(`k${index}`))).toBe(true);
      clock.advance(11);
    }
  });

  test('a call that needs one sum too many is refused; existing sums continue', () => {
    const clock = fixedClock();
    const store = memoryQuotas({ now: clock.now, maxKeys: 2 });
    expect(fits(store, spend('a'), spend('b'))).toBe(true);
    expect(() => store.reserve([spend('c')])).toThrow(
      'memoryQuotas: expected at most 2 sums at the same time, got a call that needs another one.',
    );
    expect(() => store.reserve([spend('a'), spend('c')])).toThrow('Raise `maxKeys`');
    expect(usedOf(store, 'a')).toBe(1n);
    expect(fits(store, spend('a'))).toBe(true);
    expect(at(store.look([spend('c')]))).toEqual([{ used: 0n, retryAfterMs: 0 }]);
    clock.advance(1_000);
    expect(fits(store, spend('c'))).toBe(true);
  });

  test('a sum that was given back makes room', () => {
    const store = memoryQuotas({ maxKeys: 1 });
    const answer = at(store.reserve([spend('a', { windowMs: undefined })]));
    if ('reservation' in answer) void store.giveBack(answer.reservation);
    expect(fits(store, spend('b', { windowMs: undefined }))).toBe(true);
  });

  test('looking keeps nothing', () => {
    const store = memoryQuotas({ maxKeys: 1 });
    for (const key of ['a', 'b', 'c']) usedOf(store, key);
    expect(fits(store, spend('d'))).toBe(true);
  });

  test('the sum of a session is kept as long as the session lives, however long it is idle', () => {
    const clock = fixedClock();
    const store = memoryQuotas({ now: clock.now, maxKeys: 1_000 });
    const session = {};
    expect(fits(store, spend('s', { windowMs: undefined, session, amount: 3n }))).toBe(true);
    clock.advance(1_000 * 86_400_000);
    for (let index = 0; index < 500; index++) fits(store, spend(`k${index}`));
    expect(fits(store, spend('s', { windowMs: undefined, session }))).toBe(false);
  });

  test('and for a day after its last call, once the session is gone', () => {
    const clock = fixedClock();
    const store = memoryQuotas({ now: clock.now, maxKeys: 1 });
    const forever = { windowMs: undefined };
    expect(fits(store, spend('s', { ...forever, amount: 2n }))).toBe(true);
    clock.advance(86_399_999);
    expect(() => store.reserve([spend('t', forever)])).toThrow('maxKeys');
    expect(fits(store, spend('s', forever))).toBe(true);
    clock.advance(86_399_999);
    expect(() => store.reserve([spend('t', forever)])).toThrow('maxKeys');
    clock.advance(1);
    expect(fits(store, spend('t', forever))).toBe(true);
    expect(usedOf(store, 's', undefined)).toBe(0n);
  });
});

test('options: an unknown one, an invalid clock and a bound below 1 throw', () => {
  expect(() => memoryQuotas({ max: 1 } as never)).toThrow(
    'memoryQuotas: unknown option `max`; expected one of `now`, `maxKeys`',
  );
  expect(() => memoryQuotas({ now: 5 as never })).toThrow('expected `now` to be a function');
  expect(() => memoryQuotas({ maxKeys: 0 })).toThrow('expected `maxKeys` to be a whole number');
});

test('what it did not give out cannot be given back', () => {
  const store = memoryQuotas();
  const other = memoryQuotas();
  expect(fits(store, spend('k'))).toBe(true);
  const foreign = at(other.reserve([spend('k')]));
  for (const thing of [{}, [], new Map(), Object.create(null), foreign])
    void store.giveBack(thing as object);
  expect(usedOf(store, 'k')).toBe(1n);
});

function raise(): never {
  throw new Error('no clock');
}

test('to refuse a call of a thousand full keys does not take the time of all of them', () => {
  const clock = fixedClock();
  const store = memoryQuotas({ now: clock.now });
  const keys = Array.from({ length: 1_000 }, (_, index) => `key${index}`);
  const spends = (amount: bigint, max: bigint): QuotaSpend[] =>
    keys.map((key) => spend(key, { amount, max, windowMs: 1_000_000 }));
  for (let time = 0; time < 200; time++) {
    expect(fits(store, ...spends(1n, 200n))).toBe(true);
    clock.advance(1);
  }
  const uses = at(store.look(spends(150n, 200n)));
  // 100 000 buckets are 666 keys with 150 each, and most of another one.
  expect(uses[0]?.retryAfterMs).toBe(1_000_000 - 51);
  expect(uses[665]?.retryAfterMs).toBe(1_000_000 - 51);
  expect(uses[999]?.retryAfterMs).toBe(1_000_000 - 1);
});

describe('its room is shared', () => {
  let keys = 0;
  const open = (store: QuotaStore, holder: string, count: number): number => {
    let opened = 0;
    try {
      for (; opened < count; opened++)
        at(store.reserve([{ ...spend(`${holder}-${opened}-${keys++}`), holder }]));
    } catch {
      // There is no more room for this holder.
    }
    return opened;
  };

  test('one principal cannot use it up', () => {
    const store = memoryQuotas({ maxKeys: 100 });
    expect(open(store, 'ann', 1_000)).toBe(50);
    expect(open(store, 'bob', 1_000)).toBe(25);
    expect(open(store, 'eve', 1_000)).toBe(13);
    // What is known can be spent on, whoever it is.
    const known = spend('shared');
    expect(fits(store, { ...known, holder: 'kim' })).toBe(true);
    expect(fits(store, { ...known, holder: 'ann' })).toBe(true);
  });

  test('whoever takes as much as there is, the next one always finds room', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (turns) => {
        const store = memoryQuotas({ maxKeys: 1_000 });
        for (const turn of turns) open(store, `greedy-${turn % 5}`, turn);
        expect(open(store, 'new', 10)).toBe(10);
      }),
    );
  });

  test('room that was left by sums of the past is given again', () => {
    let now = 0;
    const store = memoryQuotas({ maxKeys: 100, now: () => now });
    expect(open(store, 'ann', 1_000)).toBe(50);
    now += 365 * 86_400_000;
    expect(open(store, 'ann', 1_000)).toBe(50);
  });
});
