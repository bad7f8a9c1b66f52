/** Conformance rules of one store: sums, steps, races, due items, messages and a random run. */
import assert from 'node:assert/strict';
import { isMisuseError } from '../../../core.ts';
import type { Store } from '../../../extend.ts';
import { memoryStore } from '../../../stores/memory/memory-store.ts';
import { atOnce, eventually, sleep, upTo } from './port-rule.ts';
import {
  begin,
  hourMs,
  later,
  refuse,
  run,
  type StoreRules,
  session,
  shared,
} from './store-rules.ts';

const one = 10n ** 18n;

const add = (key: string, more: Partial<Store.Add> = {}): Store.Add => ({
  op: 'add',
  key,
  amount: one,
  max: 3n * one,
  windowMs: hourMs,
  ...more,
});

async function usedOf(store: Store, key: string, windowMs?: number): Promise<bigint> {
  const [use] = await run(store, shared, { op: 'sum', key, amount: 0n, windowMs });
  return use.used;
}

const sums: StoreRules = {
  'amounts are added up exactly to the most, and no further': async ({ store, other }) => {
    const max = 10n ** 34n;
    await run(store, shared, add('k', { amount: max - 1n, max }));
    await refuse(other, shared, add('k', { amount: 2n, max }));
    await run(other, shared, add('k', { amount: 1n, max }));
    const { refused, uses } = await refuse(
      store,
      shared,
      add('fits'),
      add('k', { amount: 1n, max }),
    );
    assert.equal(refused, 1);
    assert.deepEqual(
      uses?.map(({ used }) => used),
      [0n, max],
    );
    assert.equal(uses?.[0]?.retryAfterMs, 0);
    for (const _ of upTo(5)) await run(store, shared, add('k', { amount: max, max: undefined }));
    assert.equal(await usedOf(other, 'k', hourMs), 6n * max);
    assert.equal(await usedOf(other, 'fits', hourMs), 0n);
  },
  'what is taken back can be added again, once each by its place': async ({ store, other }) => {
    const [first, second] = [
      (await run(store, shared, add('k')))[0],
      (await run(other, shared, add('k', { amount: 2n * one })))[0],
    ];
    await run(other, shared, { op: 'subtract', key: 'k', amount: one, place: first });
    assert.equal(await usedOf(store, 'k', hourMs), 2n * one);
    await run(store, shared, { op: 'subtract', key: 'k', amount: 2n * one, place: second });
    assert.equal(await usedOf(store, 'k', hourMs), 0n);
    await run(store, shared, { op: 'subtract', key: 'none', amount: one, place: first });
  },
  'an amount counts until it is as old as its window, and the time to wait is enough': async ({
    store,
    other,
  }) => {
    const windowMs = 400;
    const [place] = await run(store, shared, add('k', { windowMs, amount: 2n * one }));
    const answer = await other.apply(shared, [add('k', { windowMs, amount: 2n * one })]);
    const uses = answer.results === undefined ? answer.uses : undefined;
    const wait = uses?.[0]?.retryAfterMs ?? 0;
    assert.ok(wait > 0 && wait <= windowMs, `Expected 1 to ${windowMs}, got ${wait}`);
    // A timer may fire a little early.
    await sleep(wait + 2);
    await run(store, shared, add('k', { windowMs, amount: 2n * one }));
    await run(other, shared, { op: 'subtract', key: 'k', amount: 2n * one, place });
    const left = await usedOf(store, 'k', windowMs);
    assert.ok(left === 2n * one || left === 0n, 'Expected nothing to be taken from later amounts');
  },
  'waiting does not help an amount above the most, nor a sum that does not slide': async ({
    store,
  }) => {
    const over = await refuse(store, shared, add('k', { amount: 4n * one }));
    assert.deepEqual(over.uses, [{ used: 0n, retryAfterMs: undefined }]);
    await run(store, shared, add('fixed', { windowMs: undefined, amount: 3n * one, owner: {} }));
    const full = await refuse(store, shared, add('fixed', { windowMs: undefined }));
    assert.deepEqual(full.uses, [{ used: 3n * one, retryAfterMs: undefined }]);
  },
  'more than 2 000 amounts are summed exactly, and wait no shorter': async ({ store, other }) => {
    for (const round of upTo(21))
      await run(
        round % 2 ? store : other,
        shared,
        ...upTo(1).map(() => add('k', { max: undefined })),
      );
    for (const _ of upTo(25))
      await atOnce(100, () => run(store, shared, add('many', { max: undefined, amount: 7n })));
    assert.equal(await usedOf(other, 'many', hourMs), 17_500n);
    const { uses } = await refuse(other, shared, add('many', { amount: 1n, max: 17_500n }));
    const wait = uses?.[0]?.retryAfterMs ?? 0;
    assert.ok(wait > hourMs / 2 && wait <= hourMs + hourMs / 1_024 + 1, `got ${wait}`);
  },
  '100 sums with many earlier amounts are one step': async ({ store, other }) => {
    const adds = upTo(100).map((index) => add(`k${index}`, { max: undefined, amount: 1n }));
    for (const _ of upTo(20)) await run(store, shared, ...adds);
    const places = await run(other, shared, ...adds);
    for (const { used } of await run(store, shared, ...adds.map(({ key }) => sumOf(key))))
      assert.equal(used, 21n);
    const back = adds.map(
      ({ key }, index): Store.Subtract => ({
        op: 'subtract',
        key,
        amount: 1n,
        place: places[index] as string,
      }),
    );
    await run(store, shared, ...back);
    for (const { used } of await run(other, shared, ...adds.map(({ key }) => sumOf(key))))
      assert.equal(used, 20n);
  },
};

