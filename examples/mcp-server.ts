/**
 * The same tools for MCP clients: `npx tsx examples/mcp-server.ts` over stdio,
 * `npx tsx examples/mcp-server.ts --http` over HTTP.
 */
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HostToolRegistry } from '../src/index.ts';
import { createMcpHandler, serveMcpStdio, toNodeListener } from '../src/surfaces/mcp/index.ts';
import { exampleProfiles, exampleTools } from './profiles.ts';

/** The examples' tools, bound for somebody who reads. */
export function reviewerRegistry(): HostToolRegistry {
  const registry = new HostToolRegistry();
  registry.registerAll(exampleTools);
  for (const profile of exampleProfiles('http://127.0.0.1:9')) registry.defineProfile(profile);
  return registry;
}

/** Serves on a free port of the loopback; each client has a session of its own. */
export async function serveHttp(
  registry: HostToolRegistry,
  cwd: string,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const handler = createMcpHandler(
    () => registry.createSession({ sessionId: 'mcp', profile: 'reviewer', cwd }),
    { name: 'examples', version: '1.0.0' },
  );
  const server = createServer(toNodeListener(handler));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp`,
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? '')).href) {
  const registry = reviewerRegistry();
  if (process.argv.includes('--http')) {
    const { url } = await serveHttp(registry, process.cwd());
    process.stderr.write(`Serving MCP at ${url}\n`);
  } else {
    // Standard output is the protocol's.
    await serveMcpStdio(
      registry.createSession({ sessionId: 'mcp', profile: 'reviewer', cwd: process.cwd() }),
      { name: 'examples', version: '1.0.0' },
    ).closed;
    await registry.close();
  }
}
