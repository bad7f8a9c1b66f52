import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import {
  defineTool,
  type HostToolRegistry,
  isMisuseError,
  type ToolSession,
} from '../../../../src/index.ts';
import {
  createMcpHandler,
  type McpCaller,
  type McpEventStore,
  type McpHandlerOptions,
  type McpSource,
  toNodeListener,
} from '../../../../src/surfaces/mcp/index.ts';
import { loadSdk } from '../../../../src/surfaces/mcp/server/sdk.ts';
import {
  answerOf,
  anything,
  connectClient,
  eras,
  initialize,
  initializeParams,
  jsonHeaders,
  listen,
  opened,
  post,
  raw,
  sampleRegistry,
  signal,
  sse,
} from './kit.ts';

const open = opened();
afterEach(() => open.close());

function handlerOf(
  options: McpHandlerOptions = {},
  registry = sampleRegistry(),
  source: McpSource = registry.createSession({ sessionId: 's' }),
) {
  const handler = createMcpHandler(source, options);
  open.defer(async () => {
    await handler.close();
    await registry.close();
  });
  return handler;
}

const initializeBody = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams };
const list = (id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'tools/list' });
const call = (id: unknown, name: string, input: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: input },
});
const codeOf = (answer: unknown) => (answer as { error?: { code?: number } }).error?.code;
const toolCode = (answer: unknown) =>
  (answer as { result?: { _meta?: Record<string, { code?: string }> } }).result?._meta?.[
    'host-tools/error'
  ]?.code;

/** Tools that wait until they are told. */
function waiting(registry: HostToolRegistry) {
  const started = signal();
  const release = signal<string>();
  registry.register(
    defineTool({
      name: 'waits',
      description: 'Waits.',
      parameters: anything,
      parallelSafe: true,
      handler: () => {
        started.resolve();
        return release.promise;
      },
    }),
  );
  return { started: started.promise, release: release.resolve };
}