const sumOf = (key: string): Store.Sum => ({ op: 'sum', key, amount: 0n, windowMs: hourMs });

/** Everything visible of the shared space, without the times that pass. */
async function seen(store: Store, space: Store.Space): Promise<unknown> {
  const answer = await run(
    store,
    space,
    { op: 'get', keys: ['k0', 'k1', 'k2'] },
    { op: 'read', log: 'l', after: 0, limit: 100 },
    ...('shared' in space
      ? [{ op: 'list', list: 'list', limit: 100 } as const, sumOf('s0'), sumOf('s1')]
      : []),
  );
  return JSON.stringify(answer, (name, value: unknown) =>
    name === 'remainingMs' || name === 'expiresAt'
      ? undefined
      : typeof value === 'bigint'
        ? `${value}`
        : value,
  );
}

const steps: StoreRules = {
  'of a step with an operation that does not fit, nothing takes place': async ({
    store,
    other,
  }) => {
    for (const space of [shared, session]) {
      if (space === session) await begin(store);
      const [version] = await run(store, space, { op: 'set', key: 'k0', value: 'v' });
      await run(store, space, { op: 'append', log: 'l', value: 'old' });
      const works: readonly Store.Operation[] = [
        { op: 'set', key: 'k1', value: 'v', ttlMs: hourMs },
        { op: 'set', key: 'k1', value: 'w' },
        { op: 'touch', key: 'k0', version, ttlMs: hourMs },
        { op: 'delete', key: 'k0' },
        { op: 'append', log: 'l', value: 'new', keep: 1 },
        { op: 'append', log: 'l', value: 'newer', keep: 1 },
        { op: 'append', log: 'new', value: 'v' },
        { op: 'count', key: 'c', limit: 1, windowMs: hourMs },
        ...(space === shared ? [add('s0'), add('s1', { windowMs: undefined })] : []),
      ];
      const misfits: readonly Store.Operation[] = [
        { op: 'set', key: 'k2', value: 'v', version: 9 },
        { op: 'touch', key: 'k2', version: 1, ttlMs: 1 },
        { op: 'delete', key: 'k2', required: true },
        { op: 'append', log: 'l', value: 'v', after: 77 },
        ...(space === shared
          ? [add('s2', { max: 0n })]
          : [{ op: 'open', expiresAt: later() } as const]),
      ];
      const before = await seen(other, space);
      for (const misfit of misfits) {
        const { refused, gone } = await refuse(store, space, ...works, misfit);
        assert.deepEqual([refused, gone], [works.length, false]);
        assert.equal((await refuse(other, space, misfit, ...works)).refused, 0);
        assert.equal(await seen(other, space), before);
      }
      await run(other, space, ...works);
    }
  },
  'an operation sees what those before it have done': async ({ store }) => {
    const [first, second, found, removed, after] = await run(
      store,
      shared,
      { op: 'set', key: 'k', value: 'one', version: 0 },
      { op: 'set', key: 'k', value: 'two' },
      { op: 'get', keys: ['k', 'none', 'k'] },
      { op: 'delete', key: 'k' },
      { op: 'get', keys: ['k'] },
    );
    assert.ok(second > first && removed);
    const document = { value: 'two', version: second, remainingMs: undefined };
    assert.deepEqual(found, [document, undefined, document]);
    assert.deepEqual(after, [undefined]);
  },
  'of many steps at once of two instances as many take place as fit': async (stores) => {
    const { store, other } = stores;
    const each = (index: number): Store => (index % 2 === 0 ? store : other);
    const claims = await atOnce(20, (index) =>
      each(index).apply(shared, [{ op: 'set', key: 'claim', value: `${index}`, version: 0 }]),
    );
    assert.equal(claims.filter(({ results }) => results !== undefined).length, 1);
    const spent = await atOnce(30, (index) =>
      each(index).apply(shared, [
        { op: 'set', key: `call ${index}`, value: '', version: 0 },
        add(`own ${index % 3}`),
        add('all', { max: 7n * one }),
      ]),
    );
    const through = spent.filter(({ results }) => results !== undefined).length;
    assert.equal(through, 7);
    assert.equal(await usedOf(store, 'all', hourMs), 7n * one);
    const counted = await atOnce(20, (index) =>
      each(index).apply(shared, [{ op: 'count', key: 'c', limit: 5, windowMs: hourMs }]),
    );
    assert.equal(counted.filter(({ results }) => results !== undefined).length, 5);
    const ids = await atOnce(20, async (index) => {
      const [{ id }] = await run(each(index), shared, { op: 'append', log: 'l', value: 'v' });
      return id;
    });
    assert.deepEqual(
      ids.sort((one, two) => one - two),
      upTo(20).map((index) => index + 1),
    );
  },
  'what no store can carry out is refused before anything takes place': async ({ store }) => {
    const wrong: readonly Store.Operation[] = [
      { op: 'set', key: '', value: 'v' },
      { op: 'set', key: 'k', value: '\ud800' },
      { op: 'set', key: 'k', value: 'v', ttlMs: 0 },
      { op: 'open', expiresAt: 1 },
    ];
    for (const operation of wrong)
      await assert.rejects(
        async () => store.apply(shared, [{ op: 'set', key: 'k0', value: 'v' }, operation]),
        (error) => isMisuseError(error) && error.code === 'invalid_operation',
      );
    await assert.rejects(async () => store.due(0, 0), isMisuseError);
    await assert.rejects(async () => store.schedule([{ owner: '', key: 'k' }], 0), isMisuseError);
    assert.deepEqual(await run(store, shared, { op: 'get', keys: ['k0'] }), [[undefined]]);
  },
};

