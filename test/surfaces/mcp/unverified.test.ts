/** Functions of the host that never say who sends a request. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { createMcpHandler, type McpHandlerOptions } from '../../../src/surfaces/mcp/index.ts';
import { loadSdk } from '../../../src/surfaces/mcp/server/sdk.ts';

beforeEach(async () => {
  await loadSdk();
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});
test.each<[string, McpHandlerOptions]>([
  [
    'authorization',
    { authorization: { authorizationServers: ['https://a.example'], verify: never } },
  ],
  ['authenticate', { authenticate: never }],
])('after 30 seconds without an answer of `%s`, a request is refused', async (_what, options) => {
  const heard: unknown[] = [];
  const registry = new HostToolRegistry();
  const handler = createMcpHandler(() => registry.createSession({ sessionId: 's' }), {
    ...options,
    onError: (error) => heard.push(error),
  });
  const headers = { authorization: 'Bearer a', 'content-type': 'application/json' };
  const answering = handler.fetch(
    new Request('http://127.0.0.1/mcp', { method: 'POST', body: '{}', headers }),
  );
  await vi.advanceTimersByTimeAsync(30_000);
  expect((await answering).status).toBe(401);
  expect(heard).toHaveLength(1);
  await handler.close();
  await registry.close();
});
