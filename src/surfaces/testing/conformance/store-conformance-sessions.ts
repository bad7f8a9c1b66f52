/**
 * Conformance rules: sessions begin, end and expire, and nothing can be written to a session that
 * does not exist.
 */
import assert from 'node:assert/strict';
import type { RelayStore } from '../../relay/ports/store.ts';
import { eventually, type PortRuleBodies } from './port-rule.ts';

/** Epoch milliseconds, far from now. */
export const later = (): number => Date.now() + 3_600_000;

/** Creates a session that outlives the rule, with a document `first`. */
export async function begin(store: RelayStore, session = 's'): Promise<void> {
  assert.equal(
    await store.create(session, 'first', '1', later()),
    true,
    `Expected create('${session}') to be the first of that name`,
  );
}

/** One operation each, which must have no effect on a session that does not exist. */
const refused: Readonly<Record<string, (store: RelayStore, session: string) => Promise<void>>> = {
  get: async (store, session) =>
    assert.deepEqual(await store.get(session, ['first', 'k']), [undefined, undefined]),
  set: async (store, session) => assert.equal(await store.set(session, 'k', 'v'), undefined),
  'set with version 0': async (store, session) =>
    assert.equal(await store.set(session, 'k', 'v', 0), undefined),
  'set with version 1': async (store, session) =>
    assert.equal(await store.set(session, 'first', 'v', 1), undefined),
  delete: async (store, session) => assert.equal(await store.delete(session, 'first'), false),
  'delete with version 1': async (store, session) =>
    assert.equal(await store.delete(session, 'first', 1), false),
  append: async (store, session) =>
    assert.equal(await store.append(session, 'log', 'v', 10), undefined),
  read: async (store, session) =>
    assert.deepEqual(await store.read(session, 'log', 0, 10), { entries: [], first: 0, last: 0 }),
  acquire: async (store, session) =>
    assert.equal(await store.acquire(session, 'lease', 'me', 60_000), undefined),
  'acquire with steal': async (store, session) =>
    assert.equal(await store.acquire(session, 'lease', 'me', 60_000, true), undefined),
  renew: async (store, session) =>
    assert.equal(await store.renew(session, 'lease', 1, 60_000), false),
  release: async (store, session) => assert.equal(await store.release(session, 'lease', 1), false),
  holder: async (store, session) => assert.equal(await store.holder(session, 'lease'), undefined),
  extend: async (store, session) => assert.equal(await store.extend(session, later()), false),
  drop: async (store, session) => assert.equal(await store.drop(session), false),
};

/** Adds one item of each kind to a session. */
async function furnish(store: RelayStore, session: string): Promise<void> {
  await store.set(session, 'k', 'v');
  await store.append(session, 'log', 'v', 10);
  await store.acquire(session, 'lease', 'me', 60_000);
}

/**
 * A session that was extended before its first end. On a busy machine, a short one may expire
 * before that. Then the next one is longer.
 */
async function extended(
  store: RelayStore,
  end: number,
): Promise<{ readonly name: string; readonly first: number }> {
  for (let lifeMs = 100; lifeMs < 3_000; lifeMs *= 2) {
    const name = `s${lifeMs}`;
    const first = Date.now() + lifeMs;
    await store.create(name, 'first', '1', first);
    await furnish(store, name);
    if (await store.extend(name, end)) return { name, first };
  }
  assert.fail('Expected a session that has not expired to be extended');
}

/** Runs each operation alone, then all of them again: none may have created the session. */
async function nothingThere(store: RelayStore, name: (operation: string) => string): Promise<void> {
  for (const [operation, check] of Object.entries(refused)) {
    await check(store, name(operation));
    for (const again of Object.values(refused)) await again(store, name(operation));
  }
}

/** Checks that the session is new: it has its first document and nothing else. */
async function isNew(store: RelayStore, session: string): Promise<void> {
  assert.equal(await store.create(session, 'again', '2', later()), true);
  assert.deepEqual(await store.get(session, ['again', 'first', 'k']), [
    { value: '2', version: 1 },
    undefined,
    undefined,
  ]);
  assert.deepEqual(await store.read(session, 'log', 0, 10), { entries: [], first: 0, last: 0 });
  assert.equal(await store.holder(session, 'lease'), undefined);
  assert.equal((await store.append(session, 'log', 'v', 10))?.id, 1);
}

