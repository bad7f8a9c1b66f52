/** The client over a WebSocket, its fall back to other ways, and its clocks, without a network. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  connectRelay,
  type RelayClientOptions,
  type RelayConnection,
  type RelayStatusEvent,
  type RelayTool,
} from '../../../src/surfaces/relay-client/index.ts';
import { type FakeNetwork, type FakeSocket, fakeNetwork } from './fake-socket.ts';

const tool = (handler: RelayTool['handler'] = () => 'done'): RelayTool => ({
  name: 'a',
  description: 'A.',
  parameters: { type: 'object' },
  handler,
});

let network: FakeNetwork;
let statuses: RelayStatusEvent[];
let connection: RelayConnection | undefined;
let failure: unknown;
let end: AbortController;

beforeEach(() => {
  vi.useFakeTimers();
  network = fakeNetwork();
  statuses = [];
  connection = undefined;
  failure = undefined;
  end = new AbortController();
});
afterEach(async () => {
  end.abort();
  expect(vi.getTimerCount()).toBe(0);
});

/** Begins to connect, and lets everything happen that takes no time. */
async function begin(options: Partial<RelayClientOptions> = {}): Promise<void> {
  connectRelay({
    url: 'https://relay.example/base',
    code: 'ABCDEFGH',
    token: 'canary-token',
    tools: [tool()],
    fetch: network.fetch,
    WebSocket: network.WebSocket,
    random: () => 0.5,
    onStatus: (event) => statuses.push(event),
    signal: end.signal,
    ...options,
  }).then(
    (made) => {
      connection = made;
    },
    (error: unknown) => {
      failure = error;
    },
  );
  await vi.advanceTimersByTimeAsync(0);
}
const socket = (): FakeSocket => network.sockets.at(-1) as FakeSocket;
async function stand(options: Partial<RelayClientOptions> = {}): Promise<void> {
  await begin(options);
  socket().open();
  await vi.advanceTimersByTimeAsync(0);
}
const request = (requestId: string, more: object = {}): void =>
  socket().frame('tool-request', {
    requestId,
    tool: 'a',
    args: {},
    deadline: Date.now() + 30_000,
    attempt: 1,
    ...more,
  });
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe('a WebSocket', () => {
  test('is opened with a ticket, and never with the token', async () => {
    await stand();
    expect(socket().url).toMatch(
      /^wss:\/\/relay\.example\/base\/api\/sessions\/ABCDEFGH\/stream\?client=[0-9a-f]{32}&ticket=t0$/,
    );
    expect(connection?.transport).toBe('websocket');
    expect(
      network.fetched.map(({ route, headers }) => [route, headers.get('authorization')]),
    ).toEqual([
      ['POST /register-tools', 'Bearer canary-token'],
      ['POST /ticket', 'Bearer canary-token'],
    ]);
  });

  test('continues after the last event', async () => {
    await stand();
    socket().frame('tool-availability-update', {}, 12);
    socket().happen('close');
    await pass(1000);
    expect(new URL(socket().url).searchParams.get('after')).toBe('12');
    expect(network.sockets).toHaveLength(2);
  });

  test('takes answers, and each is confirmed', async () => {
    await stand();
    request('r');
    await pass(0);
    expect(socket().sent).toEqual([
      { event: 'response', data: { requestId: 'r', result: 'done' } },
    ]);
    socket().frame('response-stored', { requestId: 'r' });
    await pass(60_000);
    expect(network.of('POST /response')).toEqual([]);
  });

  test('an answer that is not confirmed within 5 s goes by POST', async () => {
    await stand();
    request('r');
    await pass(4999);
    expect(network.of('POST /response')).toEqual([]);
    await pass(1);
    expect(network.of('POST /response').map(({ body }) => body)).toEqual([
      { requestId: 'r', result: 'done' },
    ]);
  });

  test('an answer that is not confirmed when the socket drops goes by POST at once', async () => {
    await stand();
    request('r');
    await pass(0);
    socket().happen('close');
    await pass(0);
    expect(network.of('POST /response')).toHaveLength(1);
  });

  test('an answer that is large goes by POST', async () => {
    await stand({ tools: [tool(() => 'x'.repeat(300_000))] });
    request('r');
    await pass(0);
    expect([socket().sent.length, network.of('POST /response').length]).toEqual([0, 1]);
  });

  test('a socket that cannot send is no loss', async () => {
    await stand();
    socket().send = () => {
      throw new Error('closing');
    };
    request('r');
    await pass(0);
    expect(network.of('POST /response')).toHaveLength(1);
  });

  test.each([
    [429, 1],
    [503, 1],
    [404, 0],
    [403, 0],
  ])('an answer that is refused with %i is sent again %i times', async (status, posts) => {
    await stand();
    request('r');
    await pass(0);
    socket().frame('response-refused', {
      requestId: 'r',
      status,
      error: 'no',
      message: 'canary-token',
    });
    await pass(5000);
    expect(network.of('POST /response')).toHaveLength(posts);
    const refused = statuses.find(({ error }) => error?.code === 'no');
    expect([refused?.status, refused?.error?.message]).toEqual(
      posts === 0 ? ['connected', '***'] : [undefined, undefined],
    );
  });

  test.each([400, 413, 422])(
    'in the place of an answer that is refused with %i goes an error, once',
    async (status) => {
      await stand();
      request('r');
      await pass(0);
      const refuse = (): void =>
        socket().frame('response-refused', {
          requestId: 'r',
          status,
          error: 'no',
          message: 'Too deep.',
        });
      refuse();
      await pass(0);
      expect(socket().sent).toEqual([
        { event: 'response', data: { requestId: 'r', result: 'done' } },
        {
          event: 'response',
          data: {
            requestId: 'r',
            error: { message: 'The relay refused the result: Too deep.' },
          },
        },
      ]);
      refuse();
      await pass(5000);
      expect([socket().sent.length, network.of('POST /response').length]).toEqual([2, 0]);
    },
  );

  test('invalid frames are ignored', async () => {
    await stand();
    for (const data of [
      '',
      '{',
      '[]',
      'null',
      '{"event":"tool-request"}',
      '{"event":1,"data":{}}',
      new ArrayBuffer(3),
    ])
      socket().happen('message', { data });
    request('r');
    await pass(0);
    expect(socket().sent).toHaveLength(1);
  });
});

