/** Conformance rules: several operations in one step. */
import assert from 'node:assert/strict';
import type { Applied, LeaseHolder, RelayStore } from '../../relay/ports/store.ts';
import type { StoreOp } from '../../relay/ports/store-ops.ts';
import { atOnce, type PortRuleBodies, sleep, upTo } from './port-rule.ts';
import { begin, later } from './store-conformance-sessions.ts';

const long = 3_600_000;
const documents = ['first', 'k0', 'k1', 'k2'];
const logs = ['l0', 'l1'];
const leases = ['a', 'b'];
const counters = ['c0', 'c1'];

/** A number from 0 to less than `below`; the same in each run. */
type Random = (below: number) => number;

function numbers(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Everything visible of a session, except the remaining milliseconds. */
async function seen(store: RelayStore, session: string): Promise<object> {
  const holders = await Promise.all(leases.map((lease) => store.holder(session, lease)));
  return {
    documents: await store.get(session, documents),
    logs: await Promise.all(logs.map((log) => store.read(session, log, 0, 100))),
    leases: holders.map((found: LeaseHolder | undefined) => found && [found.holder, found.epoch]),
  };
}

const makers: readonly ((random: Random) => StoreOp)[] = [
  (random) => ({ op: 'get', keys: documents.slice(random(4)) }),
  (random) => ({
    op: 'set',
    key: documents[random(4)] as string,
    value: `${random(1_000)}`,
    version: [undefined, undefined, random(4)][random(3)],
  }),
  (random) => ({
    op: 'set',
    key: documents[random(4)] as string,
    value: `${random(1_000)}`,
    version: undefined,
  }),
  (random) => ({
    op: 'delete',
    key: documents[random(4)] as string,
    version: [undefined, random(4)][random(2)],
  }),
  (random) => ({
    op: 'append',
    log: logs[random(2)] as string,
    value: `${random(1_000)}`,
    keep: 1 + random(4),
  }),
  (random) => ({ op: 'read', log: logs[random(2)] as string, after: random(4), limit: random(4) }),
  (random) => ({
    op: 'renew',
    lease: leases[random(2)] as string,
    epoch: 1 + random(2),
    ttlMs: random(4) === 0 ? 0 : long,
  }),
  (random) => ({
    op: 'count',
    key: counters[random(2)] as string,
    limit: 2 + random(12),
    windowMs: long,
  }),
  () => ({ op: 'publish', message: 'hello' }),
];

/**
 * Runs the same operations on two sessions: on one in one step, on the other one by one. It ends
 * with the first operation that does not fit. The earlier ones must then have had no effect on the
 * first session.
 */
async function round(store: RelayStore, random: Random): Promise<void> {
  const [whole, single] = ['whole', 'single'];
  for (const session of [whole, single]) {
    await store.drop(session);
    await begin(store, session);
    await store.acquire(session, 'a', 'me', long);
  }
  for (let step = 0; step < 4; step++) {
    const ops = upTo(1 + random(7)).map(() =>
      (makers[random(makers.length)] as (typeof makers)[number])(random),
    );
    const context = JSON.stringify(ops);
    const before = await seen(store, whole);
    const applied = await store.apply(whole, ops);
    const parts: unknown[] = [];
    let misfit: Applied | undefined;
    for (const op of ops) {
      const part = await store.apply(single, [op]);
      if (part.results === undefined) {
        misfit = part;
        break;
      }
      parts.push(part.results[0]);
    }
    if (misfit === undefined) {
      assert.deepEqual(applied.results, parts, context);
      assert.deepEqual(await seen(store, whole), await seen(store, single), context);
      continue;
    }
    assert.deepEqual([applied.results, applied.refused], [undefined, parts.length], context);
    assert.deepEqual(await seen(store, whole), before, context);
    return;
  }
}

const refusedAt = async (
  store: RelayStore,
  refused: number,
  ops: readonly StoreOp[],
): Promise<void> => {
  const before = await seen(store, 's');
  const applied = await store.apply('s', ops);
  assert.deepEqual([applied.results, applied.refused], [undefined, refused]);
  assert.deepEqual(await seen(store, 's'), before, 'Expected nothing to have changed');
};

const set = (key: string, version?: number): StoreOp => ({ op: 'set', key, value: 'new', version });

export const applyRules: PortRuleBodies<RelayStore> = {
  ...Object.fromEntries(
    [1, 2, 3].map((seed) => [
      `several operations in one step do what they do one by one, from the seed ${seed}`,
      async (store: RelayStore) => {
        const random = numbers(seed);
        for (let left = 40; left > 0; left--) await round(store, random);
      },
    ]),
  ),
  'each operation of a step sees what those before it have done': async (store) => {
    await begin(store);
    const { results } = await store.apply('s', [
      { op: 'set', key: 'k', value: 'one', version: 0 },
      { op: 'set', key: 'k', value: 'two', version: 1 },
      { op: 'get', keys: ['k', 'none'] },
      { op: 'append', log: 'l0', value: 'entry', keep: 1 },
      { op: 'append', log: 'l0', value: 'other', keep: 1 },
      { op: 'read', log: 'l0', after: 0, limit: 5 },
      { op: 'delete', key: 'k', version: 2 },
      { op: 'get', keys: ['k'] },
    ]);
    assert.deepEqual(results, [
      1,
      2,
      [{ value: 'two', version: 2 }, undefined],
      { id: 1, dropped: [] },
      { id: 2, dropped: ['entry'] },
      { entries: [{ id: 2, value: 'other' }], first: 2, last: 2 },
      true,
      [undefined],
    ]);
    assert.deepEqual(await store.get('s', ['k']), [undefined]);
  },
  'of a step with an operation that does not fit, nothing takes place': async (store) => {
    await begin(store);
    const epoch = (await store.acquire('s', 'a', 'me', long)) ?? 0;
    const works: readonly StoreOp[] = [
      set('k0'),
      { op: 'append', log: 'l0', value: 'v', keep: 3 },
      { op: 'delete', key: 'first' },
      { op: 'renew', lease: 'a', epoch, ttlMs: 0 },
      { op: 'count', key: 'c0', limit: 1, windowMs: long },
    ];
    const misfits: readonly StoreOp[] = [
      set('first', 7),
      set('k1', 1),
      { op: 'renew', lease: 'a', epoch: epoch + 1, ttlMs: long },
      { op: 'renew', lease: 'b', epoch: 1, ttlMs: long },
      { op: 'count', key: 'c1', limit: 0, windowMs: long },
    ];
    for (const misfit of misfits) {
      await refusedAt(store, works.length, [...works, misfit]);
      await refusedAt(store, 0, [misfit, ...works]);
    }
    assert.deepEqual((await store.apply('s', works)).results?.length, works.length);
  },
  'a step is refused in a session that does not exist, unless it only reads': async (store) => {
    const reads: readonly StoreOp[] = [
      { op: 'get', keys: ['first'] },
      { op: 'read', log: 'l0', after: 0, limit: 1 },
      { op: 'delete', key: 'first' },
    ];
    assert.deepEqual((await store.apply('s', reads)).results, [
      [undefined],
      { entries: [], first: 0, last: 0 },
      false,
    ]);
    const writes: readonly StoreOp[] = [
      set('k'),
      { op: 'append', log: 'l0', value: 'v', keep: 3 },
      { op: 'renew', lease: 'a', epoch: 1, ttlMs: long },
      { op: 'count', key: 'c0', limit: 5, windowMs: long },
    ];
    for (const write of writes)
      assert.deepEqual(await store.apply('s', [...reads, write]), {
        refused: reads.length,
        gone: true,
        retryAfterMs: 0,
      });
    assert.equal(await store.create('s', 'first', '1', later()), true);
  },
  'a counter of a session allows as many uses as its limit, and ends with the session': async (
    store,
  ) => {
    const use = (limit: number, windowMs = long): Promise<Applied> =>
      store.apply('s', [{ op: 'count', key: 'c0', limit, windowMs }]);
    await begin(store);
    for (let used = 0; used < 3; used++) assert.ok((await use(3)).results !== undefined);
    const refused = await use(3);
    assert.ok(refused.results === undefined && !refused.gone);
    assert.ok(refused.retryAfterMs > long / 2 && refused.retryAfterMs <= long);
    assert.ok((await use(4)).results !== undefined, 'Expected a refused use not to count');
    assert.deepEqual(await store.count('c0', 1, long), { allowed: true, retryAfterMs: 0 });
    await store.drop('s');
    await begin(store);
    assert.ok((await use(1, 30)).results !== undefined);
    await sleep(100);
    assert.ok((await use(1)).results !== undefined, 'Expected the window to have ended');
  },
  'of many callers with steps over the same versions at once, one succeeds with all of its step':
    async (store) => {
      await begin(store);
      const steps = await atOnce(50, (index) =>
        store.apply('s', [
          { op: 'set', key: 'k0', value: `${index}`, version: 0 },
          { op: 'append', log: 'l0', value: `${index}`, keep: 100 },
          { op: 'set', key: 'k1', value: `${index}`, version: 0 },
        ]),
      );
      const won = steps.findIndex(({ results }) => results !== undefined);
      assert.equal(steps.filter(({ results }) => results !== undefined).length, 1);
      const found = await store.get('s', ['k0', 'k1']);
      assert.deepEqual(
        found.map((one) => one?.value),
        [`${won}`, `${won}`],
      );
      const { entries } = await store.read('s', 'l0', 0, 100);
      assert.deepEqual(
        entries.map(({ value }) => value),
        [`${won}`],
      );
    },
  'an item is scheduled in one step with the removal of others': async (store) => {
    for (const key of ['one', 'two', 'three']) await store.schedule('s', key, 0);
    await store.schedule('s', 'two', 0, [
      { session: 's', key: 'one' },
      { session: 's', key: 'two' },
      { session: 'other', key: 'three' },
    ]);
    const due = await store.due(10, long);
    assert.deepEqual(due.map(({ key }) => key).sort(), ['three', 'two']);
  },
};
