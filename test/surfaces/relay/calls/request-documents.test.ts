/** The looks at requests that are no longer needed. */
import { expect, test } from 'vitest';
import { createRequestDocuments } from '../../../../src/surfaces/relay/calls/request-documents.ts';
import { memoryBus } from '../../../../src/surfaces/relay/memory/bus.ts';
import { memoryStore } from '../../../../src/surfaces/relay/memory/store.ts';

test('are all removed in the end, although the store refuses some removals', async () => {
  const inner = memoryStore();
  const ids = ['a', 'b', 'c', 'd'];
  for (const id of ids) await inner.schedule('CODE', id, 0);
  const refused = new Set(['b', 'c']);
  const store: typeof inner = {
    ...inner,
    async unschedule(session, key) {
      if (refused.delete(key)) throw new Error('The store is away.');
      await inner.unschedule(session, key);
    },
  };
  const documents = createRequestDocuments(
    { settings: { store, bus: memoryBus() }, hub: { wake: () => {} } },
    1_000_000,
  );
  for (const id of ids) documents.release('CODE', id);
  await expect(documents.flush()).rejects.toThrow('away');
  await expect(documents.flush()).rejects.toThrow('away');
  await documents.flush();
  expect(await inner.due(10, 1_000)).toEqual([]);
});

test('are removed although one of them is always refused', async () => {
  const inner = memoryStore();
  for (const id of ['a', 'b']) await inner.schedule('CODE', id, 0);
  const store: typeof inner = {
    ...inner,
    async unschedule(session, key) {
      if (key === 'a') throw new Error('The store refuses this.');
      await inner.unschedule(session, key);
    },
  };
  const documents = createRequestDocuments(
    { settings: { store, bus: memoryBus() }, hub: { wake: () => {} } },
    1_000_000,
  );
  for (const id of ['a', 'b']) documents.release('CODE', id);
  for (let flushes = 0; flushes < 2; flushes++)
    await expect(documents.flush()).rejects.toThrow('refuses');
  expect((await inner.due(10, 1_000)).map(({ key }) => key)).toEqual(['a']);
});
