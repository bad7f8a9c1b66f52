/** MCP sessions of the 2025 era over several processes: handlers that share a store of sessions. */

import { getRequestListener } from '@hono/node-server';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defineTool, type ToolSession } from '../../../../src/index.ts';
import {
  createMcpHandler,
  type McpHandler,
  type McpHandlerOptions,
  type McpSessionRecord,
  type McpSessionStore,
} from '../../../../src/surfaces/mcp/index.ts';
import {
  anything,
  connectClient,
  initialize,
  jsonHeaders,
  listen,
  type Opened,
  opened,
  post,
  sampleRegistry,
  sse,
} from './kit.ts';

const oddId = 'odd-odd-odd-odd-odd-odd-odd-odd-';

let open: Opened;
beforeEach(() => {
  open = opened();
});
afterEach(() => open.close());

/** Keeps JSON, as a store in another process would. */
function sessionStore(): McpSessionStore & { readonly kept: Map<string, string>; away: boolean } {
  const kept = new Map<string, string>();
  const store = {
    kept,
    away: false,
    async save(id: string, session: McpSessionRecord) {
      if (store.away) throw new Error('away');
      kept.set(id, JSON.stringify(session));
    },
    async load(id: string) {
      if (store.away) throw new Error('away');
      const text = kept.get(id);
      return text === undefined ? undefined : (JSON.parse(text) as McpSessionRecord);
    },
    async remove(id: string) {
      if (store.away) throw new Error('away');
      kept.delete(id);
    },
  };
  return store;
}

/** A process of its own: a registry, a session, a handler. */
function handlerOf(options: McpHandlerOptions = {}) {
  const registry = sampleRegistry();
  const session = registry.createSession({ sessionId: 'shared' });
  const handler = createMcpHandler(session, options);
  open.defer(async () => {
    await handler.close();
    await registry.close();
  });
  return { registry, session, handler };
}

const echo = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text: 'there' } },
};
const call = async (handler: McpHandler, id: string, headers: Record<string, string> = {}) => {
  const response = await handler.fetch(post(echo, { 'mcp-session-id': id, ...headers }));
  return { status: response.status, text: await response.text() };
};
const ask = (method: string, id: string, more: Record<string, string> = {}) =>
  new Request('http://127.0.0.1/mcp', {
    method,
    headers: { ...jsonHeaders, Accept: 'text/event-stream', 'mcp-session-id': id, ...more },
  });

