/**
 * The contract of a store of quotas as data: rules that any test runner can execute on any store.
 */
import assert from 'node:assert/strict';
import type { MaybePromise } from '../../../src/core.ts';
import type { Store } from '../../../src/extend.ts';
import type { QuotaSpend, Reservation } from '../../../src/parts/quotas/quotas-in.ts';
import {
  atOnce,
  eventually,
  type PortRule,
  portNames,
  upTo,
} from '../../../src/surfaces/testing/conformance/port-rule.ts';
import { type PortRuleBodies, portRules } from './port-rules.ts';
import { type Quotas, quotasIn } from './quotas.ts';

/** One, in the units of a store. */
const one = 10n ** 18n;
const hourMs = 3_600_000;

/** An amount of 1 of 3 per hour. Numbers from 0 are in whole units. */
function spend(key: string, more: Partial<QuotaSpend> = {}): QuotaSpend {
  return { key, amount: one, max: 3n * one, windowMs: hourMs, ...more };
}

/** Reserves, and fails unless it fits. */
async function take(store: Quotas, ...spends: QuotaSpend[]): Promise<Reservation> {
  const answer = await store.reserve(spends);
  assert.ok('reservation' in answer, 'Expected the amounts to fit');
  assert.equal(typeof answer.reservation, 'object');
  return answer.reservation;
}

/** Reserves, and fails if it fits. */
async function refuse(store: Quotas, ...spends: QuotaSpend[]): Promise<readonly Store.Use[]> {
  const answer = await store.reserve(spends);
  assert.ok('refused' in answer, 'Expected the amounts not to fit');
  assert.equal(answer.refused.length, spends.length);
  return answer.refused;
}

async function usedOf(store: Quotas, key: string, windowMs?: number): Promise<bigint> {
  const [use] = await store.look([spend(key, { amount: 0n, windowMs: windowMs ?? hourMs })]);
  return (use as Store.Use).used;
}

const sums: PortRuleBodies<Quotas> = {
  'amounts are added up to the most, and no further': async (store) => {
    for (const round of upTo(3)) {
      assert.equal(await usedOf(store, 'k'), BigInt(round) * one);
      await take(store, spend('k'));
    }
    const [use] = await refuse(store, spend('k'));
    assert.equal(use?.used, 3n * one);
    assert.equal(await usedOf(store, 'k'), 3n * one);
  },
  'an amount that fits exactly is added, and the smallest one beyond it is not': async (store) => {
    await take(store, spend('k', { amount: 2n * one }));
    await refuse(store, spend('k', { amount: one + 1n }));
    await take(store, spend('k', { amount: one }));
    await refuse(store, spend('k', { amount: 1n }));
  },
  'a most of 0 lets nothing through': async (store) => {
    await refuse(store, spend('k', { max: 0n, amount: 1n }));
    assert.equal(await usedOf(store, 'k'), 0n);
  },
  'what a person has agreed to is added whatever the sum is, and counts from then on': async (
    store,
  ) => {
    await take(store, spend('k', { amount: 3n * one }));
    await take(store, spend('k', { amount: 5n * one, max: undefined }));
    assert.equal(await usedOf(store, 'k'), 8n * one);
    const [use] = await refuse(store, spend('k'));
    assert.equal(use?.used, 8n * one);
  },
  'the most may change from call to call': async (store) => {
    await take(store, spend('k', { amount: 3n * one }));
    await take(store, spend('k', { max: 4n * one }));
    await refuse(store, spend('k', { max: 4n * one }));
    await refuse(store, spend('k', { max: one }));
  },
  'sums are exact, however large the amounts and however small': async (store) => {
    const max = 10n ** 34n;
    await take(store, spend('k', { amount: max - 1n, max }));
    assert.equal(await usedOf(store, 'k'), max - 1n);
    await refuse(store, spend('k', { amount: 2n, max }));
    await take(store, spend('k', { amount: 1n, max }));
    await refuse(store, spend('k', { amount: 1n, max }));
    for (const _ of upTo(5)) await take(store, spend('k', { amount: max, max: undefined }));
    assert.equal(await usedOf(store, 'k'), 6n * max);
  },
  'sums do not drift, however often amounts are added and given back': async (store) => {
    const amount = one / 10n + 1n;
    for (const _ of upTo(100)) {
      const reservation = await take(store, spend('k', { amount, max: 100n * one }));
      await take(store, spend('k', { amount: 7n, max: 100n * one }));
      await store.giveBack(reservation);
    }
    assert.equal(await usedOf(store, 'k'), 700n);
  },
  'more than two thousand reservations are summed exactly': async (store) => {
    const max = 2_500n * one;
    for (const _ of upTo(25)) await atOnce(100, () => take(store, spend('k', { max })));
    assert.equal(await usedOf(store, 'k'), max);
    await refuse(store, spend('k', { max, amount: 1n }));
  },
};

