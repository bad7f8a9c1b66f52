/**
 * A whole relay without a server: from the registration to the result, its operations, and its end.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { defineTool, HostToolRegistry, jsonSchema, memoryStore } from '../../../src/index.ts';
import { createRelay, type Relay } from '../../../src/surfaces/relay/create-relay.ts';
import type { RelayOptions } from '../../../src/surfaces/relay/options.ts';
import {
  type SocketAdmission,
  serverPortOf,
} from '../../../src/surfaces/relay/server/server-port.ts';
import {
  type Ask,
  askOf,
  base,
  brokenStore,
  type Made,
  registration,
  type Told,
} from './http/app-kit.ts';

const open: Relay[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((relay) => relay.close()));
});

async function world(options: RelayOptions = {}) {
  const relay = createRelay(options);
  open.push(relay);
  const ask = (method: string, path: string, what?: Ask): Promise<Told> =>
    askOf(relay.fetch, method, path.startsWith('http') ? path : `${base}${path}`, what);
  const made = (await ask('POST', '', { body: {} })).body as unknown as Made;
  return { relay, ask, ...made };
}

/** Polls as an application until a call comes, and answers it. */
async function answerOne(
  { ask, code, sessionToken: token }: Awaited<ReturnType<typeof world>>,
  result: unknown,
): Promise<Told> {
  for (let after = 0; ; ) {
    const { body } = await ask('GET', `/${code}/stream?mode=poll&after=${after}`, { token });
    for (const { id, event, data } of body.events) {
      after = Math.max(after, id ?? 0);
      if (event === 'tool-request')
        return ask('POST', `/${code}/response`, {
          token,
          body: { requestId: data.requestId, result },
        });
    }
  }
}

const ping = defineTool({
  name: 'ping',
  description: 'Answers.',
  parameters: jsonSchema({ type: 'object', properties: {} }),
  handler: () => 'pong',
});

describe('a session', () => {
  test('works from the registration to the result', async () => {
    const all = await world({ session: { tools: [ping] } });
    const { ask, code, sessionToken, agentToken, relay } = all;
    await ask('POST', `/${code}/register-tools`, {
      token: sessionToken,
      body: registration('add', 'ping'),
    });
    expect((await ask('GET', `/${code}/metadata`, { token: agentToken })).body).toMatchObject({
      toolCount: 2,
    });
    const asked = ask('POST', `/${code}/request`, {
      token: agentToken,
      body: { requestId: 'r-1', tool: 'add' },
    });
    expect((await answerOne(all, 0)).status).toBe(200);
    expect(await asked).toMatchObject({
      status: 200,
      body: { requestId: 'r-1', result: { success: true, output: 0 } },
    });
    expect((await ask('GET', `/${code}/requests/r-1`, { token: agentToken })).body).toMatchObject({
      status: 'done',
      result: { output: 0 },
    });
    expect(
      (await ask('POST', `/${code}/request`, { token: agentToken, body: { tool: 'ping' } })).body,
    ).toMatchObject({ result: { output: 'pong' } });
    expect(
      (await ask('POST', `/${code}/request`, { token: agentToken, body: { tool: 'nothing' } }))
        .body,
    ).toMatchObject({
      result: { success: false, error: { code: 'tool_not_found' } },
    });
    expect(relay.metrics()).toMatchObject({
      sessionsCreated: 1,
      registrations: 1,
      requests: 3,
      responses: 1,
      liveSessions: 1,
      openStreams: 0,
    });
    expect(JSON.parse(JSON.stringify(relay.metrics()))).toEqual(relay.metrics());
    expect(relay.registry.get('ping')).toBe(ping);
  });

  test("that uses the host's registry leaves it open", async () => {
    const registry = new HostToolRegistry();
    registry.register(ping);
    const { ask, code, agentToken, relay } = await world({ session: { registry } });
    expect(
      (await ask('POST', `/${code}/request`, { token: agentToken, body: { tool: 'ping' } })).body,
    ).toMatchObject({ result: { output: 'pong' } });
    await relay.close();
    expect(relay.registry).toBe(registry);
    expect(() => registry.createSession({ sessionId: 's' })).not.toThrow();
    await registry.close();
  });
});

