/**
 * What surrounds the example's page in its tests: an agent, a wire that can be cut, a relay of
 * another origin.
 */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { pageListener } from '../../examples/relay-browser/page-files.ts';
import type { ServeRelayOptions } from '../../src/surfaces/relay/index.ts';
import { serveAgain } from '../surfaces/relay/serve-again.ts';

const closers: (() => Promise<unknown>)[] = [];

/** Is closed by {@link closeAll}, after what was opened later. */
export function later<T extends { close(): Promise<unknown> }>(opened: T): T {
  closers.unshift(() => opened.close());
  return opened;
}

/** For the end of a test. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}

/** An agent, by the official client: what its calls give, or `{ error }`. */
export async function agentOf({
  mcpUrl,
  agentToken,
}: {
  readonly mcpUrl: string;
  readonly agentToken: string;
}) {
  let changes = 0;
  const client = later(new Client({ name: 'agent', version: '1' }));
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes += 1;
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(mcpUrl), {
      requestInit: { headers: { Authorization: `Bearer ${agentToken}` } },
    }),
  );
  return {
    get changes() {
      return changes;
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name).sort(),
    async call(name: string, args: Record<string, unknown> = {}): Promise<unknown> {
      const { content, structuredContent, isError } = await client.callTool({
        name,
        arguments: args,
      });
      const [first] = content;
      const text = first?.type === 'text' ? first.text : '';
      return isError ? { error: text } : (structuredContent ?? jsonOr(text));
    },
  };
}

async function listening<T extends Server | ReturnType<typeof createTcpServer>>(
  server: T,
): Promise<{ readonly server: T; readonly url: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A wire to a server that can be cut and mended. */
export async function wireTo(url: string) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const { server, url: at } = await listening(
    createTcpServer((near) => {
      if (isCut) return void near.destroy();
      const far = connect(Number(new URL(url).port), '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(one);
        one
          .on('error', () => {})
          .once('close', () => {
            sockets.delete(one);
            other.destroy();
          });
        one.pipe(other);
      }
    }),
  );
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const repair = (): void => {
    isCut = false;
  };
  return later({
    url: at,
    cut,
    repair,
    close() {
      cut();
      return new Promise((resolve) => server.close(resolve));
    },
  });
}

/** A relay, and a page of another origin for a session of it. */
export async function apart(options: (origin: string) => Partial<ServeRelayOptions>) {
  let session = { url: '', code: '', token: '' };
  const { server, url } = await listening(createServer(await pageListener(() => session)));
  later({
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  const relay = later(await serveAgain({ port: 0, ...options(url) }));
  const answer = await fetch(`${relay.url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  });
  const { code, sessionToken, agentToken } = (await answer.json()) as {
    code: string;
    sessionToken: string;
    agentToken: string;
  };
  session = { url: relay.url, code, token: sessionToken };
  return { url, relay, agent: { mcpUrl: `${relay.url}/api/sessions/${code}/mcp`, agentToken } };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
