/** What a server keeps for the agents of one token is not there for others of the same person. */
import { afterEach, expect, test } from 'vitest';
import {
  createMcpHandler,
  type McpHandler,
  type McpSessionRecord,
} from '../../../../src/surfaces/mcp/index.ts';
import { initialize, opened, post } from './kit.ts';
import { type Done, taskClient, taskRegistry } from './task-kit.ts';

const open = opened();
afterEach(() => open.close());

const unknownTask = { message: expect.stringContaining('There is no such task') };

/** A server whose tokens name the agents, such as `planner~robot`. */
function served(kept?: Map<string, string>) {
  const done: Done = { slow: [], sent: [] };
  const registry = taskRegistry(undefined, done);
  const ids: string[] = [];
  registry.events.on('tool:pre', ({ sessionId }) => ids.push(sessionId));
  const handler = createMcpHandler(
    ({ principal = '' }) => registry.createSession({ sessionId: 'chat', principal }),
    {
      authorization: {
        authorizationServers: ['https://login.example'],
        verify: (token) => ({
          principal: 'ann',
          scopes: [],
          actors: token === 'none' ? [] : token.replace('+', '%2F').split('~'),
        }),
      },
      onError: () => {},
      ...(kept && {
        sessionStore: {
          save: async (id: string, record: McpSessionRecord) =>
            void kept.set(id, JSON.stringify(record)),
          load: async (id: string) =>
            JSON.parse(kept.get(id) ?? 'null') as McpSessionRecord | undefined,
          remove: async (id: string) => void kept.delete(id),
        },
      }),
    },
  );
  open.defer(() => handler.close());
  return { handler, ids, done };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('a task', async () => {
  const { handler, done } = served();
  const as = (token: string) => taskClient(open, handler, { token: `Bearer ${token}` });
  const own = await as('planner');
  const { taskId } = await own.call('slow_required');
  for (const token of ['none', 'robot', 'planner~robot']) {
    const other = await as(token);
    await expect(other.get(taskId)).rejects.toMatchObject(unknownTask);
    await expect(other.cancel(taskId)).rejects.toMatchObject(unknownTask);
    await expect(other.update(taskId, {})).rejects.toMatchObject(unknownTask);
  }
  expect(done.slow[0]?.signal.aborted).toBe(false);
  await (await as('planner')).cancel(taskId);
  expect(await own.get(taskId)).toMatchObject({ status: 'cancelled' });
  // Once it has ended, too.
  for (const token of ['none', 'robot'])
    await expect((await as(token)).get(taskId)).rejects.toMatchObject(unknownTask);
});

test('an MCP session, here and in another process', async () => {
  const kept = new Map<string, string>();
  const [here, there] = [served(kept), served(kept)];
  const id = await initialize(here.handler, bearer('planner'));
  const list = async (handler: McpHandler, token: string) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    return (await handler.fetch(post(body, { ...bearer(token), 'mcp-session-id': id }))).status;
  };
  const end = async (handler: McpHandler, token: string) => {
    const headers = { ...bearer(token), 'mcp-session-id': id };
    const request = new Request('http://127.0.0.1/mcp', { method: 'DELETE', headers });
    return (await handler.fetch(request)).status;
  };
  for (const { handler } of [here, there])
    for (const token of ['none', 'robot', 'planner~robot']) {
      expect(await end(handler, token)).toBe(403);
      expect(await list(handler, token)).toBe(403);
    }
  expect(await list(there.handler, 'planner')).toBe(200);
  expect(await list(there.handler, 'robot')).toBe(403);
  expect(await end(there.handler, 'planner')).toBe(200);
  expect(kept.size).toBe(0);
});

test('the id of a session, whatever the agents are called', async () => {
  const { handler, ids } = served();
  for (const token of ['a/b', 'a~b', 'a+b'])
    await (await taskClient(open, handler, { token: `Bearer ${token}` })).call('quick');
  expect(ids).toEqual(['chat/a%2Fb', 'chat/a/b', 'chat/a%252Fb']);
});
