/** Servers of the SDK's v2, in both eras, and clients that the host has connected itself. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import type { ToolSession } from '../../../../src/index.ts';
import { brief, closeAll, closing, imports, sessionOver, until } from './world.ts';

afterEach(closeAll);

const any = fromJsonSchema<{ n: number }>({
  type: 'object',
  properties: { n: { type: 'number' } },
});
const said = (text: string): unknown => [{ type: 'text', text }];

/** What servers have seen of the calls to `wait`. */
interface Waits {
  begun: number;
  cancelled: number;
}

const noWaits = (): Waits => ({ begun: 0, cancelled: 0 });

/** A call to `wait` ends by its time limit, and the server stops, however busy the machine is. */
async function expectTimeout(session: ToolSession, waits: Waits): Promise<void> {
  for (let timeoutMs = 50; waits.begun === 0; timeoutMs *= 4)
    expect(brief(await session.call('wait', {}, { timeoutMs }))).toEqual(['timeout', 'timeout']);
  await until(() => waits.cancelled === waits.begun);
}

function makeServer(waits = noWaits()): McpServer {
  const server = new McpServer({ name: 'sdk', version: '1.0.0' });
  server.registerTool(
    'double',
    { description: 'Doubles.', inputSchema: any, outputSchema: any },
    async ({ n }) => ({
      content: [{ type: 'text', text: String(2 * n) }],
      structuredContent: { n: 2 * n },
    }),
  );
  server.registerTool(
    'wait',
    { description: 'Waits.', inputSchema: any },
    (_, { mcpReq }) =>
      new Promise((resolve) => {
        waits.begun++;
        const stop = (): void => {
          waits.cancelled++;
          resolve({ content: [] });
        };
        if (mcpReq.signal.aborted) stop();
        else mcpReq.signal.addEventListener('abort', stop);
      }),
  );
  server.registerTool('ask', { description: 'Asks.', inputSchema: any }, async (_, context) => {
    await context.mcpReq.send({
      method: 'elicitation/create',
      params: { message: 'Your password?', requestedSchema: { type: 'object', properties: {} } },
    } as never);
    return { content: [] };
  });
  return server;
}

describe('the era of 2026', () => {
  test('over HTTP: calls, structured output, cancellation', async () => {
    const waits = noWaits();
    const handler = createMcpHandler(() => makeServer(waits));
    const eras = new Set<string | null>();
    const http = createServer(async (request, response) => {
      eras.add(request.headers['mcp-protocol-version'] as string);
      const abort = new AbortController();
      response.on('close', () => abort.abort());
      const answer = await handler.fetch(
        new Request(`http://127.0.0.1${request.url}`, {
          method: request.method as string,
          headers: request.headers as Record<string, string>,
          signal: abort.signal,
          ...(request.method === 'POST'
            ? { body: Readable.toWeb(request) as never, duplex: 'half' as const }
            : {}),
        } as RequestInit),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.flushHeaders();
      if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
      response.end();
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    closing({
      close: async () => {
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      },
    });
    const imported = await imports({
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    });
    const session = sessionOver(imported);
    expect(brief(await session.call('double', { n: 21 }))).toEqual({ n: 42 });
    expect(eras.has('2026-07-28')).toBe(true);
    await expectTimeout(session, waits);
    // Nobody is asked for anything.
    expect(brief(await session.call('ask', {}))).toEqual(['handler_error', 'mcp_tool_error']);
  });

  test('over stdio', async () => {
    const script = fileURLToPath(new URL('sdk-server.mjs', import.meta.url));
    const imported = await imports({ command: process.execPath, args: [script] }, {}, 20_000);
    const session = sessionOver(imported);
    expect([imported.source, brief(await session.call('double', { n: 2 }))]).toEqual([
      'mcp:sdk',
      { n: 4 },
    ]);
    expect(brief(await session.call('wait', {}, { timeoutMs: 50 }))).toEqual([
      'timeout',
      'timeout',
    ]);
  });
});

describe('a client that the host has connected', () => {
  async function connected(
    waits = noWaits(),
  ): Promise<{ readonly client: Client; readonly server: McpServer }> {
    const server = makeServer(waits);
    const client = new Client({ name: 'host', version: '1' });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    await client.connect(near);
    closing(client);
    return { client, server };
  }

  test('is used, and stays open when the import is closed', async () => {
    const waits = noWaits();
    const { client } = await connected(waits);
    const imported = await imports(client);
    const session = sessionOver(imported);
    expect(brief(await session.call('double', { n: 4 }))).toEqual({ n: 8 });
    await expectTimeout(session, waits);
    await imported.close();
    expect(brief(await session.call('double', { n: 4 }))).toEqual(['executor_lost']);
    expect((await client.callTool({ name: 'double', arguments: { n: 1 } })).content).toEqual(
      said('2'),
    );
  });

  test('hears of changes', async () => {
    const { client, server } = await connected();
    const imported = await imports(client);
    server.registerTool('late', { description: 'Came late.', inputSchema: any }, async () => ({
      content: [],
    }));
    await until(() => imported.drift.some(({ name }) => name === 'late'));
  });

  test('once lost, stays lost; the host’s own listener is still called', async () => {
    const { client, server } = await connected();
    let told = 0;
    client.onclose = () => {
      told++;
    };
    const session = sessionOver(await imports(client));
    await server.close();
    expect([brief(await session.call('double', { n: 1 })), told]).toEqual([['executor_lost'], 1]);
  });

  test('one that is not connected is refused at once', async () => {
    await expect(imports(new Client({ name: 'host', version: '1' }))).rejects.toMatchObject({
      code: 'executor_lost',
    });
  });
});
