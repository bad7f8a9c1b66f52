import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import type { StreamRequest } from '../../../../src/surfaces/relay/events/ports.ts';
import { relayError } from '../../../../src/surfaces/relay/relay-error.ts';
import type {
  SocketAdmission,
  SocketFrame,
} from '../../../../src/surfaces/relay/server/server-port.ts';
import {
  application,
  bulk,
  type FedStream,
  fakeStreams,
  opened,
  silent,
} from '../events/stream-kit.ts';

const open = opened();
const clients: WebSocket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  await open.close();
});

type Respond = SocketAdmission['respond'];
const stored: Respond = async (data) => ({
  status: 200,
  body: { success: true, requestId: (data as { requestId: string }).requestId },
});

interface World {
  readonly stream?: StreamRequest;
  readonly respond?: Respond;
  readonly frames?: SocketAdmission['frames'];
  readonly heartbeatMs?: number;
  readonly closingMs?: number;
  readonly loadWs?: () => Promise<never>;
  readonly admit?: (request: Request) => Response | undefined;
  readonly warn?: (data: object, message?: string) => void;
  readonly error?: (data: object, message?: string) => void;
}

async function world({
  stream = application,
  respond = stored,
  frames,
  heartbeatMs = 30_000,
  closingMs = 5_000,
  loadWs,
  admit,
  warn = () => {},
  error = () => {},
}: World = {}) {
  const streams = fakeStreams();
  const logger = { ...silent, warn, error };
  const server = await open.serve(
    {
      logger,
      sockets: {
        open: async (request) =>
          admit?.(request) ?? { stream, streams, respond, ...(frames && { frames }) },
        heartbeatMs,
        logger,
      },
      close: async () => streams.close(),
    },
    { closingMs, ...(loadWs && { loadWs }) },
  );
  const connect = (options: ClientOptions = {}, path = '/api/sessions/ABCDEFGH/stream') =>
    client(`ws://127.0.0.1:${server.port}${path}`, options);
  const fed = (): Promise<FedStream> =>
    vi.waitFor(() => streams.opened[0] ?? Promise.reject(new Error('not yet')));
  return { server, streams, connect, fed };
}

/** The server may know of the connection before the client does. */
async function pauseSocket(socket: WebSocket): Promise<void> {
  await expect.poll(() => socket.readyState).toBe(WebSocket.OPEN);
  (socket as unknown as { _socket: { pause(): void } })._socket.pause();
}

function client(url: string, options: ClientOptions) {
  const socket = new WebSocket(url, options);
  clients.push(socket);
  // Frames may wait for the socket to open, each with a listener of its own.
  socket.setMaxListeners(0);
  const frames: { event: string; id?: number; data: Record<string, unknown> }[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  const closed = new Promise<[number, string]>((resolve) =>
    socket.once('close', (code, reason) => resolve([code, String(reason)])),
  );
  const refused = new Promise<{ status: number | undefined; body: string; headers: object }>(
    (resolve) =>
      socket.once('unexpected-response', (_, response) => {
        let body = '';
        response.on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode, body, headers: response.headers }),
        );
      }),
  );
  socket.on('error', () => {});
  const say = (frame: unknown): void => {
    const text = typeof frame === 'string' ? frame : JSON.stringify(frame);
    // The server may use the socket before the client knows that it is open.
    if (socket.readyState === socket.CONNECTING) socket.once('open', () => socket.send(text));
    else socket.send(text);
  };
  return { socket, frames, closed, refused, say };
}

