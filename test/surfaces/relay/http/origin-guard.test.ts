/** Paths, methods, hosts, origins and addresses. */
import { describe, expect, test } from 'vitest';
import { basePath, findPlace, routes } from '../../../../src/surfaces/relay/http/route-table.ts';
import { createSocketEntry } from '../../../../src/surfaces/relay/server/socket-entry.ts';
import { base, frontKit } from './app-kit.ts';

const page = 'https://app.example.com';

describe('the router', () => {
  test('finds every route of the table, with or without a trailing slash', () => {
    for (const { path, method, name } of routes) {
      const real = path
        .replace(':code', 'ABCDEFGH')
        .replace(':requestId', 'r%3A1')
        .replace(':approvalId', 'a-1');
      for (const way of [real, `${real}/`])
        expect(findPlace(way)?.methods.get(method)?.name).toBe(name);
    }
    expect(findPlace(`${basePath}/ABCDEFGH/requests/r%3A1`)?.params).toEqual({
      code: 'ABCDEFGH',
      requestId: 'r:1',
    });
  });

  test.each([
    '/',
    '//',
    '/api',
    '/api/session',
    `${basePath}/ABCDEFGH/stream/x`,
    '/API/SESSIONS',
    '/healthz/x',
    `${basePath}/ABCDEFGH//stream`,
    '/__proto__',
  ])('does not know %s', async (path) => {
    expect(await frontKit().ask('GET', `http://relay.test${path}`)).toMatchObject({
      status: 404,
      body: { error: 'not_found', message: expect.any(String), code: 'not_found' },
    });
  });

  test('names the methods of a path in `Allow`', async () => {
    const { ask } = frontKit();
    for (const [method, path, allow] of [
      ['PUT', '', 'POST, OPTIONS'],
      ['GET', '', 'POST, OPTIONS'],
      ['POST', '/ABCDEFGH/metadata', 'GET, HEAD, OPTIONS'],
      ['HEAD', '/ABCDEFGH/stream', 'GET, OPTIONS'],
      ['PATCH', '/ABCDEFGH/mcp', 'POST, GET, DELETE, OPTIONS'],
    ] as const) {
      const told = await ask(method, path);
      expect(told.status).toBe(405);
      expect(told.headers.get('allow')).toBe(allow);
      if (method !== 'HEAD') expect(told.body.error).toBe('method_not_allowed');
    }
  });

  test('answers OPTIONS for every known path, whatever the code', async () => {
    const { ask } = frontKit();
    for (const path of ['', '/ABCDEFGH/metadata', '/nonsense/metadata'])
      expect(await ask('OPTIONS', path)).toMatchObject({ status: 204, text: '' });
    expect((await ask('OPTIONS', '/a/b/c/d')).status).toBe(404);
  });

  test('answers HEAD like GET, without a body', async () => {
    const { ask } = frontKit();
    expect(await ask('HEAD', 'http://relay.test/openapi.json')).toMatchObject({
      status: 200,
      text: '',
    });
    expect(await ask('HEAD', 'http://relay.test/healthz')).toMatchObject({ status: 200, text: '' });
  });
});

