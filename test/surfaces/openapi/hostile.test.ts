/** Documents and APIs that mean harm, and credentials that must not be seen. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { importOpenApi, type OpenApiAuth } from '../../../src/surfaces/openapi/index.ts';
import { json, orders, startServer, withOperation } from './orders.ts';

const body = (schema: object) => ({
  requestBody: { content: { 'application/json': { schema } } },
});
const answer = (schema: object) => ({
  responses: { 200: { description: 'ok', content: { 'application/json': { schema } } } },
});

/** Why an operation is refused. */
async function refusal(operation: object, path = '/op', method = 'post') {
  const { failed } = await importOpenApi(withOperation(operation, path, method), {
    server: 'http://127.0.0.1:1',
  });
  return failed[0]?.reason;
}

test('a reference that leads outside is refused, and nothing is asked', async () => {
  const { url, seen } = await startServer();
  for (const $ref of [
    `${url}/schema.json`,
    'http://169.254.169.254/latest/meta-data/',
    'file:///etc/passwd',
    './other.yaml#/Order',
    '//attacker.example/x',
    '/etc/passwd',
  ])
    for (const operation of [
      body({ $ref }),
      body({ type: 'object', properties: { a: { items: { $ref } } } }),
      answer({ $ref }),
      { parameters: [{ $ref }] },
      { requestBody: { $ref } },
      { responses: { 200: { $ref } } },
    ])
      expect(await refusal(operation)).toContain('leads outside the document');
  const item = { openapi: '3.1.0', info: {}, paths: { '/op': { $ref: `${url}/paths` } } };
  const { failed } = await importOpenApi(item, { server: url });
  expect(failed[0]?.reason).toContain('leads outside the document');
  expect(seen).toEqual([]);
});

test.each([
  [{ ...body({ $ref: '#/nowhere' }) }, 'leads nowhere'],
  [{ ...body({ $ref: '#/paths/__proto__/x' }) }, 'leads nowhere'],
  [{ ...body({ $ref: '#/%' }) }, 'is malformed'],
  [{ ...body({ $ref: 7 }) }, 'is not a text'],
  [{ ...body({ $id: 'http://a/' }) }, 'uses `$id`'],
  [{ ...body({ $dynamicRef: '#a' }) }, 'uses `$dynamicRef`'],
  [
    { requestBody: { content: { 'multipart/form-data': {} } } },
    'Its body is `multipart/form-data`',
  ],
  [{ requestBody: { content: {} } }, 'Its body is no type'],
  [{ responses: { 200: { content: { 'image/png': {} } } } }, 'It answers `image/png`'],
  [{ parameters: [{ name: 'a', in: 'query' }] }, 'has no schema'],
  [{ parameters: [{ name: 'a', in: 'body', schema: {} }] }, 'The place `body`'],
  [{ parameters: [{ name: 'a b', in: 'header', schema: {} }] }, 'cannot be the name of a header'],
  [
    { parameters: [{ name: 'a', in: 'query', schema: {}, style: 'matrix' }] },
    'The style `matrix` of the query parameter `a`',
  ],
  [
    { parameters: [{ name: 'a', in: 'query', content: { 'text/csv': {} } }] },
    'is written as `text/csv`',
  ],
  [{ parameters: [{ name: 'a', in: 'path', schema: {} }] }, 'has no place for the parameter `a`'],
  [{ operationId: 'a\u202eb' }, 'bidirectional'],
])('%j is refused by name', async (operation, why) => {
  expect(await refusal(operation)).toContain(why);
});

test.each(['/../admin', '/a/%2e%2e/b', '/op?x=1', '/op#x', '/a b', 'op', '/op\\x', '/{id}'])(
  'the path %s is refused',
  async (path) => {
    expect(await refusal({}, path)).toMatch(/is not a plain path|Nothing describes/);
  },
);