export const sessionRules: PortRuleBodies<RelayStore> = {
  'a store answers a ping': async (store) => {
    assert.equal(await store.ping(), undefined);
  },
  'a session begins with its first document': async (store) => {
    assert.equal(await store.create('s', 'k', 'v', later()), true);
    assert.deepEqual(await store.get('s', ['k']), [{ value: 'v', version: 1 }]);
  },
  'a name that is in use is refused, and nothing changes': async (store) => {
    await begin(store);
    await furnish(store, 's');
    assert.equal(await store.create('s', 'first', 'other', later()), false);
    assert.equal(await store.create('s', 'more', 'other', Date.now() - 1_000), false);
    assert.deepEqual(await store.get('s', ['first', 'more', 'k']), [
      { value: '1', version: 1 },
      undefined,
      { value: 'v', version: 1 },
    ]);
    assert.equal((await store.read('s', 'log', 0, 10)).last, 1);
    assert.equal((await store.holder('s', 'lease'))?.holder, 'me');
  },
  'a session that was never created accepts nothing and contains nothing': async (store) => {
    await nothingThere(store, () => 'missing');
  },
  'a session that was dropped accepts nothing and contains nothing': async (store) => {
    await begin(store);
    await furnish(store, 's');
    assert.equal(await store.drop('s'), true);
    await nothingThere(store, () => 's');
  },
  'a session that has expired accepts nothing and contains nothing, whatever operation comes first':
    async (store) => {
      const expiresAt = Date.now() + 150;
      const names = ['probe', ...Object.keys(refused)];
      await Promise.all(
        names.map(async (name) => {
          await store.create(name, 'first', '1', expiresAt);
          await furnish(store, name);
        }),
      );
      await eventually(
        'the session has expired',
        async () => (await store.get('probe', ['first']))[0] === undefined,
      );
      // The store's clock may differ from this one, but the store has only one clock.
      await nothingThere(store, (operation) => operation);
    },
  'a session whose expiry is in the past is gone at once': async (store) => {
    await store.create('s', 'first', '1', Date.now() - 60_000);
    await nothingThere(store, () => 's');
  },
  'a session exists until it expires': async (store) => {
    await store.create('short', 'first', '1', Date.now() + 100);
    await store.create('long', 'first', '1', later());
    await furnish(store, 'long');
    await eventually(
      'the session has expired',
      async () => (await store.get('short', ['first']))[0] === undefined,
    );
    assert.deepEqual(await store.get('long', ['first', 'k']), [
      { value: '1', version: 1 },
      { value: 'v', version: 1 },
    ]);
    assert.equal((await store.read('long', 'log', 0, 10)).last, 1);
    assert.equal((await store.holder('long', 'lease'))?.holder, 'me');
  },
  'writing does not extend the life of a session': async (store) => {
    await store.create('s', 'first', '1', Date.now() + 200);
    await eventually('a session that is written to expires', async () => {
      await store.append('s', 'log', 'v', 5);
      await store.acquire('s', 'lease', 'me', 60_000);
      return (await store.set('s', 'k', 'v')) === undefined;
    });
    await nothingThere(store, () => 's');
  },
  'a session that is extended outlives its first end, with everything in it': async (store) => {
    const { name, first } = await extended(store, later());
    await store.create('probe', 'first', '1', first);
    await eventually(
      'the probe has expired',
      async () => (await store.get('probe', ['first']))[0] === undefined,
    );
    assert.deepEqual(await store.get(name, ['first', 'k']), [
      { value: '1', version: 1 },
      { value: 'v', version: 1 },
    ]);
    assert.equal((await store.read(name, 'log', 0, 10)).entries.length, 1);
    assert.equal((await store.append(name, 'log', 'v', 10))?.id, 2);
    assert.equal((await store.holder(name, 'lease'))?.holder, 'me');
  },
  'extending never brings the end of a session nearer': async (store) => {
    await begin(store);
    for (const end of [Date.now() - 60_000, 0, Date.now() + 50])
      assert.equal(await store.extend('s', end), true);
    await store.create('probe', 'first', '1', Date.now() + 100);
    await eventually(
      'the probe has expired',
      async () => (await store.get('probe', ['first']))[0] === undefined,
    );
    assert.deepEqual(await store.get('s', ['first']), [{ value: '1', version: 1 }]);
  },
  'a session that was extended expires at its new end': async (store) => {
    await store.create('s', 'first', '1', Date.now() + 100);
    await furnish(store, 's');
    await store.extend('s', Date.now() + 300);
    await eventually(
      'the session has expired',
      async () => (await store.get('s', ['first']))[0] === undefined,
    );
    await nothingThere(store, () => 's');
    await isNew(store, 's');
  },
  'the name of a dropped session is free, and nothing of the old one is left': async (store) => {
    await begin(store);
    await furnish(store, 's');
    await store.drop('s');
    await isNew(store, 's');
  },
  'the name of an expired session is free, and nothing of the old one is left': async (store) => {
    const expiresAt = Date.now() + 100;
    for (const name of ['probe', 's']) await store.create(name, 'first', '1', expiresAt);
    await furnish(store, 's');
    await eventually(
      'the session has expired',
      async () => (await store.get('probe', ['first']))[0] === undefined,
    );
    await isNew(store, 's');
  },
  'a session that reuses a name does not expire with its predecessor': async (store) => {
    await store.create('s', 'first', '1', Date.now() + 150);
    await store.create('probe', 'first', '1', Date.now() + 300);
    await store.drop('s');
    await begin(store);
    await furnish(store, 's');
    await eventually(
      'the probe has expired',
      async () => (await store.get('probe', ['first']))[0] === undefined,
    );
    assert.deepEqual(await store.get('s', ['first', 'k']), [
      { value: '1', version: 1 },
      { value: 'v', version: 1 },
    ]);
    assert.equal((await store.read('s', 'log', 0, 10)).last, 1);
    assert.equal((await store.holder('s', 'lease'))?.holder, 'me');
  },
  'closing twice does no more than closing once': async (store) => {
    await store.ping();
    await store.close?.();
    await store.close?.();
  },
};
