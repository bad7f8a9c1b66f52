/** What a hostile agent, application or page tries at a whole relay, and what must come of it. */

import { EventEmitter } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { type JsonObject, memoryStore } from '../../../src/index.ts';
import { createRelay, type Relay, serveRelay } from '../../../src/surfaces/relay/index.ts';
import type { RelayOptions } from '../../../src/surfaces/relay/options.ts';
import { createUnreadAnswers } from '../../../src/surfaces/relay/server/unread-answers.ts';
import { connectRelay, type RelayStatusEvent } from '../../../src/surfaces/relay-client/index.ts';
import { approvalStoreOf } from '../../stores/shared/ports.ts';
import { beforeOp } from './watched-store.ts';

const hostKey = 'host-key-of-forty-characters-or-so-000000';
const relays: Relay[] = [];
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, never> & JsonObject;
}

interface Attacked {
  readonly relay: Relay;
  readonly code: string;
  readonly sessionToken: string;
  readonly agentToken: string;
  /** One request below the session, or below `base`. */
  send(
    method: string,
    path: string,
    token?: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Waits for calls as the application, and answers them. */
  serve(answer: (call: JsonObject) => JsonObject): () => Promise<void>;
}

const tool = (name: string, more: object = {}): object => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object' },
  ...more,
});

/** A relay with a session and tools in it. */
async function attacked(
  options: RelayOptions = {},
  tools: readonly object[] = [tool('safe')],
): Promise<Attacked> {
  const relay = createRelay({
    heartbeatMs: 50,
    leaseMs: 500,
    requestTimeoutMs: 2_000,
    hostKey,
    ...options,
  });
  relays.push(relay);
  const ask = async (
    method: string,
    path: string,
    token?: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Answer> => {
    const headers = {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...more,
    };
    const init = {
      method,
      headers,
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    };
    const response = await relay.fetch(new Request(`http://localhost/api/sessions${path}`, init));
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : {},
    };
  };
  const created = (await ask('POST', '', hostKey, {})).body as unknown as {
    code: string;
    sessionToken: string;
    agentToken: string;
  };
  const { code, sessionToken } = created;
  const registration = {
    pluginType: 'custom',
    pluginVersion: '1',
    capabilities: [],
    environment: {},
    availableTools: tools,
  };
  expect((await ask('POST', `/${code}/register-tools`, sessionToken, registration)).status).toBe(
    201,
  );
  return {
    relay,
    ...created,
    send: (method, path, ...rest) => ask(method, `/${code}${path}`, ...rest),
    serve(answer) {
      let over = false;
      const loop = (async () => {
        for (let after = 0; !over; ) {
          const { body } = await ask(
            'GET',
            `/${code}/stream?mode=poll&after=${after}`,
            sessionToken,
          );
          for (const { id, event, data } of (body.events ?? []) as unknown as {
            id?: number;
            event: string;
            data: JsonObject;
          }[]) {
            after = id ?? after;
            if (event === 'tool-request')
              await ask('POST', `/${code}/response`, sessionToken, {
                requestId: data.requestId,
                ...answer(data),
              });
          }
        }
      })();
      const stop = async (): Promise<void> => {
        over = true;
        await loop;
      };
      // Otherwise a failed expectation would leave the loop running, and the suite with it.
      onTestFinished(stop);
      return stop;
    },
  };
}

const mcpHeaders = {
  Accept: 'application/json, text/event-stream',
  'MCP-Protocol-Version': '2025-06-18',
};

/** Opens an MCP session. @returns sends a message to it */
async function openMcp(
  { send, agentToken }: Attacked,
  capabilities: JsonObject = {},
): Promise<(body: unknown) => Promise<Answer>> {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities,
    clientInfo: { name: 'evil', version: '1' },
  };
  const opened = await send(
    'POST',
    '/mcp',
    agentToken,
    { jsonrpc: '2.0', id: 0, method: 'initialize', params },
    mcpHeaders,
  );
  const headers = { ...mcpHeaders, 'Mcp-Session-Id': opened.headers.get('mcp-session-id') ?? '' };
  await send(
    'POST',
    '/mcp',
    agentToken,
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    headers,
  );
  return (body) => send('POST', '/mcp', agentToken, body, headers);
}

const asking = (store?: Store): RelayOptions => ({
  session: {
    approvalMode: 'suspend',
    approvals: { secret: 's'.repeat(40), ...(store === undefined ? {} : { store }) },
    rules: [{ effect: 'ask', tools: 'danger' }],
  },
});

