/** Servers that forget their sessions: refused calls are sent once more, and no call runs twice. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  createMcpHandler,
  McpServer as McpServer2,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ToolResult, ToolSession } from '../../../../src/index.ts';
import { freePort } from '../../../stores/free-port.ts';
import { type ScriptedSessions, startScriptedSessions } from './scripted-sessions.ts';
import { brief, clock, closeAll, closing, imports, sessionOver, until } from './world.ts';

beforeEach(() => {
  clock.at = 0;
});
afterEach(closeAll);

async function scripted(): Promise<ScriptedSessions> {
  return closing(await startScriptedSessions());
}

const said = (n: number): unknown => [{ type: 'text', text: String(n) }];
const runs = (session: ToolSession, from: number, to: number): Promise<ToolResult>[] =>
  Array.from({ length: to - from + 1 }, (_, at) => session.call('run', { n: from + at }));

/** Releases what is held back, until all the work has ended. */
async function releaseAll(server: ScriptedSessions, work: Promise<unknown>): Promise<void> {
  server.holds = false;
  let ended = false;
  void work.finally(() => {
    ended = true;
  });
  await until(() => {
    for (const { answer } of server.held.splice(0)) answer();
    return ended;
  });
}

describe('calls that run at the same time when the session is forgotten', () => {
  test.each([
    ['JSON', false],
    ['event streams', true],
  ])('are each sent once more, in one new session (%s)', async (_, streams) => {
    const server = await scripted();
    server.streams = streams;
    const session = sessionOver(await imports({ url: server.url }));
    server.forget();
    const results = await Promise.all(runs(session, 1, 6));
    expect(results.map(brief)).toEqual([1, 2, 3, 4, 5, 6].map(said));
    expect([server.ran.toSorted(), server.refused.toSorted(), server.begun]).toEqual([
      [1, 2, 3, 4, 5, 6],
      [1, 2, 3, 4, 5, 6],
      2,
    ]);
  });

  test('are not disturbed if the server still answers them in the old session', async () => {
    const server = await scripted();
    const session = sessionOver(await imports({ url: server.url }));
    server.holds = true;
    const old = runs(session, 1, 2);
    await until(() => server.held.length === 2);
    const answers = server.held.splice(0);
    server.holds = false;
    server.forget();
    expect(brief(await session.call('run', { n: 3 }))).toEqual(said(3));
    for (const { answer } of answers) answer();
    expect((await Promise.all(old)).map(brief)).toEqual([said(1), said(2)]);
    expect(server.ran).toEqual([1, 2, 3]);
  });

  test('include those that arrive while the new session begins', async () => {
    const server = await scripted();
    const session = sessionOver(await imports({ url: server.url }));
    server.forget();
    server.holds = true;
    const first = runs(session, 1, 3);
    await until(() => server.held.length === 3);
    (server.held.shift() as { answer: () => void }).answer();
    await until(() => server.held.some(({ method }) => method === 'server/discover'));
    const later = runs(session, 4, 5);
    const all = Promise.all([...first, ...later]);
    await releaseAll(server, all);
    expect((await all).map(brief)).toEqual([1, 2, 3, 4, 5].map(said));
    expect([server.ran.toSorted(), server.begun]).toEqual([[1, 2, 3, 4, 5], 2]);
  });

  test('survive a second loss and a third, as soon as a call was answered in between', async () => {
    const server = await scripted();
    const session = sessionOver(await imports({ url: server.url }));
    for (let turn = 0; turn < 12; turn++) {
      server.forget();
      const results = await Promise.all(runs(session, turn * 3, turn * 3 + 2));
      expect(results.map(({ success }) => success)).toEqual([true, true, true]);
    }
    expect([server.begun, server.ran.length]).toEqual([13, 36]);
  });

  test('that are refused twice are said not to have run', async () => {
    const server = await scripted();
    const session = sessionOver(await imports({ url: server.url }));
    server.forget();
    server.holds = true;
    const work = Promise.all(runs(session, 1, 2));
    await until(() => server.held.length === 2);
    for (const { answer } of server.held.splice(0)) answer();
    for (const method of ['server/discover', 'initialize', 'tools/list']) {
      await until(() => server.held.length === 1);
      expect(server.held[0]?.method).toBe(method);
      if (method === 'tools/list') server.forget();
      (server.held.shift() as { answer: () => void }).answer();
    }
    await releaseAll(server, work);
    expect((await work).map(({ error }) => [error?.code, error?.message])).toEqual(
      Array(2).fill([
        'executor_lost',
        'The MCP server has forgotten the session twice in a row. The call did not run.',
      ]),
    );
    expect([server.ran, server.refused.toSorted()]).toEqual([[], [1, 1, 2, 2]]);
    expect(brief(await session.call('run', { n: 3 }))).toEqual(said(3));
  });

  test('begin the session again if it is forgotten while it begins', async () => {
    const server = await scripted();
    const session = sessionOver(await imports({ url: server.url }));
    server.forget();
    server.holds = true;
    const work = Promise.all(runs(session, 1, 2));
    await until(() => server.held.length === 2);
    for (const { answer } of server.held.splice(0)) answer();
    for (const method of ['server/discover', 'initialize', 'tools/list']) {
      await until(() => server.held.some((one) => one.method === method));
      if (method === 'initialize') server.forget();
      (server.held.shift() as { answer: () => void }).answer();
    }
    await releaseAll(server, work);
    expect((await work).map(brief)).toEqual([said(1), said(2)]);
    expect(server.begun).toBe(3);
  });

  test('all fail if no session can begin, and say that they did not run', async () => {
    const server = await scripted();
    const session = sessionOver(await imports({ url: server.url }));
    server.forget();
    server.initialize = 500;
    const results = await Promise.all(runs(session, 1, 3));
    expect(results.map(({ error }) => [error?.code, error?.message])).toEqual(
      Array(3).fill(['executor_lost', expect.stringMatching(/\. The call did not run\.$/)]),
    );
    server.initialize = 200;
    clock.at = 60_000;
    expect(brief(await session.call('run', { n: 4 }))).toEqual(said(4));
    expect(server.ran).toEqual([4]);
  });

  test('keep their own deadlines and aborts while the new session hangs', async () => {
    const server = await scripted();
    const session = sessionOver(await imports({ url: server.url }));
    server.forget();
    server.holds = true;
    const stop = new AbortController();
    const aborted = session.call('run', { n: 1 }, { signal: stop.signal });
    const timed = session.call('run', { n: 2 }, { timeoutMs: 2_000 });
    const patient = session.call('run', { n: 3 });
    await until(() => server.held.length === 3);
    for (const { answer } of server.held.splice(0)) answer();
    await until(() => server.held.length === 1);
    stop.abort();
    expect([brief(await aborted), brief(await timed)]).toEqual([
      ['cancelled'],
      ['timeout', 'timeout'],
    ]);
    await releaseAll(server, patient);
    expect([brief(await patient), server.ran]).toEqual([said(3), [3]]);
  });

  test('and a listing share the new session', async () => {
    const server = await scripted();
    const imported = await imports({ url: server.url });
    const session = sessionOver(imported);
    server.forget();
    const [, ...results] = await Promise.all([imported.refresh(), ...runs(session, 1, 3)]);
    expect(results.map(brief)).toEqual([1, 2, 3].map(said));
    server.forget();
    await imported.refresh();
    expect(server.begun).toBe(3);
  });

  test('leave nothing open when the import is closed', async () => {
    const server = await scripted();
    const imported = await imports({ url: server.url });
    const session = sessionOver(imported);
    server.holds = true;
    const old = session.call('run', { n: 1 });
    await until(() => server.held.length === 1);
    server.holds = false;
    server.forget();
    await session.call('run', { n: 2 });
    await imported.close();
    expect((await old).error?.message).toMatch(/The call may have run\.$/);
  });
});

