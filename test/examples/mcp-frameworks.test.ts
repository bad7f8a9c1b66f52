/**
 * The MCP handler inside the frameworks that hosts use, spoken to by the protocol's own client over
 * a socket.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { expressApp } from '../../examples/mcp-express.ts';
import { honoApp } from '../../examples/mcp-hono.ts';
import { reviewerRegistry, serveHttp } from '../../examples/mcp-server.ts';

type Started = { readonly url: string; close(): Promise<void> };
const stopped = (server: Server): Promise<void> => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
};
const urlOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;

const frameworks: Readonly<Record<string, () => Promise<Started>>> = {
  'node:http': () => serveHttp(reviewerRegistry(), process.cwd()),
  Hono: async () => {
    const { app, close } = honoApp(reviewerRegistry(), process.cwd());
    const server = await new Promise<Server>((resolve) => {
      const made = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () =>
        resolve(made as Server),
      );
    });
    return { url: urlOf(server), close: () => close().then(() => stopped(server)) };
  },
  Express: async () => {
    const { app, close } = expressApp(reviewerRegistry(), process.cwd());
    const server = await new Promise<Server>((resolve) => {
      const made = app.listen(0, '127.0.0.1', () => resolve(made));
    });
    return { url: urlOf(server), close: () => close().then(() => stopped(server)) };
  },
};

describe.each(Object.entries(frameworks))('%s', (_, start) => {
  test.each([
    ['2025-11-25', {}],
    ['2026-07-28', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
  ])('serves the tools in the era of %s', async (_era, options) => {
    const { url, close } = await start();
    const client = new Client({ name: 'test', version: '1' }, options);
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('read_file');
      const answer = await client.callTool({
        name: 'read_file',
        arguments: { path: 'package.json' },
      });
      expect(JSON.stringify(answer.content)).toContain('host-tools');
      const refused = await client.callTool({
        name: 'write_file',
        arguments: { path: 'x', text: 'y' },
      });
      expect(refused).toMatchObject({
        isError: true,
        _meta: { 'host-tools/error': { code: 'tool_not_found' } },
      });
    } finally {
      await client.close();
      await close();
    }
  });
});
