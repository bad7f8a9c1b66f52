/**
 * A session's tools for MCP clients inside an Express application:
 * `npx tsx examples/mcp-express.ts`.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import express, { type Express } from 'express';
import type { HostToolRegistry } from '../src/index.ts';
import { createMcpHandler, toNodeListener } from '../src/surfaces/mcp/index.ts';
import { reviewerRegistry } from './mcp-server.ts';

/** The application, and what ends the sessions behind it. */
export function expressApp(
  registry: HostToolRegistry,
  cwd: string,
): { readonly app: Express; close(): Promise<void> } {
  const handler = createMcpHandler(
    () => registry.createSession({ sessionId: 'mcp', profile: 'reviewer', cwd }),
    { name: 'examples', version: '1.0.0' },
  );
  const app = express();
  // A body that the application's own parser has read is taken as it is.
  app.use(express.json());
  app.get('/', (_request, response) => void response.send('The tools are at /mcp.'));
  app.all('/mcp', toNodeListener(handler));
  return { app, close: () => handler.close() };
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? '')).href) {
  const { app } = expressApp(reviewerRegistry(), process.cwd());
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.stderr.write(
      `Serving MCP at http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp\n`,
    );
  });
}
