/** The contract of a relay's store as data: rules that any test runner can execute on any store. */

import assert from 'node:assert/strict';
import type { MaybePromise } from '../../../core.ts';
import type { DueItem, RelayStore } from '../../relay/ports/store.ts';
import {
  eventually,
  type PortRule,
  type PortRuleBodies,
  portRules,
  sleep,
  upTo,
} from './port-rule.ts';
import { applyRules } from './store-conformance-apply.ts';
import { concurrencyRules } from './store-conformance-concurrency.ts';
import { documentRules } from './store-conformance-documents.ts';
import { leaseRules } from './store-conformance-leases.ts';
import { logRules } from './store-conformance-logs.ts';
import { modelRules } from './store-conformance-model.ts';
import { nameRules } from './store-conformance-names.ts';
import { begin, sessionRules } from './store-conformance-sessions.ts';

/**
 * Returns the rules that a store must satisfy, as data:
 * `for (const rule of relayStoreConformance(make)) test(rule.name, rule.run)`. `makeStore` returns
 * a fresh, empty store for each rule, or one with a namespace of its own. If the store has a
 * `close`, it is called after the rule. Some rules wait for up to a second of real time.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'host-tools/relay';
 * import { relayStoreConformance } from 'host-tools/testing';
 * import { test } from 'vitest';
 *
 * // Put your store in the place of `memoryStore()`.
 * const rules = relayStoreConformance(() => memoryStore());
 * for (const rule of rules) test(rule.name, rule.run);
 * ```
 */
export function relayStoreConformance(
  makeStore: () => MaybePromise<RelayStore>,
): readonly PortRule[] {
  return [
    sessionRules,
    documentRules,
    logRules,
    leaseRules,
    counterRules,
    dueRules,
    concurrencyRules,
    nameRules,
    modelRules,
    applyRules,
  ].flatMap((bodies) => portRules(makeStore, bodies));
}

/** Conformance rules: counters. */
const long = 60_000;

async function allows(store: RelayStore, limit: number, windowMs = long, key = 'k'): Promise<void> {
  assert.deepEqual(await store.count(key, limit, windowMs), { allowed: true, retryAfterMs: 0 });
}

async function refuses(
  store: RelayStore,
  limit: number,
  windowMs = long,
  key = 'k',
): Promise<number> {
  const { allowed, retryAfterMs } = await store.count(key, limit, windowMs);
  assert.equal(allowed, false, `Expected a use beyond ${limit} to be refused`);
  assert.ok(
    retryAfterMs > 0 && retryAfterMs <= windowMs,
    `Expected to wait for more than 0 and at most ${windowMs} ms, got ${retryAfterMs}`,
  );
  return retryAfterMs;
}

