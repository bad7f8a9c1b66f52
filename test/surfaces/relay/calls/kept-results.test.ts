/** The results that a session keeps have a bound in bytes; the oldest go first. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defineTool, memoryStore } from '../../../../src/index.ts';
import {
  countedBytes,
  createResultCounts,
} from '../../../../src/surfaces/relay/calls/kept-results.ts';
import { keys, logKeep } from '../../../../src/surfaces/relay/ports/documents.ts';
import { listen, relayWorld, type World } from '../relay-world.ts';
import { kept, on, watchedStore } from '../watched-store.ts';

const code = 'ABCDEFGH';

async function storeWith(ids: readonly string[]) {
  const store = kept(memoryStore());
  await on(store).create(code, keys.session, '{}', Date.now() + 3_600_000);
  for (const id of ids)
    await on(store).set(code, keys.request(id), JSON.stringify({ status: 'done', result: { id } }));
  const left = async (): Promise<readonly string[]> => {
    const stored = await on(store).get(code, ids.map(keys.request));
    return ids.filter((_, index) => JSON.parse(stored[index]?.value ?? '{}').result !== undefined);
  };
  return { store, left };
}

describe('the results of a session', () => {
  test('stay within the limit: the newest are kept, and the last one always', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: countedBytes, max: 200_000 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 500_000 }),
        async (sizes, most) => {
          const ids = sizes.map((_, index) => `r${index}`);
          const { store, left } = await storeWith(ids);
          const counts = createResultCounts(store, most);
          for (const [index, bytes] of sizes.entries())
            await counts.count(code, { id: `r${index}`, bytes, entry: index + 1 });
          const kept = await left();
          // They are the longest end of the list that fits.
          expect(kept).toEqual(ids.slice(ids.length - kept.length));
          const sum = (count: number) =>
            sizes.slice(sizes.length - count).reduce((all, one) => all + one, 0);
          if (kept.length > 1) expect(sum(kept.length)).toBeLessThanOrEqual(most);
          if (kept.length < sizes.length) expect(sum(kept.length + 1)).toBeGreaterThan(most);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('that end at the same time are all counted', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `r${index}`);
    const { store, left } = await storeWith(ids);
    const nodes = [createResultCounts(store, 400_000), createResultCounts(store, 400_000)];
    await Promise.all(
      ids.map((id, index) =>
        nodes[index % 2]?.count(code, { id, bytes: 100_000, entry: index + 1 }),
      ),
    );
    expect(await left()).toEqual(ids.slice(-4));
  });

  test('no longer count once their entries have left the log', async () => {
    const { store, left } = await storeWith(['old', 'new', 'newer']);
    const counts = createResultCounts(store, 400_000);
    await counts.count(code, { id: 'old', bytes: 300_000, entry: 1 });
    await counts.count(code, { id: 'new', bytes: 300_000, entry: logKeep + 1 });
    await counts.count(code, { id: 'newer', bytes: 50_000, entry: logKeep + 2 });
    // The request of `old` was removed with its entry, so it does not push out another.
    expect(await left()).toEqual(['old', 'new', 'newer']);
  });

  test('that are small cost no operation', async () => {
    const watched = watchedStore();
    const counts = createResultCounts(kept(watched.store), 1);
    await counts.count(code, { id: 'r', bytes: countedBytes - 1, entry: 1 });
    expect(watched.operations).toEqual([]);
  });

  test('are not removed from a request that runs again or is gone', async () => {
    const { store } = await storeWith([]);
    await on(store).set(code, keys.request('a'), JSON.stringify({ status: 'queued', result: {} }));
    const counts = createResultCounts(store, 100_000);
    for (const [entry, id] of ['gone', 'a', 'b', 'c'].entries())
      await counts.count(code, { id, bytes: 300_000, entry: entry + 1 });
    const [stored] = await on(store).get(code, [keys.request('a')]);
    expect(JSON.parse(stored?.value ?? '')).toEqual({ status: 'queued', result: {} });
  });
});

describe('on a node', () => {
  let world: World;
  beforeEach(() => {
    world = relayWorld();
  });
  afterEach(() => world.close());

  test('a request whose result was removed stays done, and agents learn that it is not kept', async () => {
    const much = defineTool({
      name: 'much',
      description: 'Gives much.',
      parameters: { type: 'object' },
      handler: () => 'x'.repeat(100_000),
    });
    const node = world.node({ session: { tools: [much] }, resultBytes: 250_000 });
    const session = await world.session();
    const ask = (requestId: string) =>
      node.requests.submit(session, { requestId, tool: 'much', wait: true });
    for (const id of ['a', 'b', 'c']) await ask(id);
    expect(await node.requests.status(session.code, 'a')).toEqual({
      requestId: 'a',
      status: 'done',
    });
    for (const id of ['b', 'c'])
      expect((await node.requests.status(session.code, id))?.result).toMatchObject({
        success: true,
      });
    await expect(ask('a')).rejects.toMatchObject({
      status: 404,
      error: 'request_not_found',
      message: expect.stringMatching(/Read large results sooner\. .* a new `requestId`\.$/),
    });
    const agent = await listen(node, session, { side: 'agent', after: 0 });
    await expect.poll(() => agent.of('tool-result')).toHaveLength(3);
    const [first, second] = agent.of('tool-result').map(({ data }) => data);
    expect(first).toMatchObject({
      requestId: 'a',
      result: { error: { code: 'executor_lost', reason: 'result_not_kept' } },
    });
    expect(second).toMatchObject({ requestId: 'b', result: { success: true } });
    agent.close();
  });
});
