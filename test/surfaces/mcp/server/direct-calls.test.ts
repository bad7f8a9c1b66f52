/** Calls over stdio that go past the SDK's server are answered as those that go through it. */
import { expect, onTestFinished, test } from 'vitest';
import { defineTool, fail, HostToolRegistry } from '../../../../src/index.ts';
import { opened } from './kit.ts';
import { pipedServer } from './stdio-kit.ts';

const anything = { type: 'object' } as const;

function registry(): HostToolRegistry {
  const made = new HostToolRegistry();
  made.registerAll([
    defineTool({
      name: 'echo',
      description: 'Echoes.',
      parameters: anything,
      handler: (input) => JSON.stringify(input),
    }),
    defineTool({
      name: 'sum',
      description: 'Adds.',
      parameters: {
        type: 'object',
        properties: { a: { type: 'number' } },
        required: ['a'],
      },
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
      handler: ({ a }) => ({ sum: (a as number) + 1 }),
    }),
    defineTool({
      name: 'breaks',
      description: 'Breaks.',
      parameters: anything,
      handler: () => fail('It broke.'),
    }),
    defineTool({
      name: 'waits',
      description: 'Waits.',
      parameters: anything,
      handler: (_input, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', resolve)),
    }),
  ] as never);
  return made;
}

/** After the handshake. */
async function server() {
  const open = opened();
  onTestFinished(() => open.close());
  const peer = pipedServer(open, registry());
  await peer.handshake();
  return peer;
}

/** With a member that is not known here, a call goes through the SDK's server. */
const through = { 'example.com/own': 1 };

test.each<[string, object]>([
  ['a text', { name: 'echo', arguments: { a: 'b' } }],
  ['no arguments', { name: 'echo' }],
  ['structured content', { name: 'sum', arguments: { a: 1 } }],
  ['arguments that are refused', { name: 'sum', arguments: { a: 'one' } }],
  ['a failure', { name: 'breaks' }],
  ['a tool that is not there', { name: 'other' }],
])('%s', async (_, params) => {
  const { send, next } = await server();
  const ask = async (id: number, more: object): Promise<object> => {
    send({ jsonrpc: '2.0', id, method: 'tools/call', params: { ...params, ...more } });
    return (await next({ id })).result as unknown as object;
  };
  const direct = await ask(1, {});
  expect(direct).toMatchObject({ content: expect.any(Array) });
  expect(direct).toEqual(await ask(2, { _meta: through }));
});

test.each<[string, unknown]>([
  ['a name that is no text', { name: 5 }],
  ['arguments that are no object', { name: 'echo', arguments: [] }],
  ['no parameters', undefined],
])('%s: the SDK refuses it', async (_, params) => {
  const { send, next } = await server();
  send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  expect(await next({ id: 1 })).toMatchObject({ error: { code: -32_602 } });
});

test('a cancelled call gets no answer, and its id is free again', async () => {
  const { send, next, lines } = await server();
  send(
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'waits' } },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  );
  // The call has ended when its id can be used again.
  for (let code: unknown = 'duplicate_call_id'; code === 'duplicate_call_id'; ) {
    send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } });
    const { result } = (await next({ id: 1 })) as unknown as {
      result: { _meta?: { 'host-tools/error': { code: string } } };
    };
    code = result._meta?.['host-tools/error'].code;
  }
  expect(lines).toEqual([]);
});

test('a call does not overtake a request before it, nor a request a call', async () => {
  const { send, next, lines } = await server();
  send(
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } },
    { jsonrpc: '2.0', id: 2, method: 'logging/setLevel', params: { level: 'error' } },
    { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'echo' } },
    { jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'echo' } },
  );
  for (const id of [1, 2, 3, 4]) expect(await next({ id })).toMatchObject({ result: {} });
  expect(lines).toEqual([]);
});
