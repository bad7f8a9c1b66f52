/** Conformance rules: counters. */
import assert from 'node:assert/strict';
import type { RelayStore } from '../../relay/ports/store.ts';
import { eventually, type PortRuleBodies, sleep } from './port-rule.ts';
import { begin } from './store-conformance-sessions.ts';

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

export const counterRules: PortRuleBodies<RelayStore> = {
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
