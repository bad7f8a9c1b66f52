/** Handlers over one store: MCP sessions and streams of the 2025 era go on at another handler. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import { defineTool, HostToolRegistry, memoryStore } from '../../../../src/index.ts';
import { sqliteStore } from '../../../../src/stores/sqlite/index.ts';
import {
  createMcpHandler,
  type McpHandler,
  type McpHandlerOptions,
} from '../../../../src/surfaces/mcp/index.ts';
import { demandServers, type StoreServer, servers } from '../../relay/nodes/shared-stores.ts';
import { anything, initialize, newClient, opened, post, signal, sse } from './kit.ts';

demandServers();

const open = opened();
afterEach(() => open.close());

/** What a running call of `slow` does when it is told. */
interface Running {
  progress(done: number): void;
  end(): void;
}

/** Two handlers as in two processes, each with a registry of its own. */
/** @param second the store of the other one. @default the same */
function handlers(store: Store, options: McpHandlerOptions = {}, second = store) {
  const running: Running[] = [];
  const make = (name: string, own: Store): McpHandler => {
    const registry = new HostToolRegistry();
    registry.registerAll([
      defineTool({
        name: 'where',
        description: 'Says where it runs.',
        parameters: anything,
        handler: () => name,
      }),
      defineTool({
        name: 'slow',
        description: 'Ends when it is told.',
        parameters: anything,
        handler: (_, { progress }) => {
          const ended = signal<string>();
          running.push({ progress: (done) => progress(done), end: () => ended.resolve(name) });
          return ended.promise;
        },
      }),
    ]);
    const handler = createMcpHandler(
      ({ principal = 'anybody' }) => registry.createSession({ sessionId: principal, principal }),
      { store: own, ...options },
    );
    open.defer(() => handler.close());
    open.defer(() => registry.close());
    return handler;
  };
  return { one: make('one', store), other: make('other', second), running };
}

/** A client whose requests go to whichever handler is meant, and whose streams can be cut. */
async function connect(first: McpHandler) {
  const way = { to: first, resumed: 0, cut: (): void => {} };
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const isCall = request.method === 'POST' && (await request.clone().text()).includes('"slow"');
      const resumes = request.headers.has('last-event-id');
      const response = await way.to.fetch(request);
      if (resumes) way.resumed += 1;
      if (!isCall || response.body === null) return response;
      const reader = response.body.getReader();
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          way.cut = () => {
            void reader.cancel();
            controller.error(new Error('The connection was cut.'));
          };
        },
        async pull(controller) {
          const { done, value } = await reader.read();
          if (!done) controller.enqueue(value);
        },
      });
      return new Response(body, response);
    },
  });
  const client: Client = newClient('legacy');
  await client.connect(transport);
  open.defer(() => client.close());
  return { client, transport, way };
}

const textOf = (result: unknown): unknown =>
  (result as { readonly content: readonly { readonly text?: string }[] }).content[0]?.text;

const soon = <T>(read: () => T) => expect.poll(read, { interval: 10 });

const memory = {
  kind: 'memory',
  available: true,
  whyNot: '',
  start: async () => ({ store: memoryStore(), stop: async () => {} }),
} as const;

/** Two connections to one file, as two processes have them. */
const file = {
  kind: 'SQLite',
  available: true,
  whyNot: '',
  start: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'host-tools-mcp-'));
    const make = () => sqliteStore({ path: join(folder, 'store.db') });
    const [store, second] = [make(), make()];
    await store.migrate();
    const stop = async () => {
      await Promise.all([store.close(), second.close()]);
      await rm(folder, { recursive: true });
    };
    return { store, second, stop };
  },
} as const;

