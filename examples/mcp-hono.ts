/** A session's tools for MCP clients inside a Hono application: `npx tsx examples/mcp-hono.ts`. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { HostToolRegistry } from '../src/index.ts';
import { createMcpHandler } from '../src/surfaces/mcp/index.ts';
import { reviewerRegistry } from './mcp-server.ts';

/** The application, and what ends the sessions behind it. */
export function honoApp(
  registry: HostToolRegistry,
  cwd: string,
): { readonly app: Hono; close(): Promise<void> } {
  const handler = createMcpHandler(
    () => registry.createSession({ sessionId: 'mcp', profile: 'reviewer', cwd }),
    { name: 'examples', version: '1.0.0' },
  );
  const app = new Hono();
  app.get('/', (context) => context.text('The tools are at /mcp.'));
  app.all('/mcp', (context) => handler.fetch(context.req.raw));
  return { app, close: () => handler.close() };
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? '')).href) {
  const { app } = honoApp(reviewerRegistry(), process.cwd());
  serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
    process.stderr.write(`Serving MCP at http://127.0.0.1:${port}/mcp\n`),
  );
}