describe('over MCP', () => {
  const rpc = (id: number, method: string, params: unknown = {}) => ({
    jsonrpc: '2.0',
    id,
    method,
    params,
  });
  const initialize = rpc(1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  const accept = { Accept: 'application/json, text/event-stream' };

  test('an agent can call a tool, also from an allowed origin and host', async () => {
    const page = 'https://app.example.com';
    const {
      ask,
      code,
      agentToken: token,
    } = await world({
      session: { tools: [ping] },
      allowedOrigins: [page],
      allowedHosts: ['relay.test'],
    });
    const opened = await ask('POST', `/${code}/mcp`, {
      token,
      body: initialize,
      headers: { ...accept, Origin: page },
    });
    expect(opened.status).toBe(200);
    expect(opened.headers.get('access-control-allow-origin')).toBe(page);
    const headers = {
      ...accept,
      'Mcp-Session-Id': opened.headers.get('mcp-session-id')!,
      'MCP-Protocol-Version': '2025-06-18',
    };
    await ask('POST', `/${code}/mcp`, {
      token,
      body: { jsonrpc: '2.0', method: 'notifications/initialized' },
      headers,
    });
    const called = await ask('POST', `/${code}/mcp`, {
      token,
      body: rpc(2, 'tools/call', { name: 'ping', arguments: {} }),
      headers,
    });
    expect(called.text).toContain('pong');
    expect((await ask('DELETE', `/${code}/mcp`, { token, headers })).status).toBe(200);
  });

  test('tool calls count as requests, and other messages do not', async () => {
    const { ask, code, agentToken: token } = await world({ limits: { requestsPerMinute: 2 } });
    const call = rpc(2, 'tools/call', { name: 'ping', arguments: {} });
    for (let time = 0; time < 5; time++)
      expect(
        (await ask('POST', `/${code}/mcp`, { token, body: initialize, headers: accept })).status,
      ).toBe(200);
    expect(
      (await ask('POST', `/${code}/mcp`, { token, body: [call, call, call], headers: accept }))
        .body,
    ).toMatchObject({ code: 'REQUEST_RATE_LIMIT' });
    expect(
      await ask('POST', `/${code}/mcp`, { token, body: '{"tools', headers: accept }),
    ).toMatchObject({ status: 400 });
  });

  test('MCP sessions end with the relay session', async () => {
    const { ask, code, agentToken: token, sessionToken } = await world();
    const opened = await ask('POST', `/${code}/mcp`, { token, body: initialize, headers: accept });
    expect((await ask('DELETE', `/${code}`, { token: sessionToken })).status).toBe(204);
    const headers = { ...accept, 'Mcp-Session-Id': opened.headers.get('mcp-session-id')! };
    expect(
      (await ask('POST', `/${code}/mcp`, { token, body: rpc(2, 'tools/list'), headers })).status,
    ).toBe(404);
  });
});

describe('operations', () => {
  test('a node is alive, and is ready while its store answers', async () => {
    const { ask } = await world();
    expect(await ask('GET', 'http://relay.test/healthz')).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
    expect(await ask('GET', 'http://relay.test/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ready' },
    });
    const broken = await world({ store: brokenStore() });
    expect((await broken.ask('GET', 'http://relay.test/healthz')).status).toBe(200);
    expect(await broken.ask('GET', 'http://relay.test/readyz')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', reasons: ['store_unavailable'] },
    });
  });

  test('a store that does not answer within a second counts as unavailable', async () => {
    const { ask } = await world({ store: { ...memoryStore(), ping: () => new Promise(() => {}) } });
    vi.useFakeTimers();
    const asked = ask('GET', 'http://relay.test/readyz');
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    expect((await asked).status).toBe(503);
  });
});