test('names of the members of objects are names like others, or refused by name', async () => {
  const parameter = (name: string) => ({ name, in: 'query', schema: { type: 'string' } });
  expect(await refusal({ parameters: [parameter('__proto__')] }, '/op', 'get')).toContain(
    'A parameter named "__proto__" is not supported',
  );
  const { url, seen } = await startServer((_, response) => json(response, {}));
  const operation = { parameters: [parameter('constructor'), parameter('toString')] };
  const { tools } = await importOpenApi(withOperation(operation, '/op', 'get'), { server: url });
  const registry = new HostToolRegistry();
  registry.registerAll(tools);
  const [{ name = '' } = {}] = tools;
  const session = registry.createSession({ sessionId: 's' });
  await session.call(name, { constructor: 'c', toString: 't' });
  expect(seen.map(({ url: asked }) => asked)).toEqual(['/op?constructor=c&toString=t']);
  await registry.close();
});

test('methods without a form here are refused by name', async () => {
  expect(await refusal({}, '/op', 'trace')).toBe('The method TRACE is not supported.');
  expect(await refusal(body({}), '/op', 'get')).toBe(
    'A body of a request with GET is not supported.',
  );
});

test.each([
  'X-Forwarded-User',
  'x-forwarded-port',
  'X-Real-IP',
  'CF-Connecting-IP',
  'X-Remote-User',
  'Sec-Fetch-Site',
  'Proxy-Authorization',
  'X-Original-URL',
])('a document cannot let a model say %s, which proxies say', async (name) => {
  const registry = new HostToolRegistry();
  const { url, seen } = await startServer();
  const { warnings } = await importOpenApi(
    withOperation({ parameters: [{ name, in: 'header', schema: { type: 'string' } }] }),
    { registry, server: url },
  );
  expect(warnings.map(({ message }) => message)).toEqual([
    `Left to the host: the header parameter \`${name}\`.`,
  ]);
  const session = registry.createSession({ sessionId: 's' });
  expect((await session.call('op', { [name]: 'root' })).error?.code).toBe('invalid_input');
  expect(seen).toEqual([]);
});

test('whole documents of other kinds are refused', async () => {
  for (const [document, why] of [
    [{ swagger: '2.0', paths: {} }, 'Swagger `2.0`'],
    [{ openapi: '3.2.0', paths: {} }, '`3.2.0`'],
    [{ openapi: '3.1.0', jsonSchemaDialect: 'http://json-schema.org/draft-04/schema#' }, 'dialect'],
    [[], 'expected an object'],
    ['ftp://host/doc', 'expected a document'],
    [7, 'expected a document'],
    ['', 'expected a document'],
    ['./no-such-file.json', 'cannot be read (ENOENT)'],
    ['/dev/zero', 'expected a regular file'],
  ] as const)
    await expect(
      importOpenApi(document as unknown as object, { server: 'http://127.0.0.1:1' }),
    ).rejects.toThrow(why);
});

