/** Conformance rules: leases and their epochs. */
import assert from 'node:assert/strict';
import type { RelayStore } from '../../relay/ports/store.ts';
import { eventually, type PortRuleBodies, sleep } from './port-rule.ts';
import { begin } from './store-conformance-sessions.ts';

const long = 60_000;
const short = 30;

async function take(
  store: RelayStore,
  holder: string,
  ttlMs = long,
  steal = false,
  lease = 'lease',
): Promise<number> {
  const epoch = await store.acquire('s', lease, holder, ttlMs, steal);
  assert.ok(epoch !== undefined, `Expected ${holder} to get the lease`);
  return epoch;
}

async function heldBy(
  store: RelayStore,
  holder: string,
  epoch: number,
  lease = 'lease',
): Promise<void> {
  const found = await store.holder('s', lease);
  assert.deepEqual([found?.holder, found?.epoch], [holder, epoch]);
}

const runsOut = (store: RelayStore): Promise<void> =>
  eventually('the lease runs out', async () => (await store.holder('s', 'lease')) === undefined);

export const leaseRules: PortRuleBodies<RelayStore> = {
  'a free lease can be acquired, with an epoch from 1': async (store) => {
    await begin(store);
    assert.equal(await store.holder('s', 'lease'), undefined);
    assert.equal(await store.renew('s', 'lease', 1, long), false);
    assert.equal(await store.release('s', 'lease', 1), false);
    assert.equal(await store.renew('s', 'lease', 0, long), false);
    assert.equal(await store.release('s', 'lease', 0), false);
    const epoch = await take(store, 'one');
    assert.ok(epoch >= 1);
    const found = await store.holder('s', 'lease');
    assert.deepEqual([found?.holder, found?.epoch], ['one', epoch]);
    assert.ok(
      found !== undefined && found.remainingMs > 0 && found.remainingMs <= long,
      `Expected at most ${long} ms to remain, got ${found?.remainingMs}`,
    );
  },
  'a lease that another holds is refused and does not change': async (store) => {
    await begin(store);
    const epoch = await take(store, 'one');
    assert.equal(await store.acquire('s', 'lease', 'two', long), undefined);
    assert.equal(await store.acquire('s', 'lease', 'two', long, false), undefined);
    await heldBy(store, 'one', epoch);
    assert.equal(await store.renew('s', 'lease', epoch, long), true);
  },
  'a holder that asks again gets a new epoch, and the old one is void': async (store) => {
    await begin(store);
    const first = await take(store, 'one');
    const second = await take(store, 'one');
    assert.ok(second > first);
    await heldBy(store, 'one', second);
    assert.equal(await store.renew('s', 'lease', first, long), false);
    assert.equal(await store.release('s', 'lease', first), false);
    assert.equal(await store.renew('s', 'lease', second, long), true);
  },
  'a lease can be stolen from any holder, and the former epoch is void': async (store) => {
    await begin(store);
    const first = await take(store, 'one');
    const second = await take(store, 'two', long, true);
    assert.ok(second > first);
    await heldBy(store, 'two', second);
    assert.equal(await store.renew('s', 'lease', first, long), false);
    assert.equal(await store.release('s', 'lease', first), false);
    await heldBy(store, 'two', second);
    assert.equal(await store.acquire('s', 'lease', 'one', long), undefined);
  },
  'a free lease can be acquired by stealing too': async (store) => {
    await begin(store);
    await heldBy(store, 'one', await take(store, 'one', long, true));
  },
  'a released lease is free, and its epoch is void': async (store) => {
    await begin(store);
    const first = await take(store, 'one');
    assert.equal(await store.release('s', 'lease', first), true);
    assert.equal(await store.holder('s', 'lease'), undefined);
    assert.equal(await store.release('s', 'lease', first), false);
    assert.equal(await store.renew('s', 'lease', first, long), false);
    assert.equal(await store.holder('s', 'lease'), undefined);
    const second = await take(store, 'two');
    assert.ok(second > first, `Expected an epoch beyond ${first} after a release, got ${second}`);
    assert.equal(await store.release('s', 'lease', first), false);
    await heldBy(store, 'two', second);
  },
  'a lease runs out, and its epoch is void': async (store) => {
    await begin(store);
    const first = await take(store, 'one', short);
    await runsOut(store);
    assert.equal(await store.renew('s', 'lease', first, long), false);
    assert.equal(await store.release('s', 'lease', first), false);
    assert.equal(await store.holder('s', 'lease'), undefined);
    const second = await take(store, 'two');
    assert.ok(
      second > first,
      `Expected an epoch beyond ${first} after the lease ran out, got ${second}`,
    );
    assert.equal(await store.renew('s', 'lease', first, long), false);
    await heldBy(store, 'two', second);
  },
  'every operation notices that a lease has run out, whichever comes first': async (store) => {
    await begin(store);
    await take(store, 'probe', short);
    const acquired = await take(store, 'one', short, false, 'acquired');
    const renewed = await take(store, 'one', short, false, 'renewed');
    const released = await take(store, 'one', short, false, 'released');
    await runsOut(store);
    await sleep(3 * short);
    const next = await store.acquire('s', 'acquired', 'two', long);
    assert.ok(next !== undefined && next > acquired);
    assert.equal(await store.renew('s', 'renewed', renewed, long), false);
    assert.equal(await store.holder('s', 'renewed'), undefined);
    assert.equal(await store.release('s', 'released', released), false);
  },
  'a new holder has its own time': async (store) => {
    await begin(store);
    await take(store, 'one', short);
    const epoch = await take(store, 'two', long, true);
    await sleep(3 * short);
    await heldBy(store, 'two', epoch);
    const found = await store.holder('s', 'lease');
    assert.ok(found !== undefined && found.remainingMs > long / 2);
  },
  'a renewed lease lasts from then on': async (store) => {
    await begin(store);
    const epoch = await take(store, 'one', 500);
    assert.equal(await store.renew('s', 'lease', epoch, long), true);
    const found = await store.holder('s', 'lease');
    assert.ok(
      found !== undefined && found.remainingMs > long / 2 && found.remainingMs <= long,
      `Expected about ${long} ms to remain, got ${found?.remainingMs}`,
    );
    await sleep(600);
    await heldBy(store, 'one', epoch);
    assert.equal(await store.acquire('s', 'lease', 'two', long), undefined);
  },
  'a renewed lease runs out': async (store) => {
    await begin(store);
    const epoch = await take(store, 'one');
    assert.equal(await store.renew('s', 'lease', epoch, short), true);
    await runsOut(store);
    assert.equal(await store.renew('s', 'lease', epoch, long), false);
  },
  'the remaining time of a lease becomes shorter': async (store) => {
    await begin(store);
    await take(store, 'one');
    const before = await store.holder('s', 'lease');
    await sleep(50);
    const after = await store.holder('s', 'lease');
    assert.ok(before !== undefined && after !== undefined);
    assert.ok(
      after.remainingMs < before.remainingMs - 25,
      `Expected less than ${before.remainingMs} ms, got ${after.remainingMs}`,
    );
  },
  'epochs increase for as long as the session lives': async (store) => {
    await begin(store);
    let last = 0;
    for (let round = 0; round < 12; round++) {
      const epoch = await take(
        store,
        `holder-${round % 2}`,
        round % 4 === 3 ? short : long,
        round % 3 === 0,
      );
      assert.ok(epoch > last, `Expected an epoch beyond ${last}, got ${epoch}`);
      last = epoch;
      if (round % 4 === 3) await runsOut(store);
      else if (round % 3 !== 2) await store.release('s', 'lease', epoch);
    }
  },
  'leases of one session do not mix': async (store) => {
    await begin(store);
    const one = await take(store, 'one');
    const other = await take(store, 'two', long, false, 'other');
    await take(store, 'two', long, false, 'other');
    await heldBy(store, 'one', one);
    assert.equal(await store.release('s', 'other', other), false);
    assert.equal(await store.release('s', 'lease', one), true);
    assert.equal((await store.holder('s', 'other'))?.holder, 'two');
  },
  'documents, logs and leases with the same name do not mix': async (store) => {
    await begin(store);
    await store.set('s', 'same', 'document');
    await store.append('s', 'same', 'entry', 5);
    const epoch = await take(store, 'one', long, false, 'same');
    assert.deepEqual(await store.get('s', ['same']), [{ value: 'document', version: 1 }]);
    assert.deepEqual(await store.read('s', 'same', 0, 5), {
      entries: [{ id: 1, value: 'entry' }],
      first: 1,
      last: 1,
    });
    await heldBy(store, 'one', epoch, 'same');
    await store.delete('s', 'same');
    assert.equal((await store.read('s', 'same', 0, 5)).last, 1);
    await heldBy(store, 'one', epoch, 'same');
  },
};