/** What the test does next, and which of the answers that are held back it releases. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('call' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), at: fc.nat(20) }) },
);

test('in any order of calls, losses, answers and aborts, each call runs at most once and says so', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, streams) => {
      clock.at = 0;
      const server = await scripted();
      server.streams = streams;
      const session = sessionOver(await imports({ url: server.url }));
      server.holds = true;
      const calls: { readonly work: Promise<ToolResult>; readonly stop: AbortController }[] = [];
      let losses = 0;
      for (const next of steps) {
        if (next.do === 'call') {
          const stop = new AbortController();
          const { signal } = stop;
          calls.push({ work: session.call('run', { n: calls.length }, { signal }), stop });
        } else if (next.do === 'forget') {
          losses++;
          server.forget();
        } else if (next.do === 'abort') calls[next.at % calls.length]?.stop.abort();
        else server.held.splice(next.at % server.held.length, 1)[0]?.answer();
        // Gives what was sent or released the time to arrive.
        for (let turn = 0; turn < 8; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      const work = Promise.all(calls.map((one) => one.work));
      await releaseAll(server, work);
      const results = await work;
      const count = (list: readonly number[], n: number): number =>
        list.filter((one) => one === n).length;
      for (const [n, result] of results.entries()) {
        const ran = count(server.ran, n);
        expect(ran).toBeLessThanOrEqual(1);
        expect(ran + count(server.refused, n)).toBeLessThanOrEqual(2);
        if (result.success) expect([ran, result.output]).toEqual([1, said(n)]);
        else if (calls[n]?.stop.signal.aborted !== true)
          expect([ran, result.error.message]).toEqual([0, expect.stringMatching(/did not run\.$/)]);
      }
      if (losses <= 1)
        expect(results.every(({ success }, n) => success || calls[n]?.stop.signal.aborted)).toBe(
          true,
        );
      expect(server.begun).toBeLessThanOrEqual(losses + 1);
      await closeAll();
    }),
    { numRuns: 60 },
  );
});

const rpcError = (id: unknown, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } });

describe('how a server refuses', () => {
  test.each<[number, string, boolean]>([
    [404, '', true],
    [404, '<html>Not Found</html>', true],
    [410, 'Gone', true],
    [400, 'Bad Request: No valid session ID provided', true],
    [400, 'Bad Request: Server not initialized', true],
    [400, '{"error":{"code":-32000,"message":"Invalid or missing session ID"}}', true],
    [401, 'Unauthorized: Session not found', true],
    [400, 'Bad Request: the arguments are wrong', false],
    [401, 'Unauthorized', false],
    [500, 'Session not found', false],
    [404, rpcError(null, 'Not found'), true],
    [404, rpcError('server-error', 'Not found'), true],
    [404, rpcError(7, 'Session not found'), true],
    [404, rpcError(7, 'Order not found'), false],
    [410, rpcError(7, 'The order is gone'), false],
    [404, '{"error":"Not found"}', true],
  ])('%i %s: sent once more is %s', async (status, body, again) => {
    const server = await scripted();
    server.refusal = [status, body];
    const session = sessionOver(await imports({ url: server.url }));
    server.forget();
    const results = await Promise.all(runs(session, 1, 3));
    expect(results.map(({ success }) => success)).toEqual(Array(3).fill(again));
    expect([server.ran.length, server.begun]).toEqual(again ? [3, 2] : [0, 1]);
  });
});

test('a server that cannot be reached is said not to have run the call', async () => {
  const server = await scripted();
  const session = sessionOver(await imports({ url: server.url }));
  await server.close();
  const results = await Promise.all(runs(session, 1, 3));
  expect(results.map(({ error }) => [error?.code, error?.message])).toEqual(
    Array(3).fill(['executor_lost', expect.stringMatching(/The call (did not|may have) run\.$/)]),
  );
  // By now no connection is kept alive, so none can be made.
  expect((await session.call('run', { n: 4 })).error?.message).toBe(
    'The MCP server cannot be reached. The call did not run.',
  );
});

test('a client of the host is not used again for a call that was refused', async () => {
  const server = await scripted();
  const client = new Client({ name: 'host', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  closing(client);
  const session = sessionOver(await imports(client));
  server.forget();
  const results = await Promise.all(runs(session, 1, 2));
  expect(results.map(({ error }) => [error?.code, error?.message])).toEqual(
    Array(2).fill([
      'executor_lost',
      'The MCP server has forgotten the session, so the call did not run. The host must connect ' +
        'its client again.',
    ]),
  );
  expect([server.ran, server.refused.toSorted()]).toEqual([[], [1, 2]]);
});

/** A server of the official SDK that can be restarted on its port, and what it ran. */
interface Restartable {
  readonly url: string;
  readonly ran: string[];
  restart(): Promise<void>;
  close(): Promise<void>;
}

