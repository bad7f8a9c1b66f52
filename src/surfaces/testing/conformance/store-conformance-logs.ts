/** Conformance rules: logs. */
import assert from 'node:assert/strict';
import type { RelayStore } from '../../relay/ports/store.ts';
import { type PortRuleBodies, upTo } from './port-rule.ts';
import { begin } from './store-conformance-sessions.ts';

const add = async (store: RelayStore, count: number, keep: number, log = 'log'): Promise<void> => {
  const { last } = await store.read('s', log, 0, 0);
  for (const index of upTo(count)) await store.append('s', log, `v${last + index + 1}`, keep);
};

/** The entries of these ids as {@link add} made them. */
const entries = (from: number, to: number): { id: number; value: string }[] =>
  upTo(to - from + 1).map((index) => ({ id: from + index, value: `v${from + index}` }));

export const logRules: PortRuleBodies<RelayStore> = {
  'entries are numbered from 1, without gaps': async (store) => {
    await begin(store);
    for (const id of [1, 2, 3])
      assert.deepEqual(await store.append('s', 'log', `v${id}`, 10), { id, dropped: [] });
    assert.deepEqual(await store.read('s', 'log', 0, 10), {
      entries: entries(1, 3),
      first: 1,
      last: 3,
    });
  },
  'a log without entries is empty': async (store) => {
    await begin(store);
    assert.deepEqual(await store.read('s', 'log', 0, 10), { entries: [], first: 0, last: 0 });
    assert.deepEqual(await store.read('s', 'log', 7, 10), { entries: [], first: 0, last: 0 });
    await store.append('s', 'other', 'v', 10);
    assert.deepEqual(await store.read('s', 'log', 0, 10), { entries: [], first: 0, last: 0 });
  },
  'entries older than the last ones to keep are dropped and reported': async (store) => {
    await begin(store);
    await add(store, 3, 3);
    assert.deepEqual(await store.append('s', 'log', 'v4', 3), { id: 4, dropped: ['v1'] });
    assert.deepEqual(await store.append('s', 'log', 'v5', 3), { id: 5, dropped: ['v2'] });
    assert.deepEqual(await store.read('s', 'log', 0, 10), {
      entries: entries(3, 5),
      first: 3,
      last: 5,
    });
  },
  'a smaller number to keep drops several at once, oldest first': async (store) => {
    await begin(store);
    await add(store, 10, 100);
    assert.deepEqual(await store.append('s', 'log', 'v11', 4), {
      id: 11,
      dropped: ['v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7'],
    });
    assert.deepEqual(await store.read('s', 'log', 0, 100), {
      entries: entries(8, 11),
      first: 8,
      last: 11,
    });
  },
  'a larger number to keep does not bring entries back': async (store) => {
    await begin(store);
    await add(store, 5, 2);
    assert.deepEqual(await store.append('s', 'log', 'v6', 100), { id: 6, dropped: [] });
    assert.deepEqual(await store.read('s', 'log', 0, 100), {
      entries: entries(4, 6),
      first: 4,
      last: 6,
    });
  },
  'equal values are dropped one by one': async (store) => {
    await begin(store);
    for (const keep of [2, 2]) await store.append('s', 'log', 'same', keep);
    assert.deepEqual(await store.append('s', 'log', 'same', 2), { id: 3, dropped: ['same'] });
    assert.deepEqual((await store.read('s', 'log', 0, 10)).entries, [
      { id: 2, value: 'same' },
      { id: 3, value: 'same' },
    ]);
  },
  'a log that keeps nothing still counts its entries': async (store) => {
    await begin(store);
    await add(store, 2, 10);
    assert.deepEqual(await store.append('s', 'log', 'v3', 0), {
      id: 3,
      dropped: ['v1', 'v2', 'v3'],
    });
    assert.deepEqual(await store.read('s', 'log', 0, 10), { entries: [], first: 0, last: 3 });
    assert.deepEqual(await store.append('s', 'log', 'v4', 10), { id: 4, dropped: [] });
    assert.deepEqual(await store.read('s', 'log', 0, 10), {
      entries: entries(4, 4),
      first: 4,
      last: 4,
    });
  },
  'reading returns the oldest entries after an id, at most the requested number': async (store) => {
    await begin(store);
    await add(store, 12, 10);
    const read = async (after: number, limit: number): Promise<unknown> =>
      (await store.read('s', 'log', after, limit)).entries;
    assert.deepEqual(await read(0, 4), entries(3, 6));
    assert.deepEqual(await read(1, 4), entries(3, 6));
    assert.deepEqual(await read(2, 4), entries(3, 6));
    assert.deepEqual(await read(3, 4), entries(4, 7));
    assert.deepEqual(await read(6, 4), entries(7, 10));
    assert.deepEqual(await read(9, 4), entries(10, 12));
    assert.deepEqual(await read(11, 100), entries(12, 12));
  },
  'reading after the newest entry, or after an id that never existed, returns nothing': async (
    store,
  ) => {
    await begin(store);
    await add(store, 3, 10);
    for (const after of [3, 4, 1_000_000, Number.MAX_SAFE_INTEGER - 1])
      assert.deepEqual(await store.read('s', 'log', after, 10), { entries: [], first: 1, last: 3 });
  },
  'reading no entries still returns the first and the last id': async (store) => {
    await begin(store);
    await add(store, 5, 3);
    assert.deepEqual(await store.read('s', 'log', 0, 0), { entries: [], first: 3, last: 5 });
  },
  'reading removes nothing': async (store) => {
    await begin(store);
    await add(store, 3, 10);
    for (const again of [1, 2, 3])
      assert.deepEqual(
        (await store.read('s', 'log', 0, 10)).entries,
        entries(1, 3),
        `Expected reading ${again} to find all`,
      );
  },
  'logs of one session do not mix': async (store) => {
    await begin(store);
    await add(store, 3, 10);
    assert.equal((await store.append('s', 'log2', 'w1', 10))?.id, 1);
    assert.deepEqual(await store.read('s', 'log2', 0, 10), {
      entries: [{ id: 1, value: 'w1' }],
      first: 1,
      last: 1,
    });
    assert.deepEqual((await store.read('s', 'log', 0, 10)).entries, entries(1, 3));
  },
  'a log that is long and drops much stays in order': async (store) => {
    await begin(store);
    const keep = 100;
    const dropped: string[] = [];
    for (let id = 1; id <= 1_000; id++) {
      const added = await store.append('s', 'log', `v${id}`, keep);
      assert.equal(added?.id, id);
      dropped.push(...added.dropped);
    }
    assert.deepEqual(
      dropped,
      entries(1, 900).map(({ value }) => value),
    );
    assert.deepEqual(await store.read('s', 'log', 0, 1_000), {
      entries: entries(901, 1_000),
      first: 901,
      last: 1_000,
    });
    assert.deepEqual((await store.read('s', 'log', 950, 5)).entries, entries(951, 955));
  },
};
