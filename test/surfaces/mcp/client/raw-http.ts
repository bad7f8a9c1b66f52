/**
 * A server over HTTP, of the 2025 era unless it is told otherwise, written by hand: it says exactly
 * what a test wants it to say.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Message = {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: Record<string, unknown>;
};

export interface RawServer {
  readonly url: string;
  /** What it was sent, in order. */
  readonly received: Message[];
  /** Whether it is of the 2026 era. */
  modern: boolean;
  /** What it lists. */
  tools: unknown[];
  /** Answers a `tools/list` otherwise. */
  list: ((params: Record<string, unknown>) => unknown) | undefined;
  /** Answers a `tools/call`: the result, or a function that writes the response itself. */
  call: (
    params: { name: string; arguments?: Record<string, unknown> },
    message: Message,
  ) => unknown;
  /** Waited for before each answer. */
  before: ((message: Message) => Promise<void>) | undefined;
  /** Sends a notification on every open stream. */
  notify(method: string): void;
  /** Streams that are open. */
  readonly streams: Set<ServerResponse>;
  /** Forgets its sessions, as a restart would. */
  restart(): void;
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

export type Writes = (response: ServerResponse, message: Message) => void;
export const writes = (write: Writes): { readonly writes: Writes } => ({ writes: write });

export const tool = (name: string, more: object = {}): object => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
});
export const text = (said: string): object => ({ content: [{ type: 'text', text: said }] });

export async function startRawServer(
  tools: unknown[] = [tool('echo')],
  serverInfo: object = { name: 'raw', version: '1' },
): Promise<RawServer> {
  let session = 0;
  const sockets = new Set<{ destroy(): void }>();
  const server: RawServer = {
    url: '',
    received: [],
    modern: false,
    tools,
    list: undefined,
    before: undefined,
    call: ({ arguments: given }) => text(JSON.stringify(given)),
    streams: new Set(),
    notify(method) {
      for (const stream of server.streams)
        stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method })}\n\n`);
    },
    restart() {
      session++;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  const answer = (message: Message): unknown => {
    if (message.method === 'initialize')
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: true } },
        serverInfo,
      };
    const cached = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    if (message.method === 'server/discover' && server.modern)
      return { ...cached, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
    if (message.method === 'tools/list')
      return server.list === undefined
        ? { ...(server.modern ? cached : {}), tools: server.tools }
        : server.list(message.params ?? {});
    if (message.method === 'tools/call') return server.call(message.params as never, message);
    return undefined;
  };
  const http = createServer((request, response) => void handle(request, response));
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      server.streams.add(response);
      response.on('close', () => server.streams.delete(response));
      return;
    }
    if (request.method === 'DELETE') {
      response.writeHead(200).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    server.received.push(message);
    await server.before?.(message);
    const known = request.headers['mcp-session-id'] === `s${session}`;
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    if (
      message.method !== 'initialize' &&
      message.method !== 'server/discover' &&
      !known &&
      !server.modern
    ) {
      response.writeHead(404).end();
      return;
    }
    const result = answer(message);
    if (typeof result === 'object' && result !== null && 'writes' in result) {
      (result as { writes: Writes }).writes(response, message);
      return;
    }
    const body =
      result === undefined
        ? { jsonrpc: '2.0', id: message.id, error: { code: -32_601, message: 'Method not found' } }
        : typeof result === 'object' && result !== null && 'rpcError' in result
          ? { jsonrpc: '2.0', id: message.id, error: result.rpcError }
          : { jsonrpc: '2.0', id: message.id, result };
    response
      .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${session}` })
      .end(JSON.stringify(body));
  };
  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  Object.assign(server, { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` });
  return server;
}