describe('a WebSocket of a session', () => {
  test('sends the events of its stream as text frames', async () => {
    const { connect, fed } = await world();
    const { frames } = connect();
    (await fed()).send({ id: 4, event: 'tool-request', data: { args: { text: 'a\nb' } } });
    await expect
      .poll(() => frames)
      .toEqual([
        { event: 'connected', data: { sessionCode: 'ABCDEFGH' } },
        { event: 'tool-request', id: 4, data: { args: { text: 'a\nb' } } },
      ]);
  });

  test('is opened with the original request, and without extensions and subprotocols', async () => {
    const seen: Request[] = [];
    const { connect } = await world({
      admit: (request) => {
        seen.push(request);
        return undefined;
      },
    });
    const { socket } = connect(
      { headers: { Authorization: 'Bearer x', Origin: 'https://a.example' } },
      '/api/sessions/ABCDEFGH/stream?after=3&client=c',
    );
    await expect.poll(() => socket.readyState).toBe(WebSocket.OPEN);
    const [request] = seen as [Request];
    expect([
      request.method,
      request.url,
      request.headers.get('authorization'),
      request.headers.get('origin'),
      socket.extensions,
      socket.protocol,
    ]).toEqual([
      'GET',
      'http://localhost/api/sessions/ABCDEFGH/stream?after=3&client=c',
      'Bearer x',
      'https://a.example',
      '',
      '',
    ]);
  });

  test('that the relay refuses gets the answer of the relay', async () => {
    const { connect } = await world({
      admit: () =>
        Response.json(
          { error: 'origin_not_allowed' },
          { status: 403, headers: { Vary: 'Origin' } },
        ),
    });
    expect(await connect().refused).toMatchObject({
      status: 403,
      body: '{"error":"origin_not_allowed"}',
      headers: { vary: 'Origin', 'content-type': 'application/json' },
    });
  });

  test(
    'is answered with 501 and what to install if the package is missing; the reason is only ' +
      'logged, once',
    async () => {
      const error = vi.fn();
      const { connect } = await world({
        loadWs: () => Promise.reject(new Error('Cannot find package')),
        error,
      });
      const { status, body } = await connect().refused;
      expect([status, JSON.parse(body)]).toMatchObject([
        501,
        { error: 'web_sockets_unavailable', message: expect.stringContaining('npm install ws') },
      ]);
      expect(body).not.toContain('Cannot find');
      expect((await connect().refused).status).toBe(501);
      const err = expect.objectContaining({
        message: expect.stringContaining('failed to load: Cannot find package'),
      });
      expect(error.mock.calls).toEqual([[{ err }, 'relay: WebSockets are not available']]);
    },
  );

  test('is answered with 500, without the reason, when the relay fails', async () => {
    const { connect } = await world({
      admit: () => {
        throw new Error('secret');
      },
    });
    const { status, body } = await connect().refused;
    expect([status, body.includes('secret')]).toEqual([500, false]);
  });

  test('closes its stream when its client goes away', async () => {
    const { connect, fed } = await world();
    const { socket } = connect();
    const stream = await fed();
    socket.terminate();
    await expect.poll(() => stream.closed).toBe(1);
    expect(stream.send(bulk(1))).toBe(false);
  });

  test.each([
    [relayError(503, 'store_unavailable', 'The store is away.'), [1013, 'store_unavailable']],
    [relayError(404, 'session_not_found', 'Session not found.'), [1008, 'session_not_found']],
    [new TypeError('secret'), [1011, 'The relay failed.']],
  ])('is closed if its stream cannot be opened: %s', async (fault, expected) => {
    const { connect, streams } = await world();
    streams.fault = fault;
    expect(await connect().closed).toEqual(expected);
  });

  test.each([
    ['session_expired', 1000],
    ['replaced', 1000],
    ['shutting_down', 1001],
  ])('is closed after the goodbye %s with %d', async (reason, code) => {
    const { connect, fed } = await world();
    const { frames, closed } = connect();
    const stream = await fed();
    stream.send({ event: 'goodbye', data: { reason } });
    stream.end();
    expect(await closed).toEqual([code, reason]);
    expect(frames.at(-1)).toEqual({ event: 'goodbye', data: { reason } });
  });
});

