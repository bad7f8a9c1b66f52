import { afterEach, describe, expect, test, vi } from 'vitest';
import { createMcpHandler } from '../../../src/surfaces/mcp/index.ts';
import { bounded, readBody } from '../../../src/surfaces/mcp/server/body.ts';
import { memoryEvents } from '../../../src/surfaces/mcp/server/events.ts';
import { initialize, opened, post, sampleRegistry } from './server/kit.ts';

/** What an answer may hold that its reader has not taken. */
const maxBufferedBytes = 4 * 1_048_576;

const open = opened();
afterEach(() => open.close());

describe('a body', () => {
  test('that does not come to an end is given up after thirty seconds', async () => {
    vi.useFakeTimers();
    let cancelled = false;
    const body = new ReadableStream({
      cancel() {
        cancelled = true;
      },
    });
    const reading = readBody(
      new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit),
    );
    await vi.advanceTimersByTimeAsync(30_000);
    const response = (await reading) as Response;
    expect([response.status, cancelled, vi.getTimerCount()]).toEqual([408, true, 0]);
  });

  test('that fails on the way is 400', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.error(new Error('reset'));
      },
    });
    expect(
      (
        (await readBody(
          new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit),
        )) as Response
      ).status,
    ).toBe(400);
  });

  test('may have a character that two chunks share', async () => {
    const bytes = new TextEncoder().encode('"€"');
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(bytes.slice(0, 2));
        controller.enqueue(bytes.slice(2));
        controller.close();
      },
    });
    expect(
      await readBody(
        new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit),
      ),
    ).toEqual({ value: '€' });
  });
});

describe('a stream', () => {
  test('whose client does not read is cut when the buffer is full', async () => {
    let sent = 0;
    let cancelled = false;
    let ended = 0;
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1_048_576;
        controller.enqueue(new Uint8Array(1_048_576));
      },
      cancel() {
        cancelled = true;
      },
    });
    const response = bounded(new Response(source), () => ended++);
    await expect.poll(() => cancelled).toBe(true);
    expect(sent).toBeLessThanOrEqual(maxBufferedBytes + 3 * 1_048_576);
    await expect(response.arrayBuffer()).rejects.toThrow('reads too slowly');
    expect(ended).toBe(1);
  });

  test('that its client leaves is left by its source, and ends once', async () => {
    let cancelled = false;
    let ended = 0;
    const source = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true;
      },
    });
    await bounded(new Response(source), () => ended++).body?.cancel();
    expect({ cancelled, ended }).toEqual({ cancelled: true, ended: 1 });
  });

  test('passes what it gets, and its end', async () => {
    let ended = 0;
    expect(await bounded(new Response('all of it'), () => ended++).text()).toBe('all of it');
    expect(ended).toBe(1);
    bounded(new Response(null, { status: 202 }), () => ended++);
    expect(ended).toBe(2);
  });
});

describe('events in memory', () => {
  const message = (text: string) => ({ jsonrpc: '2.0' as const, method: 'm', params: { text } });
  async function replay(store: ReturnType<ReturnType<typeof memoryEvents>['open']>, from: string) {
    const ids: string[] = [];
    await store.replayEventsAfter(from, { send: async (id) => void ids.push(id) });
    return ids;
  }

  test('come back in order, those of their stream alone', async () => {
    const store = memoryEvents().open('s');
    const ids = [];
    for (const stream of ['a', 'b', 'a', 'b', 'a'])
      ids.push(await store.storeEvent(stream, message(stream)));
    expect(await replay(store, ids[0] as string)).toEqual([ids[2], ids[4]]);
    expect(await store.getStreamIdForEventId?.(ids[1] as string)).toBe('b');
  });

  test('are forgotten by age, by number and by size; the last one never is', async () => {
    let now = 0;
    const memory = memoryEvents(() => now);
    const store = memory.open('s');
    const first = await store.storeEvent('a', message('x'));
    now = 300_001;
    const second = await store.storeEvent('a', message('x'.repeat(5_000_000)));
    expect(await store.getStreamIdForEventId?.(first)).toBeUndefined();
    expect(await store.getStreamIdForEventId?.(second)).toBe('a');
    for (let times = 0; times < 1_001; times++) await store.storeEvent('a', message('y'));
    expect(await store.getStreamIdForEventId?.(second)).toBeUndefined();
    memory.forget('s');
    await expect(replay(store, second)).rejects.toThrow();
  });

  test('of all sessions together are bounded: who stored longest ago loses first', async () => {
    const memory = memoryEvents();
    const stores = Array.from({ length: 20 }, (_, index) => memory.open(String(index)));
    const ids = [];
    for (const store of stores)
      ids.push(await store.storeEvent('a', message('x'.repeat(3_900_000))));
    expect(await stores[0]?.getStreamIdForEventId?.(ids[0] as string)).toBeUndefined();
    expect(await stores[19]?.getStreamIdForEventId?.(ids[19] as string)).toBe('a');
  });
});

test('hundreds of abandoned sessions are gone when their time is over', async () => {
  const registry = sampleRegistry();
  let live = 0;
  registry.events.on('session:start', () => void live++);
  registry.events.on('session:end', () => void live--);
  const handler = createMcpHandler(() => registry.createSession({ sessionId: 's' }), {
    sessionIdleMs: 500,
  });
  open.defer(async () => {
    await handler.close();
    await registry.close();
  });
  for (let times = 0; times < 200; times++) await initialize(handler);
  expect(live).toBeGreaterThan(0);
  await expect.poll(() => live).toBe(0);
  expect(
    (
      await handler.fetch(
        post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-session-id': 'x' }),
      )
    ).status,
  ).toBe(404);
});
