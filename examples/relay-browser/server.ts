/**
 * A page whose buttons are tools: `npx tsx examples/relay-browser/server.ts` starts a relay and
 * serves the page, and says where an agent finds its tools.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type RelayOptions, serveRelay } from '../../src/surfaces/relay/index.ts';
import { forwardTo } from './forward.ts';
import { type PageSession, pageListener } from './page-files.ts';

/** The example as it runs. */
export interface RelayBrowserExample {
  /** The page. */
  readonly url: string;
  /** For the agent: an MCP server that needs `Authorization: Bearer` and the token. */
  readonly mcpUrl: string;
  readonly agentToken: string;
  close(): Promise<void>;
}

/**
 * Starts it on the loopback.
 * @param port 0 is any that is free
 * @param onSession called with each further session, which an agent has to be told of
 */
export async function startExample(
  port: number,
  options: RelayOptions = {},
  onSession: (example: Pick<RelayBrowserExample, 'mcpUrl' | 'agentToken'>) => void = () => {},
): Promise<RelayBrowserExample> {
  const relay = await serveRelay({ ...options, port: 0 });
  // One session for the one page. A service makes one for each of its users, and gives each its
  // own.
  let session = await createSession(relay.url);
  const pageSession = (): PageSession => ({
    url: '/',
    code: session.code,
    token: session.sessionToken,
  });
  const renew = async (): Promise<void> => {
    // Another page may have begun a new one already.
    if (await isOpen(relay.url, session)) return;
    session = await createSession(relay.url);
    onSession(example);
  };
  let renewing: Promise<void> | undefined;
  const page = await pageListener(pageSession, async () => {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    await renewing;
    return pageSession();
  });
  const { request, upgrade } = forwardTo(relay.port);
  const server = createServer((incoming, outgoing) =>
    (incoming.url?.startsWith('/api/') ? request : page)(incoming, outgoing),
  );
  server.on('upgrade', upgrade);
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const example: RelayBrowserExample = {
    url,
    get mcpUrl() {
      return `${url}/api/sessions/${session.code}/mcp`;
    },
    get agentToken() {
      return session.agentToken;
    },
    async close() {
      await relay.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return example;
}

interface Session {
  readonly code: string;
  readonly sessionToken: string;
  readonly agentToken: string;
}

async function isOpen(url: string, { code, agentToken }: Session): Promise<boolean> {
  const { status } = await fetch(`${url}/api/sessions/${code}/metadata`, {
    headers: { Authorization: `Bearer ${agentToken}` },
  });
  return status !== 404 && status !== 410;
}

async function createSession(url: string): Promise<Session> {
  const response = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  });
  if (!response.ok)
    throw new Error(`The relay answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Session;
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? '')).href) {
  const tellAgent = ({ mcpUrl, agentToken }: Pick<RelayBrowserExample, 'mcpUrl' | 'agentToken'>) =>
    process.stdout.write(`Agent: ${mcpUrl}\n       Authorization: Bearer ${agentToken}\n`);
  const example = await startExample(Number(process.env.PORT ?? 4_060), {}, tellAgent);
  const { url, close } = example;
  process.stdout.write(`Page:  ${url}\n`);
  tellAgent(example);
  process.once('SIGINT', () => void close());
}
