/** MCP sessions of the 2025 versions over several nodes: every node can continue a session. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import { defineTool, memoryStore } from '../../../../src/index.ts';
import { mcpSessionStore } from '../../../../src/surfaces/relay/http/mcp-sessions.ts';
import { createRelay, type Relay } from '../../../../src/surfaces/relay/index.ts';
import { keys } from '../../../../src/surfaces/relay/ports/documents.ts';
import { hashOf } from '../../../../src/surfaces/relay/secrets.ts';
import { beforeOp, kept, on } from '../watched-store.ts';
import { askOf, base, type Made } from './app-kit.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Makes nodes with one store, and a session. */
async function world(count: number, store: Store = memoryStore()) {
  const time = defineTool({
    name: 'time',
    description: 'Tells it.',
    parameters: { type: 'object' },
    handler: () => 'noon',
  });
  const nodes = Array.from({ length: count }, () =>
    createRelay({ store, session: { tools: [time] } }),
  );
  open.push(() => Promise.all(nodes.map((node) => node.close())));
  const [first] = nodes as [Relay];
  const { body } = await askOf(first.fetch, 'POST', base, { body: {} });
  return { store, nodes, made: body as unknown as Made };
}

/** A client whose requests go to the nodes that `pick` chooses. */
async function clientOf({ code, agentToken }: Made, pick: () => Relay): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/${code}/mcp`), {
    fetch: (url, init) => pick().fetch(new Request(url, init)),
    requestInit: { headers: { Authorization: `Bearer ${agentToken}` } },
  });
  await client.connect(transport);
  open.push(() => client.close());
  return client;
}

const timeOf = async (client: Client): Promise<unknown> =>
  ((await client.callTool({ name: 'time', arguments: {} })).content as { text: string }[])[0]?.text;

describe('a client of a 2025 version', () => {
  test('is served by every node that its requests reach', async () => {
    const { nodes, made } = await world(3);
    let turn = 0;
    const client = await clientOf(made, () => nodes[turn++ % nodes.length] as Relay);
    for (let n = 0; n < 7; n++) expect(await timeOf(client)).toBe('noon');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['time']);
  });

  test('keeps its session when its node shuts down', async () => {
    const { nodes, made } = await world(2);
    let at = 0;
    const client = await clientOf(made, () => nodes[at] as Relay);
    expect(await timeOf(client)).toBe('noon');
    await nodes[0]?.close();
    at = 1;
    expect(await timeOf(client)).toBe('noon');
  });

  test('cannot use the id of an MCP session in another relay session', async () => {
    const { nodes, made, store } = await world(1);
    const node = nodes[0] as Relay;
    const client = await clientOf(made, () => node);
    const id = (client.transport as StreamableHTTPClientTransport).sessionId as string;
    const other = (await askOf(node.fetch, 'POST', base, { body: {} })).body as unknown as Made;
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const headers = { Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': id };
    expect(
      (
        await askOf(node.fetch, 'POST', `${base}/${other.code}/mcp`, {
          token: other.agentToken,
          body: call,
          headers,
        })
      ).status,
    ).toBe(404);
    expect(await mcpSessionStore(kept(store), other.code).load(id)).toBeUndefined();
  });
});

describe('a kept MCP session', () => {
  const record = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    },
  };

  test('has the hash of its id as key, and is removed when it ends or its relay session ends', async () => {
    const { store, made } = await world(1);
    const sessions = mcpSessionStore(kept(store), made.code);
    await sessions.save('an-id', record);
    expect(await sessions.load('an-id')).toEqual(record);
    expect(await on(store).get(made.code, ['mcp:an-id'])).toEqual([undefined]);
    await sessions.remove('an-id');
    expect(await sessions.load('an-id')).toBeUndefined();
    await sessions.save('another', record);
    await on(store).drop(made.code);
    expect(await sessions.load('another')).toBeUndefined();
    await sessions.save('late', record);
    expect(await sessions.load('late')).toBeUndefined();
  });

  test('is one of a hundred: those that were started or loaded last', async () => {
    const { store, made } = await world(1);
    const sessions = mcpSessionStore(kept(store), made.code);
    await sessions.save('used', record);
    for (let n = 0; n < 99; n++) await sessions.save(`id-${n}`, record);
    expect(await sessions.load('used')).toEqual(record);
    await sessions.save('one more', record);
    expect([
      await sessions.load('id-0'),
      await sessions.load('id-1'),
      await sessions.load('used'),
    ]).toEqual([undefined, record, record]);
  });

  test('no longer counts when its client has ended it', async () => {
    const { store, made } = await world(1);
    const sessions = mcpSessionStore(kept(store), made.code);
    await sessions.save('stays', record);
    for (let n = 0; n < 150; n++) {
      await sessions.save('comes and goes', record);
      await sessions.remove('comes and goes');
    }
    expect(await sessions.load('stays')).toEqual(record);
  });

  test('counts, however many are started at the same time', async () => {
    const { store, made } = await world(1);
    const sessions = mcpSessionStore(kept(store), made.code);
    const ids = Array.from({ length: 150 }, (_, n) => `id-${n}`);
    await Promise.all(ids.map((id) => sessions.save(id, record)));
    const documents = await on(store).get(
      made.code,
      ids.map((id) => keys.mcpSession(hashOf(id))),
    );
    expect(documents.map((one) => one !== undefined)).toEqual(ids.map((_, n) => n >= 50));
  });

  test('is not stored if it cannot be counted, because other nodes keep changing the list', async () => {
    const { store, made } = await world(1);
    const { code } = made;
    const contended = beforeOp(store, 'set', async ({ key }, session) => {
      if (key === keys.mcpSessions) await on(store).set(session, keys.mcpSessions, '[]');
    });
    const sessions = mcpSessionStore(kept(contended), code);
    await expect(sessions.save('new', record)).rejects.toMatchObject({ status: 503, code: 'busy' });
    const place = keys.mcpSession(hashOf('new'));
    expect(await on(store).get(code, [place])).toEqual([undefined]);
    await on(store).set(code, place, JSON.stringify(record));
    expect(await sessions.load('new')).toEqual(record);
    await sessions.remove('new');
    expect(await on(store).get(code, [place])).toEqual([undefined]);
  });
});