const items: StoreRules = {
  'a due item is taken once, oldest first, and again when it was postponed': async (stores) => {
    const { store, other } = stores;
    const item = (key: string): Store.Item => ({ owner: 'o', key });
    await store.schedule([item('late')], hourMs);
    for (const key of ['a', 'b', '__proto__']) {
      await store.schedule([item(key), item(key)], 0);
      await sleep(3);
    }
    assert.deepEqual(await other.due(2, 200), [item('a'), item('b')]);
    assert.deepEqual(await store.due(9, hourMs), [item('__proto__')]);
    await eventually('both are due again', async () => {
      await other.schedule([], 0, [item('b'), item('none')]);
      return (await store.due(9, hourMs)).length === 1;
    });
    await store.schedule([item('late')], 0, [item('late')]);
    const raced = await Promise.all([store.due(9, hourMs), other.due(9, hourMs)]);
    assert.deepEqual(raced.flat(), [item('late')]);
  },
};

const messages: StoreRules = {
  'messages of a step that took place arrive in order, in every instance': async (stores) => {
    const { store, other } = stores;
    const heard: (string | undefined)[] = [];
    const stop = await other.listen(shared, (message) => {
      heard.push(message);
      throw new Error('A listener that throws affects no other.');
    });
    const alsoHeard: (string | undefined)[] = [];
    const stopOther = await other.listen(shared, (message) => alsoHeard.push(message));
    const elsewhere = await other.listen({ session: 'calls' }, () => assert.fail('elsewhere'));
    await refuse(store, shared, { op: 'publish', message: 'never' }, add('k', { max: 0n }));
    const [version] = await run(
      store,
      shared,
      { op: 'set', key: 'k', value: 'v' },
      { op: 'publish', message: 'one \0 \u{1f600}', versionOf: 0 },
    );
    for (const message of ['two', '', "'; --"])
      await run(store, shared, { op: 'publish', message });
    const expected = [`one \0 \u{1f600} ${version}`, 'two', '', "'; --"];
    await eventually('all have arrived', () => alsoHeard.length >= expected.length);
    assert.deepEqual([heard, alsoHeard], [expected, expected]);
    for (const end of [stop, stop, stopOther, elsewhere]) end();
    await run(store, shared, { op: 'publish', message: 'later' });
    await sleep(50);
    assert.equal(heard.length, expected.length);
  },
};

