/** The key `openapi` of a file: the operations of HTTP APIs on the command line. */
import { expect, test } from 'vitest';
import { folder } from '../surfaces/config/folder.ts';
import { json, orders, startServer } from '../surfaces/openapi/orders.ts';
import { cli } from './cli-run.ts';

test('operations of a document beside the file are tools, and their rules hold', async () => {
  const { url, seen } = await startServer((_, response) => json(response, { id: '7', item: 'a' }));
  const made = folder({
    'apis/orders.json': orders,
    'host-tools.json': {
      openapi: {
        orders: {
          document: 'apis/orders.json',
          server: `${url}/v1`,
          headers: { authorization: `Bearer \${ORDERS_TOKEN}` },
          operations: ['*Order', 'lost'],
          labels: { createOrder: { requiresApproval: true } },
        },
      },
      rules: [
        {
          effect: 'deny',
          source: 'openapi:orders',
          tools: 'orders.delete*',
          when: { orderId: { glob: '7*' } },
        },
      ],
    },
  });
  const setup = { cwd: made.path, env: { ORDERS_TOKEN: 'tok-0123456789' } };
  const listed = await cli(['list', '--host-tools', 'host-tools.json', '--json'], setup);
  expect(listed.exit).toBe(0);
  expect(JSON.parse(listed.stdout)).toMatchObject({
    tools: [
      { name: 'orders.createOrder', requiresApproval: true },
      { name: 'orders.getOrder' },
      { name: 'orders.replaceOrder' },
      { name: 'orders.deleteOrder' },
    ],
    servers: [{ name: 'orders', state: 'ready', tools: 4 }],
  });
  expect(listed.stderr).toContain('`lost`: It matches no operation of the document.');
  const call = (tool: string, input: object, env: Record<string, string> = setup.env) =>
    cli(['call', tool, '--input', JSON.stringify(input), '--host-tools', 'host-tools.json'], {
      cwd: made.path,
      env,
    });
  const read = await call('orders.getOrder', { orderId: '7' });
  expect([read.exit, read.stdout]).toEqual([0, expect.stringContaining('"item": "a"')]);
  expect(seen).toMatchObject([
    { url: '/v1/orders/7', headers: { authorization: 'Bearer tok-0123456789' } },
  ]);
  expect((await call('orders.deleteOrder', { orderId: '7' })).exit).not.toBe(0);
  expect((await call('orders.getOrder', { orderId: '..' })).exit).not.toBe(0);
  const without = await call('orders.getOrder', { orderId: '7' }, {});
  expect(without.stderr).toContain('the variable `ORDERS_TOKEN` is not set');
  expect(seen).toHaveLength(1);
});

test('an API that cannot be imported is named, and the others are there', async () => {
  const { url } = await startServer();
  const made = folder({
    'orders.json': orders,
    'old.json': { swagger: '2.0', paths: {} },
    'host-tools.json': {
      openapi: {
        orders: { document: 'orders.json', server: url, prefix: '' },
        old: { document: 'old.json', server: url },
        gone: { document: 'gone.json', server: url },
      },
    },
  });
  const listed = await cli(['list', '--host-tools', 'host-tools.json'], { cwd: made.path });
  expect(listed.stdout).toContain('getOrder');
  // As `validate` and a rule that does not load: what is shown is not all.
  expect(listed.exit).toBe(1);
  expect(listed.stderr).toContain('Swagger `2.0`; convert it first');
  expect(listed.stderr).toContain('gone.json: it cannot be read (ENOENT)');
});

test.each([
  [{ document: 'a.json' }, 'server'],
  [{ document: 'a.json', server: 'file:///etc' }, 'expected an http(s) address'],
  [{ document: 'a.json', server: 'https://u:p@host' }, 'without a user'],
  [{ document: 'a.json', server: 'https://host', header: {} }, 'headers'],
  [{ document: 'a.json', server: 'https://host', headers: { 'a b': 'c' } }, 'HTTP header'],
])('a wrong entry is refused with its place: %j', async (entry, why) => {
  const made = folder({ 'host-tools.json': { openapi: { orders: entry } } });
  const listed = await cli(['list', '--host-tools', 'host-tools.json'], { cwd: made.path });
  expect(listed.exit).toBe(1);
  expect(listed.stderr).toContain(why);
});

test('a key of the query comes from the environment, and one that nobody gives is named', async () => {
  const { url, seen } = await startServer((_, response) => json(response, { id: '7', item: 'a' }));
  const document = {
    ...orders,
    components: {
      ...(orders as { components?: object }).components,
      securitySchemes: { Key: { type: 'apiKey', in: 'query', name: 'api_key' } },
    },
    security: [{ Key: [] }],
  };
  const api = { document: 'orders.json', server: url, operations: ['getOrder'] };
  const made = folder({
    'orders.json': document,
    'with.json': { openapi: { orders: { ...api, query: { api_key: `\${ORDERS_KEY}` } } } },
    'without.json': { openapi: { orders: api } },
  });
  const call = (file: string, env: Record<string, string>) =>
    cli(['call', 'orders.getOrder', '--input', '{"orderId":"7"}', '--host-tools', file], {
      cwd: made.path,
      env,
    });
  expect((await call('with.json', { ORDERS_KEY: 'k-0123456789' })).exit).toBe(0);
  expect(seen.at(-1)?.url).toBe('/orders/7?api_key=k-0123456789');
  expect((await call('with.json', {})).stderr).toContain('the variable `ORDERS_KEY` is not set');
  expect((await call('without.json', {})).stderr).toContain(
    'Nobody gives the query parameter `api_key`',
  );
});

test('validate checks the form, and says what it cannot compare', async () => {
  const made = folder({
    'host-tools.json': {
      openapi: { orders: { document: 'orders.json', server: 'https://orders.example' } },
      rules: [{ effect: 'deny', tools: 'orders.delete*' }],
    },
  });
  const checked = await cli(['validate', 'host-tools.json'], { cwd: made.path });
  expect(checked.stdout).toContain('its APIs not imported');
});

test('list says what a warning is about, and what standard error has said is not said again', async () => {
  const { path } = folder({
    'host-tools.json': {
      openapi: {
        o: {
          document: './o.json',
          server: 'http://127.0.0.1:9',
          operations: ['get', 'lost*'],
          labels: { wrong: { timeoutMs: 5 } },
        },
      },
    },
    'o.json': {
      openapi: '3.0.3',
      info: { title: 'o', version: '1' },
      paths: {
        '/a': {
          get: {
            operationId: 'get',
            parameters: [
              { name: 'Authorization', in: 'header', schema: { type: 'string' } },
              { name: 'q', in: 'query', schema: { type: 'string', pattern: '(?<=a)b' } },
            ],
            responses: { 200: { description: 'ok' } },
          },
        },
      },
    },
  });
  const { stdout, stderr } = await cli(['list', '--host-tools', 'host-tools.json'], { cwd: path });
  expect(stdout).toContain('o: get: Left to the host: the header parameter `Authorization`.');
  expect(stdout).toContain('o: get: only the server checks /parameters/properties/q/pattern. ');
  for (const glob of ['lost*', 'wrong'])
    expect((stdout + stderr).split(`\`${glob}\`: It matches no operation`)).toHaveLength(2);
  expect(stdout).not.toContain('It matches no operation');
});