describe('an agent', () => {
  test('cannot avoid the limit over MCP by spelling the method differently', async () => {
    const world = await attacked({ limits: { requestsPerMinute: 5 } });
    const say = await openMcp(world);
    const statuses: number[] = [];
    for (let id = 1; id <= 7; id++)
      statuses.push(
        (
          await say(
            `{"jsonrpc":"2.0","id":${id},"method":"\\u0074ool\\u0073/call","params":{"name":"nothing","arguments":{}}}`,
          )
        ).status,
      );
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });

  test('cannot approve its own call over MCP', async () => {
    const world = await attacked(asking(), [tool('danger')]);
    let ran = 0;
    const stop = world.serve(() => ({ result: ++ran }));
    const say = await openMcp(world, { elicitation: {} });
    const { text } = await say({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'danger', arguments: {} },
    });
    expect(text).not.toContain('elicitation/create');
    expect(text).toContain('waiting for a person');
    expect(ran).toBe(0);
    await stop();
  });

  test('can open only so many streams on a node, and takes none from the application', async () => {
    // Its limit per minute is lower; without it the number that is open at once is bounded too.
    const { relay, code, agentToken, sessionToken } = await attacked({
      limits: { streamsPerMinute: 2_000 },
    });
    const ended = new AbortController();
    const open = (path: string, token: string): Promise<Response> =>
      relay.fetch(
        new Request(`http://localhost/api/sessions/${code}/${path}`, {
          headers: { Authorization: `Bearer ${token}` },
          signal: ended.signal,
        }),
      );
    const streams = await Promise.all(
      Array.from({ length: 1_030 }, () => open('events', agentToken)),
    );
    const count = (wanted: number): number =>
      streams.filter(({ status }) => status === wanted).length;
    expect([count(200), count(429), relay.metrics().openStreams]).toEqual([1_024, 6, 1_024]);
    const application = await open('stream', sessionToken);
    expect(application.status).toBe(200);
    await Promise.all([...streams, application].map(({ body }) => body?.cancel()));
    expect(relay.metrics().openStreams).toBe(0);
    const again = await open('events', agentToken);
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });

  test('that reads all changes from the beginning causes only one read of the definitions', async () => {
    const inner = memoryStore();
    let readings = 0;
    const store = beforeOp(inner, 'get', ({ keys }) => {
      readings += keys.filter((key) => key.startsWith('definitions:')).length;
    });
    const { send, agentToken, sessionToken } = await attacked({
      store,
      limits: { updatesPerMinute: 1_000 },
    });
    for (let at = 0; at < 60; at++)
      await send('POST', '/update-tools', sessionToken, {
        modified: [tool('safe', { title: `t${at}` })],
      });
    readings = 0;
    const { body } = await send('GET', '/events?mode=poll&after=0', agentToken);
    expect(body.events).toHaveLength(61);
    expect(readings).toBe(1);
  });
});

describe('large results', () => {
  test('do not pile up: the newest are kept, and the older requests are only marked as done', async () => {
    // Room for sixteen of them.
    const limits = {
      requestsPerMinute: 100,
      responsesPerMinute: 100,
      resultBytesPerSession: 1_150_000,
    };
    const world = await attacked({ limits });
    let ran = 0;
    const stop = world.serve(() => ({ result: `${++ran}${'x'.repeat(70_000)}` }));
    const call = (id: number, more: object = {}): Promise<Answer> =>
      world.send('POST', '/request', world.agentToken, {
        requestId: `r${id}`,
        tool: 'safe',
        ...more,
      });
    for (let id = 1; id <= 18; id++) expect((await call(id)).status).toBe(200);
    const status = async (id: number): Promise<JsonObject> =>
      (await world.send('GET', `/requests/r${id}`, world.agentToken)).body;
    await expect.poll(() => status(2)).toEqual({ requestId: 'r2', status: 'done' });
    expect(await status(1)).toEqual({ requestId: 'r1', status: 'done' });
    expect(await status(3)).toHaveProperty('result');
    // Nothing runs twice for it.
    expect([(await call(1)).body.error, (await call(1, { wait: false })).body.error]).toEqual([
      'request_not_found',
      'request_not_found',
    ]);
    expect(ran).toBe(18);
    await stop();
  });
});

