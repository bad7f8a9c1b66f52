/** The session's tools for the agent, as an MCP server: over ACP, else over HTTP on loopback. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  ClientConnection,
  McpOperationContext,
  McpOutcome,
  McpOverAcpProvider,
  McpServer,
} from '@agentclientprotocol/sdk/unstable';
import type { ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { isJsonObject } from '../../values/json/index.ts';
import { logTo } from '../../values/logging.ts';
import type { McpHandler } from '../mcp/server/handler.ts';
import type { AcpSdk } from './sdk.ts';

/** The server for the agents of one client. */
export class OfferedTools {
  readonly #session: ToolSession;
  /** No other server of the agent has this name, so that calls to it can be told apart. */
  readonly name = `host-tools-${randomBytes(4).toString('hex')}`;
  readonly #sdk: AcpSdk;
  readonly #provider: McpOverAcpProvider;
  readonly handleRequest: McpOverAcpProvider['handleRequest'];
  #handler: Promise<McpHandler> | undefined;
  #http: Promise<{ readonly server: Server; readonly url: string }> | undefined;
  readonly #secret = randomBytes(32).toString('base64url');

  constructor(session: ToolSession, sdk: AcpSdk) {
    this.#session = session;
    this.#sdk = sdk;
    this.#provider = new sdk.McpOverAcpProvider();
    this.handleRequest = this.#provider.handleRequest;
  }

  /** Whether the agent's name of a tool means one of these. They pass the gates when called. */
  includes(tool: string): boolean {
    return tool.startsWith(`mcp__${this.name}__`) || tool.startsWith(`mcp_${this.name}_`);
  }

  /** The server for `mcpServers` of a new session: one, or none. */
  async servers(capabilities: unknown, connection: ClientConnection): Promise<McpServer[]> {
    const { name } = this;
    const can = isJsonObject(capabilities) ? capabilities.mcpCapabilities : undefined;
    if (isJsonObject(can) && can.acp === true) {
      const handler = (context: McpOperationContext): Promise<McpOutcome> => this.#answer(context);
      return [this.#provider.registerServer(connection.agent, { name, handler }).declaration];
    }
    if (isJsonObject(can) && can.http === true) {
      this.#http ??= this.#listen();
      const { url } = await this.#http;
      const headers = [{ name: 'Authorization', value: `Bearer ${this.#secret}` }];
      return [{ type: 'http', name, url, headers }];
    }
    const why =
      'an ACP agent takes MCP servers neither over ACP nor over HTTP, so it gets no tools';
    logTo(inspectSession(this.#session).registry.logger, 'warn', {}, why);
    return [];
  }

  async close(): Promise<void> {
    const [handler, http] = await Promise.all([this.#handler, this.#http]);
    await handler?.close();
    http?.server.closeAllConnections();
    http?.server.close();
  }

  #handle(): Promise<McpHandler> {
    this.#handler ??= import('../mcp/server/handler.ts').then(({ createMcpHandler }) =>
      createMcpHandler(this.#session, {
        name: this.name,
        authenticate: (request) => (this.#knows(request) ? 'acp' : undefined),
      }),
    );
    return this.#handler;
  }

  #knows(request: Request): boolean {
    const given = Buffer.from(request.headers.get('authorization') ?? '');
    const wanted = Buffer.from(`Bearer ${this.#secret}`);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  async #listen(): Promise<{ server: Server; url: string }> {
    const [handler, { toNodeListener }] = await Promise.all([
      this.#handle(),
      import('../mcp/server/node.ts'),
    ]);
    const server = createServer(toNodeListener(handler));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    // The agent's process keeps the host's alive as long as the host wants.
    server.unref();
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
  }

  /** A request over ACP is one over HTTP that never leaves the process. */
  async #answer(context: McpOperationContext): Promise<McpOutcome> {
    const { method, params, requestId, protocolVersion, signal } = context;
    const headers = new Headers({
      authorization: `Bearer ${this.#secret}`,
      host: '127.0.0.1',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
    });
    const unknown = { error: { code: -32_601, message: 'Unknown method.' } };
    if (!/^[\w/.$-]{1,200}$/.test(method)) return unknown;
    headers.set('mcp-method', method);
    const named = params?.name ?? params?.uri ?? params?.taskId;
    if (typeof named === 'string')
      headers.set('mcp-name', `=?base64?${Buffer.from(named).toString('base64')}?=`);
    const { fetch } = await this.#handle();
    const body = JSON.stringify({ jsonrpc: '2.0', id: requestId, method, params });
    const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body, signal });
    const response = await fetch(request);
    for await (const message of messagesOf(response)) {
      if (!isJsonObject(message)) continue;
      const outcome = this.#sdk.parseMcpOutcome(message);
      if (outcome !== undefined)
        return 'error' in outcome ? { error: outcome.error } : { result: outcome.result };
      const { method: told, params: about, id } = message;
      if (typeof told === 'string' && id === undefined)
        await context.notify(told, isJsonObject(about) ? about : undefined);
    }
    throw new Error(`The tools' server has not answered (${response.status}).`);
  }
}

/** The messages of an answer: one, or a stream of events. */
async function* messagesOf(response: Response): AsyncGenerator<unknown> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield await response.json();
    return;
  }
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const events = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n');
    rest = events.pop() as string;
    for (const event of events) {
      const data = event.split('\n').flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []);
      if (data.join('') !== '') yield JSON.parse(data.join('\n'));
    }
  }
}