describe('every answer', () => {
  test('must not be cached, and browsers must not guess its type', async () => {
    const { ask } = frontKit();
    for (const told of [
      await ask('POST', '', { body: {} }),
      await ask('GET', ''),
      await ask('OPTIONS', ''),
      await ask('GET', 'http://relay.test/openapi.json'),
    ]) {
      expect(told.headers.get('cache-control')).toBe('no-store');
      expect(told.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('a page of another origin', () => {
  test.each([
    page,
    'null',
    'https://evil.test',
    'http://relay.test',
    'file://',
    'not an origin',
    'chrome-extension://abc',
  ])('%s is refused by default', async (origin) => {
    const told = await frontKit().ask('POST', '', { body: {}, headers: { Origin: origin } });
    expect(told).toMatchObject({ status: 403, body: { error: 'origin_not_allowed' } });
    expect(told.headers.has('access-control-allow-origin')).toBe(false);
  });

  test('that is allowed gets CORS headers on answers and on errors', async () => {
    const { ask } = frontKit({ allowedOrigins: [page] });
    for (const told of [
      await ask('POST', '', { body: {}, headers: { Origin: page } }),
      await ask('GET', '/ABCDEFGH/metadata', { headers: { Origin: page } }),
    ]) {
      expect(told.headers.get('access-control-allow-origin')).toBe(page);
      expect(told.headers.get('access-control-expose-headers')).toContain('Retry-After');
      expect(told.headers.get('vary')).toContain('Origin');
      expect(told.headers.has('access-control-allow-credentials')).toBe(false);
    }
    for (const origin of [
      'null',
      'https://app.example.com.evil.test',
      'https://app.example.com:8443',
      'http://app.example.com',
      'https://APP.example.com',
      `${page}/`,
    ]) {
      const told = await ask('POST', '', { body: {}, headers: { Origin: origin } });
      expect(told.status).toBe(403);
      expect(told.headers.has('access-control-allow-origin')).toBe(false);
      expect(told.headers.get('vary')).toBe('Origin');
    }
    const plain = await ask('POST', '', { body: {} });
    expect(plain.status).toBe(201);
    expect(plain.headers.has('access-control-allow-origin')).toBe(false);
    expect(plain.headers.get('vary')).toBe('Origin');
  });

  test('gets an answer to its preflight request', async () => {
    const { ask } = frontKit({ allowedOrigins: [page] });
    const headers = {
      Origin: page,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization',
    };
    const told = await ask('OPTIONS', '/ABCDEFGH/register-tools', { headers });
    expect(told).toMatchObject({ status: 204, text: '' });
    expect(told.headers.get('access-control-allow-origin')).toBe(page);
    expect(told.headers.get('access-control-allow-methods')).toBe('GET, POST, DELETE');
    for (const name of [
      'Authorization',
      'Content-Type',
      'Last-Event-ID',
      'Accept-Version',
      'Mcp-Session-Id',
    ])
      expect(told.headers.get('access-control-allow-headers')).toContain(name);
    expect(
      (
        await ask('OPTIONS', '/ABCDEFGH/register-tools', {
          headers: { ...headers, Origin: 'https://evil.test' },
        })
      ).status,
    ).toBe(403);
  });

  test('of any origin is allowed by "*"', async () => {
    const { ask } = frontKit({ allowedOrigins: '*' });
    for (const origin of [page, 'null']) {
      const told = await ask('POST', '', { body: {}, headers: { Origin: origin } });
      expect(told.status).toBe(201);
      expect(told.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('adds to an existing `Vary` header', async () => {
    const { ask, create } = frontKit({ allowedOrigins: [page] });
    const { code, agentToken: token } = await create();
    expect((await ask('GET', `/${code}/metadata`, { token })).headers.get('vary')).toBe(
      'Accept-Version, Origin',
    );
  });
});

describe("a page of the relay's own origin", () => {
  test.each([
    ['http://localhost:4040', 'localhost:4040', {}, 201],
    ['http://127.0.0.1:4040', '127.0.0.1:4040', {}, 201],
    ['http://[::1]:4040', '[::1]:4040', {}, 201],
    ['http://localhost:5173', 'localhost:4040', {}, 403],
    ['http://evil.test:4040', 'evil.test:4040', {}, 403],
    [
      'https://relay.example.com',
      'relay.example.com',
      { allowedHosts: ['relay.example.com'] },
      201,
    ],
    ['https://relay.example.com', 'relay.example.com', {}, 403],
    ['ftp://localhost', 'localhost', {}, 403],
  ])('%s at %s with %j is %i', async (origin, host, options, status) => {
    const told = await frontKit(options).ask('POST', `http://${host}/api/sessions`, {
      body: {},
      headers: { Origin: origin, Host: host },
    });
    expect(told.status).toBe(status);
    expect(told.headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe('the Host', () => {
  test.each([
    ['localhost', 201],
    ['localhost:4040', 201],
    ['LOCALHOST:1', 201],
    ['relay.example.com:8443', 201],
    ['relay.example.com', 403],
    ['evil.test', 403],
    ['localhost.evil.test', 403],
    ['localhost:4040@evil.test', 403],
    ['', 403],
  ])('%j is %i', async (host, status) => {
    const { ask } = frontKit({ allowedHosts: ['localhost', 'Relay.example.com:8443'] });
    expect((await ask('POST', '', { body: {}, headers: { Host: host } })).status).toBe(status);
  });

  test('of a probe is not checked', async () => {
    const { ask } = frontKit({ allowedHosts: ['localhost'] });
    for (const path of ['/healthz', '/readyz'])
      expect((await ask('GET', `http://10.0.0.7${path}`)).status).toBe(200);
    expect((await ask('GET', 'http://10.0.0.7/openapi.json')).status).toBe(403);
  });
});

describe('limits', () => {
  const many = async (times: number, run: () => Promise<{ status: number }>): Promise<number[]> => {
    const statuses: number[] = [];
    for (let time = 0; time < times; time++) statuses.push((await run()).status);
    return statuses;
  };

  test('allow 30 new sessions per minute and address', async () => {
    const { ask } = frontKit();
    const create = (address?: string) =>
      ask('POST', '', { body: {}, ...(address === undefined ? {} : { address }) });
    expect(await many(31, () => create('192.0.2.1'))).toEqual([...Array(30).fill(201), 429]);
    const refused = await create('192.0.2.1');
    expect(refused.body).toMatchObject({
      error: 'rate_limit_exceeded',
      code: 'SESSION_RATE_LIMIT',
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await create('192.0.2.2')).status).toBe(201);
    expect(await many(40, () => create())).toEqual(Array(40).fill(201));
  });

  test('do not count requests that are refused for another reason', async () => {
    const { ask } = frontKit({ limits: { sessionsPerMinute: 1 } });
    await many(5, () => ask('POST', '', { body: { a: 1 }, address: '192.0.2.1' }));
    expect((await ask('POST', '', { body: {}, address: '192.0.2.1' })).status).toBe(201);
  });

  test.each([
    ['request', { tool: 'add' }, 60, 'REQUEST_RATE_LIMIT', 'agentToken'],
    ['response', { requestId: 'call-1', result: 1 }, 60, 'RESPONSE_RATE_LIMIT', 'sessionToken'],
    ['update-tools', { removed: ['x'] }, 10, 'UPDATE_RATE_LIMIT', 'sessionToken'],
  ] as const)('%s, for a session', async (route, body, limit, code, side) => {
    const { ask, create } = frontKit();
    const one = await create();
    const other = await create();
    const run = (made: typeof one) =>
      ask('POST', `/${made.code}/${route}`, { token: made[side], body });
    expect((await many(limit, () => run(one))).includes(429)).toBe(false);
    const refused = await run(one);
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limit_exceeded', code } });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await run(other)).status).not.toBe(429);
  });

  test.each([
    [
      'metadata',
      { metadataPerMinute: 3 },
      'METADATA_RATE_LIMIT',
      ['GET', '/metadata'],
      ['GET', '/metadata'],
    ],
    [
      'polls',
      { readsPerMinute: 3 },
      'READ_RATE_LIMIT',
      ['GET', '/stream?mode=poll'],
      ['GET', '/events?mode=poll'],
    ],
    [
      'streams',
      { streamsPerMinute: 3 },
      'STREAM_RATE_LIMIT',
      ['GET', '/stream'],
      ['GET', '/events'],
    ],
  ] as const)('%s, for each side of a session', async (_, limits, code, ofApplication, ofAgent) => {
    const { ask, create } = frontKit({ limits });
    const one = await create();
    const other = await create();
    const asApplication = (made: typeof one) =>
      ask(ofApplication[0], `/${made.code}${ofApplication[1]}`, { token: made.sessionToken });
    const asAgent = (made: typeof one) =>
      ask(ofAgent[0], `/${made.code}${ofAgent[1]}`, { token: made.agentToken });
    expect(await many(3, () => asAgent(one))).toEqual([200, 200, 200]);
    const refused = await asAgent(one);
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limit_exceeded', code } });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    for (const answer of [await asApplication(one), await asAgent(other)])
      expect(answer.status).toBe(200);
  });

  test('count WebSockets and MCP streams as streams', async () => {
    const kit = frontKit({ limits: { streamsPerMinute: 3 } });
    const { code, agentToken: token } = await kit.create();
    const sockets = createSocketEntry(kit.front, kit.parts);
    const socket = () =>
      sockets.open(
        new Request(`${base}/${code}/events`, { headers: { Authorization: `Bearer ${token}` } }),
        {},
      );
    expect((await kit.ask('GET', `/${code}/events`, { token })).status).toBe(200);
    expect((await kit.ask('GET', `/${code}/mcp`, { token })).status).not.toBe(429);
    expect(await socket()).not.toBeInstanceOf(Response);
    const refused = await socket();
    expect(
      refused instanceof Response && [refused.status, refused.headers.get('retry-after')],
    ).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await kit.ask('GET', `/${code}/mcp`, { token })).status).toBe(429);
  });

  test('count a 304 as a read of the metadata', async () => {
    const { ask, create } = frontKit({ limits: { metadataPerMinute: 2 } });
    const { code, agentToken: token } = await create();
    const etag = (await ask('GET', `/${code}/metadata`, { token })).headers.get('etag') ?? '';
    expect(
      await many(2, () =>
        ask('GET', `/${code}/metadata`, { token, headers: { 'If-None-Match': etag } }),
      ),
    ).toEqual([304, 429]);
  });

  test('count status requests together with polls', async () => {
    const { ask, create } = frontKit({ limits: { readsPerMinute: 2 } });
    const { code, agentToken: token } = await create();
    await ask('GET', `/${code}/events?mode=poll`, { token });
    expect(await many(2, () => ask('GET', `/${code}/requests/r-1`, { token }))).toEqual([200, 429]);
  });

  test('count each MCP message, even in a batch', async () => {
    const { ask, create } = frontKit({ limits: { mcpMessagesPerMinute: 5 } });
    const { code, agentToken: token } = await create();
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect(
      (await ask('POST', `/${code}/mcp`, { token, body: [ping, ping, ping, ping] })).status,
    ).not.toBe(429);
    expect((await ask('POST', `/${code}/mcp`, { token, body: ping })).status).not.toBe(429);
    expect(await ask('POST', `/${code}/mcp`, { token, body: ping })).toMatchObject({
      status: 429,
      body: { code: 'MCP_RATE_LIMIT' },
    });
  });

  test('count registrations and updates together', async () => {
    const { ask, create } = frontKit({ limits: { updatesPerMinute: 2 } });
    const { code, sessionToken: token } = await create();
    await ask('POST', `/${code}/update-tools`, { token, body: { removed: ['x'] } });
    await ask('POST', `/${code}/register-tools`, {
      token,
      body: { pluginType: 'custom', availableTools: [1] },
    });
    expect(
      (await ask('POST', `/${code}/update-tools`, { token, body: { removed: ['x'] } })).status,
    ).toBe(429);
  });
});

describe('the address', () => {
  const same = async (
    options: Parameters<typeof frontKit>[0],
    ...asks: { address?: string; headers?: Record<string, string> }[]
  ): Promise<boolean> => {
    const { ask } = frontKit({ limits: { sessionsPerMinute: 1 }, ...options });
    const statuses = [];
    for (const one of asks) statuses.push((await ask('POST', base, { body: {}, ...one })).status);
    return statuses.includes(429);
  };
  const from = (forwarded: string, address = '10.0.0.1') => ({
    address,
    headers: { 'X-Forwarded-For': forwarded },
  });

  test.each([
    ['a forwarded address is ignored by default', {}, from('192.0.2.1'), from('192.0.2.2'), true],
    [
      'unless a proxy is trusted',
      { trustProxy: true },
      from('192.0.2.1'),
      from('192.0.2.2'),
      false,
    ],
    [
      'and then what that proxy says',
      { trustProxy: true },
      from('9.9.9.9, 192.0.2.1'),
      from('8.8.8.8, 192.0.2.1'),
      true,
    ],
    [
      'or the outermost of several',
      { trustProxy: 2 },
      from('9.9.9.9, 192.0.2.1, 10.0.0.2'),
      from('8.8.8.8, 192.0.2.1, 10.0.0.3'),
      true,
    ],
    [
      'with fewer entries than proxies it is the connection',
      { trustProxy: 3 },
      from('192.0.2.1'),
      from('192.0.2.2'),
      true,
    ],
    ['IPv4 in IPv6 is IPv4', {}, { address: '::ffff:192.0.2.1' }, { address: '192.0.2.1' }, true],
    [
      'neighbours in IPv6 are one',
      {},
      { address: '2001:db8::1' },
      { address: '2001:db8:0:0:ffff::2' },
      true,
    ],
    [
      'others in IPv6 are others',
      {},
      { address: '2001:db8::1' },
      { address: '2001:db8:0:1::1' },
      false,
    ],
    [
      'the host may say it',
      { clientAddress: (request: Request) => request.headers.get('x-real') ?? undefined },
      { headers: { 'X-Real': 'a' } },
      { headers: { 'X-Real': 'a' } },
      true,
    ],
    [
      'and say that nobody knows',
      { clientAddress: () => undefined },
      { address: '192.0.2.1' },
      { address: '192.0.2.1' },
      false,
    ],
    [
      'a function that fails puts all in one',
      {
        clientAddress: () => {
          throw new Error('no');
        },
      },
      { address: '192.0.2.1' },
      { address: '192.0.2.2' },
      true,
    ],
  ])('%s', async (_what, options, one, other, expected) => {
    expect(await same(options, one, other)).toBe(expected);
  });
});