async function restartable(
  make: (ran: string[]) => (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Restartable> {
  const ran: string[] = [];
  let http: Server;
  const port = await freePort();
  const start = async (): Promise<void> => {
    const handle = make(ran);
    // A process that another thread starts has a copy of the closed socket for a moment.
    for (let left = 500; ; left--)
      try {
        http = createServer((request, response) => void handle(request, response));
        await new Promise<void>((resolve, reject) => {
          http.once('error', reject).listen(port, '127.0.0.1', resolve);
        });
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || left === 0) throw error;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
  };
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  await start();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    ran,
    close,
    restart: async () => {
      await close();
      await start();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}

function echoing(ran: string[]): McpServer {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool(
    'run',
    { description: 'Runs.', inputSchema: { n: z.number() } },
    async ({ n }) => {
      ran.push(String(n));
      return { content: [{ type: 'text', text: String(n) }] };
    },
  );
  return server;
}

function echoing2(ran: string[]): McpServer2 {
  const server = new McpServer2({ name: 'echo', version: '1.0.0' });
  server.registerTool(
    'run',
    { description: 'Runs.', inputSchema: z.object({ n: z.number() }) },
    async ({ n }) => {
      ran.push(String(n));
      return { content: [{ type: 'text', text: String(n) }] };
    },
  );
  return server;
}

/** The usual way to write one: a transport for each session, and an answer for unknown ones. */
const perSession = (unknown: number, enableJsonResponse: boolean) => (ran: string[]) => {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  return async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const text = await bodyOf(request);
    const body = text === '' ? undefined : JSON.parse(text);
    const id = request.headers['mcp-session-id'] as string | undefined;
    let transport = id === undefined ? undefined : transports.get(id);
    if (id === undefined && body?.method === 'initialize') {
      const fresh = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse,
        onsessioninitialized: (made) => void transports.set(made, fresh),
      });
      await echoing(ran).connect(fresh as never);
      transport = fresh;
    }
    if (transport !== undefined) return transport.handleRequest(request, response, body);
    response.writeHead(unknown, { 'content-type': 'application/json' });
    const error = { code: -32_000, message: 'Bad Request: No valid session ID provided' };
    return response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
  };
};

