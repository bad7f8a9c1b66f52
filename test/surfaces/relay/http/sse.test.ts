import { afterEach, describe, expect, test, vi } from 'vitest';
import { sseResponse } from '../../../../src/surfaces/relay/http/stream-responses.ts';
import { relayError } from '../../../../src/surfaces/relay/relay-error.ts';
import { application, bulk, type FedStream, fakeStreams } from '../events/stream-kit.ts';

const decoder = new TextDecoder();

async function open(dropped?: (reason: string) => void) {
  const streams = fakeStreams();
  const response = await sseResponse(streams, application, dropped);
  const stream = streams.opened[0] as FedStream;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async (): Promise<string | undefined> => {
    const { done, value } = await reader.read();
    return done ? undefined : decoder.decode(value);
  };
  return { response, stream, reader, next };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a stream as server-sent events', () => {
  test('is a response that must not be cached or buffered', async () => {
    const { response, reader } = await open();
    expect([
      response.status,
      ...['content-type', 'cache-control', 'x-accel-buffering'].map((name) =>
        response.headers.get(name),
      ),
    ]).toEqual([200, 'text/event-stream; charset=utf-8', 'no-cache, no-transform', 'no']);
    await reader.cancel();
  });

  test('has a frame for each event: its id if there is one, its name, and its data in one line', async () => {
    const { stream, next } = await open();
    stream.send({
      id: 7,
      event: 'tool-request',
      data: { text: 'one\ntwo\r\n\u2028three', args: null },
    });
    stream.send({ event: 'heartbeat', data: {} });
    stream.end();
    expect([await next(), await next()]).toEqual([
      'event: connected\ndata: {"sessionCode":"ABCDEFGH"}\n\n' +
        'id: 7\nevent: tool-request\ndata: {"text":"one\\ntwo\\r\\n\u2028three","args":null}\n\n' +
        'event: heartbeat\ndata: {}\n\n',
      undefined,
    ]);
  });

  test('writes all events of one turn of the event loop at once', async () => {
    const { stream, next, reader } = await open();
    await next();
    const beat = (at: number) => ({ event: 'heartbeat', data: { at } });
    for (const at of [1, 2, 3]) stream.send(beat(at));
    const first = await next();
    stream.send(beat(4));
    expect([first, await next()]).toEqual([
      [1, 2, 3].map((at) => `event: heartbeat\ndata: {"at":${at}}\n\n`).join(''),
      'event: heartbeat\ndata: {"at":4}\n\n',
    ]);
    await reader.cancel();
  });

  test('does not start if it cannot be opened', async () => {
    const streams = fakeStreams();
    streams.fault = relayError(503, 'store_unavailable', 'The relay cannot reach its store.');
    await expect(sseResponse(streams, application)).rejects.toMatchObject({ status: 503 });
  });

  test('is closed when its client goes away, and accepts no more events', async () => {
    const { stream, reader } = await open();
    await reader.cancel();
    expect([stream.closed, stream.send(bulk(1)), stream.closed]).toEqual([1, false, 1]);
    stream.end();
  });

  test('ends after the events that were sent, and accepts no more', async () => {
    const { stream, next } = await open();
    stream.end();
    stream.end();
    expect([stream.send(bulk(1)), await next(), await next()]).toEqual([
      false,
      'event: connected\ndata: {"sessionCode":"ABCDEFGH"}\n\n',
      undefined,
    ]);
  });
});

describe('a client that does not read', () => {
  test('is dropped with a reason before more than 1 MB waits for it', async () => {
    const dropped = vi.fn();
    const { stream, reader } = await open(dropped);
    let taken = 0;
    while (stream.send(bulk(100_000))) taken++;
    expect([taken, stream.send(bulk(1)), dropped.mock.calls]).toEqual([
      10,
      false,
      [['The client reads too slowly: more than 1 MB was waiting for it.']],
    ]);
    await expect(reader.read()).rejects.toThrow('reads too slowly');
    stream.end();
  });

  test('that reads again in time is not dropped', async () => {
    const { stream, next, reader } = await open();
    await next();
    for (let round = 0; round < 50; round++) {
      expect(stream.send(bulk(600_000, round))).toBe(true);
      while (!(await next())?.startsWith(`id: ${round}\n`));
    }
    await reader.cancel();
  });

  test('has its waiting events counted in bytes, not in characters', async () => {
    const { stream, reader } = await open();
    expect([
      stream.send({ event: 'a', data: { text: '€'.repeat(200_000) } }),
      stream.send({ event: 'a', data: { text: '€'.repeat(200_000) } }),
    ]).toEqual([true, false]);
    await expect(reader.read()).rejects.toThrow();
  });

  test('gets an event larger than the buffer if nothing else waits', async () => {
    const { stream, next, reader } = await open();
    await next();
    expect([stream.send(bulk(4_000_000)), stream.send(bulk(1))]).toEqual([true, false]);
    await expect(reader.read()).rejects.toThrow();
  });
});

describe('backpressure', () => {
  test('starts when half of the buffer is full, and ends when that was read', async () => {
    const { stream, next, reader } = await open();
    expect(stream.ready?.()).toBe(undefined);
    stream.send(bulk(700_000));
    const room = stream.ready?.();
    expect(room).toBeInstanceOf(Promise);
    await next();
    await room;
    expect(stream.ready?.()).toBe(undefined);
    await reader.cancel();
  });

  test('lasts five seconds at most', async () => {
    vi.useFakeTimers();
    const { stream, reader } = await open();
    stream.send(bulk(700_000));
    let over = false;
    void stream.ready?.()?.then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([over, vi.getTimerCount()]).toEqual([true, 0]);
    await reader.cancel();
  });

  test.each(['end', 'cancel', 'drop'])(
    'ends when the stream ends by %s, and leaves no timer',
    async (way) => {
      vi.useFakeTimers();
      const { stream, reader } = await open();
      stream.send(bulk(700_000));
      const room = stream.ready?.();
      if (way === 'end') stream.end();
      else if (way === 'cancel') await reader.cancel();
      else stream.send(bulk(700_000));
      await room;
      expect([stream.ready?.(), vi.getTimerCount()]).toEqual([undefined, 0]);
      if (way === 'end') await reader.cancel();
      if (way === 'drop') await expect(reader.read()).rejects.toThrow();
    },
  );
});
