/** Conformance rules: any string is a name, and different names never mix. */
import assert from 'node:assert/strict';
import type { RelayStore } from '../../relay/ports/store.ts';
import { type PortRuleBodies, portNames } from './port-rule.ts';
import { later } from './store-conformance-sessions.ts';

const long = 60_000;

/** Pairs of names that make the same text when joined. */
const cut = [
  'a',
  'a:b',
  'a:b:c',
  '{a}',
  '{a}:b',
  'b',
  'c',
  'b:c',
  ':',
  '',
  'a:',
  ':b',
  '}:{',
  '__proto__',
];

async function fill(store: RelayStore, session: string): Promise<void> {
  assert.equal(
    await store.create(session, 'first', session, later()),
    true,
    `Expected ${JSON.stringify(session)} to be a session of its own`,
  );
  await store.append(session, 'log', session, 10);
  await store.acquire(session, 'lease', session, long);
}

async function isFull(store: RelayStore, session: string): Promise<void> {
  const what = `Expected the session ${JSON.stringify(session)} to have its own contents`;
  assert.deepEqual(await store.get(session, ['first']), [{ value: session, version: 1 }], what);
  assert.deepEqual(
    await store.read(session, 'log', 0, 10),
    { entries: [{ id: 1, value: session }], first: 1, last: 1 },
    what,
  );
  assert.equal((await store.holder(session, 'lease'))?.holder, session, what);
}

export const nameRules: PortRuleBodies<RelayStore> = {
  'any string names a session, and dropping one leaves the others': async (store) => {
    for (const name of portNames) await fill(store, name);
    for (const name of portNames) await isFull(store, name);
    const left = [...portNames];
    for (const name of portNames) {
      assert.equal(await store.drop(name), true);
      left.shift();
      assert.deepEqual(await store.get(name, ['first']), [undefined]);
      for (const other of left.slice(0, 12)) await isFull(store, other);
    }
  },
  'any string names a document': async (store) => {
    await store.create('s', portNames[0] as string, '', later());
    for (const [index, name] of portNames.entries())
      await store.set('s', name, `${index}`, index === 0 ? 1 : 0);
    assert.deepEqual(
      await store.get('s', portNames),
      portNames.map((_, index) => ({ value: `${index}`, version: index === 0 ? 2 : 1 })),
    );
    for (const name of portNames) assert.equal(await store.delete('s', name), true);
    assert.deepEqual(
      await store.get('s', portNames),
      portNames.map(() => undefined),
    );
  },
  'any string names the first document of a session': async (store) => {
    for (const name of portNames) {
      assert.equal(await store.create(`in ${name}`, name, name, later()), true);
      assert.deepEqual(await store.get(`in ${name}`, [name]), [{ value: name, version: 1 }]);
    }
  },
  'any string names a log': async (store) => {
    await store.create('s', 'first', '1', later());
    for (const name of portNames)
      for (const id of [1, 2, 3])
        assert.equal((await store.append('s', name, `${name}${id}`, 2))?.id, id);
    for (const name of portNames)
      assert.deepEqual(await store.read('s', name, 0, 10), {
        entries: [2, 3].map((id) => ({ id, value: `${name}${id}` })),
        first: 2,
        last: 3,
      });
  },
  'any string names a lease and its holder': async (store) => {
    await store.create('s', 'first', '1', later());
    for (const name of portNames)
      assert.notEqual(await store.acquire('s', name, name, long), undefined);
    for (const name of portNames) {
      assert.equal((await store.holder('s', name))?.holder, name);
      assert.equal(await store.acquire('s', name, `${name}!`, long), undefined);
    }
  },
  'any string names a counter': async (store) => {
    for (const name of portNames)
      assert.equal(
        (await store.count(name, 1, long)).allowed,
        true,
        `Expected ${JSON.stringify(name)} to count alone`,
      );
    for (const name of portNames) assert.equal((await store.count(name, 1, long)).allowed, false);
  },
  'any strings name a scheduled item': async (store) => {
    const text = ({ session, key }: { readonly session: string; readonly key: string }): string =>
      JSON.stringify([session, key]);
    const items = [
      ...portNames.map((name) => ({ session: name, key: 'k' })),
      ...portNames.map((name) => ({ session: 'k', key: name })),
    ];
    for (const { session, key } of items) await store.schedule(session, key, 0);
    assert.deepEqual((await store.due(1_000, 0)).map(text).sort(), items.map(text).sort());
    for (const { session, key } of items) await store.unschedule(session, key);
    assert.deepEqual(await store.due(1_000, 0), []);
  },
  'a name and a key that make the same text together are kept apart': async (store) => {
    for (const session of cut) await store.create(session, 'only', session, later());
    for (const session of cut)
      for (const key of cut) await store.set(session, key, JSON.stringify([session, key]));
    for (const session of cut)
      for (const key of cut) await store.append(session, key, JSON.stringify([session, key]), 5);
    for (const session of cut)
      for (const key of cut)
        await store.acquire(session, key, JSON.stringify([session, key]), long);
    for (const session of cut)
      for (const key of cut) {
        const value = JSON.stringify([session, key]);
        assert.deepEqual(await store.get(session, [key]), [{ value, version: 1 }]);
        assert.deepEqual(await store.read(session, key, 0, 5), {
          entries: [{ id: 1, value }],
          first: 1,
          last: 1,
        });
        assert.equal((await store.holder(session, key))?.holder, value);
      }
  },
  'a session and a key that make the same text together are scheduled apart': async (store) => {
    const pairs = cut.flatMap((session) => cut.map((key) => ({ session, key })));
    for (const { session, key } of pairs) await store.schedule(session, key, 0);
    const found = await store.due(1_000, long);
    assert.deepEqual(
      new Set(found.map(({ session, key }) => JSON.stringify([session, key]))).size,
      pairs.length,
    );
    assert.equal(found.length, pairs.length);
  },
};
