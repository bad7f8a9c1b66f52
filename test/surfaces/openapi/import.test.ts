import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { type ImportOpenApiOptions, importOpenApi } from '../../../src/surfaces/openapi/index.ts';
import { json, orders, startServer } from './orders.ts';

async function started(options: Partial<ImportOpenApiOptions> = {}, document: object = orders) {
  const registry = new HostToolRegistry();
  const server = await startServer();
  const imported = await importOpenApi(document, { registry, server: server.url, ...options });
  const session = registry.createSession({ sessionId: 's' });
  return { registry, imported, session, ...server };
}

/** A schema with what tests read of it. */
interface Shown {
  readonly properties: Readonly<Record<string, object>>;
  readonly $defs: Readonly<Record<string, Omit<Shown, '$defs'>>>;
}

test('each operation is a tool, with one closed schema and what its method says', async () => {
  const { imported, registry } = await started();
  expect(imported.failed).toEqual([]);
  expect(imported.source).toBe('openapi:Orders');
  expect(imported.tools.map(({ name }) => name)).toEqual([
    'listOrders',
    'createOrder',
    'getOrder',
    'replaceOrder',
    'deleteOrder',
    'readNote',
  ]);
  const hints = (name: string) => {
    const { readOnly, destructive, idempotent } = registry.get(name)?.annotations ?? {};
    return [readOnly, destructive, idempotent];
  };
  expect(hints('getOrder')).toEqual([true, false, true]);
  expect(hints('createOrder')).toEqual([false, true, false]);
  expect(hints('replaceOrder')).toEqual([false, true, true]);
  expect(hints('deleteOrder')).toEqual([false, true, true]);
  expect(registry.get('listOrders')?.parameters).toMatchObject({
    type: 'object',
    additionalProperties: false,
    properties: {
      status: { type: 'string', enum: ['open', 'shipped'] },
      // It is told and not filled in: the server knows it.
      limit: { type: 'integer', maximum: 100, description: 'Default: 30.' },
    },
  });
  expect(registry.get('replaceOrder')?.parameters).toMatchObject({ required: ['orderId', 'body'] });
});

test('what only the host may give is not in the schema, and is named', async () => {
  const { imported, registry } = await started();
  const schema = registry.get('listOrders')?.parameters as unknown as Shown;
  expect(Object.keys(schema.properties)).toEqual(['status', 'limit', 'tag', 'X-Trace']);
  expect(imported.warnings).toEqual([
    {
      name: 'listOrders',
      path: '/parameters',
      message: 'Left to the host: the header parameter `Authorization`.',
    },
    {
      name: 'listOrders',
      path: '/parameters',
      message: 'Left to the host: the cookie parameter `session`.',
    },
  ]);
});

test('schemas of 3.0 are read as what they mean, for each direction', async () => {
  const { registry } = await started();
  const sent = registry.get('createOrder')?.parameters as unknown as Shown;
  expect(sent.properties.body).toEqual({ $ref: '#/$defs/Order' });
  expect(sent.$defs.Order).toEqual({
    type: 'object',
    // The server gives the id.
    required: ['item'],
    additionalProperties: false,
    properties: {
      item: { type: 'string', minLength: 1 },
      amount: { type: 'integer', exclusiveMinimum: 0 },
      note: { type: ['string', 'null'] },
      pin: { type: 'string' },
      parts: { type: 'array', items: { $ref: '#/$defs/Order' } },
    },
  });
  const got = registry.get('getOrder')?.outputSchema as unknown as Shown;
  expect(got.$defs.Order).toMatchObject({ required: ['id', 'item'] });
  expect(Object.keys(got.$defs.Order?.properties ?? {})).not.toContain('pin');
});

test('a call is sent as the document says, to the server of the host', async () => {
  const { session, seen, url } = await started({ server: 'http://127.0.0.1:1' });
  await session.call('listOrders', {});
  expect(seen).toEqual([]);
  const registry = new HostToolRegistry();
  await importOpenApi(orders, { registry, server: `${url}/base/v1/` });
  const other = registry.createSession({ sessionId: 's' });
  await other.call('listOrders', { status: 'open', limit: 5, tag: ['a b', 'c&d'], 'X-Trace': 't' });
  await other.call('replaceOrder', { orderId: 'a/ü?#', body: { item: 'book', parts: [] } });
  await other.call('deleteOrder', { orderId: '7' });
  expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
    ['GET', '/base/v1/orders?status=open&limit=5&tag=a%20b&tag=c%26d', ''],
    ['PUT', '/base/v1/orders/a%2F%C3%BC%3F%23', '{"item":"book","parts":[]}'],
    ['DELETE', '/base/v1/orders/7', ''],
  ]);
  expect(seen[0]?.headers).toMatchObject({ accept: 'application/json', 'x-trace': 't' });
  expect(seen[0]?.headers).not.toHaveProperty('cookie');
  expect(seen[1]?.headers).toMatchObject({ 'content-type': 'application/json' });
});

test('what is answered is the output, and its schema is checked', async () => {
  let answer: unknown = [{ id: '1', item: 'book' }];
  const { url } = await startServer((_, response) => json(response, answer));
  const registry = new HostToolRegistry();
  await importOpenApi(orders, { registry, server: url });
  const session = registry.createSession({ sessionId: 's' });
  expect(await session.call('listOrders', {})).toMatchObject({ output: answer });
  answer = [{ id: 1 }];
  expect(await session.call('listOrders', {})).toMatchObject({
    error: { code: 'invalid_output' },
  });
});