describe('the way there', () => {
  test('is another after two sockets that did not open', async () => {
    await begin();
    socket().happen('error');
    await pass(1000);
    socket().happen('close');
    network.on(
      'GET /stream',
      () =>
        new Response(sse('event: connected\ndata: {"toolsRevision":1}\n\n'), {
          headers: { 'content-type': 'text/event-stream' },
        }),
    );
    await pass(0);
    expect(
      statuses
        .filter(({ error }) => error !== undefined)
        .map(({ error, retryInMs }) => [error?.code, retryInMs]),
    ).toEqual([
      ['transport_unavailable', 1000],
      ['transport_unavailable', 0],
    ]);
    expect(connection?.transport).toBe('sse');
    expect(network.sockets).toHaveLength(2);
  });

  test('stays where only the relay is away', async () => {
    network.on('POST /ticket', () => new Response('{}', { status: 503 }));
    await begin();
    await pass(60_000);
    network.on('POST /ticket', () => {
      throw new TypeError('fetch failed with canary-token');
    });
    await pass(60_000);
    expect(network.of('GET /stream')).toEqual([]);
    expect(statuses.at(-1)?.error?.message).toContain('***');
  });

  test('has no socket where the relay gives no tickets, or none can be made', async () => {
    network.on('POST /ticket', () => Response.json({ error: 'not_found' }, { status: 404 }));
    network.on(
      'GET /stream',
      () =>
        new Response(sse('event: connected\ndata: {}\n\n'), {
          headers: { 'content-type': 'text/event-stream' },
        }),
    );
    await begin();
    await pass(1001);
    expect(connection?.transport).toBe('sse');
  });

  test('is over where the ticket says that the session is', async () => {
    network.on('POST /ticket', () =>
      Response.json({ error: 'session_not_found', message: 'gone' }, { status: 404 }),
    );
    await begin();
    expect(failure).toMatchObject({ code: 'session_not_found', status: 404 });
  });

  test('is another one when a line is up and then silent', async () => {
    await stand();
    await pass(75_001);
    expect(socket().closed).toBe(true);
    expect(statuses.find(({ error }) => error !== undefined)).toMatchObject({
      status: 'reconnecting',
      error: { code: 'silent' },
      retryInMs: 0,
    });
    expect(network.of('GET /stream')).toHaveLength(1);
  });

  test('is the same when heartbeats come, or when it was this machine that slept', async () => {
    await stand();
    for (let beats = 0; beats < 10; beats++) {
      await pass(30_000);
      socket().frame('heartbeat', { timestamp: new Date().toISOString() });
    }
    expect(statuses.at(-1)?.status).toBe('connected');
    const now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 3_600_000);
    while (statuses.at(-1)?.status === 'connected') await pass(1000);
    expect(statuses.at(-1)).toMatchObject({ error: { code: 'silent' }, retryInMs: 1000 });
    await pass(1000);
    expect(network.sockets).toHaveLength(2);
  });

  test('is given up after 10 s without a sign that it is up', async () => {
    await begin();
    socket().happen('open');
    await pass(10_000);
    expect(statuses.at(-1)).toMatchObject({
      status: 'connecting',
      error: { code: 'timeout' },
      retryInMs: 1000,
    });
    expect(socket().closed).toBe(true);
  });

  test('is tried at intervals that double, and restart after a line that was up', async () => {
    await stand({ transport: 'websocket' });
    for (const wait of [1000, 2000, 4000]) {
      socket().happen('close');
      await pass(0);
      expect(statuses.at(-1)).toMatchObject({ status: 'reconnecting', retryInMs: wait });
      await pass(wait);
    }
    socket().open();
    await pass(10_000);
    socket().happen('close');
    await pass(0);
    expect(statuses.at(-1)).toMatchObject({ retryInMs: 1000 });
  });

  test('is tried after a second each time a line was up, however short', async () => {
    await stand({ transport: 'websocket' });
    for (let cut = 0; cut < 8; cut++) {
      await pass(2_000);
      socket().happen('close');
      await pass(0);
      expect(statuses.at(-1)).toMatchObject({ status: 'reconnecting', retryInMs: 1000 });
      await pass(1000);
      socket().open();
      await pass(0);
      expect(statuses.at(-1)).toMatchObject({ status: 'connected' });
    }
  });

  test.each([
    ['ten seconds, where the relay does not tell it', {}, 4000],
    ['as the relay tells it', { leaseMs: 4000 }, 1600],
    ['as it would be, where what the relay tells is none', { leaseMs: 0 }, 4000],
  ])('is tried within half a lease once a line has stood: %s', async (_, connected, longest) => {
    await begin({ transport: 'websocket' });
    await pass(0);
    socket().open({ toolsRevision: 1, ...connected });
    await pass(0);
    const waits: unknown[] = [];
    for (let failed = 0; failed < 10; failed++) {
      socket().happen('close');
      await pass(0);
      waits.push(statuses.at(-1)?.retryInMs);
      await pass(Number(waits.at(-1)));
    }
    expect(waits.slice(3)).toEqual(Array(7).fill(longest));
    expect(Math.max(...(waits as number[]))).toBe(longest);
  });

  test('is tried less and less often while no line has ever been up', async () => {
    await begin({ transport: 'websocket' });
    const waits: unknown[] = [];
    for (let failed = 0; failed < 6; failed++) {
      socket().happen('close');
      await pass(0);
      waits.push(statuses.at(-1)?.retryInMs);
      await pass(Number(waits.at(-1)));
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000]);
  });

  test('is not tried in a circle by a relay that says goodbye to every line at once', async () => {
    await stand({ transport: 'websocket' });
    const waits: unknown[] = [];
    for (let time = 0; time < 4; time++) {
      socket().frame('goodbye', { reason: 'shutting_down', reconnect: true, retryMs: 0 });
      await pass(0);
      waits.push(statuses.findLast(({ retryInMs }) => retryInMs !== undefined)?.retryInMs);
      await pass(Number(waits.at(-1)));
      socket().open();
      await pass(0);
    }
    expect(waits).toEqual([0, 1000, 1000, 1000]);
  });

  test('is tried at once when the network is back, or the page is seen again', async () => {
    const page = new EventTarget();
    const document = Object.assign(new EventTarget(), { visibilityState: 'hidden' });
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
    vi.stubGlobal('document', document);
    await stand({ transport: 'websocket' });
    socket().happen('close');
    await pass(0);
    document.dispatchEvent(new Event('visibilitychange'));
    await pass(0);
    expect(network.sockets).toHaveLength(1);
    document.visibilityState = 'visible';
    document.dispatchEvent(new Event('visibilitychange'));
    await pass(0);
    expect(network.sockets).toHaveLength(2);
    socket().happen('close');
    await pass(0);
    page.dispatchEvent(new Event('online'));
    await pass(0);
    expect(network.sockets).toHaveLength(3);
  });
});