describe('a session that another process has begun', () => {
  test('continues: calls are answered without a new session', async () => {
    const store = sessionStore();
    const [one, other] = [handlerOf({ sessionStore: store }), handlerOf({ sessionStore: store })];
    const id = await initialize(one.handler);
    expect(await call(other.handler, id)).toMatchObject({
      status: 200,
      text: expect.stringContaining('there'),
    });
    expect(await call(one.handler, id)).toMatchObject({ status: 200 });
    await one.handler.close();
    expect(await call(other.handler, id)).toMatchObject({ status: 200 });
  });

  test('is not known where nothing is shared', async () => {
    const [one, other] = [handlerOf({ sessionStore: sessionStore() }), handlerOf()];
    expect((await call(other.handler, await initialize(one.handler))).status).toBe(404);
  });

  test('is begun again once, however many requests come at the same time', async () => {
    const store = sessionStore();
    const one = handlerOf({ sessionStore: store });
    let made = 0;
    const registry = sampleRegistry();
    const handler = createMcpHandler(
      () => registry.createSession({ sessionId: `made-${++made}` }),
      { sessionStore: store },
    );
    open.defer(() => handler.close());
    const id = await initialize(one.handler);
    const answers = await Promise.all(
      [1, 2, 3, 4].map((number) =>
        handler.fetch(post({ ...echo, id: number }, { 'mcp-session-id': id })),
      ),
    );
    expect(
      await Promise.all(answers.map(async (answer) => (await answer.text()).includes('there'))),
    ).toEqual([true, true, true, true]);
    expect(made).toBe(1);
  });

  test("has the client's capabilities, and the version that was agreed", async () => {
    const store = sessionStore();
    const seen: unknown[] = [];
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object' },
      handler: (_, { client }) => {
        seen.push([typeof client?.sample, typeof client?.elicit]);
        return null;
      },
    });
    const [one, other] = [handlerOf({ sessionStore: store }), handlerOf({ sessionStore: store })];
    other.registry.register(look);
    const id = await initialize(one.handler, {}, '2025-03-26', { sampling: {} });
    const answer = await other.handler.fetch(
      post([{ ...echo, params: { name: 'look', arguments: {} } }], { 'mcp-session-id': id }),
    );
    // Batches are of that version alone.
    expect([answer.status, (await answer.text()).includes('isError')]).toEqual([200, false]);
    expect(seen).toEqual([['function', 'undefined']]);
  });

  test('belongs to one principal: for others, its id is unknown', async () => {
    const store = sessionStore();
    const authenticate = (request: Request) => request.headers.get('authorization') ?? undefined;
    const [one, other] = [
      handlerOf({ sessionStore: store, authenticate }),
      handlerOf({ sessionStore: store, authenticate }),
    ];
    const id = await initialize(one.handler, { Authorization: 'alice' });
    expect((await call(other.handler, id, { Authorization: 'mallory' })).status).toBe(404);
    expect((await call(other.handler, id, { Authorization: 'alice' })).status).toBe(200);
    expect((await call(other.handler, id, { Authorization: 'mallory' })).status).toBe(404);
  });

  test('is over for all who have not met it once its client has ended it', async () => {
    const store = sessionStore();
    const [one, other] = [handlerOf({ sessionStore: store }), handlerOf({ sessionStore: store })];
    const id = await initialize(one.handler);
    expect((await one.handler.fetch(ask('DELETE', id))).status).toBe(200);
    expect([
      (await call(one.handler, id)).status,
      (await call(other.handler, id)).status,
      store.kept.size,
    ]).toEqual([404, 404, 0]);
  });

  test(
    'is listened to anew where its streams were elsewhere, and told that the tools may have ' +
      'changed',
    async () => {
      const store = sessionStore();
      const [one, other] = [handlerOf({ sessionStore: store }), handlerOf({ sessionStore: store })];
      const id = await initialize(one.handler);
      // Both have events; those of one are not those of the other.
      let lastId = '';
      for (const { handler } of [one, other])
        for await (const { id: eventId, message } of sse(
          await handler.fetch(post(echo, { 'mcp-session-id': id })),
        )) {
          if (handler === one.handler) lastId = eventId ?? lastId;
          if (message?.result !== undefined) break;
        }
      const response = await other.handler.fetch(ask('GET', id, { 'Last-Event-ID': lastId }));
      expect(response.status).toBe(200);
      for await (const { message } of sse(response))
        if (message?.method !== undefined)
          return expect(message.method).toBe('notifications/tools/list_changed');
      expect.unreachable();
    },
  );

  test.each([
    '',
    'x',
    'x'.repeat(10_000),
    '__proto__',
    'constructor',
    '../../../../../../../../etc/passwd',
    oddId,
  ])('that nobody has begun is 404, and only what can be an id is looked up: %#', async (id) => {
    const load = vi.fn(async () => undefined);
    const { handler } = handlerOf({ sessionStore: { ...sessionStore(), load } });
    expect((await handler.fetch(post(echo, { 'mcp-session-id': id }))).status).toBe(404);
    expect((await handler.fetch(ask('GET', id))).status).toBe(404);
    expect((await handler.fetch(ask('DELETE', id))).status).toBe(404);
    expect(load).toHaveBeenCalledTimes(id === oddId ? 3 : 0);
  });

  test.each([
    ['null', async () => null],
    ['an array', async () => []],
    ['a value that is there at once', () => undefined],
  ])('of which the store gives %s is 404', async (_, load) => {
    const { handler } = handlerOf({ sessionStore: { ...sessionStore(), load: load as never } });
    expect((await call(handler, oddId)).status).toBe(404);
  });

  test(
    'is told to be unknown as well where another server has put classes of its own in the place ' +
      'of the global ones',
    async () => {
      const { Request: request, Response: response } = globalThis;
      getRequestListener(() => new Response('x'));
      try {
        const { handler } = handlerOf({ sessionStore: sessionStore() });
        expect((await call(handler, oddId)).status).toBe(404);
      } finally {
        Object.defineProperty(globalThis, 'Request', {
          value: request,
          configurable: true,
          writable: true,
        });
        Object.defineProperty(globalThis, 'Response', {
          value: response,
          configurable: true,
          writable: true,
        });
      }
    },
  );

  test('is not usable before it has been started again', async () => {
    const store = sessionStore();
    const slow = {
      storeEvent: async () =>
        new Promise<string>((resolve) => setTimeout(() => resolve('event'), 5)),
      replayEventsAfter: async () => 'none',
    };
    const one = handlerOf({ sessionStore: store });
    const other = handlerOf({ sessionStore: store, eventStore: slow });
    const seen: unknown[] = [];
    const handler = (_: object, { client }: { client?: { sample?: unknown } }) => {
      seen.push(typeof client?.sample);
      return null;
    };
    other.registry.register(
      defineTool({
        name: 'look',
        description: 'Looks.',
        parameters: anything,
        handler: handler as never,
      }),
    );
    const id = await initialize(one.handler, {}, '2025-11-25', { sampling: {} });
    const answers = Array.from({ length: 6 }, async (_, number) => {
      for (let turn = 0; turn < number * 3; turn++)
        await new Promise((resolve) => setImmediate(resolve));
      return other.handler.fetch(
        post(
          { ...echo, id: number, params: { name: 'look', arguments: {} } },
          { 'mcp-session-id': id },
        ),
      );
    });
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(6).fill(200));
    await expect.poll(() => seen).toEqual(Array(6).fill('function'));
  });

  test('that its client ends while it is begun again is over', async () => {
    const store = sessionStore();
    const [one, other] = [handlerOf({ sessionStore: store }), handlerOf({ sessionStore: store })];
    const id = await initialize(one.handler);
    const asked = call(other.handler, id);
    await one.handler.fetch(ask('DELETE', id));
    await asked;
    expect((await call(other.handler, id)).status).toBe(404);
  });

  test('may be ended where it was never met', async () => {
    const store = sessionStore();
    const [one, other] = [handlerOf({ sessionStore: store }), handlerOf({ sessionStore: store })];
    const id = await initialize(one.handler);
    expect([(await other.handler.fetch(ask('DELETE', id))).status, store.kept.size]).toEqual([
      200, 0,
    ]);
  });

  test('is not begun again by a handler that closes meanwhile', async () => {
    const store = sessionStore();
    const registry = sampleRegistry();
    const made: ToolSession[] = [];
    const handler = createMcpHandler(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        const session = registry.createSession({ sessionId: 'made' });
        made.push(session);
        return session;
      },
      { sessionStore: store },
    );
    const id = await initialize(handlerOf({ sessionStore: store }).handler);
    const asked = call(handler, id);
    await new Promise((resolve) => setTimeout(resolve, 2));
    await handler.close();
    expect((await asked).status).toBe(503);
    expect(
      await Promise.all(made.map((session) => session.call('echo', { text: 'x' }))),
    ).toMatchObject([{ error: { code: 'session_closed' } }]);
  });

  test("a client's answers to another process do not answer this one", async () => {
    const store = sessionStore();
    const [one, other] = [handlerOf({ sessionStore: store }), handlerOf({ sessionStore: store })];
    const id = await initialize(one.handler, {}, '2025-11-25', { elicitation: {} });
    const begin = async ({ handler }: typeof one, number: number) => {
      const response = await handler.fetch(
        post(
          { ...echo, id: number, params: { name: 'danger', arguments: {} } },
          { 'mcp-session-id': id },
        ),
      );
      const messages = sse(response);
      const next = async () => {
        for (;;) {
          const { value } = await messages.next();
          if (value === undefined) return expect.unreachable();
          if (value.message?.id !== undefined) return value.message;
        }
      };
      return { ask: await next(), next };
    };
    const [here, there] = [await begin(one, 1), await begin(other, 2)];
    expect(here.ask.id).not.toEqual(there.ask.id);
    const result = { action: 'accept', content: { decision: 'allow_once' } };
    const answerTo = (question: { id?: string | number }) =>
      post({ jsonrpc: '2.0', id: question.id, result }, { 'mcp-session-id': id });
    for (const stray of [there.ask, { id: 0 }, { id: '0' }])
      await one.handler.fetch(answerTo(stray));
    let isOver = false;
    const over = here.next().finally(() => {
      isOver = true;
    });
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    await one.handler.fetch(answerTo(here.ask));
    expect(await over).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
    await other.handler.fetch(
      post(
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } },
        { 'mcp-session-id': id },
      ),
    );
  });

  test('is large in what it says of itself: it stays with its process', async () => {
    const store = sessionStore();
    const { handler } = handlerOf({ sessionStore: store });
    const id = await initialize(handler, {}, '2025-11-25', {
      experimental: { large: { text: 'x'.repeat(20_000) } },
    });
    expect([store.kept.size, (await call(handler, id)).status]).toEqual([0, 200]);
  });

  test('whose record is nonsense is 404, and the host is informed', async () => {
    const store = sessionStore();
    const errors: unknown[] = [];
    const { handler } = handlerOf({ sessionStore: store, onError: (error) => errors.push(error) });
    for (const initialize of [null, {}, { protocolVersion: 7 }]) {
      store.kept.set(oddId, JSON.stringify({ initialize }));
      expect((await call(handler, oddId)).status).toBe(404);
    }
    expect(errors.length).toBeGreaterThanOrEqual(3);
  });

  test('that was idle for too long here is found again', async () => {
    const { handler } = handlerOf({ sessionStore: sessionStore(), sessionIdleMs: 20 });
    const id = await initialize(handler);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await call(handler, id)).status).toBe(200);
  });
});