const counterRules: PortRuleBodies<RelayStore> = {
  'as many uses as the limit are allowed': async (store) => {
    for (let use = 0; use < 3; use++) await allows(store, 3);
    assert.ok((await refuses(store, 3)) > long / 2, 'Expected to wait until the window ends');
    await refuses(store, 3);
  },
  'refused uses do not count': async (store) => {
    for (let use = 0; use < 2; use++) await allows(store, 2);
    for (let use = 0; use < 5; use++) await refuses(store, 2);
    await allows(store, 4);
    await allows(store, 4);
    await refuses(store, 4);
  },
  'a limit of 0 allows nothing and counts nothing': async (store) => {
    await refuses(store, 0);
    await refuses(store, 0);
    await allows(store, 1);
    await refuses(store, 1);
  },
  'each key has its own count': async (store) => {
    await allows(store, 1);
    await allows(store, 1, long, 'other');
    await refuses(store, 1);
    await refuses(store, 1, long, 'other');
  },
  'a window ends': async (store) => {
    await allows(store, 1, 50);
    await eventually('the window ends', async () => (await store.count('k', 1, 50)).allowed);
  },
  'a window starts with its first use; later ones, and refused ones, do not lengthen it': async (
    store,
  ) => {
    const windowMs = 400;
    const begun = performance.now();
    await allows(store, 1, windowMs);
    // Uses are refused all the time, so a window that moves would never end.
    await eventually(
      'a window ends while uses are refused',
      async () => (await store.count('k', 1, windowMs)).allowed,
    );
    const took = performance.now() - begun;
    assert.ok(
      took >= windowMs / 2,
      `Expected the window to last for ${windowMs} ms, it took ${took}`,
    );
  },
  'the wait for the end of a window becomes shorter': async (store) => {
    await allows(store, 2);
    const first = await refusedAfter(store, 0);
    const second = await refusedAfter(store, 60);
    assert.ok(second < first - 25, `Expected to wait for less than ${first} ms, got ${second}`);
  },
  'a window that has ended begins again with the full limit': async (store) => {
    for (let use = 0; use < 3; use++) await allows(store, 3, 100);
    await sleep(200);
    for (let use = 0; use < 3; use++) await allows(store, 3);
    assert.ok((await refuses(store, 3)) > long / 2);
  },
  'counters belong to no session': async (store) => {
    await begin(store, 'k');
    await allows(store, 1);
    await store.drop('k');
    await refuses(store, 1);
    assert.equal(await store.create('k', 'first', '1', Date.now() + long), true);
  },
};

/** Waits, then returns the `retryAfterMs` of a refused use. The first call uses up what is left. */
async function refusedAfter(store: RelayStore, milliseconds: number): Promise<number> {
  await sleep(milliseconds);
  await store.count('k', 2, long);
  return refuses(store, 2);
}

// Conformance rules: items that are due.

/** Asks until `count` items have come, each of which is then postponed for long. */
async function gather(store: RelayStore, count: number): Promise<DueItem[]> {
  const items: DueItem[] = [];
  await eventually(`${count} items are due`, async () => {
    items.push(...(await store.due(1_000, long)));
    return items.length >= count;
  });
  return items;
}

/**
 * Schedules items that must come in the order of `keys`, but in another order, and asks once.
 * Returns false if the machine was too slow for the order to be certain.
 */
async function inOrder(
  store: RelayStore,
  session: string,
  keys: readonly string[],
  spreadMs: number,
): Promise<boolean> {
  const begun = performance.now();
  for (const [index, key] of [...keys.entries()].reverse())
    await store.schedule(session, key, index * spreadMs);
  if (performance.now() - begun > spreadMs / 2) {
    for (const key of keys) await store.unschedule(session, key);
    return false;
  }
  await sleep(keys.length * spreadMs);
  assert.deepEqual(
    await store.due(keys.length, long),
    keys.map((key) => ({ session, key })),
  );
  return true;
}