describe('closing', () => {
  test('waits for running calls, takes their answers and refuses new requests', async () => {
    const all = await world();
    const { ask, code, sessionToken, agentToken, relay } = all;
    await ask('POST', `/${code}/register-tools`, {
      token: sessionToken,
      body: registration('add'),
    });
    const asked = ask('POST', `/${code}/request`, { token: agentToken, body: { tool: 'add' } });
    const { body } = await ask('GET', `/${code}/stream?mode=poll&after=1`, { token: sessionToken });
    const [{ data }] = body.events;
    const closing = relay.close();
    expect(await ask('GET', 'http://relay.test/readyz')).toMatchObject({
      status: 503,
      body: { reasons: ['shutting_down'] },
    });
    const refused = await ask('POST', `/${code}/request`, {
      token: agentToken,
      body: { tool: 'add' },
    });
    expect(refused).toMatchObject({ status: 503, body: { error: 'shutting_down' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(
      (
        await ask('POST', `/${code}/response`, {
          token: sessionToken,
          body: { requestId: data.requestId, result: 5 },
        })
      ).status,
    ).toBe(200);
    expect((await asked).body).toMatchObject({ result: { output: 5 } });
    await closing;
    expect(relay.close()).toBe(relay.close());
    expect(
      (
        await ask('POST', `/${code}/response`, {
          token: sessionToken,
          body: { requestId: 'x', result: 5 },
        })
      ).status,
    ).toBe(503);
    expect((await ask('GET', 'http://relay.test/healthz')).status).toBe(200);
  });

  test("tells streams to reconnect elsewhere, and leaves the host's store open", async () => {
    const close = vi.fn(async () => {});
    const { relay, code, sessionToken, ask } = await world({ store: { ...memoryStore(), close } });
    const stream = ask('GET', `/${code}/stream`, { token: sessionToken });
    await expect.poll(() => relay.metrics().openStreams).toBe(1);
    await relay.close();
    expect((await stream).text).toContain('event: goodbye');
    expect(close).not.toHaveBeenCalled();
  });
});

describe('the port for sockets', () => {
  const at = (path: string, token?: string) =>
    new Request(
      `http://relay.test${path}`,
      token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } },
    );

  test('opens only streams, and only for clients that may have them', async () => {
    const { relay, code, sessionToken, agentToken } = await world();
    const port = serverPortOf(relay)!.sockets;
    expect(
      await port.open(at(`/api/sessions/${code}/stream?client=tab&after=3`, sessionToken), {}),
    ).toMatchObject({
      stream: { code, side: 'application', client: 'tab', after: 3 },
    });
    expect(await port.open(at(`/api/sessions/${code}/events`, agentToken), {})).toMatchObject({
      stream: { side: 'agent' },
    });
    for (const [path, token, status] of [
      [`/api/sessions/${code}/stream`, agentToken, 403],
      [`/api/sessions/${code}/stream`, undefined, 401],
      [`/api/sessions/${code}/stream`, 'wrong', 404],
      [`/api/sessions/${code}/stream?after=x`, sessionToken, 400],
      [`/api/sessions/${code}/metadata`, agentToken, 404],
      ['/healthz', undefined, 404],
      ['/nowhere', undefined, 404],
    ] as const)
      expect((await port.open(at(path, token), {})) as Response).toMatchObject({ status });
  });

  test('takes answers like the HTTP route', async () => {
    const { relay, ask, code, sessionToken } = await world();
    const { respond } = (await serverPortOf(relay)!.sockets.open(
      at(`/api/sessions/${code}/stream`, sessionToken),
      {},
    )) as SocketAdmission;
    for (const [data, status, error] of [
      [{ requestId: 'x', result: 1 }, 404, 'request_not_found'],
      [{ requestId: 'x' }, 400, 'missing_result_or_error'],
      [[], 400, 'invalid_request'],
      [undefined, 400, 'invalid_request'],
    ] as const)
      expect(await respond(data)).toMatchObject({ status, body: { error, code: error } });
    await ask('DELETE', `/${code}`, { token: sessionToken });
    expect(await respond({ requestId: 'x', result: 1 })).toMatchObject({
      status: 404,
      body: { error: 'session_not_found' },
    });
  });

  test('takes progress like the HTTP route, and replies only to refused reports', async () => {
    const { relay, ask, code, sessionToken } = await world();
    const { frames } = (await serverPortOf(relay)!.sockets.open(
      at(`/api/sessions/${code}/stream`, sessionToken),
      {},
    )) as SocketAdmission;
    expect([...(frames?.keys() ?? [])]).toEqual(['progress']);
    const replies: unknown[] = [];
    const take = (data: unknown) =>
      frames!.get('progress')!.take(data, (event) => void replies.push(event));
    for (const data of [{ requestId: 'x', done: 1 }, { requestId: 'x' }, [], undefined])
      await take(data);
    expect(replies).toMatchObject([
      {
        event: 'progress-refused',
        data: { requestId: 'x', status: 404, error: 'request_not_found' },
      },
      { data: { requestId: 'x', status: 400, error: 'invalid_request' } },
      { data: { status: 400, error: 'invalid_request' } },
      { data: { status: 400, error: 'invalid_request' } },
    ]);
    await ask('DELETE', `/${code}`, { token: sessionToken });
    await take({ requestId: 'x', done: 1 });
    expect(replies.at(-1)).toMatchObject({ data: { status: 404, error: 'session_not_found' } });
  });
});