describe('a store that is away', () => {
  test('starts, finds and ends no session: 503, and the host is informed', async () => {
    const store = sessionStore();
    const errors: unknown[] = [];
    const [one, other] = [
      handlerOf({ sessionStore: store }),
      handlerOf({ sessionStore: store, onError: (error) => errors.push(error) }),
    ];
    const id = await initialize(one.handler);
    const more = await initialize(other.handler);
    store.away = true;
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const begun = await other.handler.fetch(
      post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
    );
    expect([
      begun.status,
      begun.headers.get('mcp-session-id'),
      begun.headers.get('retry-after'),
    ]).toEqual([503, null, '1']);
    expect((await call(other.handler, id)).status).toBe(503);
    // One that is here needs no store.
    expect((await call(other.handler, more)).status).toBe(200);
    expect((await other.handler.fetch(ask('DELETE', more))).status).toBe(503);
    expect(errors).toHaveLength(3);
    store.away = false;
    expect((await call(other.handler, id)).status).toBe(200);
  });

  test.each([null, 1, {}, { save() {}, load() {} }])(
    'an option that is no store is refused: %j',
    (given) => {
      expect(() => handlerOf({ sessionStore: given as never })).toThrow(
        'expected `sessionStore` to be an object with the methods `save`, `load` and `remove`',
      );
    },
  );
});

test('two processes serve a real client in turn, and one serves it alone', async () => {
  const store = sessionStore();
  const other = handlerOf({ sessionStore: store });
  const one = sampleRegistry().createSession({ sessionId: 'shared' });
  let turn = 0;
  let isGone = false;
  const { url } = await listen(open, one, { sessionStore: store }, (handler) => ({
    fetch: (request) => (isGone || turn++ % 2 === 0 ? other.handler : handler).fetch(request),
  }));
  const client = await connectClient(open, url, 'legacy');
  for (let n = 0; n < 6; n++)
    expect(await client.callTool({ name: 'echo', arguments: { text: `call ${n}` } })).toMatchObject(
      { content: [{ text: `call ${n}` }] },
    );
  isGone = true;
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
  const transport = new StreamableHTTPClientTransport(url, {
    sessionId: (client.transport as StreamableHTTPClientTransport).sessionId as string,
  });
  await transport.start();
  await transport.terminateSession();
  await transport.close();
  expect(store.kept.size).toBe(0);
});
