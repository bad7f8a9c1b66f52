/** The messages of an MCP session's streams in a store. */
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { memoryStore } from '../../../src/index.ts';
import { storedEvents } from '../../../src/surfaces/mcp/server/stored-events.ts';
import { spaceOf, storedSessions } from '../../../src/surfaces/mcp/server/stored-sessions.ts';

const message = (n: number) => ({ jsonrpc: '2.0', method: 'm', params: { n } }) as const;
const answer = { jsonrpc: '2.0', id: 1, result: {} } as const;
const isOver = (one: object): boolean => 'result' in one;

async function replayed(events: ReturnType<typeof storedEvents>, after: string) {
  const sent: unknown[] = [];
  const stream = await events.replayEventsAfter(after, {
    send: async (_, one) => void sent.push(one),
  });
  return { stream, sent };
}

test('are sent again in order, to whoever knows one of the stream', async () => {
  const store = memoryStore();
  const here = storedEvents(store, 'id', true);
  const first = await here.storeEvent('a', {} as never);
  await here.storeEvent('b', message(0));
  await here.storeEvent('a', message(1));
  await here.storeEvent('a', answer);
  for (const events of [here, storedEvents(store, 'id', false)])
    expect(await replayed(events, first)).toEqual({ stream: 'a', sent: [message(1), answer] });
  await expect(replayed(here, 'unknown')).rejects.toThrow('not known');
  await expect(replayed(storedEvents(store, 'other', false), first)).rejects.toThrow('not known');
});

test('are kept whether the session or its first message is stored first', async () => {
  const record = { initialize: {} };
  for (const isMessageFirst of [true, false]) {
    const store = memoryStore();
    const sessions = storedSessions(store);
    const events = storedEvents(store, 'id', true);
    const steps = [() => events.storeEvent('a', message(1)), () => sessions.save('id', record)];
    for (const step of isMessageFirst ? steps : steps.reverse()) await step();
    expect(await sessions.load('id')).toEqual(record);
    await events.storeEvent('a', message(2));
    await sessions.remove('id');
    expect(await sessions.load('id')).toBeUndefined();
    // What comes late does not bring it back.
    await expect(events.storeEvent('a', message(3))).rejects.toThrow('not in the store any more');
    expect(await sessions.load('id')).toBeUndefined();
  }
});

test('are the thousand newest, and each goes after five minutes', async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const events = storedEvents(store, 'id', true);
  const ids: string[] = [];
  for (let n = 0; n < 1_010; n++) ids.push(await events.storeEvent('a', message(n)));
  const [tenth, eleventh] = [ids[9] as string, ids[10] as string];
  expect(await events.getStreamIdForEventId?.(tenth)).toBeUndefined();
  expect((await replayed(events, eleventh)).sent).toHaveLength(999);
  const keys = ids.map((id) => `event ${id}`);
  const kept = async (from: number, to: number): Promise<number> => {
    const get = { op: 'get', keys: keys.slice(from, to) } as const;
    const { results } = await store.apply(spaceOf('id'), [get]);
    return (results?.[0] ?? []).filter((one) => one !== undefined).length;
  };
  expect([await kept(0, 10), await kept(10, 1_010)]).toEqual([0, 1_000]);
  now += 300_000;
  expect(await kept(10, 1_010)).toBe(0);
});

test('of another process are followed until the answer, even if all wake-ups are lost', async () => {
  const inner = memoryStore();
  const deaf: Store = { ...inner, listen: async () => () => {} };
  for (const store of [inner, deaf]) {
    const writing = storedEvents(store, `id ${store === deaf}`, true);
    const reading = storedEvents(store, `id ${store === deaf}`, false);
    const first = await writing.storeEvent('a', {} as never);
    await writing.storeEvent('a', message(1));
    expect(await writing.follow(first, isOver)).toBeUndefined();
    const stream = await reading.follow(first, isOver);
    if (store === inner) setTimeout(() => void writing.storeEvent('a', answer), 20);
    else await writing.storeEvent('a', answer);
    const text = await new Response(stream).text();
    expect(text.match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice(6)))).toEqual([
      message(1),
      answer,
    ]);
    expect(await reading.follow('unknown', isOver)).toBeUndefined();
  }
});

test('are not waited for longer than ten seconds when a client comes back', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const store: Store = { ...memoryStore(), apply: () => new Promise<never>(() => {}) };
  const followed = expect(storedEvents(store, 'id', false).follow('event', isOver)).rejects.toThrow(
    'did not answer in time',
  );
  await vi.advanceTimersByTimeAsync(10_000);
  await followed;
});
