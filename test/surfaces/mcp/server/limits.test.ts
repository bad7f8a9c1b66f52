import { createServer as createHttp2Server, connect as http2Connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { defineTool, type ToolSession } from '../../../../src/index.ts';
import {
  createMcpHandler,
  type McpHandler,
  type McpHandlerOptions,
  type NodeRequest,
  type NodeResponse,
  toNodeListener,
} from '../../../../src/surfaces/mcp/index.ts';
import { readHandlerOptions } from '../../../../src/surfaces/mcp/server/options.ts';
import { maxIdLength, readMessage } from '../../../../src/surfaces/mcp/server/rpc.ts';
import { loadSdk } from '../../../../src/surfaces/mcp/server/sdk.ts';
import { createMcpSessions } from '../../../../src/surfaces/mcp/server/sessions.ts';
import { createOwnSessions } from '../../../../src/surfaces/mcp/server/sourced.ts';
import { createPlaces } from '../../../../src/surfaces/mcp/server/wire.ts';
import {
  anything,
  initialize,
  initializeParams,
  jsonHeaders,
  listen,
  opened,
  post,
  raw,
  sampleRegistry,
  sse,
} from './kit.ts';

const open = opened();
afterEach(() => open.close());

const list = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'tools/list' });
const cancel = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
const waits = (id: unknown) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'waits', arguments: {} },
});
const initializeBody = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams };

/** A handler, with a tool that runs until it is cancelled. */
function handlerOf(options: McpHandlerOptions = {}): McpHandler {
  const registry = sampleRegistry();
  registry.register(
    defineTool({
      name: 'waits',
      description: 'Waits.',
      parameters: anything,
      parallelSafe: true,
      handler: (_input, { signal }) =>
        new Promise<string>((resolve) =>
          signal.addEventListener('abort', () => resolve('stopped'), { once: true }),
        ),
    }),
  );
  const handler = createMcpHandler(registry.createSession({ sessionId: 's' }), options);
  open.defer(async () => {
    await handler.close();
    await registry.close();
  });
  return handler;
}

async function answersOf(response: Response): Promise<unknown[]> {
  const ids: unknown[] = [];
  for await (const { message } of sse(response))
    if (message?.id !== undefined) ids.push(message.id);
  return ids.sort();
}

describe('what is in flight', () => {
  test(
    'a batch that cancels what stands in it and answers at once is answered all the same, and ' +
      'its ids are free again',
    async () => {
      const handler = handlerOf();
      const headers = { 'mcp-session-id': await initialize(handler, {}, '2025-03-26') };
      for (let times = 0; times < 2; times++) {
        expect(
          await answersOf(await handler.fetch(post([list('x'), cancel('x')], headers))),
        ).toEqual(['x']);
        expect(
          await answersOf(await handler.fetch(post([cancel('x'), list('x')], headers))),
        ).toEqual(['x']);
      }
      expect((await handler.fetch(post([cancel('x'), cancel('y')], headers))).status).toBe(202);
    },
  );

  test('a batch that cancels a call in it ends the call', async () => {
    const handler = handlerOf();
    const headers = { 'mcp-session-id': await initialize(handler, {}, '2025-03-26') };
    const ids = await answersOf(await handler.fetch(post([waits(1), list(2), cancel(1)], headers)));
    expect(ids).toContain(2);
    expect(await answersOf(await handler.fetch(post([list(1)], headers)))).toEqual([1]);
  });

  test('an id of more than 256 characters is no id', async () => {
    expect(readMessage(list('x'.repeat(maxIdLength)))).toBeDefined();
    expect(readMessage(list('x'.repeat(maxIdLength + 1)))).toBeUndefined();
    expect(
      readMessage({ jsonrpc: '2.0', id: 'x'.repeat(maxIdLength + 1), result: {} }),
    ).toBeUndefined();
    const handler = handlerOf();
    const response = await handler.fetch(
      post(list('x'.repeat(maxIdLength + 1)), { 'mcp-session-id': await initialize(handler) }),
    );
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: -32_600 } },
    ]);
  });

  test(
    'has 1 000 requests at most: those over it get an error each, and what came with them is ' +
      'heard',
    async () => {
      const handler = handlerOf();
      const headers = { 'mcp-session-id': await initialize(handler, {}, '2025-03-26') };
      const running = await handler.fetch(post(waits('call'), headers));
      const lists = Array.from({ length: 1_000 }, (_, index) => list(index));
      const refused = (await (
        await handler.fetch(post([...lists, cancel('call')], headers))
      ).json()) as unknown[];
      expect(refused).toHaveLength(1_000);
      expect(refused[999]).toMatchObject({ id: 999, error: { code: -32_000 } });
      expect(await answersOf(running)).toEqual([]);
      // The package takes 100 messages a batch.
      expect((await handler.fetch(post(lists.slice(1), headers))).status).toBe(400);
      expect(await answersOf(await handler.fetch(post(lists.slice(0, 100), headers)))).toHaveLength(
        100,
      );
    },
  );
});

