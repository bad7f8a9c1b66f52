import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import {
  type ServedRelay,
  type ServeRelayOptions,
  serveRelay,
} from '../../../../src/surfaces/relay/server/serve-relay.ts';
import { opened } from '../events/stream-kit.ts';

const open = opened();
const relays: ServedRelay[] = [];
const clients: WebSocket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
  await open.close();
});

async function serve(options: Partial<ServeRelayOptions> = {}): Promise<ServedRelay> {
  const relay = await serveRelay({ port: 0, ...options });
  relays.push(relay);
  return relay;
}

interface Session {
  readonly code: string;
  readonly sessionToken: string;
  readonly agentToken: string;
}

async function session({ url }: ServedRelay): Promise<Session> {
  const response = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  });
  return (await response.json()) as Session;
}

function post(
  { url }: ServedRelay,
  { code }: Session,
  path: string,
  token: string,
  body: object,
): Promise<Response> {
  return fetch(`${url}/api/sessions/${code}/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
}

async function registered(relay: ServedRelay): Promise<Session> {
  const made = await session(relay);
  const availableTools = [
    {
      name: 'add',
      description: 'Adds.',
      parameters: { type: 'object', properties: { n: { type: 'number' } } },
    },
  ];
  const body = {
    pluginType: 'custom',
    pluginVersion: '1',
    capabilities: [],
    environment: {},
    availableTools,
  };
  expect((await post(relay, made, 'register-tools', made.sessionToken, body)).status).toBe(201);
  return made;
}

function webSocket(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url.replace('http:', 'ws:'), { headers });
  clients.push(socket);
  const frames: { event: string; data: Record<string, unknown> }[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const refused = new Promise<number | undefined>((resolve) =>
    socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode)),
  );
  return { socket, frames, closed, refused };
}

const hostOf = (host: string): string =>
  `GET /openapi.json HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

describe('a served relay', () => {
  test('delivers a call over an event stream, and returns the answer', async () => {
    const relay = await serve();
    const made = await registered(relay);
    const path = `/api/sessions/${made.code}/stream`;
    const stream = await open.raw(
      relay.port,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${made.sessionToken}\r\n\r\n`,
    );
    await expect.poll(stream.text).toContain('event: connected');
    const asked = post(relay, made, 'request', made.agentToken, { tool: 'add', args: { n: 1 } });
    await expect.poll(stream.text).toContain('event: tool-request');
    const [, requestId] =
      /event: tool-request\r?\ndata: .*?"requestId":"([^"]+)"/.exec(stream.text()) ?? [];
    expect(
      (await post(relay, made, 'response', made.sessionToken, { requestId, result: 0 })).status,
    ).toBe(200);
    expect(await (await asked).json()).toMatchObject({ result: { output: 0 } });
  });

  test('delivers a call over a WebSocket that was opened with a ticket, and returns the answer', async () => {
    const relay = await serve();
    const made = await registered(relay);
    const { ticket } = (await (
      await post(relay, made, 'ticket', made.sessionToken, {})
    ).json()) as { ticket: string };
    const { frames, socket } = webSocket(
      `${relay.url}/api/sessions/${made.code}/stream?ticket=${ticket}`,
    );
    await expect.poll(() => frames[0]?.event).toBe('connected');
    const asked = post(relay, made, 'request', made.agentToken, { tool: 'add', args: { n: 1 } });
    await expect.poll(() => frames.at(-1)?.event).toBe('tool-request');
    const requestId = frames.at(-1)?.data.requestId;
    socket.send(JSON.stringify({ event: 'response', data: { requestId, result: false } }));
    expect(await (await asked).json()).toMatchObject({ result: { output: false } });
    await expect
      .poll(() => frames.find(({ event }) => event === 'response-stored')?.data)
      .toEqual({ requestId });
    expect(
      await webSocket(`${relay.url}/api/sessions/${made.code}/stream?ticket=${ticket}`).refused,
    ).not.toBe(101);
  });

  test(
    'opens no WebSocket without a token, with a wrong token, for a foreign page or on another ' +
      'route',
    async () => {
      const relay = await serve();
      const made = await registered(relay);
      const url = `${relay.url}/api/sessions/${made.code}`;
      const authorization = { Authorization: `Bearer ${made.sessionToken}` };
      expect(
        await Promise.all([
          webSocket(`${url}/stream`).refused,
          webSocket(`${url}/stream`, { Authorization: 'Bearer wrong' }).refused,
          webSocket(`${url}/events`, authorization).refused,
          webSocket(`${url}/stream`, { ...authorization, Origin: 'https://evil.example' }).refused,
          webSocket(`${url}/stream`, { ...authorization, Host: 'evil.example' }).refused,
          webSocket(`${url}/metadata`, authorization).refused,
        ]),
      ).toEqual([401, 404, 403, 403, 403, 404]);
    },
  );

  test.each(['localhost', '127.0.0.1', 'LOCALHOST:99', '[::1]:1'])(
    'answers on the loopback to the host %s',
    async (host) => {
      const client = await open.raw((await serve()).port, hostOf(host));
      await expect.poll(client.over).toBe(true);
      expect(client.text()).toContain('HTTP/1.1 200 ');
    },
  );

  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    'localhost@evil.example',
    '2130706433',
    '',
  ])('does not answer on the loopback to the host `%s`', async (host) => {
    const client = await open.raw((await serve()).port, hostOf(host));
    await expect.poll(client.over).toBe(true);
    expect(client.text()).toMatch(/^HTTP\/1.1 40[03] /);
  });

  test.each([{ allowedHosts: ['relay.example'] }, { trustProxy: true }])(
    'answers to another host if the options allow it: %j',
    async (options) => {
      const client = await open.raw((await serve(options)).port, hostOf('relay.example'));
      await expect.poll(client.over).toBe(true);
      expect(client.text()).toContain('HTTP/1.1 200 ');
    },
  );

  test.skipIf(
    !Object.values(networkInterfaces()).some((all) =>
      all?.some(({ address }) => address === '::1'),
    ),
  )('listens on IPv6', async () => {
    const relay = await serve({ host: '::1' });
    expect(relay.url).toBe(`http://[::1]:${relay.port}`);
    expect((await fetch(`${relay.url}/openapi.json`)).status).toBe(200);
  });

  test('limits sessions by the address of their creator', async () => {
    const relay = await serve({ limits: { sessionsPerMinute: 1 } });
    await session(relay);
    expect(
      (
        await fetch(`${relay.url}/api/sessions`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: '{}',
        })
      ).status,
    ).toBe(429);
  });

  test('answers a body that is too large with 413', async () => {
    const relay = await serve();
    const made = await session(relay);
    expect(
      (
        await post(relay, made, 'register-tools', made.sessionToken, {
          text: 'x'.repeat(3_000_000),
        })
      ).status,
    ).toBe(413);
  });

  test.each([
    [{ host: '0.0.0.0' }, 1],
    [{ host: '0.0.0.0', hostKey: 'k'.repeat(32) }, 0],
    [{}, 0],
  ])('warns if anyone could create sessions: %j', async (options, times) => {
    const warn = vi.fn();
    await serve({ ...options, logger: { info() {}, warn, error() {} } });
    expect(warn).toHaveBeenCalledTimes(times);
  });
});

describe('a relay that cannot be served', () => {
  test('rejects if the port is in use', async () => {
    const { port } = await serve();
    await expect(serveRelay({ port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });

  test.each([
    [{ port: -1 }, 'port'],
    [{ port: 65_536 }, 'port'],
    [{ port: '80' }, 'port'],
    [{ port: 0, host: '' }, 'host'],
    [{ port: 0, host: '[::1]' }, 'host'],
    [{ port: 0, maxConnections: 0 }, 'maxConnections'],
    [{ port: 0, heartbeatMs: 0 }, 'heartbeatMs'],
    [{ port: 0, unknown: 1 }, 'unknown'],
    [undefined, 'port'],
    [null, 'an object of options'],
  ])('refuses %j', async (options, named) => {
    await expect(serveRelay(options as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(named),
    });
  });
});

describe('closing a served relay', () => {
  test('says goodbye to streams and WebSockets, once', async () => {
    const relay = await serve();
    const made = await registered(relay);
    const stream = await open.raw(
      relay.port,
      `GET /api/sessions/${made.code}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ` +
        `Bearer ${made.agentToken}\r\n\r\n`,
    );
    const { frames, closed } = webSocket(`${relay.url}/api/sessions/${made.code}/stream`, {
      Authorization: `Bearer ${made.sessionToken}`,
    });
    await expect.poll(() => frames[0]?.event).toBe('connected');
    await expect.poll(stream.text).toContain('event: connected');
    await Promise.all([relay.close(), relay.close()]);
    expect(await closed).toBe(1001);
    await expect.poll(stream.over).toBe(true);
    expect([stream.text().includes('"reason":"shutting_down"'), frames.at(-1)?.event]).toEqual([
      true,
      'goodbye',
    ]);
    await expect(fetch(relay.url)).rejects.toThrow();
  });
});

test('a header that mirrors an argument of an MCP call is refused if it is sent twice', async () => {
  const relay = await serve();
  const { code, agentToken } = await registered(relay);
  const send = (...params: string[]): Promise<[number | undefined, unknown]> =>
    new Promise((resolve, reject) => {
      const headers = ['Host', '127.0.0.1', 'Authorization', `Bearer ${agentToken}`];
      headers.push('Content-Type', 'application/json', 'Transfer-Encoding', 'chunked');
      for (const value of params) headers.push('Mcp-Param-Region', value);
      const outgoing = request(`${relay.url}/api/sessions/${code}/mcp`, {
        method: 'POST',
        headers,
      });
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => {
          const body = JSON.parse(String(Buffer.concat(chunks))) as { message?: string };
          resolve([incoming.statusCode, body.message]);
        });
      });
      outgoing.end('{}');
    });
  expect(await send('eu', 'us')).toEqual([400, 'The header Mcp-Param-Region is sent twice.']);
  expect((await send('eu'))[1]).toBeUndefined();
});
