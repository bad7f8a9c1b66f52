/**
 * A relay by script: the protocol's routes on a real server of this machine, and every answer in
 * the hands of the test.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What came in. */
export interface Seen {
  readonly method: string;
  /** Below `/api/sessions/CODE`, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

/** What goes out. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface FakeRelay {
  readonly url: string;
  /** Everything that came in, in order. */
  readonly seen: Seen[];
  of(path: string): Seen[];
  /** The next answers of `METHOD /path`, before those by default. */
  reply(route: string, ...replies: Reply[]): void;
  /** Sends an event on the newest stream, and gives it to polls. */
  send(event: string, data: unknown, id?: number): void;
  /** Raw text on the newest stream. */
  raw(text: string): void;
  /** Ends the newest stream. */
  cut(): void;
  /** Streams that are open. */
  readonly streams: number;
  /** What `connected` says. */
  connected: Record<string, unknown>;
  /** What registrations and updates answer as their revision; grows. */
  revision: number;
  close(): Promise<void>;
}

export const code = 'ABCDEFGH';
export const token = 'canary-token-0123456789';

export async function fakeRelay(): Promise<FakeRelay> {
  const seen: Seen[] = [];
  const replies = new Map<string, Reply[]>();
  const streams: ServerResponse[] = [];
  let polls: ServerResponse[] = [];
  let missed: unknown[] = [];
  const answer = (response: ServerResponse, { status, body, headers = {} }: Reply): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(
      body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    );
  };
  const stream = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    streams.push(response);
    response.on('close', () => streams.splice(streams.indexOf(response), 1));
    relay.send('connected', {
      sessionCode: code,
      timestamp: new Date().toISOString(),
      ...relay.connected,
    });
  };
  const poll = (response: ServerResponse): void => {
    if (missed.length > 0) answer(response, { status: 200, body: { events: missed } });
    else polls.push(response);
    missed = [];
  };
  const route = (request: Seen, response: ServerResponse): void => {
    const scripted = replies.get(`${request.method} ${request.path}`)?.shift();
    if (scripted !== undefined) return answer(response, scripted);
    if (request.path === '/stream')
      return request.query.get('mode') === 'poll' ? poll(response) : stream(response);
    if (request.path === '/register-tools' || request.path === '/update-tools') {
      relay.revision += 1;
      return answer(response, {
        status: 200,
        body: { success: true, failedTools: [], toolsRevision: relay.revision },
      });
    }
    if (request.path === '/ticket')
      return answer(response, {
        status: 200,
        body: { ticket: `ticket-${seen.length}`, expiresAt: new Date().toISOString() },
      });
    if (request.method === 'DELETE') return answer(response, { status: 204 });
    answer(response, { status: 200, body: { success: true, requestId: request.body.requestId } });
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://relay');
      const text = Buffer.concat(chunks).toString();
      const item: Seen = {
        method: request.method ?? '',
        path: url.pathname.replace(`/api/sessions/${code}`, ''),
        query: url.searchParams,
        headers: request.headers,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
      seen.push(item);
      route(item, response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const relay: FakeRelay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    of: (path) => seen.filter((item) => item.path === path),
    reply(name, ...more) {
      replies.set(name, [...(replies.get(name) ?? []), ...more]);
    },
    send(event, data, id) {
      relay.raw(
        `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ` +
          `${JSON.stringify(data)}\n\n`,
      );
      if (event === 'connected' || streams.length > 0) return;
      missed.push({ event, data, ...(id === undefined ? {} : { id }) });
      const open = polls.shift();
      if (open !== undefined) poll(open);
    },
    raw: (text) => streams.at(-1)?.write(text),
    cut: () => streams.at(-1)?.destroy(),
    get streams() {
      return streams.length;
    },
    connected: {},
    revision: 0,
    close() {
      polls = [];
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
  return relay;
}
