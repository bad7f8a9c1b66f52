/** How often tools were called: counted by each node, and added up in the store. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { memoryStore } from '../../../../src/index.ts';
import { createUsage } from '../../../../src/surfaces/relay/calls/usage.ts';
import { keys } from '../../../../src/surfaces/relay/ports/documents.ts';
import { listen, relayed, relayWorld } from '../relay-world.ts';
import { kept, on, watchedStore } from '../watched-store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function shared() {
  const store = memoryStore();
  await on(store).create('A', keys.session, '{}', Date.now() + 3_600_000);
  return store;
}

describe('the count of calls', () => {
  test('includes the calls of all nodes, and those of this node at once', async () => {
    const store = await shared();
    const [one, other] = [createUsage(kept(store)), createUsage(kept(store))];
    one.count('A', 'draw');
    one.count('A', 'draw');
    other.count('A', 'draw');
    other.count('A', '__proto__');
    expect([...(await one.read('A'))]).toEqual([['draw', 2]]);
    await vi.advanceTimersByTimeAsync(1_000);
    for (const usage of [one, other])
      expect(new Map(await usage.read('A'))).toEqual(
        new Map([
          ['draw', 3],
          ['__proto__', 1],
        ]),
      );
    expect(vi.getTimerCount()).toBe(0);
  });

  test('needs no operation of the store per call', async () => {
    const store = await shared();
    const watched = watchedStore(store);
    const usage = createUsage(kept(watched.store));
    for (let call = 0; call < 1_000; call++) usage.count('A', 'draw');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(watched.operations).toEqual(['get usage A', 'set usage A']);
    expect((await usage.read('A')).get('draw')).toBe(1_000);
  });

  test('is kept for a limited number of names, those that were counted last', async () => {
    const store = await shared();
    const usage = createUsage(kept(store));
    for (let name = 0; name < 2_500; name++) usage.count('A', `tool_${name}`);
    await usage.flush();
    const counts = await usage.read('A');
    expect([counts.size, counts.has('tool_0'), counts.has('tool_2499')]).toEqual([
      2_000,
      false,
      true,
    ]);
  });

  test('is lost without other effects while the store is unavailable or the session is gone', async () => {
    const store = await shared();
    const away = { ...store, apply: () => Promise.reject(new Error('away')) };
    const usage = createUsage(kept(away));
    usage.count('A', 'draw');
    usage.count('B', 'draw');
    await usage.flush();
    const gone = createUsage(kept(store));
    gone.count('B', 'draw');
    await gone.flush();
    expect((await gone.read('B')).size).toBe(0);
  });
});

test('a call counts once it was sent, and a call that a gate refused does not', async () => {
  vi.useRealTimers();
  const world = relayWorld();
  const node = world.node({ session: { rules: [{ effect: 'deny', tools: 'never' }] } });
  const session = await world.session([relayed('echo'), relayed('never')]);
  await listen(node, session, { answer: () => 1 });
  for (const tool of ['echo', 'echo', 'never', 'nothing'])
    await node.requests.submit(session, { tool, wait: true });
  expect([...(await node.calls.usage(session.code))]).toEqual([['echo', 2]]);
  await node.calls.storeUsage();
  expect((await world.node().calls.usage(session.code)).get('echo')).toBe(2);
  await world.close();
});