describe('an answer over a WebSocket', () => {
  test('is stored and confirmed', async () => {
    const respond = vi.fn(stored);
    const { connect, fed } = await world({ respond });
    const { frames, say } = connect();
    await fed();
    say({ event: 'response', data: { requestId: 'r1', result: 0 } });
    await expect
      .poll(() => frames.at(-1))
      .toEqual({ event: 'response-stored', data: { requestId: 'r1' } });
    expect(respond.mock.calls).toEqual([[{ requestId: 'r1', result: 0 }]]);
  });

  test('of 4 MB is accepted; a larger one closes the socket with 1009', async () => {
    const { connect, fed } = await world();
    const { frames, say, closed } = connect();
    await fed();
    say({ event: 'response', data: { requestId: 'large', result: 'x'.repeat(4 * 1_048_576) } });
    await expect
      .poll(() => frames.at(-1))
      .toEqual({ event: 'response-stored', data: { requestId: 'large' } });
    say({ event: 'response', data: { requestId: 'larger', result: 'x'.repeat(5 * 1_048_576) } });
    expect((await closed)[0]).toBe(1009);
  });

  test('that is refused gets an event that says so', async () => {
    const respond: Respond = async () => ({
      status: 429,
      body: { error: 'rate_limit_exceeded', message: 'Too many.', code: 'RESPONSE_RATE_LIMIT' },
    });
    const { connect, fed } = await world({ respond });
    const { frames, say } = connect();
    await fed();
    say({ event: 'response', data: { requestId: 'r1', error: 'no' } });
    await expect
      .poll(() => frames.at(-1))
      .toEqual({
        event: 'response-refused',
        data: { requestId: 'r1', status: 429, error: 'rate_limit_exceeded', message: 'Too many.' },
      });
  });

  test('is stored even if many arrive at once, but only a few at a time', async () => {
    let running = 0;
    let most = 0;
    const respond: Respond = async (data) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return stored(data);
    };
    const { connect, fed } = await world({ respond });
    const { frames, say } = connect();
    await fed();
    for (let index = 0; index < 300; index++)
      say({ event: 'response', data: { requestId: `r${index}`, result: index } });
    await expect
      .poll(() => frames.filter(({ event }) => event === 'response-stored').length)
      .toBe(300);
    expect(most).toBe(16);
  });

  test('that makes the relay fail closes the socket', async () => {
    const { connect, fed } = await world({ respond: () => Promise.reject(new Error('secret')) });
    const { say, closed } = connect();
    await fed();
    say({ event: 'response', data: {} });
    expect(await closed).toEqual([1011, 'The relay failed.']);
  });

  test('of another name is processed by the function for that name, which may reply', async () => {
    const taken: unknown[] = [];
    const take: SocketFrame['take'] = async (data, reply) => {
      taken.push(data);
      if (taken.length === 2) reply({ event: 'refused', data: { taken: 2 } });
    };
    const frames = new Map([['progress', { bounds: { maxBytes: 1_000, maxValues: 50 }, take }]]);
    const { connect, fed } = await world({ frames });
    const { frames: came, say, socket } = connect();
    await fed();
    say({ event: 'progress', data: { done: 1 } });
    say({ event: 'progress', data: 'anything' });
    await expect.poll(() => came.at(-1)).toEqual({ event: 'refused', data: { taken: 2 } });
    expect(taken).toEqual([{ done: 1 }, 'anything']);
    for (const data of ['x'.repeat(5_000), Array(200).fill(0)]) say({ event: 'progress', data });
    await expect.poll(() => came.filter(({ event }) => event === 'error')).toHaveLength(2);
    expect(came.at(-1)?.data).toMatchObject({ error: 'invalid_frame' });
    expect(came.at(-1)?.data.message).toMatch(/^Expected a frame `progress` of at most 70 values/);
    expect(taken).toHaveLength(2);
    for (const event of ['__proto__', 'constructor', 'request']) say({ event, data: {} });
    await expect
      .poll(() => came.at(-1)?.data.message)
      .toBe('Expected the event `response` or `progress`. A client sends no other event.');
    socket.close();
  });

  test('is not accepted from an agent', async () => {
    const respond = vi.fn(stored);
    const { connect, fed } = await world({ stream: { ...application, side: 'agent' }, respond });
    const { frames, say } = connect();
    await fed();
    say({ event: 'response', data: { requestId: 'r', result: 1 } });
    await expect
      .poll(() => frames.at(-1))
      .toMatchObject({ event: 'error', data: { error: 'wrong_side' } });
    expect(respond).not.toHaveBeenCalled();
  });
});

