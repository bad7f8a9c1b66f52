/** The whole client against a scripted relay on a real server. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  connectRelay,
  isRelayClientError,
  type RelayClientOptions,
  type RelayConnection,
  type RelayStatusEvent,
  type RelayTool,
} from '../../../src/surfaces/relay-client/index.ts';
import { code, type FakeRelay, fakeRelay, token } from './fake-relay.ts';

const tool = (
  name: string,
  handler: RelayTool['handler'] = () => name,
  more: Partial<RelayTool> = {},
): RelayTool => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object' },
  handler,
  ...more,
});
const soon = (): number => Date.now() + 30_000;

let relay: FakeRelay;
let statuses: RelayStatusEvent[];
let connections: RelayConnection[];

beforeEach(async () => {
  relay = await fakeRelay();
  statuses = [];
  connections = [];
});
afterEach(async () => {
  for (const connection of connections) await connection.close();
  await relay.close();
  expect(
    JSON.stringify([
      statuses,
      relay.seen.map(({ query, path, body }) => [path, String(query), body]),
    ]),
  ).not.toContain(token);
});

async function connect(options: Partial<RelayClientOptions> = {}): Promise<RelayConnection> {
  const connection = await connectRelay({
    url: relay.url,
    code,
    token,
    tools: [tool('a')],
    transport: 'sse',
    // Not a number that chance gives: it makes the first waits 10 ms, 20 ms.
    random: () => -1.48,
    onStatus: (event) => statuses.push(event),
    ...options,
  });
  connections.push(connection);
  return connection;
}
const answers = (): unknown[] => relay.of('/response').map(({ body }) => body);
const request = (id: string, name = 'a', args: object = {}, more: object = {}): void =>
  relay.send('tool-request', {
    requestId: id,
    tool: name,
    args,
    deadline: soon(),
    attempt: 1,
    ...more,
  });

describe('connecting', () => {
  test('registers the tools, then opens the stream, with the token in the header', async () => {
    const connection = await connect({
      pluginType: 'codap',
      pluginVersion: '2.1',
      capabilities: [{ type: 'storage' }],
      environment: { version: '3' },
      constraints: { max: 5 },
    });
    expect(relay.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /register-tools',
      'GET /stream',
    ]);
    expect(relay.seen[0]?.body).toEqual({
      pluginType: 'codap',
      pluginVersion: '2.1',
      capabilities: [{ type: 'storage' }],
      environment: { version: '3' },
      constraints: { max: 5 },
      availableTools: [{ name: 'a', description: 'Does a.', parameters: { type: 'object' } }],
    });
    expect(relay.seen.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${token}`,
      `Bearer ${token}`,
    ]);
    expect(relay.seen[1]?.query.get('client')).toMatch(/^[0-9a-f]{32}$/);
    expect([connection.status, connection.transport, connection.failed]).toEqual([
      'connected',
      'sse',
      [],
    ]);
    expect(statuses).toEqual([
      { status: 'connecting' },
      { status: 'connecting', failedTools: [] },
      { status: 'connected', transport: 'sse' },
    ]);
  });

  test.each(['', '/', '/api/sessions', '/api/sessions/'])(
    'takes the relay at its base URL followed by "%s"',
    async (end) => {
      await connect({ url: `${relay.url}${end}` });
      expect(relay.of('/register-tools')).toHaveLength(1);
    },
  );

  test('without tools registers nothing until there are some', async () => {
    const connection = await connect({ tools: [] });
    expect(relay.of('/register-tools')).toEqual([]);
    await connection.update([tool('b')]);
    expect(relay.of('/register-tools')[0]?.body.availableTools).toMatchObject([{ name: 'b' }]);
  });

  test('says which tools the relay did not take', async () => {
    const failedTools = [{ toolName: 'b', error: 'no such schema', recoverable: false }];
    relay.reply('POST /register-tools', { status: 201, body: { success: true, failedTools } });
    const connection = await connect({ tools: [tool('a'), tool('b')] });
    expect(connection.failed).toEqual(failedTools);
    expect(statuses).toContainEqual({ status: 'connecting', failedTools });
  });

  test.each([
    [400, 'invalid_session_code'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'session_not_found'],
    [410, 'session_expired'],
    [413, 'payload_too_large'],
    [422, 'registration_failed'],
  ])('rejects when the relay answers %i', async (status, error) => {
    relay.reply('POST /register-tools', {
      status,
      body: { error, message: `No, ${token}.`, code: error },
    });
    const refused = await connect().catch((thrown: unknown) => thrown);
    expect(isRelayClientError(refused) && { ...refused, message: refused.message }).toMatchObject({
      code: error,
      status,
      message: 'No, ***.',
    });
    expect(statuses.at(-1)).toMatchObject({ status: 'closed', reason: error, error: { status } });
    expect(relay.seen).toHaveLength(1);
  });

  test('tries again while that can help, and says so', async () => {
    relay.reply(
      'POST /register-tools',
      { status: 503, body: { error: 'store_unavailable', message: 'Later.' } },
      { status: 200, body: '<html>login</html>' },
    );
    await connect({ random: () => 0 });
    expect(statuses.slice(1, 3)).toMatchObject([
      { status: 'connecting', error: { code: 'store_unavailable' }, retryInMs: 750 },
      { status: 'connecting', error: { code: 'invalid_answer' }, retryInMs: 1500 },
    ]);
  });

  test('is given up by the signal, with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const pending = connect({
      url: 'http://127.0.0.1:1',
      signal: controller.signal,
      random: () => 0.5,
    });
    await vi.waitFor(() =>
      expect(statuses).toMatchObject([{}, { error: { code: 'network_error' } }]),
    );
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    expect(statuses.at(-1)).toEqual({ status: 'closed', reason: 'close' });
    await expect(connect({ signal: controller.signal })).rejects.toBe(reason);
  });

  test.each<[string, Partial<RelayClientOptions>]>([
    ['url', { url: 'nowhere' }],
    ['url', { url: 'ftp://x' }],
    ['url', { url: 'http://user:pass@x' }],
    ['code', { code: '' }],
    ['code', { code: 'a/b' }],
    ['token', { token: '' }],
    ['token', { token: `${token}\n` }],
    ['transport', { transport: 'pigeon' as never }],
    ['WebSocket', { transport: 'websocket', WebSocket: null as never }],
    ['tools', { tools: null as never }],
    ['capabilities', { capabilities: {} as never }],
    ['environment', { environment: { n: 1n } }],
    ['constraints', { constraints: [] }],
    ['constraints', { constraints: 'five' as never }],
    ['constraints', { constraints: { n: 1n } }],
  ])('rejects a wrong %s before anything is sent', async (name, options) => {
    vi.stubGlobal('WebSocket', undefined);
    await expect(connect(options)).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining(name),
    });
    expect(relay.seen).toEqual([]);
  });
});

describe('a call', () => {
  test('runs its handler and is answered', async () => {
    const contexts: object[] = [];
    await connect({
      tools: [
        tool('add', ({ a, b }: { a: number; b: number }, context) => {
          contexts.push(context);
          return { sum: a + b };
        }),
      ],
    });
    request('r1', 'add', { a: 1, b: 2 }, { attempt: 3 });
    await vi.waitFor(() => expect(answers()).toEqual([{ requestId: 'r1', result: { sum: 3 } }]));
    expect(contexts).toEqual([
      {
        requestId: 'r1',
        signal: expect.any(AbortSignal),
        deadline: expect.any(Number),
        attempt: 3,
        progress: expect.any(Function),
      },
    ]);
    expect(Math.abs((contexts[0] as { deadline: number }).deadline - soon())).toBeLessThan(5000);
  });

  test('answers what its handler throws, and what there is no tool for', async () => {
    await connect({
      tools: [
        tool('a', () => {
          throw new Error('no disk');
        }),
        tool('b', () => Promise.reject(new Error('no net'))),
      ],
    });
    for (const name of ['a', 'b', 'toString']) request(name, name);
    await vi.waitFor(() => expect(answers()).toHaveLength(3));
    expect(answers()).toEqual(
      expect.arrayContaining([
        { requestId: 'a', error: { message: 'no disk' } },
        { requestId: 'b', error: { message: 'no net' } },
        {
          requestId: 'toString',
          error: { message: 'This application has no tool called "toString" now.' },
        },
      ]),
    );
  });

  test('that is delivered again runs once, and is answered the same again', async () => {
    const handler = vi.fn(() => ({ n: Math.random() }));
    await connect({ tools: [tool('a', handler)] });
    request('r');
    await vi.waitFor(() => expect(answers()).toHaveLength(1));
    request('r', 'a', {}, { attempt: 2 });
    await vi.waitFor(() => expect(answers()).toHaveLength(2));
    expect(answers()[1]).toEqual(answers()[0]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test('that is cancelled has its signal aborted, and no answer', async () => {
    const reasons: unknown[] = [];
    await connect({
      tools: [
        tool(
          'slow',
          (_, { signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                reasons.push(signal.reason);
                reject(signal.reason);
              });
            }),
        ),
        tool('a'),
      ],
    });
    request('r', 'slow');
    relay.send('tool-cancel', { requestId: 'r', reason: 'timeout' });
    await vi.waitFor(() => expect(reasons).toMatchObject([{ code: 'cancelled' }]));
    request('r', 'slow');
    request('after');
    await vi.waitFor(() => expect(answers()).toMatchObject([{ requestId: 'after' }]));
    expect(reasons).toHaveLength(1);
  });

  test('whose answer is not taken is answered again until it is', async () => {
    await connect();
    relay.reply(
      'POST /response',
      { status: 503, body: {} },
      { status: 429, body: {}, headers: { 'retry-after': '0' } },
    );
    request('r');
    await vi.waitFor(() => expect(answers()).toHaveLength(3));
  });

  test('whose answer is refused for good is left, and said', async () => {
    await connect();
    relay.reply('POST /response', {
      status: 404,
      body: { error: 'request_not_found', message: 'Which?' },
    });
    request('r');
    await vi.waitFor(() =>
      expect(statuses.at(-1)).toMatchObject({
        status: 'connected',
        error: { code: 'request_not_found' },
      }),
    );
    expect(answers()).toHaveLength(1);
  });
});

describe('a connection that breaks', () => {
  test('is made again, from where it was, as the same client', async () => {
    const connection = await connect();
    relay.send('tool-availability-update', {}, 41);
    request('r');
    await vi.waitFor(() => expect(answers()).toHaveLength(1));
    relay.cut();
    await vi.waitFor(() => expect(relay.of('/stream')).toHaveLength(2));
    const [first, second] = relay.of('/stream');
    expect([first?.headers['last-event-id'], second?.headers['last-event-id']]).toEqual([
      undefined,
      '41',
    ]);
    expect(second?.query.get('client')).toBe(first?.query.get('client'));
    await vi.waitFor(() => expect(connection.status).toBe('connected'));
    // The last one is for the registration, which is made again.
    await vi.waitFor(() =>
      expect(statuses.map(({ status }) => status)).toEqual([
        'connecting',
        'connecting',
        'connected',
        'reconnecting',
        'connected',
        'connected',
      ]),
    );
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>, number]>([
    ['registers again where the relay does not say what it has', {}, {}, 2],
    [
      'registers again where the relay has something else',
      { toolsRevision: 1 },
      { toolsRevision: 0 },
      2,
    ],
    [
      'does not where the relay has what was registered',
      { toolsRevision: 1 },
      { toolsRevision: 1 },
      1,
    ],
  ])('%s', async (_, before, after, registrations) => {
    relay.connected = before;
    const connection = await connect();
    relay.connected = after;
    relay.cut();
    await vi.waitFor(() => expect(relay.of('/stream')).toHaveLength(2));
    await vi.waitFor(() => expect(connection.status).toBe('connected'));
    await vi.waitFor(() => expect(relay.of('/register-tools')).toHaveLength(registrations));
    // Whatever was asked for before this has been answered.
    await connection.update([tool('z')]);
    expect(relay.of('/register-tools')).toHaveLength(registrations);
  });

  test('is over for good when the session is', async () => {
    const connection = await connect();
    relay.reply('GET /stream', {
      status: 410,
      body: { error: 'session_expired', message: 'Session has expired' },
    });
    relay.cut();
    await vi.waitFor(() => expect(connection.status).toBe('closed'));
    expect(statuses.at(-1)).toMatchObject({
      status: 'closed',
      reason: 'session_expired',
      error: { status: 410 },
    });
    await expect(connection.update([])).rejects.toMatchObject({ code: 'session_expired' });
  });

  test.each(['replaced', 'session_closed', 'session_expired'])(
    'is over for good at a goodbye that says %s',
    async (reason) => {
      const connection = await connect();
      relay.send('goodbye', { reason, reconnect: false });
      await vi.waitFor(() => expect(connection.status).toBe('closed'));
      expect(statuses.at(-1)).toMatchObject({ status: 'closed', reason });
      await vi.waitFor(() => expect(relay.streams).toBe(0));
      expect(relay.of('/stream')).toHaveLength(1);
    },
  );

  test('comes back when a goodbye says so', async () => {
    await connect();
    relay.send('goodbye', { reason: 'shutdown', reconnect: true, retryMs: 5 });
    await vi.waitFor(() => expect(relay.of('/stream')).toHaveLength(2));
    expect(statuses).toContainEqual(
      expect.objectContaining({ status: 'reconnecting', retryInMs: 5 }),
    );
  });

  test('forgets an event id that the relay cannot place', async () => {
    await connect();
    relay.send('tool-availability-update', {}, 41);
    await vi.waitFor(() => expect(relay.streams).toBe(1));
    relay.reply('GET /stream', { status: 400, body: { error: 'invalid_event_id', message: '?' } });
    relay.cut();
    await vi.waitFor(() => expect(relay.of('/stream')).toHaveLength(3));
    expect(relay.of('/stream')[2]?.headers['last-event-id']).toBeUndefined();
  });
});

describe('an update', () => {
  test('sends the difference, or nothing', async () => {
    const connection = await connect({ tools: [tool('a'), tool('b'), tool('c')] });
    await connection.update(
      [tool('b'), tool('c', () => 0, { title: 'C' }), tool('d')],
      'document opened',
    );
    await connection.update([tool('d'), tool('c', () => 0, { title: 'C' }), tool('b')]);
    expect(relay.of('/update-tools').map(({ body }) => body)).toEqual([
      {
        added: [expect.objectContaining({ name: 'd' })],
        removed: ['a'],
        modified: [expect.objectContaining({ title: 'C' })],
        reason: 'document opened',
      },
    ]);
  });

  test('that is overtaken is not sent, and resolves with the one that was', async () => {
    const connection = await connect();
    await Promise.all([
      connection.update([tool('b')]),
      connection.update([tool('c')]),
      connection.update([tool('d')]),
    ]);
    expect(relay.of('/update-tools').map(({ body }) => [body.added, body.removed])).toMatchObject([
      [[{ name: 'b' }], ['a']],
      [[{ name: 'd' }], ['b']],
    ]);
  });

  test('waits out a limit', async () => {
    const connection = await connect();
    relay.reply('POST /update-tools', {
      status: 429,
      body: { error: 'rate_limit_exceeded', message: 'Slow down.' },
      headers: { 'retry-after': '1' },
    });
    await connection.update([tool('b')]);
    expect(relay.of('/update-tools')).toHaveLength(2);
    expect(statuses).toContainEqual(
      expect.objectContaining({
        status: 'connected',
        error: expect.objectContaining({ status: 429 }),
        retryInMs: 1000,
      }),
    );
  });

  test('registers in full where the relay has no registration any more', async () => {
    const connection = await connect();
    relay.reply('POST /update-tools', {
      status: 409,
      body: { error: 'no_tools_registered', message: '' },
    });
    await connection.update([tool('b')]);
    expect(relay.of('/register-tools')).toHaveLength(2);
  });

  test('that is refused rejects, and leaves what was', async () => {
    const connection = await connect();
    relay.reply('POST /update-tools', { status: 413, body: { error: 'too_large', message: '' } });
    await expect(connection.update([tool('b')])).rejects.toMatchObject({ code: 'too_large' });
    await connection.update([tool('a'), tool('c')]);
    expect(relay.of('/update-tools')[1]?.body).toMatchObject({
      added: [{ name: 'c' }],
      removed: [],
      modified: [],
    });
    await expect(connection.update([tool('')])).rejects.toMatchObject({ code: 'invalid_options' });
  });

  test('brings its handlers; a removed tool can be called until the relay knows', async () => {
    const connection = await connect({ tools: [tool('a', () => 1), tool('b', () => 2)] });
    const updated = connection.update([tool('a', () => 3)]);
    request('during', 'b');
    await updated;
    await vi.waitFor(() => expect(answers()).toHaveLength(1));
    request('new', 'a');
    request('gone', 'b');
    await vi.waitFor(() => expect(answers()).toHaveLength(3));
    expect(answers()).toEqual(
      expect.arrayContaining([
        { requestId: 'new', result: 3 },
        expect.objectContaining({ requestId: 'gone', error: expect.anything() }),
      ]),
    );
  });
});

describe('polling', () => {
  test('brings calls, one request after the other, after the last id', async () => {
    const connection = await connect({ transport: 'poll' });
    expect(connection.transport).toBe('poll');
    relay.send(
      'tool-request',
      { requestId: 'r', tool: 'a', args: {}, deadline: soon(), attempt: 1 },
      7,
    );
    await vi.waitFor(() => expect(answers()).toEqual([{ requestId: 'r', result: 'a' }]));
    await vi.waitFor(() => expect(relay.of('/stream')).toHaveLength(2));
    expect(relay.of('/stream').map(({ query }) => [query.get('mode'), query.get('after')])).toEqual(
      [
        ['poll', null],
        ['poll', '7'],
      ],
    );
  });

  test('does not hammer a relay that answers at once', async () => {
    relay.reply(
      'GET /stream',
      ...Array.from({ length: 50 }, () => ({ status: 200, body: { events: [] } })),
    );
    await connect({ transport: 'poll' });
    await vi.waitFor(() => expect(relay.of('/stream').length).toBeGreaterThan(1));
    expect(relay.of('/stream').length).toBeLessThan(4);
  });

  test('is what is left when streams do not come through', async () => {
    // Later versions of Node have one.
    vi.stubGlobal('WebSocket', undefined);
    relay.reply(
      'GET /stream',
      { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } },
      { status: 200, body: '' },
    );
    const connection = await connect({ transport: 'auto' });
    expect(connection.transport).toBe('poll');
  });
});

describe('closing', () => {
  test('ends the stream, aborts what runs, and sends nothing more', async () => {
    const signals: AbortSignal[] = [];
    const connection = await connect({
      tools: [tool('a', (_, { signal }) => new Promise(() => signals.push(signal)))],
    });
    request('r');
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    const count = relay.seen.length;
    await connection.close();
    await connection.close();
    expect([signals[0]?.aborted, connection.status, connection.transport]).toEqual([
      true,
      'closed',
      undefined,
    ]);
    await vi.waitFor(() => expect(relay.streams).toBe(0));
    expect(relay.seen).toHaveLength(count);
    expect(statuses.filter(({ status }) => status === 'closed')).toEqual([
      { status: 'closed', reason: 'close' },
    ]);
  });

  test('deletes the session where that is wanted', async () => {
    const connection = await connect();
    await connection.close({ deleteSession: true });
    expect(relay.seen.at(-1)).toMatchObject({ method: 'DELETE', path: '' });
    relay.reply(
      'DELETE ',
      { status: 404, body: { error: 'session_not_found' } },
      { status: 403, body: { error: 'forbidden' } },
    );
    await connection.close({ deleteSession: true });
    await expect(connection.close({ deleteSession: true })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  test('comes with the scope of `await using`', async () => {
    const connection = await connect();
    await connection[Symbol.asyncDispose]();
    expect(connection.status).toBe('closed');
  });
});

test('listeners that throw or reject break nothing', async () => {
  const connection = await connect({
    onStatus: () => {
      throw new Error('mine');
    },
    onToolsChanged: (async () => Promise.reject(new Error('mine'))) as () => void,
  });
  relay.send('tool-availability-update', { reason: 'x' }, 1);
  request('r');
  await vi.waitFor(() => expect(answers()).toHaveLength(1));
  expect(connection.status).toBe('connected');
});

test('what the relay sends is read with care', async () => {
  const connection = await connect();
  for (const data of [
    'null',
    '[]',
    '{',
    '1',
    '{"requestId":1}',
    '{"requestId":"x"}',
    '{"tool":"a"}',
  ])
    relay.raw(`event: tool-request\ndata: ${data}\n\n`);
  relay.raw(
    'event: response-stored\ndata: {}\n\nevent: __proto__\ndata: {}\n\nevent: ' +
      'tool-cancel\ndata: {}\n\n',
  );
  relay.raw('event: tool-request\ndata: {"requestId":"r","tool":"a","args":[],"deadline":"x"}\n\n');
  await vi.waitFor(() => expect(answers()).toEqual([{ requestId: 'r', result: 'a' }]));
  expect(connection.status).toBe('connected');
});
