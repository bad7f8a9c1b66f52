/** `credentials` of an import: each request has the token of the principal, and nobody else's. */

import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { importOpenApi } from '../../../src/surfaces/openapi/index.ts';
import { json, orders, startServer } from './orders.ts';

const credentials = { orders: { scopes: ['orders:read'] } };

test('the token is sent as `Authorization`, and is in no result', async () => {
  const { url, seen } = await startServer((request, response) =>
    json(response, [{ id: '1', status: 'open', by: request.headers.authorization }]),
  );
  const asked: unknown[] = [];
  const registry = new HostToolRegistry({
    credentials: ({ principal, name, scopes, tool }) => {
      asked.push([principal, name, scopes, tool]);
      return { token: `Canary-of-${principal}` };
    },
  });
  const imported = await importOpenApi(orders, { registry, server: url, credentials });
  const call = (principal: string) =>
    registry.createSession({ sessionId: principal, principal }).call('listOrders', {});
  const results = [await call('ann'), await call('bob')];
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer Canary-of-ann',
    'Bearer Canary-of-bob',
  ]);
  expect(JSON.stringify(results)).not.toContain('Canary');
  expect(asked).toEqual([
    ['ann', 'orders', ['orders:read'], 'listOrders'],
    ['bob', 'orders', ['orders:read'], 'listOrders'],
  ]);
  await imported.close();
});

test('without a token nothing is sent', async () => {
  const { url, seen } = await startServer();
  const registry = new HostToolRegistry({
    credentials: () => {
      throw new Error('no');
    },
  });
  await importOpenApi(orders, { registry, server: url, credentials });
  const result = await registry.createSession({ sessionId: 's' }).call('listOrders', {});
  expect(result.error?.reason).toBe('credentials_unavailable');
  expect(seen).toEqual([]);
});

test('headers of the host cannot take its place', async () => {
  const { url, seen } = await startServer();
  const registry = new HostToolRegistry({ credentials: () => ({ token: 'Canary' }) });
  const options = { registry, server: url, credentials };
  await expect(
    importOpenApi(orders, { ...options, headers: { Authorization: 'Bearer mine' } }),
  ).rejects.toThrow('without `authorization`');
  await expect(importOpenApi(orders, { ...options, credentials: {} })).rejects.toThrow('one name');
  await importOpenApi(orders, { ...options, auth: () => ({ authorization: 'Bearer mine' }) });
  const result = await registry.createSession({ sessionId: 's' }).call('listOrders', {});
  expect(result.error?.code).toBe('handler_error');
  expect(seen).toEqual([]);
});