describe('a host that answers an approval twice', () => {
  test('causes one run if the first answer is still being processed', async () => {
    const records = new Map<string, never>();
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow = approvalStoreOf({
      put: async (record) => void records.set(record.id, record as never),
      take: async (id) => {
        await gate;
        const record = records.get(id);
        records.delete(id);
        return record;
      },
      read: async (id) => records.get(id),
      page: async () => [...records.values()],
    });
    const world = await attacked(asking(slow), [tool('danger')]);
    let ran = 0;
    const stop = world.serve(() => ({ result: ++ran }));
    await world.send('POST', '/request', world.agentToken, { requestId: 'r1', tool: 'danger' });
    const [waiting] = [...records.values()] as { id: string }[];
    const decide = (): Promise<Answer> =>
      world.send('POST', `/approvals/${waiting?.id}`, hostKey, { decision: 'allow_once' });
    const first = decide();
    // The first one has written that it runs, and is not through yet.
    await expect
      .poll(async () => (await world.send('GET', '/requests/r1', world.agentToken)).body.result)
      .toBeUndefined();
    expect((await decide()).body.error).toBe('approval_not_found');
    open();
    expect((await first).status).toBe(200);
    await expect
      .poll(async () => (await world.send('GET', '/requests/r1', world.agentToken)).body)
      .toMatchObject({ status: 'done', result: { success: true, output: 1 } });
    expect(ran).toBe(1);
    await stop();
  });
});

describe('clients that do not read', () => {
  test('share one limit of unread bytes: those that have waited longest are disconnected', () => {
    const unread = createUnreadAnswers(250_000);
    const cut: string[] = [];
    const answer = (name: string): ServerResponse =>
      Object.assign(new EventEmitter(), {
        writableLength: 100_000,
        setTimeout: () => {},
        destroy: () => void cut.push(name),
      }) as unknown as ServerResponse;
    const [one, two, three, four] = ['one', 'two', 'three', 'four'].map(answer) as [
      ServerResponse,
      ServerResponse,
      ServerResponse,
      ServerResponse,
    ];
    unread.add(one);
    unread.watch(two);
    unread.add(three);
    expect(cut).toEqual(['one']);
    unread.release(two);
    three.emit('close');
    unread.add(four);
    unread.add(answer('five'));
    expect(cut).toEqual(['one']);
  });
});

describe('a connection that sends requests before it has read the answers', () => {
  const ahead = async (
    requests: number,
    path: string,
  ): Promise<{ answers: number; closingMs: number }> => {
    const served = await serveRelay({ port: 0 });
    const socket = connect(served.port, '127.0.0.1').on('error', () => {});
    let text = '';
    const over = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    socket.on('data', (data: Buffer) => {
      text += data.toString();
      if (text.split('HTTP/1.1 200').length > requests) socket.destroy();
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(requests));
    await over;
    const startedAt = performance.now();
    await served.close();
    return {
      answers: text.split('HTTP/1.1 200').length - 1,
      closingMs: performance.now() - startedAt,
    };
  };

  test('gets all answers if there are few', async () => {
    expect((await ahead(8, '/healthz')).answers).toBe(8);
  });

  test('is closed if there are many, and the server keeps none of them', async () => {
    const { answers, closingMs } = await ahead(500, '/openapi.json');
    expect(answers).toBeLessThan(500);
    // A server that still held a request would wait for it, for five seconds.
    expect(closingMs).toBeLessThan(4_500);
  });

  test('leaves no waiting request behind when it is lost', async () => {
    const served = await serveRelay({ port: 0 });
    const { code, agentToken } = (await (
      await fetch(`${served.url}/api/sessions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{}',
      })
    ).json()) as { code: string; agentToken: string };
    const socket = connect(served.port, '127.0.0.1').on('error', () => {});
    socket.write(
      (
        `GET /api/sessions/${code}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ` +
        `${agentToken}\r\n\r\n`
      ).repeat(5),
    );
    await expect.poll(() => served.relay.metrics().openStreams).toBe(5);
    socket.destroy();
    await expect.poll(() => served.relay.metrics().openStreams).toBe(0);
    const startedAt = performance.now();
    await served.close();
    expect(performance.now() - startedAt).toBeLessThan(4_500);
  });
});

describe('an application', () => {
  test('that is redirected sends nothing to the other address', async () => {
    const asked: string[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end('{}');
    });
    await new Promise<void>((resolve) => void elsewhere.listen(0, '127.0.0.1', resolve));
    const location = `http://localhost:${(elsewhere.address() as AddressInfo).port}/`;
    const redirecting = createServer((_, response) => response.writeHead(307, { location }).end());
    await new Promise<void>((resolve) => void redirecting.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
    const tools = [
      { name: 'echo', description: 'Echoes.', parameters: { type: 'object' }, handler: () => 1 },
    ];
    const ended = new AbortController();
    const faults: (string | undefined)[] = [];
    const onStatus = ({ error }: RelayStatusEvent): void => {
      faults.push(error?.code);
      if (error !== undefined) ended.abort();
    };
    await expect(
      connectRelay({
        url,
        code: 'ABCDEFGH',
        token: 'a-token',
        tools,
        transport: 'sse',
        signal: ended.signal,
        onStatus,
      }),
    ).rejects.toThrow();
    expect(faults).toContain('network_error');
    expect(asked).toEqual([]);
    for (const server of [elsewhere, redirecting]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