describe('the host that a request is sent to', () => {
  test('is the authority of HTTP/2, and must be the Host where both are given', async () => {
    const handler = handlerOf();
    const listener = toNodeListener(handler);
    const server = createHttp2Server((request, response) =>
      listener(request as unknown as NodeRequest, response as unknown as NodeResponse),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = http2Connect(`http://127.0.0.1:${port}`);
    open.defer(async () => {
      client.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    const statusOf = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const stream = client.request({
          ':method': 'POST',
          ':path': '/mcp',
          'content-type': 'application/json',
          accept: jsonHeaders.Accept,
          ...headers,
        });
        stream.on('response', ({ ':status': status }) => {
          resolve(status as number);
          stream.close();
        });
        stream.on('error', reject);
        stream.end(JSON.stringify(initializeBody));
      });
    expect(await statusOf({})).toBe(200);
    expect(await statusOf({ ':authority': 'evil.com' })).toBe(403);
    expect(await statusOf({ ':authority': 'localhost', host: 'evil.com' })).toBe(400);
  });

  test('must be given: HTTP/1.0 without Host is 400', async () => {
    const registry = sampleRegistry();
    open.defer(() => registry.close());
    const { port } = await listen(open, registry.createSession({ sessionId: 's' }));
    const body = JSON.stringify(initializeBody);
    const ask = (host: string): Promise<string> =>
      raw(
        port,
        `POST /mcp HTTP/1.0\r\n${host}Content-Type: application/json\r\nAccept: ` +
          `${jsonHeaders.Accept}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        (text) => text.includes('\r\n\r\n'),
      );
    expect(await ask('')).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask('Host: localhost\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a session that could not be opened', () => {
  test('is closed where the transport refuses the connection', async () => {
    const sdk = await loadSdk();
    class Server extends sdk.Server {
      override connect(): Promise<void> {
        return Promise.reject(new Error('no connection'));
      }
    }
    const registry = sampleRegistry();
    const sessions = createMcpSessions(
      { ...sdk, Server },
      readHandlerOptions({}),
      createPlaces(10, false),
    );
    open.defer(async () => {
      await sessions.close();
      await registry.close();
    });
    const made: ToolSession = registry.createSession({ sessionId: 's' });
    await expect(
      sessions.open(async () => createOwnSessions(() => {}).of(made), undefined),
    ).rejects.toThrow('no connection');
    expect(sessions.size).toBe(0);
    expect(await made.call('echo', { text: 'x' })).toMatchObject({
      error: { code: 'session_closed' },
    });
  });
});

describe('the share of a principal', () => {
  const authenticate = ({ headers }: Request) => headers.get('x-who') ?? undefined;
  const statusOf = async (handler: McpHandler, who: string, id: string): Promise<number> =>
    (await handler.fetch(post(list(1), { 'x-who': who, 'mcp-session-id': id }))).status;

  test("is a quarter; above it, the principal's own oldest session ends", async () => {
    const handler = handlerOf({ authenticate, maxSessions: 8 });
    const bob = await initialize(handler, { 'x-who': 'bob' });
    const ann: string[] = [];
    for (let times = 0; times < 10; times++) {
      const id = await initialize(handler, { 'x-who': 'ann' });
      ann.push(id);
      const stream = await handler.fetch(
        new Request('http://127.0.0.1/mcp', {
          headers: { Accept: 'text/event-stream', 'x-who': 'ann', 'mcp-session-id': id },
        }),
      );
      expect(stream.status).toBe(200);
      open.defer(() => stream.body?.cancel().catch(() => {}));
    }
    const alive = await Promise.all(ann.map((id) => statusOf(handler, 'ann', id)));
    expect(alive).toEqual([...Array<number>(8).fill(404), 200, 200]);
    expect(await statusOf(handler, 'bob', bob)).toBe(200);
    expect(await initialize(handler, { 'x-who': 'cay' })).toMatch(/^[\w-]{32}$/);
  });

  test('is at least one session, and an idle one ends before one in use', async () => {
    const few = handlerOf({ authenticate, maxSessions: 2 });
    const [first, second] = [
      await initialize(few, { 'x-who': 'ann' }),
      await initialize(few, { 'x-who': 'ann' }),
    ];
    expect([await statusOf(few, 'ann', first), await statusOf(few, 'ann', second)]).toEqual([
      404, 200,
    ]);
    const handler = handlerOf({ authenticate, maxSessions: 8 });
    const used = await initialize(handler, { 'x-who': 'ann' });
    const stream = await handler.fetch(
      new Request('http://127.0.0.1/mcp', {
        headers: { Accept: 'text/event-stream', 'x-who': 'ann', 'mcp-session-id': used },
      }),
    );
    open.defer(() => stream.body?.cancel().catch(() => {}));
    const idle = await initialize(handler, { 'x-who': 'ann' });
    await initialize(handler, { 'x-who': 'ann' });
    expect([await statusOf(handler, 'ann', used), await statusOf(handler, 'ann', idle)]).toEqual([
      200, 404,
    ]);
  });

  test('holds when many are opened at once', async () => {
    const handler = handlerOf({ authenticate, maxSessions: 8 });
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => handler.fetch(post(initializeBody, { 'x-who': 'ann' }))),
    );
    const ids = responses.flatMap((response) => response.headers.get('mcp-session-id') ?? []);
    const alive = await Promise.all(ids.map((id) => statusOf(handler, 'ann', id)));
    expect(alive.filter((status) => status === 200)).toHaveLength(2);
    for (const response of responses) await response.body?.cancel();
  });
});

describe('requests without an answer, and streams', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const authenticate = ({ headers }: Request) => headers.get('x-who') ?? undefined;
  const modern = (
    who: string,
    id: number,
    method: string,
    params: Record<string, unknown>,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Request =>
    new Request(
      post(
        { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } },
        { 'x-who': who, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...headers },
      ),
      signal === undefined ? {} : { signal },
    );
  const listens = (who: string, id: number): Request =>
    modern(who, id, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  const calls = (who: string, id: number, signal: AbortSignal): Request =>
    modern(
      who,
      id,
      'tools/call',
      { name: 'waits', arguments: {} },
      { 'mcp-name': 'waits' },
      signal,
    );

  test('a principal has a quarter of the streams, 429 above, and others get theirs', async () => {
    const handler = handlerOf({ authenticate });
    const streams: Response[] = [];
    for (let id = 0; id < 256; id++) streams.push(await handler.fetch(listens('bob', id)));
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await handler.fetch(listens('bob', 999));
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { id: 999, error: { code: -32_000 } },
    ]);
    expect((await handler.fetch(listens('ann', 1))).status).toBe(200);
    await streams[0]?.body?.cancel();
    expect((await handler.fetch(listens('bob', 1_000))).status).toBe(200);
  });

  test('a principal has a quarter of the requests in flight, of both eras together', async () => {
    const handler = handlerOf({ authenticate, maxRequests: 8 });
    const gone = new AbortController();
    open.defer(() => gone.abort());
    const first = handler.fetch(calls('bob', 1, gone.signal));
    const headers = {
      'x-who': 'bob',
      'mcp-session-id': await initialize(handler, { 'x-who': 'bob' }),
    };
    const second = await handler.fetch(post(waits('old'), headers));
    expect((await handler.fetch(calls('bob', 2, gone.signal))).status).toBe(429);
    expect(await (await handler.fetch(post(list('more'), headers))).json()).toMatchObject({
      id: 'more',
      error: { code: -32_000 },
    });
    const other = handler.fetch(calls('ann', 3, gone.signal));
    expect((await handler.fetch(modern('ann', 4, 'tools/list', {}))).status).toBe(200);
    await handler.fetch(post(cancel('old'), headers));
    expect(await answersOf(second)).toEqual([]);
    expect((await handler.fetch(modern('bob', 5, 'tools/list', {}))).status).toBe(200);
    gone.abort();
    await Promise.all([first, other]);
  });

  test('are bounded in total, for all principals', async () => {
    const handler = handlerOf({ maxRequests: 3 });
    const gone = new AbortController();
    const running = [1, 2, 3].map((id) => handler.fetch(calls('x', id, gone.signal)));
    const refused = await handler.fetch(modern('y', 4, 'tools/list', {}));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    gone.abort();
    await Promise.all(running);
    expect((await handler.fetch(modern('y', 5, 'tools/list', {}))).status).toBe(200);
  });

  test('of an MCP session that ends are free again', async () => {
    const handler = handlerOf({ maxRequests: 2 });
    for (let times = 0; times < 3; times++) {
      const id = await initialize(handler);
      for (const call of [1, 2]) await handler.fetch(post(waits(call), { 'mcp-session-id': id }));
      const ended = await handler.fetch(
        new Request('http://127.0.0.1/mcp', {
          method: 'DELETE',
          headers: { 'mcp-session-id': id },
        }),
      );
      expect(ended.status).toBe(200);
    }
  });
});

describe('nesting', () => {
  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

  test.each([
    [
      'the capabilities of a client',
      (deep: string) =>
        `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"x":${deep}}},"clientInfo":{"name":"x","version":"1"}}}`,
    ],
    [
      'arguments',
      (deep: string) =>
        `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${deep}}}`,
    ],
    [
      'what is unknown',
      (deep: string) => `{"jsonrpc":"2.0","id":7,"method":"ping","more":${deep}}`,
    ],
  ])('beyond 256 levels in %s is -32600 with the id of the request', async (_where, body) => {
    const handler = handlerOf();
    for (const levels of [256, 10_000, 200_000]) {
      const response = await handler.fetch(post(body(nested(levels))));
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { id: 7, error: { code: -32_600 } },
      ]);
    }
  });

  test('of 200 levels in capabilities, or less than 256 in arguments, is read', async () => {
    const handler = handlerOf();
    const id = await initialize(handler, {}, '2025-11-25', {
      experimental: { x: JSON.parse(nested(200)) as object },
    });
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: JSON.parse(nested(200)) as object },
    };
    const response = await handler.fetch(post(call, { 'mcp-session-id': id }));
    for await (const { message } of sse(response))
      if (message?.id === 1)
        expect(message).toMatchObject({
          result: { isError: true, _meta: { 'host-tools/error': { code: 'invalid_input' } } },
        });
  });
});

describe('what a message may hold is counted', () => {
  const members = (count: number, prefix = 'k'): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, n]));
  const call = (params: object, id: unknown = 7) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params,
  });

  test.each<[what: string, body: unknown, status: number]>([
    [
      'more than 50 100 values',
      call({ name: 'echo', arguments: { list: Array.from({ length: 50_100 }, () => 1) } }),
      413,
    ],
    ['more than 10 000 names', call({ name: 'echo', arguments: members(10_100) }), 413],
    [
      'more than 4 000 values beside the arguments',
      call({ name: 'echo', arguments: {}, _meta: members(4_000) }),
      413,
    ],
    ['more than 4 000 members of `params`', call({ name: 'echo', ...members(4_001) }), 413],
    [
      'more than 4 000 values in another method',
      {
        jsonrpc: '2.0',
        id: 7,
        method: 'ping',
        params: { list: Array.from({ length: 4_000 }, () => 1) },
      },
      413,
    ],
    ['more than 4 000 values in an answer', { jsonrpc: '2.0', id: 7, result: members(4_001) }, 413],
    [
      'more than 4 000 values over a batch',
      [call(members(2_100), 1), call(members(2_100), 2)],
      413,
    ],
    ['what is no message, many times', Array.from({ length: 4_001 }, () => 1), 413],
    [
      'more than 256 levels',
      call({
        name: 'echo',
        arguments: JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`) as object,
      }),
      400,
    ],
  ])('%s are refused before anything reads them', async (_, body, status) => {
    const handler = handlerOf();
    const response = await handler.fetch(
      post(body, { 'mcp-session-id': await initialize(handler, {}, '2025-03-26') }),
    );
    expect(response.status).toBe(status);
    const { id, error } = (await response.json()) as { id: unknown; error: { message: string } };
    expect(error.message).toMatch(/at most/);
    if (!Array.isArray(body) && 'method' in (body as object)) expect(id).toBe(7);
  });

  test('what is within them is served', async () => {
    const handler = handlerOf();
    const headers = { 'mcp-session-id': await initialize(handler) };
    const wide = call({
      name: 'echo',
      arguments: { text: 'x', list: Array.from({ length: 25_000 }, () => 1) },
      _meta: members(3_900),
    });
    expect((await handler.fetch(post(wide, headers))).status).toBe(200);
  });
});