describe('a deadline', () => {
  const waiting = (signals: AbortSignal[]): RelayTool =>
    tool((_, { signal }) => {
      signals.push(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')));
    });

  test.each([0, 3_600_000, -3_600_000])(
    "counts by the relay's clock, which is %i ms ahead",
    async (ahead) => {
      const signals: AbortSignal[] = [];
      await begin({ tools: [waiting(signals)] });
      socket().open({ timestamp: new Date(Date.now() + ahead).toISOString(), toolsRevision: 1 });
      await pass(5000);
      request('r', { deadline: Date.now() + ahead + 10_000 });
      await pass(10_900);
      expect(signals[0]?.aborted).toBe(false);
      await pass(200);
      expect(signals[0]?.reason).toMatchObject({ code: 'timeout' });
      expect([socket().sent, network.of('POST /response')]).toEqual([[], []]);
    },
  );

  test('ends the attempts to bring an answer', async () => {
    network.on('POST /response', () => new Response('{}', { status: 503 }));
    await stand();
    request('r', { deadline: Date.now() + 10_000 });
    await pass(0);
    socket().happen('close');
    await pass(60_000);
    expect(network.of('POST /response').length).toBeGreaterThan(2);
    expect(network.of('POST /response').length).toBeLessThan(6);
    expect(statuses).toContainEqual(
      expect.objectContaining({
        error: expect.objectContaining({
          code: 'timeout',
          message: expect.stringContaining('deadline'),
        }),
      }),
    );
  });

  test('frees the place of a handler that never ends', async () => {
    let started = 0;
    await stand({
      tools: [
        tool(() => {
          started += 1;
          return new Promise(() => {});
        }),
      ],
    });
    for (let index = 0; index < 200; index++)
      request(`r${index}`, { deadline: Date.now() + (index < 64 ? 5000 : 20_000) });
    expect(started).toBe(64);
    await pass(7000);
    expect(started).toBe(128);
  });
});

describe('many calls', () => {
  test('run 64 at a time, the others in order', async () => {
    const started: string[] = [];
    const ends: (() => void)[] = [];
    await stand({
      tools: [
        tool((_, { requestId }) => {
          started.push(requestId);
          return new Promise<void>((resolve) => ends.push(resolve));
        }),
      ],
    });
    const ids = Array.from({ length: 70 }, (_, index) => `r${index}`);
    for (const id of ids) request(id);
    expect(started).toEqual(ids.slice(0, 64));
    ends[5]?.();
    await pass(0);
    expect(started).toEqual(ids.slice(0, 65));
    socket().frame('tool-cancel', { requestId: 'r65', reason: 'cancelled' });
    ends[0]?.();
    await pass(0);
    expect(started).toEqual([...ids.slice(0, 65), 'r66']);
  });

  test('that wait are a thousand at most; the rest is refused', async () => {
    await stand({ tools: [tool(() => new Promise(() => {}))] });
    for (let index = 0; index < 1065; index++) request(`r${index}`);
    await pass(0);
    expect(socket().sent).toMatchObject([
      {
        data: {
          requestId: 'r1064',
          error: { message: expect.stringContaining('1000 calls waiting') },
        },
      },
    ]);
  });

  test('do not begin once the connection is closed', async () => {
    let started = 0;
    await stand({
      tools: [
        tool(() => {
          started += 1;
          return new Promise(() => {});
        }),
      ],
    });
    for (let index = 0; index < 100; index++) request(`r${index}`);
    await connection?.close();
    await pass(60_000);
    expect(started).toBe(64);
  });
});

test('a fetch that ignores its signal delays nothing', async () => {
  await begin({ fetch: () => new Promise(() => {}) });
  await pass(30_000);
  expect(statuses.at(-1)).toMatchObject({
    status: 'connecting',
    error: { code: 'timeout' },
    retryInMs: 1000,
  });
  end.abort(new Error('enough'));
  await pass(0);
  expect(failure).toMatchObject({ message: 'enough' });
});

function sse(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
    },
  });
}