test('an error of the API is a failure with its status and what it says', async () => {
  const { url } = await startServer((_, response) => json(response, { error: 'no such' }, 404));
  const registry = new HostToolRegistry();
  await importOpenApi(orders, { registry, server: url });
  const session = registry.createSession({ sessionId: 's' });
  expect((await session.call('getOrder', { orderId: '7' })).error).toMatchObject({
    code: 'handler_error',
    reason: 'http_error',
    message: 'The API answered 404 Not Found: {"error":"no such"}',
    details: { status: 404, body: { error: 'no such' } },
  });
});

test('an operation that changes is withdrawn until it is accepted', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'openapi-')), 'orders.json');
  const write = (text: string) => writeFile(path, text);
  await write(JSON.stringify(orders));
  const { url, seen } = await startServer((_, response) => json(response, []));
  const registry = new HostToolRegistry();
  const imported = await importOpenApi(path, { registry, server: url });
  const session = registry.createSession({ sessionId: 's' });
  expect((await session.call('listOrders', {})).success).toBe(true);

  // Only the path changes: what a model sees stays the same.
  await write(JSON.stringify(orders).replaceAll('"/orders":', '"/admin":'));
  await imported.refresh();
  expect(imported.drift.map(({ name }) => name)).toEqual(['listOrders', 'createOrder']);
  expect((await session.call('listOrders', {})).error).toMatchObject({
    code: 'tool_not_available',
    reason: 'definition_changed',
  });
  expect(seen).toHaveLength(1);
  imported.accept('listOrders', imported.drift[0]?.found);
  expect((await session.call('listOrders', {})).success).toBe(true);
  expect(seen[1]?.url).toBe('/admin');

  await write(JSON.stringify({ ...orders, paths: {} }));
  await imported.refresh();
  expect((await session.call('getOrder', { orderId: '7' })).error).toMatchObject({
    code: 'tool_not_available',
    reason: 'removed',
  });

  // A pin that is dropped takes the tool from the registry, and a close takes all of them.
  imported.accept('getOrder');
  expect(registry.listNames()).not.toContain('getOrder');
  await write('no document');
  await expect(imported.refresh()).rejects.toMatchObject({ code: 'invalid_file' });
  expect(registry.listNames()).toContain('listOrders');
  await imported.close();
  expect(registry.listNames()).toEqual([]);
});

test('pins say what is accepted, in another process as well', async () => {
  const { imported } = await started();
  const { getOrder = '', ...rest } = imported.pins;
  const again = await importOpenApi(orders, {
    server: 'http://127.0.0.1:1',
    pins: { ...rest, getOrder: getOrder.replace(/.$/, 'x'), gone: 'sha256:0' },
  });
  expect(again.drift).toEqual([
    { name: 'getOrder', pinned: getOrder.replace(/.$/, 'x'), found: getOrder },
    { name: 'gone', pinned: 'sha256:0', found: undefined },
  ]);
  expect(again.tools.map(({ name }) => name)).not.toContain('getOrder');
});

test('a close takes the tools away and ends their requests', async () => {
  const registry = new HostToolRegistry();
  const { url, seen } = await startServer(() => {});
  const imported = await importOpenApi(orders, { registry, server: url, prefix: 'orders.' });
  const session = registry.createSession({ sessionId: 's' });
  const running = session.call('orders.getOrder', { orderId: '7' });
  await expect.poll(() => seen.length).toBe(1);
  await imported.close();
  expect((await running).error).toMatchObject({ code: 'executor_lost' });
  expect(registry.listNames()).toEqual([]);
  await imported.close();
  await expect(imported.refresh()).rejects.toMatchObject({ code: 'closed' });
});

test('globs choose operations, and labels change what is known of them', async () => {
  const { imported, registry } = await started({
    operations: ['*Order', 'lost*'],
    prefix: 'shop.',
    labels: { createOrder: { annotations: { destructive: false }, requiresApproval: true } },
  });
  expect(imported.tools.map(({ name }) => name)).toEqual([
    'shop.createOrder',
    'shop.getOrder',
    'shop.replaceOrder',
    'shop.deleteOrder',
  ]);
  expect(registry.get('shop.createOrder')?.annotations.destructive).toBe(false);
  expect(imported.warnings).toEqual([
    { name: 'lost*', path: '/operations', message: 'It matches no operation of the document.' },
  ]);
});

test('a host that misspells an option is told so', async () => {
  for (const [options, message] of [
    [{}, 'expected `server` to be an http(s) address'],
    [{ server: 'file:///etc' }, 'expected `server`'],
    [{ server: 'http://u:p@localhost' }, 'expected `server`'],
    [{ server: 'http://localhost?a=1' }, 'expected `server`'],
    [{ server: 'http://localhost', prefx: 'a' }, 'prefx'],
    [{ server: 'http://localhost', headers: { host: 'a' } }, 'Expected `headers`'],
    [{ server: 'http://localhost', headers: { a: 'b\r\nc: d' } }, 'Expected `headers`'],
    [{ server: 'http://localhost', pins: { a: 1 } }, 'pins["a"]'],
    [{ server: 'http://localhost', labels: { a: { anotations: {} } } }, 'anotations'],
    [{ server: 'http://localhost', labels: { a: { requiresApproval: 1 } } }, 'requiresApproval'],
    [{ server: 'http://localhost', registry: { registerAll: () => [] } }, 'HostToolRegistry'],
  ] as const)
    await expect(importOpenApi(orders, options as unknown as ImportOpenApiOptions)).rejects.toThrow(
      message,
    );
});