const several: PortRuleBodies<Quotas> = {
  'of several amounts all are added or none': async (store) => {
    await take(store, spend('a', { amount: 3n * one }));
    await refuse(store, spend('b'), spend('a'), spend('c'));
    assert.deepEqual(await Promise.all(['b', 'c'].map((key) => usedOf(store, key))), [0n, 0n]);
    await take(store, spend('b'), spend('c'));
    assert.deepEqual(await Promise.all(['b', 'c'].map((key) => usedOf(store, key))), [one, one]);
  },
  'a refusal has the sum of each amount, in their order': async (store) => {
    await take(store, spend('a', { amount: 3n * one }), spend('b', { amount: 2n * one }));
    const uses = await refuse(store, spend('c'), spend('b'), spend('a'));
    assert.deepEqual(
      uses.map(({ used }) => used),
      [0n, 2n * one, 3n * one],
    );
    assert.equal(uses[0]?.retryAfterMs, 0);
    assert.equal(uses[1]?.retryAfterMs, 0);
    assert.ok((uses[2]?.retryAfterMs as number) > 0);
  },
  'of many calls at once as many get through as fit': async (store) => {
    const max = 7n * one;
    const answers = await atOnce(60, () => store.reserve([spend('k', { max })]));
    assert.equal(answers.filter((answer) => 'reservation' in answer).length, 7);
    assert.equal(await usedOf(store, 'k'), max);
  },
  'many calls at once that need two quotas never exceed either': async (store) => {
    const answers = await atOnce(60, (index) =>
      store.reserve([spend(`own ${index % 4}`), spend('all', { max: 10n * one })]),
    );
    const through = answers.filter((answer) => 'reservation' in answer).length;
    assert.equal(await usedOf(store, 'all'), BigInt(through) * one);
    assert.equal(through, 10);
    for (const index of upTo(4)) assert.ok((await usedOf(store, `own ${index}`)) <= 3n * one);
  },
  'a thousand amounts are one reservation': async (store) => {
    const spends = upTo(1_000).map((index) => spend(`k${index}`));
    const reservation = await take(store, ...spends);
    assert.equal(await usedOf(store, 'k999'), one);
    await store.giveBack(reservation);
    assert.deepEqual(
      (await store.look(spends)).map(({ used }) => used),
      spends.map(() => 0n),
    );
  },
};

const givingBack: PortRuleBodies<Quotas> = {
  'what is given back can be spent again': async (store) => {
    const reservation = await take(store, spend('k', { amount: 3n * one }), spend('other'));
    await refuse(store, spend('k'));
    await store.giveBack(reservation);
    assert.equal(await usedOf(store, 'other'), 0n);
    await take(store, spend('k', { amount: 3n * one }));
  },
  'a second giving back does nothing': async (store) => {
    const reservation = await take(store, spend('k'));
    await take(store, spend('k'));
    await store.giveBack(reservation);
    await store.giveBack(reservation);
    await atOnce(5, () => store.giveBack(reservation));
    assert.equal(await usedOf(store, 'k'), one);
  },
  'giving one back leaves the others, in whatever order': async (store) => {
    const amounts = [1n, 20n, 300n];
    const reservations: Reservation[] = [];
    for (const amount of amounts) reservations.push(await take(store, spend('k', { amount })));
    await store.giveBack(reservations[1] as Reservation);
    assert.equal(await usedOf(store, 'k'), 301n);
    await store.giveBack(reservations[2] as Reservation);
    await store.giveBack(reservations[0] as Reservation);
    assert.equal(await usedOf(store, 'k'), 0n);
  },
  'what a person has agreed to can be given back too': async (store) => {
    const reservation = await take(store, spend('k', { amount: 50n * one, max: undefined }));
    await store.giveBack(reservation);
    await take(store, spend('k', { amount: 3n * one }));
  },
  'what has left its window is not given back from what came later': async (store) => {
    const windowMs = 50;
    const early = await take(store, spend('k', { windowMs, amount: 3n * one }));
    await eventually('the first amount has left its window', async () => {
      const answer = await store.reserve([spend('k', { windowMs, max: one })]);
      return 'reservation' in answer;
    });
    const before = await usedOf(store, 'k', windowMs);
    await store.giveBack(early);
    const after = await usedOf(store, 'k', windowMs);
    // The later amount may have left the window in between, and then nothing is left.
    assert.ok(after === before || after === 0n);
    await take(store, spend('k', { windowMs, max: undefined, amount: one }));
  },
};