test('circles, depth and size of schemas end with a reason or an import, and soon', async () => {
  const from = performance.now();
  const circle = {
    openapi: '3.1.0',
    info: {},
    paths: {
      '/a': { post: { operationId: 'a', ...body({ $ref: '#/components/schemas/A' }) } },
      '/b': { post: { operationId: 'b', ...body({ $ref: '#/components/schemas/Tree' }) } },
      '/c': { parameters: [{ $ref: '#/components/parameters/P' }], get: { operationId: 'c' } },
    },
    components: {
      schemas: {
        A: { $ref: '#/components/schemas/B' },
        B: { $ref: '#/components/schemas/A' },
        Tree: {
          type: 'object',
          properties: { kids: { items: { $ref: '#/components/schemas/Tree' } } },
        },
      },
      parameters: { P: { $ref: '#/components/parameters/P' } },
    },
  };
  const { failed, tools } = await importOpenApi(circle, { server: 'http://127.0.0.1:1' });
  expect(tools.map(({ name }) => name)).toContain('b');
  expect(failed.map(({ name }) => name)).toEqual(expect.arrayContaining(['c']));

  // Each level doubles: a bomb for whoever copies what is referred to.
  const schemas = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `S${at}`,
      {
        allOf: [
          { $ref: `#/components/schemas/S${at + 1}` },
          { $ref: `#/components/schemas/S${at + 1}` },
        ],
      },
    ]),
  );
  const bomb = {
    ...circle,
    paths: { '/a': { post: { operationId: 'a', ...body({ $ref: '#/components/schemas/S0' }) } } },
    components: { schemas: { ...schemas, S40: { type: 'object' } } },
  };
  expect((await importOpenApi(bomb, { server: 'http://127.0.0.1:1' })).failed).toHaveLength(1);

  const wide = {
    properties: Object.fromEntries(Array.from({ length: 7_000 }, (_, at) => [at, {}])),
  };
  expect(await refusal(body(wide))).toContain('6000 parts');
  const nested = (levels: number): object => (levels === 0 ? {} : { items: nested(levels - 1) });
  expect(await refusal(body(nested(80)))).toContain('nested deeper than 64 levels');
  await expect(refusal(body(nested(200)))).rejects.toThrow('nested deeper than 100 levels');
  expect(performance.now() - from).toBeLessThan(20_000);
});

test('what many operations share does not make a small document much work', async () => {
  const members = Object.fromEntries(
    Array.from({ length: 900 }, (_, at) => [`m${at}`, { type: 'string', enum: ['x'.repeat(20)] }]),
  );
  const halves = { properties: { a: { properties: members }, b: { properties: members } } };
  const paths = Object.fromEntries(
    Array.from({ length: 1_500 }, (_, at) => [
      `/op${at}`,
      { post: { operationId: `op${at}`, ...body({ $ref: '#/components/schemas/Big' }) } },
    ]),
  );
  const from = performance.now();
  const { failed, tools } = await importOpenApi(
    { openapi: '3.1.0', info: {}, paths, components: { schemas: { Big: halves } } },
    { server: 'http://127.0.0.1:1' },
  );
  expect(tools.length + failed.length).toBe(1_500);
  expect(failed.at(-1)?.reason).toContain('too large altogether');
  expect(performance.now() - from).toBeLessThan(60_000);

  const schema = { type: 'string', description: 'Default: '.repeat(100_000) };
  await refusal({ parameters: [{ name: 'a', in: 'query', schema, description: 'x' }] });
  expect(performance.now() - from).toBeLessThan(60_000);
}, 900_000);

test('texts of the document are cleaned', async () => {
  const { tools } = await importOpenApi(
    withOperation({ summary: 'Reads.\u202e\u200b', description: `x${'y'.repeat(20_000)}` }),
    { server: 'http://127.0.0.1:1' },
  );
  expect(tools[0]?.description).toMatch(/^Reads\.\n\nxy+…$/);
});

test('redirects are followed for GET within the origin only', async () => {
  const other = await startServer();
  const targets: Record<string, string> = {
    '/orders/near': '/orders/there',
    '/orders/far': `${other.url}/orders/there`,
    '/orders/loop': '/orders/loop',
  };
  const { url, seen } = await startServer((request, response) => {
    const target = targets[request.url];
    if (target === undefined) return json(response, { id: '1', item: 'a' });
    response.writeHead(302, { location: target }).end();
  });
  const registry = new HostToolRegistry();
  await importOpenApi(orders, {
    registry,
    server: url,
    headers: { authorization: 'Bearer 12345678' },
  });
  const session = registry.createSession({ sessionId: 's' });
  const call = (tool: string, orderId: string) => session.call(tool, { orderId });
  expect(await call('getOrder', 'near')).toMatchObject({ success: true });
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(
    Array(2).fill('Bearer 12345678'),
  );
  expect((await call('getOrder', 'far')).error).toMatchObject({
    reason: 'http_error',
    details: { status: 302 },
  });
  expect((await call('getOrder', 'loop')).error?.reason).toBe('http_error');
  expect((await call('deleteOrder', 'near')).error?.reason).toBe('http_error');
  expect(other.seen).toEqual([]);
});

