import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { defineTool } from '../../../../src/index.ts';
import { createMcpHandler, toNodeListener } from '../../../../src/surfaces/mcp/index.ts';
import {
  anything,
  connectClient,
  eras,
  initialize,
  listen,
  opened,
  post,
  sampleRegistry,
  signal,
} from './kit.ts';

const open = opened();
afterEach(() => open.close());

test('whatever a client sends is answered, and never with a 5xx', async () => {
  const registry = sampleRegistry();
  const errors: unknown[] = [];
  const handler = createMcpHandler(registry.createSession({ sessionId: 's' }), {
    onError: (error) => errors.push(error),
  });
  open.defer(async () => {
    await handler.close();
    await registry.close();
  });
  const id = await initialize(handler);
  const method = fc.constantFrom(
    'tools/call',
    'tools/list',
    'ping',
    'initialize',
    'logging/setLevel',
    'subscriptions/listen',
    'server/discover',
    'notifications/cancelled',
    'x',
    '',
  );
  const meta = fc.option(
    fc.dictionary(
      fc.constantFrom(
        'io.modelcontextprotocol/protocolVersion',
        'io.modelcontextprotocol/clientCapabilities',
        'progressToken',
        '__proto__',
      ),
      fc.jsonValue(),
    ),
  );
  const params = fc.record(
    {
      name: fc.oneof(fc.constantFrom('echo', 'constructor', '__proto__'), fc.jsonValue()),
      arguments: fc.jsonValue(),
      cursor: fc.jsonValue(),
      requestState: fc.jsonValue(),
      inputResponses: fc.jsonValue(),
      _meta: meta,
    },
    { requiredKeys: [] },
  );
  const message = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '1.0', 2),
      id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
      method: fc.oneof(method, fc.jsonValue()),
      params,
    },
    { requiredKeys: [] },
  );
  const version = fc.option(
    fc.constantFrom('2025-11-25', '2026-07-28', '2025-03-26', '1999-01-01', 'x'),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(message, fc.array(message, { maxLength: 3 }), fc.jsonValue()),
      version,
      fc.boolean(),
      async (body, named, inSession) => {
        const headers = {
          ...(named === null ? {} : { 'mcp-protocol-version': named }),
          ...(inSession ? { 'mcp-session-id': id } : {}),
        };
        const response = await handler.fetch(post(body, headers));
        expect(response.status).toBeLessThan(500);
        await response.body?.cancel();
      },
    ),
    { numRuns: 400 },
  );
  expect(
    (
      await handler.fetch(
        post({ jsonrpc: '2.0', id: 'last', method: 'ping' }, { 'mcp-session-id': id }),
      )
    ).status,
  ).toBe(200);
});

test('a client with a broken stream gets each report once, in order, and the answer', async () => {
  const registry = sampleRegistry();
  const go = signal();
  registry.register(
    defineTool({
      name: 'reports',
      description: 'Reports.',
      parameters: anything,
      async handler(_input, { progress }) {
        progress(1, 4);
        progress(2, 4);
        await go.promise;
        progress(3, 4);
        progress(4, 4);
        return 'all of it';
      },
    }),
  );
  open.defer(() => registry.close());
  let cuts = 0;
  const { url } = await listen(open, registry.createSession({ sessionId: 's' }), {}, (handler) => ({
    async fetch(request) {
      const resumes = request.headers.has('last-event-id');
      const response = await handler.fetch(request);
      const isCall =
        request.headers.get('mcp-session-id') !== null && (request.method === 'POST' || resumes);
      if (response.body === null || !isCall || cuts >= 2) return response;
      cuts++;
      if (cuts === 2) go.resolve();
      // One event is let through, and then the connection is gone.
      const reader = response.body.getReader();
      const { value } = await reader.read();
      await reader.cancel();
      return new Response(
        value === undefined ? null : new Blob([Buffer.from(value as Uint8Array)]).stream(),
        {
          status: response.status,
          headers: response.headers,
        },
      );
    },
  }));
  const client = await connectClient(open, url, 'legacy');
  const heard: number[] = [];
  const result = await client.callTool(
    { name: 'reports' },
    { onprogress: ({ progress }) => void heard.push(progress) },
  );
  expect(result.content).toEqual([{ type: 'text', text: 'all of it' }]);
  expect(heard).toEqual([1, 2, 3, 4]);
  expect(cuts).toBe(2);
});

test.each(eras)(
  'a body that a parser has read before us is taken from the request, %s era',
  async (era) => {
    const registry = sampleRegistry();
    const handler = createMcpHandler(registry.createSession({ sessionId: 's' }));
    const listener = toNodeListener(handler);
    const { createServer } = await import('node:http');
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      listener(
        Object.assign(request, text === '' ? {} : { body: JSON.parse(text) as unknown }),
        response,
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.defer(async () => {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await registry.close();
    });
    const client = await connectClient(
      open,
      new URL(`http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`),
      era,
    );
    expect(await client.callTool({ name: 'echo', arguments: { text: 'parsed' } })).toMatchObject({
      content: [{ text: 'parsed' }],
    });
  },
);
