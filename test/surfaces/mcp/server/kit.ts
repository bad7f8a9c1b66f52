/** Real clients, real sockets and raw requests for the tests of the MCP server. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import {
  defineTool,
  HostToolRegistry,
  jsonSchema,
  type RegistryOptions,
} from '../../../../src/index.ts';
import {
  createMcpHandler,
  type McpHandler,
  type McpHandlerOptions,
  type McpSource,
  toNodeListener,
} from '../../../../src/surfaces/mcp/index.ts';

export type Era = 'legacy' | 'modern';
export const eras: readonly Era[] = ['legacy', 'modern'];

export const secret = 'a-secret-of-more-than-thirty-two-bytes';
export const anything = jsonSchema<Record<string, unknown>>({ type: 'object' });
export const textInput = jsonSchema<{ text: string }>({
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
});

/** A registry with `echo`, and `danger`, which asks first. */
export function sampleRegistry(options: RegistryOptions = {}): HostToolRegistry {
  const registry = new HostToolRegistry({ approvals: { secret }, ...options });
  registry.registerAll([
    defineTool({
      name: 'echo',
      description: 'Says it again.',
      parameters: textInput,
      handler: ({ text }) => text,
    }),
    defineTool({
      name: 'danger',
      description: 'Asks first.',
      parameters: anything,
      requiresApproval: true,
      handler: () => 'done',
    }),
  ]);
  return registry;
}

/** What a test has opened; closed in reverse order. */
export interface Opened {
  defer(close: () => unknown): void;
  close(): Promise<void>;
}

export function opened(): Opened {
  const closers: (() => unknown)[] = [];
  return {
    defer: (close) => void closers.push(close),
    async close() {
      for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
    },
  };
}

/** A handler on a free port of the loopback. */
export async function listen(
  open: Opened,
  source: McpSource,
  options: McpHandlerOptions = {},
  wrap: (handler: McpHandler) => { fetch(request: Request): Promise<Response> } = (handler) =>
    handler,
): Promise<{
  readonly handler: McpHandler;
  readonly url: URL;
  readonly server: Server;
  readonly port: number;
}> {
  const handler = createMcpHandler(source, options);
  const server = createServer(toNodeListener(wrap(handler)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.defer(async () => {
    await handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { handler, server, port, url: new URL(`http://127.0.0.1:${port}/mcp`) };
}

/** The real client of the protocol's package. */
export async function connectClient(
  open: Opened,
  url: URL,
  era: Era,
  capabilities: NonNullable<ClientOptions['capabilities']> = {},
  requestInit: RequestInit = {},
): Promise<Client> {
  const client = newClient(era, capabilities);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  open.defer(() => client.close());
  return client;
}

export function newClient(
  era: Era,
  capabilities: NonNullable<ClientOptions['capabilities']> = {},
): Client {
  return new Client(
    { name: 'test', version: '1' },
    {
      capabilities,
      ...(era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
}

export const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
};
export const jsonHeaders = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
};

/** A request as anybody could send it. */
export function post(body: unknown, headers: Record<string, string> = {}): Request {
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: { ...jsonHeaders, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Opens a MCP session by hand; gives its id. */
export async function initialize(
  handler: McpHandler,
  headers: Record<string, string> = {},
  protocolVersion = '2025-11-25',
  capabilities: object = {},
): Promise<string> {
  const params = { ...initializeParams, protocolVersion, capabilities };
  const response = await handler.fetch(
    post({ jsonrpc: '2.0', id: 'init', method: 'initialize', params }, headers),
  );
  await response.text();
  const id = response.headers.get('mcp-session-id');
  if (id === null) throw new Error(`No session: ${response.status}`);
  await handler.fetch(
    post(
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { ...headers, 'mcp-session-id': id },
    ),
  );
  return id;
}

export interface SseEvent {
  readonly id: string | undefined;
  readonly message:
    | {
        readonly id?: string | number;
        readonly method?: string;
        readonly params?: never;
        readonly result?: never;
        readonly error?: never;
      }
    | undefined;
}

/** The events of a stream, as they come. */
export async function* sse(response: Response): AsyncGenerator<SseEvent, void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n')) {
      const lines = text.slice(0, at).split('\n');
      text = text.slice(at + 2);
      const field = (name: string): string | undefined =>
        lines
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim();
      const data = field('data');
      if (data !== undefined)
        yield {
          id: field('id'),
          message: data === '' ? undefined : (JSON.parse(data) as SseEvent['message']),
        };
    }
  }
}

/** The one answer to a request, by JSON or by stream. */
export async function answerOf(response: Response): Promise<Record<string, never>> {
  if (response.headers.get('content-type')?.startsWith('application/json') === true)
    return (await response.json()) as Record<string, never>;
  for await (const { message } of sse(response))
    if (message !== undefined && message.method === undefined)
      return message as Record<string, never>;
  throw new Error(`No answer: ${response.status}`);
}

/** Bytes on a socket; what came back until it was closed, or until `isEnough`. */
export function raw(
  port: number,
  bytes: string | Uint8Array,
  isEnough: (text: string) => boolean = () => false,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (isEnough(text)) socket.destroy();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(text) : reject(error),
    );
    socket.write(bytes);
  });
}

/** Something that a test waits for. */
export function signal<T = void>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve: (value) => resolve(value) };
}