test('answers are bounded, also those that are packed', async () => {
  const { url } = await startServer((request, response) => {
    if (request.url.endsWith('packed')) {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
      return response.end(gzipSync(Buffer.alloc(50_000_000)));
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(request.url.endsWith('deep') ? '['.repeat(500) : `[${'1,'.repeat(300_000)}1]`);
  });
  const registry = new HostToolRegistry();
  const document = (path: string, type: string) => ({
    [path]: {
      get: { operationId: path.slice(1), responses: { 200: { content: { [type]: {} } } } },
    },
  });
  await importOpenApi(
    {
      openapi: '3.1.0',
      info: {},
      paths: {
        ...document('/packed', 'text/plain'),
        ...document('/deep', 'application/json'),
        ...document('/many', 'application/json'),
      },
    },
    { registry, server: url },
  );
  const session = registry.createSession({ sessionId: 's' });
  expect((await session.call('packed', {})).error?.reason).toBe('result_too_large');
  expect((await session.call('deep', {})).error?.message).toContain('nested deeper');
  expect((await session.call('many', {})).error?.message).toContain('values');
});

test('answers of another kind than the document says are no outputs', async () => {
  let type: string | undefined = 'text/html';
  let text: string | Buffer = '<p>';
  const { url } = await startServer((_, response) => {
    response.writeHead(200, type === undefined ? {} : { 'content-type': type });
    response.end(text);
  });
  const registry = new HostToolRegistry();
  await importOpenApi(orders, { registry, server: url });
  const session = registry.createSession({ sessionId: 's' });
  const read = () => session.call('getOrder', { orderId: '1' });
  expect((await read()).error).toMatchObject({
    code: 'invalid_output',
    reason: 'http_response',
    details: { status: 200 },
  });
  [type, text] = ['application/json', '{'];
  expect((await read()).error?.message).toContain('not JSON');
  [type, text] = ['application/json', Buffer.from([0x22, 0xff, 0x22])];
  expect((await read()).error?.message).toContain('not UTF-8');
  [type, text] = [undefined, '{"id":"1","item":"a"}'];
  expect(await read()).toMatchObject({ output: { id: '1', item: 'a' } });
  [type, text] = ['application/json', ''];
  expect((await read()).error?.code).toBe('invalid_output');
});

test('credentials reach the API only', async () => {
  const secret = 'sk-verysecret-0123456789';
  const { url, seen } = await startServer((request, response) => {
    const { authorization = '', 'x-api-key': key } = request.headers;
    json(response, { error: `${authorization} ${key}`, in: { authorization } }, 500);
  });
  const registry = new HostToolRegistry();
  const records: string[] = [];
  await importOpenApi(orders, {
    registry,
    server: url,
    headers: { 'X-API-Key': `key-${secret}` },
    auth: (request, { session }) => {
      expect(request).toMatchObject({ operation: 'getOrder', method: 'GET', body: undefined });
      expect(request.url).toBe(`${url}/orders/1`);
      return { Authorization: `Bearer ${session.principal}-${secret}` };
    },
  });
  const session = registry.createSession({ sessionId: 's', principal: 'ada' });
  registry.events.on('tool:pre', (event) => void records.push(JSON.stringify(event)));
  registry.events.on('tool:error', (event) => void records.push(JSON.stringify(event)));
  const { error } = await session.call('getOrder', { orderId: '1' });
  expect(seen[0]?.headers).toMatchObject({
    authorization: `Bearer ada-${secret}`,
    'x-api-key': `key-${secret}`,
  });
  expect(error?.reason).toBe('http_error');
  expect(JSON.stringify([error, error?.message, records])).not.toContain(secret);
  expect(error?.message).toContain('[redacted]');
  expect(records).toHaveLength(2);
});

test.each([
  [() => ({ authorization: 'a\r\nx: sk-secret' })],
  [() => ({ 'bad name': 'sk-secret' })],
  [() => ({ host: 'sk-secret' })],
  [() => ({ authorization: 7 })],
  [() => null],
  [() => Promise.reject(new Error('sk-secret'))],
])('an `auth` that fails sends nothing and shows nothing', async (auth) => {
  const { url, seen } = await startServer();
  const registry = new HostToolRegistry();
  await importOpenApi(orders, { registry, server: url, auth: auth as unknown as OpenApiAuth });
  const session = registry.createSession({ sessionId: 's' });
  const { error } = await session.call('getOrder', { orderId: '1' });
  expect(error?.code).toBe('handler_error');
  expect(error?.message).not.toContain('sk-secret');
  expect(seen).toEqual([]);
});

test('nothing is sent once a call has ended while `auth` was asked', async () => {
  const { url, seen } = await startServer();
  const registry = new HostToolRegistry();
  let go = (_: Record<string, string>): void => {};
  await importOpenApi(orders, {
    registry,
    server: url,
    auth: () => new Promise((resolve) => (go = resolve)),
  });
  const session = registry.createSession({ sessionId: 's' });
  const stop = new AbortController();
  const running = session.call('getOrder', { orderId: '1' }, { signal: stop.signal });
  await expect.poll(() => go.length).toBe(1);
  stop.abort();
  expect((await running).error?.code).toBe('cancelled');
  go({ authorization: 'late' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toEqual([]);
});

test('a server that is not there, or hangs up, is a lost connection', async () => {
  const { url } = await startServer((_, response) => response.destroy());
  for (const server of [url, 'http://127.0.0.1:1']) {
    const registry = new HostToolRegistry();
    await importOpenApi(orders, { registry, server, headers: { cookie: 'sid=12345678' } });
    const session = registry.createSession({ sessionId: 's' });
    const { error } = await session.call('getOrder', { orderId: '1' });
    expect(error).toMatchObject({ code: 'executor_lost' });
    expect(error?.message).toBe('The connection to the API failed. The call may have run.');
  }
});

test('an import that waits for its document can be ended', async () => {
  const { url, seen } = await startServer(() => {});
  const stop = new AbortController();
  const importing = importOpenApi(url, { server: url, signal: stop.signal });
  await Promise.all([
    expect(importing).rejects.toMatchObject({ code: 'executor_lost' }),
    expect
      .poll(() => seen.length)
      .toBe(1)
      .then(() => stop.abort()),
  ]);
  await expect(importOpenApi(orders, { server: url, signal: stop.signal })).rejects.toMatchObject({
    code: 'closed',
  });
});

test('a document at an address is read within its origin, and is bounded', async () => {
  const other = await startServer();
  const { url, seen } = await startServer((request, response) => {
    if (request.url === '/near') return response.writeHead(302, { location: '/doc' }).end();
    if (request.url === '/far')
      return response.writeHead(302, { location: `${other.url}/doc` }).end();
    if (request.url === '/big') {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      return response.end(gzipSync(Buffer.alloc(40_000_000, 32)));
    }
    if (request.url === '/gone') return json(response, {}, 404);
    return json(response, orders);
  });
  const options = { server: 'http://127.0.0.1:1', headers: { authorization: 'Bearer 12345678' } };
  expect((await importOpenApi(`${url}/near`, options)).tools).toHaveLength(6);
  await expect(importOpenApi(new URL(`${url}/far`), options)).rejects.toMatchObject({
    code: 'executor_lost',
  });
  await expect(importOpenApi(`${url}/big`, options)).rejects.toThrow('more than 32000000 bytes');
  await expect(importOpenApi(`${url}/gone`, options)).rejects.toThrow('it answered 404');
  await expect(importOpenApi('http://127.0.0.1:1/', options)).rejects.toMatchObject({
    code: 'executor_lost',
  });
  expect(other.seen).toEqual([]);
  // The headers are for the API, and not for whoever has the document.
  expect(seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});