describe('a hostile client', () => {
  test.each([
    ['nested too deep', '['.repeat(100) + ']'.repeat(100), 'nested at most 100 levels'],
    ['of too many values', `[${'0,'.repeat(125_050)}0]`, 'at most 125000 values'],
  ])(
    'that sends five frames %s is closed, and none of them is processed',
    async (_, result, message) => {
      const respond = vi.fn(stored);
      const { connect, fed } = await world({ respond });
      const { frames: came, say, closed } = connect();
      await fed();
      for (let count = 0; count < 5; count++)
        say(`{"event":"response","data":{"requestId":"r","result":${result}}}`);
      expect(await closed).toEqual([1008, 'Too many frames that cannot be read.']);
      expect(came.filter(({ event }) => event === 'error')).toHaveLength(5);
      expect(came.at(-1)?.data).toEqual({
        error: 'invalid_frame',
        message: expect.stringContaining(message),
      });
      expect(respond).not.toHaveBeenCalled();
    },
  );

  const frames = [
    '',
    'no JSON',
    'null',
    '[]',
    '7',
    '{}',
    '{"event":7}',
    '{"event":"__proto__"}',
    '{"event":"tool-request","data":{}}',
    '['.repeat(100_000),
  ];
  test.each(frames)('that sends an invalid frame (%#) gets an error', async (frame) => {
    const { connect, fed } = await world();
    const { frames: came, say } = connect();
    await fed();
    say(frame);
    await expect
      .poll(() => came.at(-1))
      .toMatchObject({
        event: 'error',
        data: { error: expect.stringMatching(/^invalid_frame$|^unknown_event$/) },
      });
  });

  test('is closed after the fifth invalid frame', async () => {
    const { connect, fed } = await world();
    const { frames: came, say, closed } = connect();
    const stream = await fed();
    for (let index = 0; index < 20; index++) say('no JSON');
    expect([
      await closed,
      came.filter(({ event }) => event === 'error').length,
      stream.closed,
    ]).toEqual([[1008, 'Too many frames that cannot be read.'], 5, 1]);
  });

  test('that sends a binary frame is closed', async () => {
    const { connect, fed } = await world();
    const { socket, closed } = connect();
    await fed();
    await expect.poll(() => socket.readyState).toBe(WebSocket.OPEN);
    socket.send(Buffer.from('{}'));
    expect((await closed)[0]).toBe(1003);
  });

  test('that does not speak the protocol after the handshake is closed', async () => {
    const { connect, fed } = await world();
    const { socket } = connect();
    const stream = await fed();
    await expect.poll(() => socket.readyState).toBe(WebSocket.OPEN);
    (socket as unknown as { _socket: { write(data: string): void } })._socket.write(
      '\xff'.repeat(1_000),
    );
    await expect.poll(() => stream.closed).toBe(1);
  });

  test.each([
    ['h2c', 400],
    ['websocket', 400],
  ])('that upgrades to %s without a handshake is answered %d', async (upgrade, status) => {
    const { server } = await world();
    const raw = await open.raw(
      server.port,
      `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`,
    );
    await expect.poll(raw.over).toBe(true);
    expect(raw.text()).toContain(`HTTP/1.1 ${status} `);
  });

  test(
    'that reads nothing is closed with 1013 before more than 1 MB waits, and cut if it does not ' +
      'close',
    async () => {
      const warn = vi.fn();
      const { connect, fed, streams } = await world({ warn });
      const { socket, closed } = connect();
      const other = connect();
      const stream = await fed();
      await expect.poll(() => streams.opened.length).toBe(2);
      await pauseSocket(socket);
      let sent = 0;
      await expect
        .poll(
          () => {
            for (let more = 0; more < 20; more++) if (stream.send(bulk(100_000))) sent += 100_000;
            return warn.mock.calls.length;
          },
          { interval: 5 },
        )
        .toBe(1);
      expect(sent).toBeLessThan(30_000_000);
      expect([stream.closed, stream.send(bulk(1))]).toEqual([1, false]);
      streams.opened[1]?.send({ id: 1, event: 'still', data: {} });
      await expect.poll(() => [...other.frames].pop()?.event).toBe('still');
      (socket as unknown as { _socket: { resume(): void } })._socket.resume();
      expect(await closed).toEqual([
        1013,
        'The client reads too slowly: more than 1 MB was waiting for it.',
      ]);
    },
  );

  test('that pings and reads nothing does not fill the memory', async () => {
    const warn = vi.fn();
    const { connect, fed } = await world({ warn });
    const { socket } = connect();
    const stream = await fed();
    await pauseSocket(socket);
    const data = Buffer.alloc(125);
    await expect
      .poll(
        () => {
          for (let more = 0; more < 5_000; more++) socket.ping(data, true, () => {});
          return stream.closed;
        },
        { interval: 5 },
      )
      .toBe(1);
    expect(warn).toHaveBeenCalled();
  });

  test('that does not answer pings is cut at the second heartbeat', async () => {
    const { connect, streams } = await world({ heartbeatMs: 100 });
    const silentOne = connect({ autoPong: false });
    const lively = connect();
    expect((await silentOne.closed)[0]).toBe(1006);
    await new Promise((resolve) => lively.socket.once('ping', resolve));
    expect(lively.socket.readyState).toBe(WebSocket.OPEN);
    expect(streams.opened.map(({ closed }) => closed).sort()).toEqual([0, 1]);
  });
});

describe('a large event', () => {
  test('is sent if nothing else waits, and so is the next event', async () => {
    const { connect, fed } = await world();
    const { frames: came } = connect();
    const stream = await fed();
    await expect.poll(() => came.length).toBe(1);
    await stream.ready?.();
    expect([stream.send(bulk(4_000_000, 1)), stream.send(bulk(10, 2))]).toEqual([true, true]);
    await expect.poll(() => came.map(({ id }) => id)).toEqual([undefined, 1, 2]);
  });

  test('waits if another event is still being sent', async () => {
    const { connect, fed } = await world();
    const { frames: came } = connect();
    const stream = await fed();
    for (let id = 1; id <= 20; id++) {
      await stream.ready?.();
      expect(stream.send(bulk(900_000, id))).toBe(true);
    }
    await expect.poll(() => came.length).toBe(21);
  });
});

describe('a server that closes', () => {
  test('says goodbye to its WebSockets', async () => {
    const { server, connect, fed } = await world();
    const { frames: came, closed } = connect();
    await fed();
    await server.close();
    expect([await closed, came.at(-1)?.event]).toEqual([[1001, 'shutting_down'], 'goodbye']);
  });

  test('does not wait for clients that do not close', async () => {
    const { server, connect, fed } = await world({ closingMs: 100 });
    const { socket } = connect();
    await fed();
    await pauseSocket(socket);
    await server.close();
  });
});
