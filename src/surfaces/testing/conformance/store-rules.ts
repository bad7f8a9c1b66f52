/** Conformance rules of one store: spaces, documents, lists, logs and counters. */
import assert from 'node:assert/strict';
import type { Store } from '../../../extend.ts';
import { eventually, portNames, sleep } from './port-rule.ts';

/** Two stores over the same data, as in two processes. */
export interface TwoStores {
  readonly store: Store;
  readonly other: Store;
}

export type StoreRules = Readonly<Record<string, (stores: TwoStores) => Promise<void>>>;

export const hourMs = 3_600_000;
export const shared: Store.Space = { shared: 'calls' };
export const session: Store.Space = { session: 's' };
export const later = (): number => Date.now() + hourMs;

/** Carries out a step that fits. */
export async function run<const T extends readonly Store.Operation[]>(
  store: Store,
  space: Store.Space,
  ...operations: T
): Promise<Store.Applied<T>['results']> {
  const answer: Store.Outcome<T> = await store.apply(space, operations);
  if (answer.results === undefined)
    assert.fail(`Expected the step to fit, got ${JSON.stringify(answer, bigintText)}`);
  return answer.results;
}

/** Carries out a step that does not fit. */
export async function refuse(
  store: Store,
  space: Store.Space,
  ...operations: readonly Store.Operation[]
): Promise<Store.Refused> {
  const answer = await store.apply(space, operations);
  if (answer.results !== undefined) assert.fail('Expected the step not to fit');
  return answer;
}

