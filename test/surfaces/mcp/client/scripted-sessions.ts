/**
 * A server over HTTP that holds every answer back until the test releases it, and counts what ran.
 * It decides when a request arrives whether it knows its session, as real servers do.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedSessions {
  readonly url: string;
  /** The call numbers that ran, in order. */
  readonly ran: number[];
  /** The call numbers that were refused, in order. */
  readonly refused: number[];
  /** How many sessions were begun. */
  begun: number;
  /** Answers as an event stream. */
  streams: boolean;
  /** How a request of an unknown session is refused. */
  refusal: readonly [status: number, body: string];
  /** Answers `initialize` with this status. */
  initialize: number;
  /** Answers at once instead of holding back. */
  holds: boolean;
  /** What is held back: the method, and what answers it. */
  readonly held: { readonly method: string; readonly answer: () => void }[];
  /** Forgets all sessions. */
  forget(): void;
  close(): Promise<void>;
}

export async function startScriptedSessions(): Promise<ScriptedSessions> {
  let session = 0;
  const server: ScriptedSessions = {
    url: '',
    ran: [],
    refused: [],
    begun: 0,
    streams: false,
    refusal: [404, 'Session not found'],
    initialize: 200,
    holds: false,
    held: [],
    forget: () => void session++,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  const answerTo = (method: string, n: number): object | undefined => {
    if (method === 'initialize') {
      server.begun++;
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'scripted', version: '1' },
      };
    }
    if (method === 'tools/list')
      return { tools: [{ name: 'run', description: 'Runs.', inputSchema: { type: 'object' } }] };
    if (method !== 'tools/call') return undefined;
    server.ran.push(n);
    return { content: [{ type: 'text', text: String(n) }] };
  };
  const send = (
    response: ServerResponse,
    sessionId: string,
    id: unknown,
    result: object | undefined,
  ): void => {
    const body = JSON.stringify(
      result === undefined
        ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }
        : { jsonrpc: '2.0', id, result },
    );
    const type = server.streams ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'content-type': type, 'mcp-session-id': sessionId });
    response.end(server.streams ? `event: message\ndata: ${body}\n\n` : body);
  };
  const http = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return void response.writeHead(202).end();
    const n = params?.arguments?.n ?? -1;
    const sessionId = `s${session}`;
    const known =
      method === 'initialize' ||
      method === 'server/discover' ||
      request.headers['mcp-session-id'] === sessionId;
    const [status, text] =
      method === 'initialize' ? [server.initialize, 'No.'] : known ? [200, ''] : server.refusal;
    const result = status === 200 ? answerTo(method, n) : undefined;
    if (method === 'tools/call' && status !== 200) server.refused.push(n);
    const answer = (): void => {
      if (status === 200) send(response, sessionId, id, result);
      else response.writeHead(status).end(text);
    };
    if (server.holds) server.held.push({ method, answer });
    else answer();
  });
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  return Object.assign(server, {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
  });
}
