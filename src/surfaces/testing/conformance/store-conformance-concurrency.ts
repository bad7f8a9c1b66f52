/** Conformance rules: each operation is atomic, however many callers there are at once. */
import assert from 'node:assert/strict';
import type { RelayStore } from '../../relay/ports/store.ts';
import { atOnce, type PortRuleBodies, upTo } from './port-rule.ts';
import { begin, later } from './store-conformance-sessions.ts';

const many = 100;
const long = 60_000;
const numbers = (one: number, other: number): number => one - other;

/** The index of the only outcome that won. Fails if there is not exactly one. */
function winner<T>(outcomes: readonly T[], won: (outcome: T) => boolean): number {
  const winners = [...outcomes.entries()]
    .filter(([, outcome]) => won(outcome))
    .map(([index]) => index);
  assert.equal(
    winners.length,
    1,
    `Expected one of ${outcomes.length} to win, got ${winners.length}`,
  );
  return winners[0] as number;
}

const isTrue = (outcome: boolean): boolean => outcome;
const defined = (outcome: number | undefined): boolean => outcome !== undefined;

export const concurrencyRules: PortRuleBodies<RelayStore> = {
  'of many callers that create a session at once, one does, and its document exists': async (
    store,
  ) => {
    const won = winner(
      await atOnce(many, (index) => store.create('s', 'k', `${index}`, later())),
      isTrue,
    );
    assert.deepEqual(await store.get('s', ['k']), [{ value: `${won}`, version: 1 }]);
  },
  'of many callers that drop a session at once, one does': async (store) => {
    await begin(store);
    winner(await atOnce(many, () => store.drop('s')), isTrue);
  },
  'of many callers that overwrite a version at once, one does': async (store) => {
    await begin(store);
    for (let version = 0; version < 10; version++) {
      const outcomes = await atOnce(many, (index) =>
        store.set('s', 'k', `${version}.${index}`, version),
      );
      const won = winner(outcomes, defined);
      assert.equal(outcomes[won], version + 1);
      assert.deepEqual(await store.get('s', ['k']), [
        { value: `${version}.${won}`, version: version + 1 },
      ]);
    }
  },
  'of many callers that delete a document at once, one does': async (store) => {
    await begin(store);
    winner(
      await atOnce(many, (index) => store.delete('s', 'first', index % 2 === 0 ? undefined : 1)),
      isTrue,
    );
  },
  'writes without a version all succeed, each with a version of its own': async (store) => {
    await begin(store);
    const versions = await atOnce(many, (index) => store.set('s', 'k', `${index}`));
    assert.deepEqual(
      [...versions].sort((one, other) => numbers(one ?? 0, other ?? 0)),
      upTo(many).map((index) => index + 1),
    );
    assert.deepEqual(await store.get('s', ['k']), [
      { value: `${versions.indexOf(many)}`, version: many },
    ]);
  },
  'no change is lost if all callers read, change and overwrite the version they read': async (
    store,
  ) => {
    await begin(store);
    await store.set('s', 'sum', '0');
    await atOnce(10, async () => {
      for (let added = 0; added < 10; ) {
        const [found] = await store.get('s', ['sum']);
        assert.ok(found !== undefined);
        if (
          (await store.set('s', 'sum', `${Number(found.value) + 1}`, found.version)) !== undefined
        )
          added += 1;
      }
    });
    assert.deepEqual(await store.get('s', ['sum']), [{ value: '100', version: 101 }]);
  },
  'entries that many callers add to a log at once get consecutive ids and are found by them':
    async (store) => {
      await begin(store);
      const added = await atOnce(many, (index) => store.append('s', 'log', `${index}`, 40));
      const byId = new Map(added.map((entry, index) => [entry?.id, `${index}`]));
      const { entries, first, last } = await store.read('s', 'log', 0, many);
      assert.deepEqual([first, last, entries.length], [many - 39, many, 40]);
      for (const { id, value } of entries) assert.equal(value, byId.get(id));
      assert.deepEqual(
        [...byId.keys()].sort((one, other) => numbers(one ?? 0, other ?? 0)),
        upTo(many).map((index) => index + 1),
      );
      const dropped = added.flatMap((entry) => entry?.dropped ?? []);
      assert.deepEqual(
        new Set([...dropped, ...entries.map(({ value }) => value)]).size,
        many,
        'Expected each entry to be either kept or reported as dropped',
      );
      assert.equal(dropped.length, many - 40);
    },
  'of many callers that ask for a lease at once, one gets it': async (store) => {
    await begin(store);
    const epochs = await atOnce(many, (index) => store.acquire('s', 'lease', `${index}`, long));
    const won = winner(epochs, defined);
    const found = await store.holder('s', 'lease');
    assert.deepEqual([found?.holder, found?.epoch], [`${won}`, epochs[won]]);
    winner(await atOnce(many, () => store.release('s', 'lease', epochs[won] as number)), isTrue);
  },
  'callers that steal a lease at once all get epochs of their own, and the highest holds it':
    async (store) => {
      await begin(store);
      const epochs = await atOnce(many, (index) =>
        store.acquire('s', 'lease', `${index}`, long, true),
      );
      assert.equal(new Set(epochs).size, many);
      const highest = Math.max(...epochs.map((epoch) => epoch ?? 0));
      const found = await store.holder('s', 'lease');
      assert.deepEqual([found?.holder, found?.epoch], [`${epochs.indexOf(highest)}`, highest]);
      const renewed = await atOnce(many, (index) =>
        store.renew('s', 'lease', epochs[index] as number, long),
      );
      assert.equal(winner(renewed, isTrue), epochs.indexOf(highest));
    },
  'of many uses at once, as many as the limit are allowed': async (store) => {
    const outcomes = await atOnce(many, () => store.count('k', 7, long));
    assert.equal(outcomes.filter(({ allowed }) => allowed).length, 7);
    assert.equal((await store.count('k', 8, long)).allowed, true);
    assert.equal((await store.count('k', 8, long)).allowed, false);
  },
  'callers that ask at once what is due get different items, and together all of them': async (
    store,
  ) => {
    for (let round = 0; round < 3; round++) {
      await atOnce(50, (index) => store.schedule(`s${index % 5}`, `k${index}`, 0));
      const answers = await atOnce(20, () => store.due(10, long));
      for (const answer of answers) assert.ok(answer.length <= 10);
      assert.deepEqual(
        answers
          .flat()
          .map(({ session, key }) => `${session} ${key}`)
          .sort(),
        upTo(50)
          .map((index) => `s${index % 5} k${index}`)
          .sort(),
      );
    }
  },
  'of many callers that ask for the only item that is due, one gets it': async (store) => {
    for (let round = 0; round < 5; round++) {
      await store.schedule('s', 'k', 0);
      const answers = await atOnce(20, () => store.due(10, long));
      assert.deepEqual(answers.flat(), [{ session: 's', key: 'k' }]);
    }
  },
  'a write while its session is dropped is refused or removed with the session': async (store) => {
    for (let round = 0; round < 10; round++) {
      await begin(store);
      await atOnce(30, async (index) => {
        if (index === 15) return store.drop('s');
        const writes = [
          () => store.set('s', `k${index}`, 'v'),
          () => store.append('s', 'log', 'v', 10),
          () => store.acquire('s', 'lease', `${index}`, long, true),
        ];
        return writes[index % writes.length]?.();
      });
      const keys = upTo(30).map((index) => `k${index}`);
      const nothing = keys.map(() => undefined);
      assert.deepEqual(await store.get('s', keys), nothing);
      assert.equal(await store.create('s', 'new', 'v', later()), true);
      assert.deepEqual(await store.get('s', keys), nothing);
      assert.deepEqual(await store.read('s', 'log', 0, 10), { entries: [], first: 0, last: 0 });
      assert.equal(await store.holder('s', 'lease'), undefined);
      assert.equal(await store.drop('s'), true);
    }
  },
};