const dueRules: PortRuleBodies<RelayStore> = {
  'nothing is due if nothing was scheduled': async (store) => {
    assert.deepEqual(await store.due(10, long), []);
  },
  'a scheduled item is due once, after its delay': async (store) => {
    const begun = performance.now();
    await store.schedule('s', 'k', 200);
    assert.deepEqual(await gather(store, 1), [{ session: 's', key: 'k' }]);
    const took = performance.now() - begun;
    assert.ok(took >= 150, `Expected it after 200 ms, it came after ${took}`);
    assert.deepEqual(await store.due(10, long), []);
  },
  'an item without a delay is due at once': async (store) => {
    assert.equal(await store.schedule('s', 'k', 0), undefined);
    assert.deepEqual(await store.due(10, long), [{ session: 's', key: 'k' }]);
  },
  'an item that is not due yet is not given': async (store) => {
    await store.schedule('s', 'later', long);
    await store.schedule('s', 'now', 0);
    assert.deepEqual(await store.due(10, long), [{ session: 's', key: 'now' }]);
    assert.deepEqual(await store.due(10, long), []);
  },
  'an item that was put off is due again afterwards': async (store) => {
    await store.schedule('s', 'k', 0);
    const begun = performance.now();
    assert.equal((await store.due(10, 200)).length, 1);
    assert.deepEqual(await gather(store, 1), [{ session: 's', key: 'k' }]);
    const took = performance.now() - begun;
    assert.ok(took >= 150, `Expected it again after 200 ms, it came after ${took}`);
  },
  'an item that is put off for 0 ms comes once in an answer, and again in the next': async (
    store,
  ) => {
    await store.schedule('s', 'k', 0);
    for (const again of [1, 2, 3])
      assert.deepEqual(
        await store.due(10, 0),
        [{ session: 's', key: 'k' }],
        `Expected it in answer ${again}`,
      );
  },
  'scheduling an item again moves it': async (store) => {
    await store.schedule('s', 'k', 0);
    await store.schedule('s', 'k', long);
    assert.deepEqual(await store.due(10, long), []);
    await store.schedule('s', 'k', 0);
    assert.deepEqual(await store.due(10, long), [{ session: 's', key: 'k' }]);
    assert.deepEqual(await store.due(10, long), []);
  },
  'an item that was put off can be moved to now': async (store) => {
    await store.schedule('s', 'k', 0);
    await store.due(10, long);
    await store.schedule('s', 'k', 0);
    assert.deepEqual(await store.due(10, long), [{ session: 's', key: 'k' }]);
  },
  'an unscheduled item is forgotten': async (store) => {
    await store.schedule('s', 'k', 0);
    await store.schedule('s', 'other', 0);
    assert.equal(await store.unschedule('s', 'k'), undefined);
    assert.deepEqual(await store.due(10, 0), [{ session: 's', key: 'other' }]);
    // This also holds for an item that was returned before and postponed.
    await store.unschedule('s', 'other');
    assert.deepEqual(await store.due(10, 0), []);
  },
  'an item that was never scheduled can be unscheduled': async (store) => {
    await store.schedule('s', 'k', 0);
    await store.unschedule('s', 'none');
    await store.unschedule('none', 'k');
    assert.deepEqual(await store.due(10, long), [{ session: 's', key: 'k' }]);
  },
  'an answer has at most the requested number of items, and the rest comes next': async (store) => {
    for (const index of upTo(5)) await store.schedule('s', `k${index}`, 0);
    assert.deepEqual(await store.due(0, long), []);
    const answers: DueItem[][] = [];
    for (let ask = 0; ask < 4; ask++) answers.push([...(await store.due(2, long))]);
    assert.deepEqual(
      answers.map(({ length }) => length),
      [2, 2, 1, 0],
    );
    assert.deepEqual(
      answers
        .flat()
        .map(({ key }) => key)
        .sort(),
      upTo(5).map((index) => `k${index}`),
    );
  },
  'the item that has been due longest comes first, whenever it was scheduled': async (store) => {
    for (const [attempt, spreadMs] of [100, 200, 400, 800].entries())
      if (await inOrder(store, `s${attempt}`, ['a', 'c', 'b', 'd'], spreadMs)) return;
    assert.fail('Expected the store to take four items within less than 400 ms');
  },
  'one key in two sessions is two items': async (store) => {
    await store.schedule('one', 'k', 0);
    await store.schedule('two', 'k', 0);
    await store.unschedule('one', 'k');
    assert.deepEqual(await store.due(10, long), [{ session: 'two', key: 'k' }]);
  },
  'scheduled items do not depend on the life of a session': async (store) => {
    await store.schedule('never', 'k', 0);
    assert.deepEqual(await store.due(10, long), [{ session: 'never', key: 'k' }]);
    await begin(store);
    await store.schedule('s', 'k', 0);
    await store.drop('s');
    assert.deepEqual(await store.due(10, long), [{ session: 's', key: 'k' }]);
    assert.equal(await store.drop('never'), false);
    assert.equal(await store.create('never', 'first', '1', Date.now() + long), true);
  },
};