/** A number from 0 to less than `below`; the same in each run. */
type Random = (below: number) => number;

function numbers(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Makes an operation, given a version that may be right in each store. */
function anyOperation(random: Random): Store.Operation {
  const key = `k${random(3)}`;
  const sum = `s${random(2)}`;
  const makers: readonly (() => Store.Operation)[] = [
    () => ({ op: 'get', keys: [key, 'k0'] }),
    () => ({ op: 'set', key, value: `${random(99)}`, lists: random(2) === 0 ? ['list'] : [] }),
    () => ({ op: 'set', key, value: `${random(99)}`, version: 0, ttlMs: hourMs }),
    () => ({ op: 'delete', key, required: random(3) === 0 }),
    () => ({ op: 'append', log: 'l', value: `${random(99)}`, keep: 1 + random(5) }),
    () => ({ op: 'append', log: 'l', value: 'fenced', after: random(9) }),
    () => ({ op: 'read', log: 'l', after: random(9), limit: random(5) }),
    () => ({ op: 'list', list: 'list', limit: 1 + random(3) }),
    () => ({ op: 'count', key, limit: 20 + random(20), windowMs: hourMs }),
    () => add(sum, { amount: BigInt(random(5)), max: BigInt(20 + random(60)) }),
    () => ({ op: 'sum', key: sum, amount: BigInt(random(9)), max: 30n, windowMs: hourMs }),
  ];
  return (makers[random(makers.length)] as () => Store.Operation)();
}

/** What must be equal in two stores: versions, places and times differ. */
function comparable(answer: unknown): string {
  return JSON.stringify(answer, (name, value: unknown) => {
    if (['version', 'remainingMs', 'expiresAt', 'retryAfterMs'].includes(name))
      return typeof value === 'number' && value > 0;
    if (typeof value === 'bigint') return `${value}`;
    // In which order a driver writes the members says nothing.
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  });
}

async function walk(store: Store, other: Store, seed: number): Promise<void> {
  const random = numbers(seed);
  const model = memoryStore();
  for (const index of upTo(200)) {
    const used = new Set<string>();
    const operations = upTo(1 + random(5))
      .map(() => anyOperation(random))
      .filter((operation) => {
        if (operation.op !== 'add' && operation.op !== 'sum') return true;
        const isNew = !used.has(operation.key);
        used.add(operation.key);
        return isNew;
      });
    if (operations.length === 0) continue;
    const [expected, got] = [
      await model.apply(shared, operations),
      await (random(2) === 0 ? store : other).apply(shared, operations),
    ];
    const plain = (answer: Store.Outcome): unknown =>
      answer.results?.map((result, at) =>
        operations[at]?.op === 'set' || operations[at]?.op === 'add' ? true : result,
      ) ?? answer;
    assert.equal(
      comparable(plain(got)),
      comparable(plain(expected)),
      `Step ${index} from the seed ${seed}: ${comparable(operations)}`,
    );
  }
}

const model: StoreRules = Object.fromEntries(
  [1, 2, 3].map((seed) => [
    `a store does what one in memory does, over steps from the seed ${seed}`,
    ({ store, other }) => walk(store, other, seed),
  ]),
);

export const stepRules: StoreRules = { ...sums, ...steps, ...items, ...messages, ...model };