for (const { kind, available, whyNot, start } of [memory, file, ...servers])
  describe.skipIf(!available)(`two handlers over one store in ${kind}${whyNot}`, () => {
    let server: Pick<StoreServer, 'store' | 'stop'> & { readonly second?: Store };
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.stop());

    test('a client that began at one calls at the other, until it ends its session', async () => {
      const { one, other } = handlers(server.store, {}, server.second);
      const { client, transport, way } = await connect(one);
      expect(textOf(await client.callTool({ name: 'where' }))).toBe('one');
      way.to = other;
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['where', 'slow']);
      expect(textOf(await client.callTool({ name: 'where' }))).toBe('other');
      // The process is gone, and the session is not.
      await one.close();
      const { one: third } = handlers(server.store, {}, server.second);
      way.to = third;
      expect(textOf(await client.callTool({ name: 'where' }))).toBe('one');
      await transport.terminateSession();
      way.to = handlers(server.store, {}, server.second).one;
      await expect(client.listTools()).rejects.toThrow();
    });

    test('a stream that was cut is resumed at the other while its call runs', async () => {
      const { one, other, running } = handlers(server.store, {}, server.second);
      const { client, way } = await connect(one);
      const heard: number[] = [];
      const called = client.callTool(
        { name: 'slow' },
        { onprogress: ({ progress }) => void heard.push(progress) },
      );
      await soon(() => running.length).toBe(1);
      running[0]?.progress(1);
      await soon(() => heard).toEqual([1]);
      way.to = other;
      way.cut();
      running[0]?.progress(2);
      await soon(() => heard).toEqual([1, 2]);
      expect(way.resumed).toBe(1);
      running[0]?.progress(3);
      await soon(() => heard).toEqual([1, 2, 3]);
      running[0]?.end();
      expect(textOf(await called)).toBe('one');
    });

    test('an answer that came while nobody listened is fetched at the other', async () => {
      const { one, other, running } = handlers(server.store, {}, server.second);
      const { client, way } = await connect(one);
      const called = client.callTool({ name: 'slow' });
      await soon(() => running.length).toBe(1);
      way.to = other;
      way.cut();
      running[0]?.end();
      expect(textOf(await called)).toBe('one');
      expect(way.resumed).toBe(1);
      expect(textOf(await client.callTool({ name: 'where' }))).toBe('other');
    });
  });

describe('handlers over one store', () => {
  test('keep no id of a session in it', async () => {
    const inner = memoryStore();
    const seen: unknown[] = [];
    const store: Store = {
      ...inner,
      apply(space, operations) {
        seen.push(space, operations);
        return inner.apply(space, operations);
      },
    };
    const { one } = handlers(store);
    const { client, transport } = await connect(one);
    await client.callTool({ name: 'where' });
    expect(seen.length).toBeGreaterThan(0);
    expect(JSON.stringify(seen)).not.toContain(transport.sessionId);
  });

  test("do not give one principal another one's session or stream", async () => {
    const authenticate = (request: Request) => request.headers.get('x-user') ?? undefined;
    const { one, other } = handlers(memoryStore(), { authenticate });
    const [ann, bob] = [{ 'x-user': 'ann' }, { 'x-user': 'bob' }];
    const id = await initialize(one, ann);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'where' } };
    const headers = { 'mcp-session-id': id };
    const answered = await one.fetch(post(call, { ...ann, ...headers }));
    let first: string | undefined;
    for await (const event of sse(answered)) first ??= event.id;
    const resume = (who: Record<string, string>) =>
      other.fetch(
        new Request('http://127.0.0.1/mcp', {
          headers: {
            ...who,
            ...headers,
            Accept: 'text/event-stream',
            'Last-Event-ID': first as string,
          },
        }),
      );
    expect((await resume(bob)).status).toBe(404);
    const stream = await resume(ann);
    const messages = [];
    for await (const { message } of sse(stream)) messages.push(message);
    expect(messages).toMatchObject([{ id: 1, result: { content: [{ text: 'one' }] } }]);
  });

  test('refuse a store that lacks an operation, by its name', () => {
    const store = { ...memoryStore(), lacks: ['append'] as const };
    const registry = new HostToolRegistry();
    open.defer(() => registry.close());
    expect(() => createMcpHandler(registry.createSession({ sessionId: 's' }), { store })).toThrow(
      'createMcpHandler: expected `store` to be a store with the operation `append`',
    );
  });
});