const time: PortRuleBodies<Quotas> = {
  'an amount counts until it is as old as its window': async (store) => {
    const windowMs = 150;
    await take(store, spend('k', { windowMs, amount: 2n * one }));
    await take(store, spend('k', { windowMs }));
    const answer = await store.reserve([spend('k', { windowMs })]);
    // On a machine that stood still in between, the first amount may be too old already.
    if ('refused' in answer) {
      const wait = answer.refused[0]?.retryAfterMs as number;
      assert.ok(wait > 0 && wait <= windowMs, `Expected 1 to ${windowMs}, got ${wait}`);
    }
    await eventually('the amounts have left the window', async () => {
      return 'reservation' in (await store.reserve([spend('k', { windowMs, amount: 3n * one })]));
    });
  },
  'the time to wait is that of the amounts that must go, not of all': async (store) => {
    await take(store, spend('k', { amount: 3n * one }));
    const [use] = await refuse(store, spend('k'));
    const wait = use?.retryAfterMs as number;
    assert.ok(wait > hourMs / 2 && wait <= hourMs, `Expected at most an hour, got ${wait}`);
  },
  'waiting does not help an amount that is above the most': async (store) => {
    const [first] = await refuse(store, spend('k', { amount: 4n * one }));
    assert.equal(first?.retryAfterMs, undefined);
    await take(store, spend('k'));
    const [second] = await refuse(store, spend('k', { amount: 4n * one }));
    assert.equal(second?.retryAfterMs, undefined);
  },
  'without a window amounts count on, and waiting does not help': async (store) => {
    const session = {};
    const more = { windowMs: undefined, session };
    await take(store, spend('k', { ...more, amount: 2n * one }));
    const reservation = await take(store, spend('k', more));
    const [use] = await refuse(store, spend('k', more));
    assert.deepEqual(use, { used: 3n * one, retryAfterMs: undefined });
    await store.giveBack(reservation);
    await take(store, spend('k', more));
  },
  'each key has a window of its own': async (store) => {
    await take(store, spend('long', { amount: 3n * one }), spend('short', { windowMs: 20 }));
    await eventually('the short window is over', async () => {
      return (await usedOf(store, 'short', 20)) === 0n;
    });
    assert.equal(await usedOf(store, 'long'), 3n * one);
  },
};

const keys: PortRuleBodies<Quotas> = {
  'looking changes nothing': async (store) => {
    for (const _ of upTo(3)) assert.deepEqual(await store.look([spend('k')]), [unused]);
    await take(store, spend('k'));
    for (const _ of upTo(3)) assert.equal(await usedOf(store, 'k'), one);
    const [fits, over] = await store.look([spend('k'), spend('none', { amount: 4n * one })]);
    assert.deepEqual(fits, { used: one, retryAfterMs: 0 });
    assert.deepEqual(over, { used: 0n, retryAfterMs: undefined });
  },
  'any string is a key, and no two are one': async (store) => {
    const names = portNames.map((name) => `key ${name}`);
    for (const [index, key] of names.entries())
      await take(store, spend(key, { amount: BigInt(index + 1), max: one }));
    for (const [index, key] of names.entries())
      assert.equal(await usedOf(store, key), BigInt(index + 1), `Expected the sum of ${key}`);
  },
  'long keys that differ at the end are two': async (store) => {
    const long = 'x'.repeat(1_999);
    await take(store, spend(`${long}a`));
    assert.equal(await usedOf(store, `${long}b`), 0n);
    assert.equal(await usedOf(store, `${long}a`), one);
  },
};

const unused: Store.Use = { used: 0n, retryAfterMs: 0 };

/** What holds of quotas, whatever store they are in. `make` returns a fresh one. */
export function quotaRules(make: () => MaybePromise<Store>): readonly PortRule[] {
  return portRules(async () => quotasIn(await make()), {
    ...sums,
    ...several,
    ...givingBack,
    ...time,
    ...keys,
  });
}
