/** Clients that connect before the tools are there: their requests wait. */
import { afterEach, expect, test } from 'vitest';
import { defineTool } from '../../../../src/index.ts';
import { holdClients } from '../../../../src/surfaces/mcp/held-clients.ts';
import { createMcpHandler } from '../../../../src/surfaces/mcp/index.ts';
import { anything, initializeParams, opened, sampleRegistry } from './kit.ts';
import { pipedServer } from './stdio-kit.ts';

const open = opened();
afterEach(() => open.close());

const made = (name: string, handler: () => unknown = () => 'ran') =>
  defineTool({ name, description: 'Came late.', parameters: anything, handler });
const request = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
const changed = { method: 'notifications/tools/list_changed' };

function held() {
  let release = (): void => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  const registry = sampleRegistry();
  holdClients(registry, until);
  return { registry, release };
}

test('over stdio, the handshake is answered, and lists and calls wait', async () => {
  const { registry, release } = held();
  const { send, next, lines } = pipedServer(open, registry);
  send(request(1, 'initialize', initializeParams), initialized);
  await next({ id: 1, result: {} });
  send(
    request(2, 'tools/list'),
    request(3, 'tools/call', { name: 'late', arguments: {} }),
    request(4, 'ping'),
  );
  await next({ id: 4 });
  expect(lines.filter((line) => 'id' in (line as object))).toEqual([]);
  registry.register(made('late'));
  release();
  const { result } = (await next({ id: 2 })) as unknown as {
    result: { tools: { name: string }[] };
  };
  expect(result.tools.map(({ name }) => name)).toContain('late');
  expect(await next({ id: 3 })).toMatchObject({ result: { content: [{ text: 'ran' }] } });
  // From now on nothing waits.
  send(request(5, 'tools/list'));
  await next({ id: 5 });
});

test('a client that cancels a call that waits gets no answer, and nothing runs', async () => {
  const { registry, release } = held();
  const { send, next, lines, session } = pipedServer(open, registry);
  send(request(1, 'initialize', initializeParams), initialized);
  await next({ id: 1 });
  send(request(2, 'tools/call', { name: 'late', arguments: {} }), {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 2 },
  });
  send(request(3, 'ping'));
  await next({ id: 3 });
  let runs = 0;
  registry.register(made('late', () => runs++));
  release();
  send(request(4, 'tools/list'));
  await next({ id: 4 });
  expect([runs, lines.filter((line) => (line as { id?: number }).id === 2)]).toEqual([0, []]);
  await session.close();
});

test('of the era of 2026, a list waits too', async () => {
  const { registry, release } = held();
  const handler = createMcpHandler(() => registry.createSession({ sessionId: 's' }));
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const answer = handler.fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
      },
      body: JSON.stringify(request(1, 'tools/list', { _meta: meta })),
    }),
  );
  registry.register(made('late'));
  release();
  expect(await (await answer).text()).toContain('"late"');
  await handler.close();
  await registry.close();
});

test('a client hears of changed tools only after the handshake', async () => {
  const registry = sampleRegistry();
  const { send, next, lines } = pipedServer(open, registry);
  registry.register(made('late'));
  await new Promise((resolve) => setImmediate(resolve));
  send(request(1, 'initialize', initializeParams));
  await next({ id: 1 });
  expect(lines).toEqual([]);
  send(initialized, request(2, 'ping'));
  await next({ id: 2 });
  registry.register(made('later'));
  await next(changed);
});

test('one that asks for the list hears of changes, although it never said that it is initialized', async () => {
  const registry = sampleRegistry();
  const { send, next } = pipedServer(open, registry);
  send(request(1, 'initialize', initializeParams), request(2, 'tools/list'));
  await next({ id: 2 });
  registry.register(made('late'));
  await next(changed);
});