/** One transport for the whole process, as in small servers. */
const single = (ran: string[]) => {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  const ready = echoing(ran).connect(transport as never);
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await ready;
    await transport.handleRequest(request, response);
  };
};

const viaWeb = (fetching: (request: Request) => Promise<Response>) =>
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const abort = new AbortController();
    response.on('close', () => abort.abort());
    const answer = await fetching(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method as string,
        headers: request.headers as Record<string, string>,
        signal: abort.signal,
        ...(body === '' ? {} : { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    try {
      if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
    } catch {
      // The connection was closed.
    }
    response.end();
  };

const version2 = (ran: string[]) => {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
  });
  const ready = echoing2(ran).connect(transport);
  return viaWeb(async (request) => {
    await ready;
    return transport.handleRequest(request);
  });
};

const modern = (ran: string[]) => {
  const handler = createMcpHandler(() => echoing2(ran));
  return viaWeb((request) => handler.fetch(request));
};

test.each<[string, Parameters<typeof restartable>[0]]>([
  ['version 1, 404 for unknown sessions', perSession(404, false)],
  ['version 1, 400 for unknown sessions, answers as JSON', perSession(400, true)],
  ['version 1, one transport', single],
  ['version 2, one transport', version2],
  ['version 2 in the era of 2026, without sessions', modern],
])('a restarted server of the official SDK runs each parallel call once: %s', async (_, make) => {
  const server = closing(await restartable(make));
  const session = sessionOver(await imports({ url: server.url }, {}, 20_000));
  expect(brief(await session.call('run', { n: 0 }))).toEqual(said(0));
  for (const from of [1, 7]) {
    await server.restart();
    const results = await Promise.all(runs(session, from, from + 5));
    expect(results.map(brief)).toEqual(Array.from({ length: 6 }, (_, at) => said(from + at)));
  }
  expect(server.ran.map(Number).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 13 }, (_, n) => n),
  );
});