describe('the door', () => {
  test.each([
    ['a foreign Host', { host: 'evil.com' }, 403],
    ['a foreign Host with a loopback port', { host: 'evil.com:80' }, 403],
    ['a Host that begins like ours', { host: 'localhost.evil.com' }, 403],
    ['a Host with a user part', { host: 'localhost@evil.com' }, 403],
    ['an empty Host', { host: ' ' }, 403],
    ['Origin null', { origin: 'null' }, 403],
    ['a foreign Origin', { origin: 'https://evil.com' }, 403],
    ['a file as Origin', { origin: 'file://' }, 403],
    ['an extension as Origin', { origin: 'chrome-extension://localhost' }, 403],
    ['no Origin', {}, 200],
    ['a loopback Host', { host: 'LOCALHOST:1234' }, 200],
    ['an IPv6 loopback Host', { host: '[::1]:1234' }, 200],
    ['a loopback Origin', { origin: 'http://127.0.0.1:5173' }, 200],
  ])('%s: %j is %i', async (_title, headers, status) => {
    const response = await handlerOf().fetch(post(initializeBody, headers));
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    await response.body?.cancel();
  });

  test(
    'hosts and origins that the host names are let in, with CORS for the origins; the loopback ' +
      'is then no exception',
    async () => {
      const handler = handlerOf({
        allowedHosts: ['mcp.example.com'],
        allowedOrigins: ['https://app.example.com'],
      });
      const headers = { host: 'mcp.example.com', origin: 'https://app.example.com' };
      const response = await handler.fetch(post(initializeBody, headers));
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
        200,
        'https://app.example.com',
      ]);
      await response.body?.cancel();
      const asked = await handler.fetch(
        new Request('http://127.0.0.1/mcp', { method: 'OPTIONS', headers }),
      );
      expect([asked.status, asked.headers.get('access-control-allow-methods')]).toEqual([
        204,
        'GET, POST, DELETE',
      ]);
      expect((await handler.fetch(post(initializeBody, { host: 'localhost' }))).status).toBe(403);
      expect(
        (await handler.fetch(post(initializeBody, { ...headers, origin: 'http://localhost' })))
          .status,
      ).toBe(403);
    },
  );

  test.each([
    ['text/plain', '{}', 415, -32_000],
    ['application/x-www-form-urlencoded', 'a=b', 415, -32_000],
    ['application/json', '{"jsonrpc":', 400, -32_700],
    ['application/json', '', 400, -32_700],
    ['application/json', 'null', 400, -32_600],
    ['application/json', '[]', 400, -32_600],
    ['application/json', '{}', 400, -32_600],
    ['application/json', '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32_600],
    ['application/json', '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32_600],
    ['application/json', '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32_600],
    ['application/json', '{"jsonrpc":"2.0","id":1,"method":7}', 400, -32_600],
    ['application/json', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', 400, -32_600],
    ['application/json', '{"jsonrpc":"2.0","id":1,"method":"initialize"}', 400, -32_602],
    ['application/json', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 400, -32_000],
    ['application/json', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 400, -32_600],
  ])('%s %s is %i with %i', async (type, body, status, code) => {
    const response = await handlerOf().fetch(post(body, { 'Content-Type': type }));
    expect(response.status).toBe(status);
    expect(codeOf(await response.json())).toBe(code);
  });

  test.each(['PUT', 'PATCH', 'HEAD', 'OPTIONS'])('%s is 405', async (method) => {
    const response = await handlerOf().fetch(new Request('http://127.0.0.1/mcp', { method }));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
  });

  test('a body over 4 MB is 413, declared or not, over a real socket too', async () => {
    const registry = sampleRegistry();
    open.defer(() => registry.close());
    const { handler, port } = await listen(open, registry.createSession({ sessionId: 's' }));
    const big = `"${'x'.repeat(4 * 1_048_576)}"`;
    expect((await handler.fetch(post(big))).status).toBe(413);
    const type = 'Content-Type: application/json';
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${type}\r\n`;
    expect(
      await raw(port, `${head}Content-Length: 5000000\r\n\r\n`, (text) =>
        text.includes('\r\n\r\n'),
      ),
    ).toMatch(/^HTTP\/1\.1 413 /);
    const chunk = `${(1_048_576).toString(16)}\r\n${'x'.repeat(1_048_576)}\r\n`;
    expect(
      await raw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}`, (text) =>
        text.includes('\r\n\r\n'),
      ),
    ).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([
    ['a request line that is none', 'NONSENSE\r\n\r\n', 400],
    [
      'a foreign Host',
      'POST /mcp HTTP/1.1\r\nHost: evil.com\r\nContent-Type: ' +
        'application/json\r\nContent-Length: 2\r\n\r\n{}',
      403,
    ],
    [
      'no Host',
      'POST /mcp HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
      400,
    ],
    [
      'a target that is no path',
      'POST http://evil.com/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ' +
        'text/plain\r\nContent-Length: 2\r\n\r\n{}',
      415,
    ],
    [
      'JSON that is cut off',
      'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ' +
        'application/json\r\nContent-Length: 5\r\n\r\n{"a":',
      400,
    ],
    [
      'bytes that are no UTF-8',
      'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ' +
        'application/json\r\nContent-Length: 3\r\n\r\n"\xff"',
      400,
    ],
  ])('over a socket, %s is answered with a 4xx', async (_title, bytes, status) => {
    const registry = sampleRegistry();
    open.defer(() => registry.close());
    const { port } = await listen(open, registry.createSession({ sessionId: 's' }));
    expect(
      await raw(port, Buffer.from(bytes, 'latin1'), (text) => text.includes('\r\n\r\n')),
    ).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test(
    'a stranger is 401 with a challenge, and so is whoever the check fails on; a principal ' +
      'reaches the source',
    async () => {
      const seen: McpCaller[] = [];
      const registry = sampleRegistry();
      const source = (caller: McpCaller): ToolSession => {
        seen.push(caller);
        return registry.createSession({
          sessionId: 's',
          ...(caller.principal === undefined ? {} : { principal: caller.principal }),
        });
      };
      const tokens = new Map([['Bearer good', 'ann']]);
      const authenticate = ({ headers }: Request) => {
        const token = headers.get('authorization');
        if (token === 'Bearer boom') throw new Error('the directory is down');
        return tokens.get(token ?? '');
      };
      const handler = handlerOf({ authenticate }, registry, source);
      for (const [token, challenge] of [
        [undefined, 'Bearer'],
        ['Bearer bad', 'Bearer error="invalid_token"'],
        ['Bearer boom', 'Bearer error="invalid_token"'],
      ] as const) {
        const response = await handler.fetch(
          post(initializeBody, token === undefined ? {} : { authorization: token }),
        );
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([
          401,
          challenge,
        ]);
      }
      await initialize(handler, { authorization: 'Bearer good' });
      expect(seen).toMatchObject([{ principal: 'ann', era: 'legacy' }]);
    },
  );
});

describe('MCP sessions', () => {
  test("another principal's session, an unknown one and an ended one are all 404", async () => {
    const handler = handlerOf({ authenticate: ({ headers }) => headers.get('x-who') ?? undefined });
    const id = await initialize(handler, { 'x-who': 'ann' });
    const ask = async (who: string, session: string) =>
      (await handler.fetch(post(list(), { 'x-who': who, 'mcp-session-id': session }))).status;
    expect([
      await ask('ann', id),
      await ask('bob', id),
      await ask('ann', 'guessed'),
      await ask('ann', '__proto__'),
    ]).toEqual([200, 404, 404, 404]);
    const end = await handler.fetch(
      new Request('http://127.0.0.1/mcp', {
        method: 'DELETE',
        headers: { 'x-who': 'ann', 'mcp-session-id': id },
      }),
    );
    expect([end.status, await ask('ann', id)]).toEqual([200, 404]);
  });

  test('an unknown method is -32601, wrong parameters are -32602', async () => {
    const handler = handlerOf();
    const headers = { 'mcp-session-id': await initialize(handler) };
    const ask = async (method: string, params: object) =>
      codeOf(
        await answerOf(
          await handler.fetch(post({ jsonrpc: '2.0', id: method, method, params }, headers)),
        ),
      );
    expect(await ask('tools/destroy', {})).toBe(-32_601);
    expect(await ask('resources/list', {})).toBe(-32_601);
    expect(await ask('tools/call', { name: 7 })).toBe(-32_602);
    expect(await ask('tools/call', { name: 'echo', arguments: [1] })).toBe(-32_602);
    expect(await ask('tools/list', { cursor: 7 })).toBe(-32_602);
    expect(await ask('logging/setLevel', { level: 'loud' })).toBe(-32_602);
  });

  test(
    'a second request with an id that is in flight is answered at once, the first gets its own ' +
      'answer, and nothing runs twice',
    async () => {
      const registry = sampleRegistry();
      const { started, release } = waiting(registry);
      const handler = handlerOf({}, registry);
      const headers = { 'mcp-session-id': await initialize(handler) };
      const first = await handler.fetch(post(call(7, 'waits'), headers));
      await started;
      const second = await answerOf(await handler.fetch(post(call(7, 'waits'), headers)));
      expect(toolCode(second)).toBe('duplicate_call_id');
      expect(codeOf(await answerOf(await handler.fetch(post(list(7), headers))))).toBe(-32_600);
      release('first');
      expect(await answerOf(first)).toMatchObject({
        id: 7,
        result: { content: [{ text: 'first' }] },
      });
      expect(toolCode(await answerOf(await handler.fetch(post(call(7, 'nope'), headers))))).toBe(
        'tool_not_found',
      );
    },
  );

  test('a cancelled call frees its stream and its id', async () => {
    const registry = sampleRegistry();
    const { started } = waiting(registry);
    const handler = handlerOf({}, registry);
    const headers = { 'mcp-session-id': await initialize(handler) };
    const stream = await handler.fetch(post(call(7, 'waits'), headers));
    await started;
    await handler.fetch(
      post(
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } },
        headers,
      ),
    );
    const events = [];
    for await (const { message } of sse(stream)) if (message !== undefined) events.push(message);
    expect(events).toEqual([]);
    expect(
      await answerOf(await handler.fetch(post(call(7, 'echo', { text: 'again' }), headers))),
    ).toMatchObject({ result: { content: [{ text: 'again' }] } });
  });

  test('a batch is answered in the one version with batches, and refused in others', async () => {
    const handler = handlerOf();
    const batch = [
      list(1),
      call(2, 'echo', { text: 'x' }),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
    ];
    const now = await handler.fetch(post(batch, { 'mcp-session-id': await initialize(handler) }));
    expect([now.status, codeOf(await now.json())]).toEqual([400, -32_600]);
    const headers = { 'mcp-session-id': await initialize(handler, {}, '2025-03-26') };
    const then = await handler.fetch(post(batch, headers));
    const ids = [];
    for await (const { message } of sse(then)) if (message?.id !== undefined) ids.push(message.id);
    expect(ids.sort()).toEqual([1, 2]);
    expect(codeOf(await (await handler.fetch(post([list(1), list(1)], headers))).json())).toBe(
      -32_600,
    );
  });

  test('they end when they are idle, and their own sessions are closed', async () => {
    const registry = sampleRegistry();
    const ended = signal();
    registry.events.on('session:end', () => ended.resolve());
    const handler = handlerOf({ sessionIdleMs: 20 }, registry, () =>
      registry.createSession({ sessionId: 's' }),
    );
    const id = await initialize(handler);
    await ended.promise;
    expect((await handler.fetch(post(list(), { 'mcp-session-id': id }))).status).toBe(404);
  });

  test('over the limit of sessions the next is 503 while all others are in use', async () => {
    const handler = handlerOf({ maxSessions: 2 });
    await initialize(handler);
    const id = await initialize(handler);
    const response = await handler.fetch(post(initializeBody));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
    await handler.fetch(
      new Request('http://127.0.0.1/mcp', { method: 'DELETE', headers: { 'mcp-session-id': id } }),
    );
    expect(await initialize(handler)).toMatch(/^[\w-]{32}$/);
  });
});

test('a stream begins at once: the headers come before any message', async () => {
  const stream = new Response(new ReadableStream(), {
    headers: { 'Content-Type': 'text/event-stream' },
  });
  const server = createServer(toNodeListener({ fetch: async () => stream }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.defer(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/mcp`);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  await response.body?.cancel();
});

describe('a stream that was cut', () => {
  /** A call whose stream is cut once it has begun, and its first event's id. */
  async function cutCall(options: McpHandlerOptions = {}) {
    const registry = sampleRegistry();
    const { started, release } = waiting(registry);
    const handler = handlerOf(options, registry);
    const id = await initialize(handler);
    const headers = { ...jsonHeaders, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
    const stream = await handler.fetch(post(call(7, 'waits'), headers));
    let first: string | undefined;
    // Leaving the loop cancels the stream, as a client that goes away does.
    for await (const event of sse(stream)) {
      first = event.id;
      break;
    }
    await started;
    const resume = (lastEventId: string, session = id) =>
      handler.fetch(
        new Request('http://127.0.0.1/mcp', {
          headers: {
            Accept: 'text/event-stream',
            'mcp-session-id': session,
            'last-event-id': lastEventId,
          },
        }),
      );
    return { handler, release, first: first as string, resume };
  }

  test('its answer is fetched by Last-Event-ID, whether it is early or late', async () => {
    const { release, first, resume } = await cutCall();
    const before = await resume(first);
    release('survived');
    expect(await answerOf(before)).toMatchObject({
      id: 7,
      result: { content: [{ text: 'survived' }] },
    });
    const after = await resume(first);
    expect(await answerOf(after)).toMatchObject({
      id: 7,
      result: { content: [{ text: 'survived' }] },
    });
  });

  test.each(['999999', '-1', '__proto__', 'x'.repeat(10_000), '1 OR 1=1'])(
    'an event id that nobody knows is 4xx: %s',
    async (lastEventId) => {
      const { resume, release } = await cutCall();
      const response = await resume(lastEventId);
      expect(response.status).toBe(400);
      release('');
    },
  );

  test("a host's store is used, and one session's events do not exist for another", async () => {
    const kept: { id: string; stream: string; message: unknown }[] = [];
    const eventStore: McpEventStore = {
      async storeEvent(stream, message) {
        const id = String(kept.length);
        kept.push({ id, stream, message });
        return id;
      },
      async replayEventsAfter(lastEventId, { send }) {
        const from = kept.find(({ id }) => id === lastEventId);
        if (from === undefined) throw new Error('unknown');
        for (const { id, stream, message } of kept.slice(kept.indexOf(from) + 1))
          if (stream === from.stream) await send(id, message as never);
        return from.stream;
      },
    };
    const { handler, release, first, resume } = await cutCall({ eventStore });
    const other = await initialize(handler);
    expect((await resume(first, other)).status).toBe(400);
    expect((await resume('12345')).status).toBe(400);
    release('kept');
    expect(await answerOf(await resume(first))).toMatchObject({
      id: 7,
      result: { content: [{ text: 'kept' }] },
    });
  });

  test('a store that fails costs the resume and not the answer', async () => {
    const errors: unknown[] = [];
    const down = async (): Promise<never> => {
      throw new Error('down');
    };
    const handler = handlerOf({
      eventStore: { storeEvent: down, replayEventsAfter: down, getStreamIdForEventId: down },
      onError: (error) => errors.push(error),
    });
    const headers = { 'mcp-session-id': await initialize(handler) };
    expect(
      await answerOf(await handler.fetch(post(call(1, 'echo', { text: 'x' }), headers))),
    ).toMatchObject({ result: { content: [{ text: 'x' }] } });
    expect(errors.length).toBeGreaterThan(0);
  });
});

describe('closing', () => {
  test('ends calls in flight, closes its sessions, and refuses later requests', async () => {
    const registry = sampleRegistry();
    const { started } = waiting(registry);
    const made: ToolSession[] = [];
    const handler = createMcpHandler(() => {
      const session = registry.createSession({ sessionId: `s${made.length}` });
      made.push(session);
      return session;
    });
    const headers = { 'mcp-session-id': await initialize(handler) };
    const stream = await handler.fetch(post(call(1, 'waits'), headers));
    await started;
    await Promise.all([handler.close(), handler.close()]);
    for await (const { message } of sse(stream)) expect(message?.id).toBeUndefined();
    expect((await handler.fetch(post(initializeBody))).status).toBe(503);
    expect(await made[0]?.call('echo', { text: 'x' })).toMatchObject({
      error: { code: 'session_closed' },
    });
    await registry.close();
  });

  test('leaves a session that was given open, and no listener on it', async () => {
    const registry = sampleRegistry();
    const session = registry.createSession({ sessionId: 's' });
    const { url, handler } = await listen(open, session);
    for (const era of eras)
      await (await connectClient(open, url, era)).callTool({
        name: 'echo',
        arguments: { text: 'x' },
      });
    await handler.close();
    expect((session.events as unknown as { size: number }).size).toBe(0);
    expect(await session.call('echo', { text: 'x' })).toMatchObject({ success: true });
    await registry.close();
  });

  test('a modern request has a session of its own, closed with it', async () => {
    const registry = sampleRegistry();
    let live = 0;
    let made = 0;
    registry.events.on('session:end', () => void live--);
    const { url } = await listen(open, () => {
      live++;
      made++;
      return registry.createSession({ sessionId: 's' });
    });
    const client = await connectClient(open, url, 'modern');
    const before = made;
    for (let times = 0; times < 3; times++)
      await client.callTool({ name: 'echo', arguments: { text: 'x' } });
    expect(made).toBe(before + 3);
    await expect.poll(() => live).toBe(0);
    await registry.close();
  });

  test('a source that throws is 500, reported only to the host', async () => {
    const errors: unknown[] = [];
    const handler = createMcpHandler(
      () => {
        throw new Error('secret detail');
      },
      { onError: (error) => errors.push(error) },
    );
    const response = await handler.fetch(post(initializeBody));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret detail');
    expect(errors).toHaveLength(1);
    await handler.close();
  });
});

describe('misuse', () => {
  test.each<[string, () => unknown]>([
    ['no session', () => createMcpHandler(undefined as never)],
    ['an unknown option', () => createMcpHandler(() => undefined as never, { nmae: 'x' } as never)],
    ['an empty name', () => createMcpHandler(() => undefined as never, { name: '' })],
    [
      'an origin that is none',
      () => createMcpHandler(() => undefined as never, { allowedOrigins: ['example.com'] }),
    ],
    [
      'a list that is none',
      () => createMcpHandler(() => undefined as never, { allowedHosts: 'localhost' as never }),
    ],
    ['no sessions', () => createMcpHandler(() => undefined as never, { maxSessions: 0 })],
    [
      'a store that is none',
      () => createMcpHandler(() => undefined as never, { eventStore: {} as never }),
    ],
  ])('%s throws at once', (_title, act) => {
    expect(act).toThrow(expect.objectContaining({ name: 'MisuseError', code: 'invalid_option' }));
  });

  test('a missing package is named with the line that installs it', async () => {
    const error: unknown = await loadSdk(() =>
      Promise.reject(Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' })),
    ).catch((thrown: unknown) => thrown);
    expect(isMisuseError(error) && error.code).toBe('missing_dependency');
    expect(String(error)).toContain('npm install @modelcontextprotocol/server');
  });
});