describe('a call that is cancelled and never begins', () => {
  test('because its parameters are malformed gives its place back', async () => {
    const handler = handlerOf({ maxRequests: 4 });
    const headers = { 'mcp-session-id': await initialize(handler, {}, '2025-03-26') };
    for (let times = 0; times < 5; times++) {
      const ids = [0, 1, 2].map((n) => `${times}-${n}`);
      const batch = ids.flatMap((id) => [{ ...waits(id), params: { name: 5 } }, cancel(id)]);
      const gone = new AbortController();
      const response = await handler.fetch(
        new Request(post(batch, headers), { signal: gone.signal }),
      );
      gone.abort();
      await response.body?.cancel().catch(() => {});
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(
      await answersOf(await handler.fetch(post([list('a'), list('b'), list('c')], headers))),
    ).toEqual(['a', 'b', 'c']);
  });

  test('has its answer where it is not cancelled', async () => {
    const handler = handlerOf();
    const headers = { 'mcp-session-id': await initialize(handler, {}, '2025-03-26') };
    expect(
      await answersOf(await handler.fetch(post([{ ...waits('x'), params: { name: 5 } }], headers))),
    ).toEqual(['x']);
  });
});

test(
  'a header that repeats an argument is refused where it is sent twice, whatever the two say ' +
    'together',
  async () => {
    const heard: unknown[] = [];
    const listener = toNodeListener({ fetch: async () => Response.json(heard.push('reached')) });
    const status = await new Promise<number>((resolve) => {
      const outgoing = {
        writableFinished: true,
        writeHead: resolve,
        write: () => true,
        end: () => {},
        destroy: () => {},
        on: () => {},
        off: () => {},
      };
      const rawHeaders = ['Host', 'localhost', 'Mcp-Param-Region', 'eu', 'mcp-param-region', 'us'];
      listener(
        { method: 'POST', url: '/mcp', rawHeaders, async *[Symbol.asyncIterator]() {} },
        outgoing as unknown as NodeResponse,
      );
    });
    expect([status, heard]).toEqual([400, []]);
  },
);
