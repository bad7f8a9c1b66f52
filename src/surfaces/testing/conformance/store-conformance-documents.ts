/** Conformance rules: documents and their versions. */
import assert from 'node:assert/strict';
import type { RelayStore } from '../../relay/ports/store.ts';
import type { PortRuleBodies } from './port-rule.ts';
import { begin } from './store-conformance-sessions.ts';

const value = async (store: RelayStore, key: string, session = 's'): Promise<string | undefined> =>
  (await store.get(session, [key]))[0]?.value;

/** Does not use `assert.equal`, which takes long to print the difference of two long strings. */
async function keeps(store: RelayStore, text: string, what: string): Promise<void> {
  await store.set('s', 'k', text);
  assert.ok(
    (await value(store, 'k')) === text,
    `Expected the document to come back as it was written: ${what}`,
  );
  const added = await store.append('s', 'log', text, 2);
  assert.ok(added !== undefined, 'Expected the entry to be kept');
  const { entries } = await store.read('s', 'log', added.id - 1, 1);
  assert.ok(entries[0]?.value === text, `Expected the entry to come back as it was added: ${what}`);
}

export const documentRules: PortRuleBodies<RelayStore> = {
  'a document begins with version 1, and each write adds one': async (store) => {
    await begin(store);
    for (const version of [1, 2, 3]) {
      assert.equal(await store.set('s', 'k', `v${version}`), version);
      assert.deepEqual(await store.get('s', ['k']), [{ value: `v${version}`, version }]);
    }
    assert.equal(await store.set('s', 'first', 'v'), 2);
    assert.equal(await store.set('s', 'k', 'v3'), 4, 'Expected a write of the same value to count');
  },
  'documents come in the requested order, as often as requested, with gaps for missing ones':
    async (store) => {
      await begin(store);
      await store.set('s', 'b', 'B');
      await store.set('s', 'a', 'A');
      const [a, b] = [
        { value: 'A', version: 1 },
        { value: 'B', version: 1 },
      ];
      assert.deepEqual(await store.get('s', ['a', 'none', 'b', 'a', 'toString']), [
        a,
        undefined,
        b,
        a,
        undefined,
      ]);
      assert.deepEqual(await store.get('s', []), []);
    },
  'a write with a version succeeds over exactly that version': async (store) => {
    await begin(store);
    for (const version of [0, 2, 3])
      assert.equal(
        await store.set('s', 'first', 'no', version),
        undefined,
        `Expected a write over version ${version} to be refused`,
      );
    assert.deepEqual(await store.get('s', ['first']), [{ value: '1', version: 1 }]);
    assert.equal(await store.set('s', 'first', 'yes', 1), 2);
    assert.equal(await store.set('s', 'first', 'no', 1), undefined);
    assert.deepEqual(await store.get('s', ['first']), [{ value: 'yes', version: 2 }]);
  },
  'a write with version 0 succeeds only if there is no document': async (store) => {
    await begin(store);
    for (const version of [1, 2])
      assert.equal(
        await store.set('s', 'k', 'no', version),
        undefined,
        `Expected a write over version ${version} of nothing to be refused`,
      );
    assert.deepEqual(await store.get('s', ['k']), [undefined]);
    assert.equal(await store.set('s', 'k', 'yes', 0), 1);
    assert.equal(await store.set('s', 'k', 'no', 0), undefined);
    assert.deepEqual(await store.get('s', ['k']), [{ value: 'yes', version: 1 }]);
  },
  'a write without a version always succeeds': async (store) => {
    await begin(store);
    assert.equal(await store.set('s', 'k', 'one'), 1);
    assert.equal(await store.set('s', 'k', 'two', undefined), 2);
  },
  'versions are compared as numbers, also beyond one digit': async (store) => {
    await begin(store);
    for (let version = 1; version <= 12; version++)
      assert.equal(await store.set('s', 'k', 'v', version - 1), version);
    for (const stale of [0, 1, 2, 9, 10, 11])
      assert.equal(await store.set('s', 'k', 'no', stale), undefined);
    assert.equal(await store.set('s', 'k', 'v', 12), 13);
  },
  'a document can be deleted once': async (store) => {
    await begin(store);
    await store.set('s', 'k', 'v');
    assert.equal(await store.delete('s', 'k'), true);
    assert.equal(await store.delete('s', 'k'), false);
    assert.equal(await store.delete('s', 'never'), false);
    assert.deepEqual(await store.get('s', ['k', 'first']), [undefined, { value: '1', version: 1 }]);
  },
  'a deletion with a version removes exactly that version': async (store) => {
    await begin(store);
    await store.set('s', 'k', 'one');
    await store.set('s', 'k', 'two');
    for (const version of [0, 1, 3])
      assert.equal(
        await store.delete('s', 'k', version),
        false,
        `Expected a deletion of version ${version} to be refused`,
      );
    assert.deepEqual(await store.get('s', ['k']), [{ value: 'two', version: 2 }]);
    assert.equal(await store.delete('s', 'k', 2), true);
    assert.deepEqual(await store.get('s', ['k']), [undefined]);
    assert.equal(
      await store.delete('s', 'k', 0),
      false,
      'Expected nothing to be removed where there is nothing',
    );
  },
  'no version of a deleted document can be overwritten': async (store) => {
    await begin(store);
    for (let version = 1; version <= 3; version++) await store.set('s', 'k', 'v');
    await store.delete('s', 'k');
    for (const version of [1, 2, 3, 4])
      assert.equal(await store.set('s', 'k', 'no', version), undefined);
    assert.notEqual(await store.set('s', 'k', 'yes', 0), undefined);
    assert.equal(await store.set('s', 'k', 'no', 0), undefined);
    assert.equal(await value(store, 'k'), 'yes');
  },
  'no version of a deleted document is taken for a version of its successor': async (store) => {
    await begin(store);
    const seen = new Set<number>();
    for (let life = 0; life < 4; life++) {
      for (let write = 0; write <= 3 - life; write++) {
        const version = await store.set('s', 'k', `${life}.${write}`);
        assert.ok(
          version !== undefined && !seen.has(version),
          `Expected a version that the document never had, got ${version}`,
        );
        for (const stale of seen) {
          assert.equal(
            await store.set('s', 'k', 'no', stale),
            undefined,
            `Expected a write over version ${stale}, which no longer exists, to be refused`,
          );
          assert.equal(
            await store.delete('s', 'k', stale),
            false,
            `Expected a deletion of version ${stale}, which no longer exists, to be refused`,
          );
        }
        seen.add(version);
      }
      assert.equal(await store.delete('s', 'k'), true);
    }
  },
  'a document that is written again continues its version by one': async (store) => {
    await begin(store);
    await store.set('s', 'k', 'v');
    await store.delete('s', 'k');
    const version = await store.set('s', 'k', 'v', 0);
    assert.ok(version !== undefined);
    assert.equal(await store.set('s', 'k', 'w', version), version + 1);
    assert.deepEqual(await store.get('s', ['k']), [{ value: 'w', version: version + 1 }]);
  },
  'an empty string is a value': async (store) => {
    await begin(store);
    await keeps(store, '', 'an empty string');
    assert.equal(await store.set('s', 'empty', ''), 1);
    assert.equal(await store.set('s', 'empty', 'no', 0), undefined);
    assert.deepEqual(await store.get('s', ['empty']), [{ value: '', version: 1 }]);
    assert.equal(await store.delete('s', 'empty'), true);
  },
  'values come back unchanged, whatever they contain': async (store) => {
    await begin(store);
    for (const text of [
      ' ',
      '0',
      '-1',
      '1e3',
      'nil',
      'null',
      '__proto__',
      '\0',
      'a\r\nb',
      '\\u0000',
      '{"a":[1]}',
      '1:v',
      ':',
      '\u00E9 e\u0301',
      '\u{1F9F0}\uFEFF\u2028',
    ])
      await keeps(store, text, JSON.stringify(text));
  },
  'values of 8 MB are kept': async (store) => {
    await begin(store);
    await keeps(store, 'x'.repeat(8 * 1_024 * 1_024), '8 MB of ASCII');
    const mixed = '\u00E9\u20AC\u{1F9F0}"\\\n\0';
    await keeps(
      store,
      mixed.repeat(Math.floor((8 * 1_024 * 1_024) / Buffer.byteLength(mixed))),
      '8 MB of all kinds of characters',
    );
  },
  'large values that differ in one place are not mixed up': async (store) => {
    await begin(store);
    await begin(store, 'other');
    const long = 'x'.repeat(100_000);
    await store.set('s', 'k', `${long}a`);
    await store.set('other', 'k', `${long}b`);
    await store.set('other', 'same', `${long}a`);
    assert.ok((await value(store, 'k')) === `${long}a`);
    assert.ok((await value(store, 'k', 'other')) === `${long}b`);
    await store.drop('s');
    assert.ok((await value(store, 'same', 'other')) === `${long}a`);
  },
};
