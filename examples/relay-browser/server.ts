/**
 * A page whose buttons are tools: `npx tsx examples/relay-browser/server.ts` starts a relay and
 * serves the page, and says where an agent finds its tools.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type RelayOptions, serveRelay } from '../../src/relay/index.ts';
import { forwardTo } from './forward.ts';
import { pageListener } from './page-files.ts';

/** The example as it runs. */
export interface RelayBrowserExample {
  /** The page. */
  readonly url: string;
  /** For the agent: an MCP server that needs `Authorization: Bearer` and the token. */
  readonly mcpUrl: string;
  readonly agentToken: string;
  close(): Promise<void>;
}

/** Starts it on the loopback. @param port 0 is any that is free */
export async function startExample(
  port: number,
  options: RelayOptions = {},
): Promise<RelayBrowserExample> {
  const relay = await serveRelay({ ...options, port: 0 });
  // One session for the one page. A service makes one for each of its users, and gives each its
  // own.
  const { code, sessionToken, agentToken } = await createSession(relay.url);
  const page = await pageListener(() => ({ url: '/', code, token: sessionToken }));
  const { request, upgrade } = forwardTo(relay.port);
  const server = createServer((incoming, outgoing) =>
    (incoming.url?.startsWith('/api/') ? request : page)(incoming, outgoing),
  );
  server.on('upgrade', upgrade);
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    mcpUrl: `${url}/api/sessions/${code}/mcp`,
    agentToken,
    async close() {
      await relay.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function createSession(
  url: string,
): Promise<{ readonly code: string; readonly sessionToken: string; readonly agentToken: string }> {
  const response = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  });
  if (!response.ok)
    throw new Error(`The relay answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { code: string; sessionToken: string; agentToken: string };
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? '')).href) {
  const { url, mcpUrl, agentToken, close } = await startExample(Number(process.env.PORT ?? 4_060));
  process.stdout.write(
    `Page:  ${url}\nAgent: ${mcpUrl}\n       Authorization: Bearer ${agentToken}\n`,
  );
  process.once('SIGINT', () => void close());
}