const bigintText = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}n` : value;

/** Opens a session that outlives the rule. */
export async function begin(store: Store, space: Store.Space = session): Promise<void> {
  await run(store, space, { op: 'open', expiresAt: later() });
}

async function textOf(store: Store, space: Store.Space, key: string): Promise<string | undefined> {
  const [[found]] = await run(store, space, { op: 'get', keys: [key] });
  return found?.value;
}

const set = (key: string, value = 'v', more: Partial<Store.Set> = {}): Store.Set => ({
  op: 'set',
  key,
  value,
  ...more,
});

/** What does not fit where a session does not exist, each alone. */
const writes: readonly Store.Operation[] = [
  { op: 'extend', expiresAt: later() },
  set('k'),
  set('k', 'v', { version: 0 }),
  { op: 'touch', key: 'k', version: 1, ttlMs: hourMs },
  { op: 'delete', key: 'k', required: true },
  { op: 'append', log: 'l', value: 'v' },
  { op: 'count', key: 'c', limit: 1, windowMs: hourMs },
];

async function nothingIn(store: Store, space: Store.Space): Promise<void> {
  for (const operation of writes) {
    const { refused, gone } = await refuse(store, space, operation);
    assert.deepEqual([refused, gone], [0, true], operation.op);
  }
  const found = await run(
    store,
    space,
    { op: 'get', keys: ['k'] },
    { op: 'read', log: 'l', after: 0, limit: 9 },
    { op: 'delete', key: 'k' },
    { op: 'drop' },
  );
  assert.deepEqual(found, [[undefined], { entries: [], first: 0, last: 0 }, false, false]);
}

const spaces: StoreRules = {
  'a store answers a ping, and says what it is': async ({ store }) => {
    assert.equal(await store.ping(), undefined);
    assert.equal(typeof store.kind, 'string');
  },
  'a session exists from open to drop, with everything in it': async ({ store, other }) => {
    await nothingIn(store, session);
    await begin(store);
    const [version] = await run(store, session, set('k'), { op: 'append', log: 'l', value: 'v' });
    assert.equal((await refuse(other, session, { op: 'open', expiresAt: later() })).gone, false);
    assert.equal(await textOf(other, session, 'k'), 'v');
    assert.deepEqual(await run(other, session, { op: 'drop' }), [true]);
    await nothingIn(store, session);
    await begin(other);
    const [again, appended] = await run(store, session, set('k'), {
      op: 'append',
      log: 'l',
      value: 'v',
    });
    assert.ok(again > version, 'Expected a version that the document never had');
    assert.deepEqual(appended, { id: 1, dropped: [] });
  },
  'a session ends at its time, and extend only moves that later': async ({ store, other }) => {
    const [short, long]: readonly Store.Space[] = [{ session: 'short' }, { session: 'long' }];
    // Long enough for four steps on a machine that is busy with something else.
    const end = Date.now() + 1_500;
    for (const space of [short, long] as Store.Space[])
      await run(store, space, { op: 'open', expiresAt: end }, set('k'));
    await run(other, long as Store.Space, { op: 'extend', expiresAt: later() });
    await run(other, long as Store.Space, { op: 'extend', expiresAt: end });
    await eventually('the session is over', async () => {
      return (await textOf(store, short as Store.Space, 'k')) === undefined;
    });
    await nothingIn(other, short as Store.Space);
    assert.equal(await textOf(other, long as Store.Space, 'k'), 'v');
    await begin(store, short as Store.Space);
  },
  'spaces of one name, and names that are alike, are kept apart': async ({ store, other }) => {
    const names = portNames.filter((name) => name !== '');
    const all = names.flatMap((name): Store.Space[] => [{ shared: name }, { session: name }]);
    for (const space of all) if ('session' in space) await begin(store, space);
    for (const space of all)
      await run(store, space, set('k', JSON.stringify(space)), set('__proto__', 'p'));
    for (const space of all) {
      assert.equal(await textOf(other, space, 'k'), JSON.stringify(space));
      assert.equal(await textOf(other, space, '__proto__'), 'p');
      assert.equal(await textOf(other, space, 'constructor'), undefined);
    }
  },
};

const documents: StoreRules = {
  'values come back as they were, whatever is in them': async ({ store, other }) => {
    const values = [
      ...portNames,
      "'; drop table x; --",
      '\0',
      'a\0b',
      '\u{10ffff}',
      '\ufeff',
      '{}',
    ];
    const check = async (value: string): Promise<void> => {
      await run(store, shared, set('k', value), { op: 'append', log: 'l', value, keep: 1 });
      const [documents, page] = await run(
        other,
        shared,
        { op: 'get', keys: ['k'] },
        { op: 'read', log: 'l', after: 0, limit: 1 },
      );
      assert.equal(documents[0]?.value, value);
      assert.equal(page.entries[0]?.value, value);
    };
    for (const value of values) await check(value);
    for (const value of ['x'.repeat(8 * 1_024 ** 2), '\u20ac'.repeat(2_796_202)]) {
      await run(store, shared, set('k', value));
      assert.ok((await textOf(other, shared, 'k')) === value, 'Expected 8 MB to come back');
    }
  },
  'any string is a key, and no two are one': async ({ store, other }) => {
    const keys = [
      ...portNames,
      `${'x'.repeat(1_999)}a`,
      `${'x'.repeat(1_999)}b`,
      '\u20ac'.repeat(2_000),
    ].filter((name) => name !== '');
    for (const key of keys)
      await run(
        store,
        shared,
        set(key, key),
        { op: 'append', log: key, value: key },
        { op: 'add', key, amount: BigInt(key.length) },
        { op: 'count', key, limit: 1, windowMs: hourMs },
      );
    const check = async (key: string): Promise<void> => {
      const [found, page, use] = await run(
        other,
        shared,
        { op: 'get', keys: [key] },
        { op: 'read', log: key, after: 0, limit: 2 },
        { op: 'sum', key, amount: 0n },
      );
      assert.equal(found[0]?.value, key);
      assert.deepEqual(page, { entries: [{ id: 1, value: key }], first: 1, last: 1 });
      assert.equal(use.used, BigInt(key.length));
    };
    for (const key of keys) await check(key);
  },
  'a write asks for a version, and a refusal shows the document': async ({ store, other }) => {
    const [first] = await run(store, shared, set('k', 'a', { version: 0 }));
    const refused = await refuse(other, shared, set('k', 'b', { version: 0 }));
    assert.deepEqual(refused, {
      refused: 0,
      gone: false,
      retryAfterMs: 0,
      found: { value: 'a', version: first, remainingMs: undefined },
    });
    const [second] = await run(other, shared, set('k', 'b', { version: first }));
    assert.ok(second > first);
    await refuse(store, shared, set('k', 'c', { version: first }));
    const [third] = await run(store, shared, set('k', 'c'));
    assert.ok(third > second);
    const none = await refuse(store, shared, set('none', 'c', { version: 1 }));
    assert.equal(none.found, undefined);
  },
  'delete says whether it removed, and required refuses': async ({ store, other }) => {
    const [version] = await run(store, shared, set('k'));
    const wrong = version + 1;
    assert.deepEqual(await run(other, shared, { op: 'delete', key: 'k', version: wrong }), [false]);
    const refused = await refuse(other, shared, {
      op: 'delete',
      key: 'k',
      version: wrong,
      required: true,
    });
    assert.equal(refused.found?.version, version);
    assert.deepEqual(
      await run(other, shared, { op: 'delete', key: 'k', version, required: true }),
      [true],
    );
    assert.deepEqual(await run(store, shared, { op: 'delete', key: 'k' }), [false]);
    await refuse(store, shared, { op: 'delete', key: 'k', required: true });
    const [again] = await run(store, shared, set('k'));
    assert.ok(again > version, 'Expected a version that it never had');
  },
  'a document goes when its time is over, and touch starts it again': async ({ store, other }) => {
    const [version, touched] = await run(
      store,
      shared,
      set('short', 'v', { ttlMs: 300 }),
      set('touched', 'v', { ttlMs: 300 }),
      set('dated', 'v', { expiresAt: Date.now() + 300 }),
      set('past', 'v', { expiresAt: 1 }),
    );
    const touch: Store.Touch = { op: 'touch', key: 'touched', version: touched, ttlMs: hourMs };
    await run(other, shared, touch);
    assert.equal(await textOf(store, shared, 'past'), undefined);
    const [[first]] = await run(other, shared, { op: 'get', keys: ['touched'] });
    assert.equal(first?.version, touched);
    const left = first?.remainingMs ?? 0;
    assert.ok(left > hourMs / 2 && left <= hourMs, `Expected up to an hour, got ${left}`);
    await eventually('both are over', async () => {
      const [found] = await run(store, shared, { op: 'get', keys: ['short', 'dated'] });
      return found.every((document) => document === undefined);
    });
    const over = await refuse(other, shared, { op: 'touch', key: 'short', version, ttlMs: 1 });
    assert.deepEqual([over.gone, over.found], [false, undefined]);
    await refuse(store, shared, { op: 'touch', key: 'touched', version: touched + 1, ttlMs: 1 });
    assert.deepEqual(await run(store, shared, { op: 'delete', key: 'short' }), [false]);
    const [again] = await run(store, shared, set('short', 'v', { version: 0 }));
    assert.ok(again > version, 'Expected a version that it never had');
  },
  'a write without an end takes the end away': async ({ store }) => {
    await run(store, shared, set('k', 'v', { ttlMs: 60 }), set('k', 'w'));
    await sleep(120);
    assert.equal(await textOf(store, shared, 'k'), 'w');
  },
};

const lists: StoreRules = {
  'a list has its documents by end, then by the bytes of their keys': async ({ store, other }) => {
    const end = later();
    const keys = ['b', 'a', '\u{1f600}', '\uffee', 'B', '\u00e9', 'aa', '0'];
    for (const key of keys) await run(store, shared, set(key, key, { lists: ['l', 'other'] }));
    for (const key of keys)
      await run(store, shared, set(`${key}!`, key, { expiresAt: end, lists: ['l'] }));
    await run(store, shared, set('first', 'v', { expiresAt: end - 1, lists: ['l'] }), set('none'));
    const ordered = [...keys].sort((one, two) =>
      Buffer.compare(Buffer.from(one), Buffer.from(two)),
    );
    const expected = [
      'first',
      ...[...keys.map((key) => `${key}!`)].sort((one, two) =>
        Buffer.compare(Buffer.from(one), Buffer.from(two)),
      ),
      ...ordered,
    ];
    for (const limit of [1, 3, 1_000]) {
      const found: string[] = [];
      let after: Store.List['after'];
      for (;;) {
        const [page] = await run(other, shared, { op: 'list', list: 'l', limit, after });
        found.push(...page.map(({ key }) => key));
        const last = page.at(-1);
        if (last === undefined || page.length < limit) break;
        after = { expiresAt: last.expiresAt, key: last.key };
      }
      assert.deepEqual(found, expected, `Expected all in pages of ${limit}`);
    }
  },
  'a document is in the lists of its last write while it exists': async ({ store, other }) => {
    const members = async (list: string): Promise<readonly string[]> => {
      const [page] = await run(other, shared, { op: 'list', list, limit: 9 });
      return page.map(({ key }) => key);
    };
    const [version] = await run(store, shared, set('k', 'v', { ttlMs: 60_000, lists: ['a', 'b'] }));
    await run(store, shared, { op: 'touch', key: 'k', version, ttlMs: hourMs });
    assert.deepEqual([await members('a'), await members('b')], [['k'], ['k']]);
    await run(store, shared, set('k', 'v', { lists: ['b', 'c'] }));
    assert.deepEqual(
      [await members('a'), await members('b'), await members('c')],
      [[], ['k'], ['k']],
    );
    await run(store, shared, { op: 'delete', key: 'k' });
    assert.deepEqual([await members('b'), await members('c')], [[], []]);
    await run(store, shared, set('k', 'v', { ttlMs: 50, lists: ['a'] }));
    await eventually('it is over', async () => (await members('a')).length === 0);
  },
  'a list reads only the beginnings of values if asked': async ({ store }) => {
    await run(store, shared, set('k', '\u20ac'.repeat(5_000), { lists: ['l'] }));
    const [page] = await run(store, shared, { op: 'list', list: 'l', limit: 1, bytes: 100 });
    const value = page[0]?.value ?? '';
    assert.ok(value.startsWith('\u20ac'.repeat(33)) && value.length < 5_000);
  },
};

const logs: StoreRules = {
  'a log numbers its entries without gaps, and drops the oldest': async ({ store, other }) => {
    const append = (value: string, more: Partial<Store.Append> = {}): Store.Append => ({
      op: 'append',
      log: 'l',
      value,
      ...more,
    });
    await run(store, shared, append('a', { after: 0 }), append('b'), append('c', { after: 2 }));
    await refuse(other, shared, append('x', { after: 2 }));
    const [added] = await run(other, shared, append('d', { keep: 2 }));
    assert.deepEqual(added, { id: 4, dropped: ['a', 'b'] });
    const read = async (after: number, limit: number): Promise<Store.Page> =>
      (await run(store, shared, { op: 'read', log: 'l', after, limit }))[0];
    const entries = [
      { id: 3, value: 'c' },
      { id: 4, value: 'd' },
    ];
    assert.deepEqual(await read(0, 9), { entries, first: 3, last: 4 });
    assert.deepEqual(await read(3, 9), { entries: entries.slice(1), first: 3, last: 4 });
    assert.deepEqual(await read(0, 1), { entries: entries.slice(0, 1), first: 3, last: 4 });
    assert.deepEqual(await read(0, 0), { entries: [], first: 3, last: 4 });
    assert.deepEqual(await read(9, 9), { entries: [], first: 3, last: 4 });
  },
};

const counters: StoreRules = {
  'a key is counted to its limit in a window that starts with its first use': async (stores) => {
    const { store, other } = stores;
    const count: Store.Count = { op: 'count', key: 'c', limit: 3, windowMs: 700 };
    await run(store, shared, count, count);
    await run(other, shared, count);
    const refused = await refuse(store, shared, count);
    assert.ok(refused.retryAfterMs > 0 && refused.retryAfterMs <= 700);
    await eventually('the window is over', async () => {
      return (await other.apply(shared, [count])).refused === undefined;
    });
  },
};

export const dataRules: StoreRules = { ...spaces, ...documents, ...lists, ...logs, ...counters };
