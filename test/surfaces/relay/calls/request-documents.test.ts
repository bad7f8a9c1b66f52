/** The looks at requests that are no longer needed. */
import { expect, test } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import { memoryStore } from '../../../../src/index.ts';
import { createRequestDocuments } from '../../../../src/surfaces/relay/calls/request-documents.ts';
import { kept } from '../watched-store.ts';

const items = (count: number): Store.Item[] =>
  Array.from({ length: count }, (_, id) => ({ owner: 'CODE', key: `${id}` }));

test('are all removed in the end, although the store refuses some steps', async () => {
  const inner = memoryStore();
  await inner.schedule(items(4), 0);
  let refusals = 2;
  const store: Store = {
    ...inner,
    async schedule(...given) {
      if (refusals-- > 0) throw new Error('The store is away.');
      return inner.schedule(...given);
    },
  };
  const documents = createRequestDocuments({ settings: { store: kept(store) } }, 1_000_000);
  for (const { owner, key } of items(4)) documents.release(owner, key);
  const away = { error: 'store_unavailable' };
  await expect(documents.flush()).rejects.toMatchObject(away);
  await expect(documents.flush()).rejects.toMatchObject(away);
  await documents.flush();
  expect(await inner.due(10, 1_000)).toEqual([]);
});

test('are removed in several steps if there are more than a store takes at once', async () => {
  const store = memoryStore();
  const documents = createRequestDocuments({ settings: { store: kept(store) } }, 1_000_000);
  const all = items(2_500);
  for (const part of [all.slice(0, 1_000), all.slice(1_000, 2_000), all.slice(2_000)])
    await store.schedule(part, 0);
  for (const { owner, key } of all) documents.release(owner, key);
  for (let flushes = 0; flushes < 3; flushes++) await documents.flush();
  expect(await store.due(10, 1_000)).toEqual([]);
});
