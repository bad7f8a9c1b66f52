/** Tasks and apps of MCP at the endpoint of a relay's session. */
import { EXTENSION_ID, RESOURCE_MIME_TYPE } from '@modelcontextprotocol/ext-apps/server';
import { afterEach, expect, test } from 'vitest';
import { defineTool } from '../../../../src/index.ts';
import { createRelay } from '../../../../src/surfaces/relay/create-relay.ts';
import { anything, opened, signal } from '../../mcp/server/kit.ts';
import { taskClient } from '../../mcp/server/task-kit.ts';
import { askOf, base, type Made } from './app-kit.ts';

const open = opened();
afterEach(() => open.close());

const resourceUri = 'ui://board/view.html';
const shows = { extensions: { [EXTENSION_ID]: { mimeTypes: [RESOURCE_MIME_TYPE] } } };

async function world() {
  const ended = signal<string>();
  const relay = createRelay({
    session: {
      tools: [
        defineTool({
          name: 'report',
          description: 'Takes long.',
          parameters: anything,
          task: 'required',
          handler: () => ended.promise,
        }),
        defineTool({
          name: 'move',
          description: 'Moves a card.',
          parameters: anything,
          ui: { resourceUri, visibility: ['app'], html: '<!doctype html>' },
          handler: () => 'moved',
        }),
      ],
    },
  });
  open.defer(() => relay.close());
  /** The endpoint of a new session, and clients of it. */
  const session = async () => {
    const made = await askOf(relay.fetch, 'POST', base, { body: {} });
    const { code, agentToken } = made.body as unknown as Made;
    return (capabilities?: object) =>
      taskClient(
        open,
        { fetch: (request) => relay.fetch(request) },
        {
          url: `${base}/${code}/mcp`,
          token: `Bearer ${agentToken}`,
          ...(capabilities === undefined ? {} : { capabilities }),
        },
      );
  };
  return { end: ended.resolve, session };
}

test('a long call is a task, which another connection of the session has as well', async () => {
  const { end, session } = await world();
  const connect = await session();
  const { taskId, status } = await (await connect()).call('report');
  expect(status).toBe('working');
  const later = await connect();
  end('the report');
  const { result } = await later.until(taskId, 'completed');
  expect(result?.content?.[0]?.text).toBe('the report');
});

test('a task of another session does not exist, and cannot be cancelled', async () => {
  const { end, session } = await world();
  const mine = await (await session())();
  const { taskId } = await mine.call('report');
  const theirs = await (await session())();
  await expect(theirs.get(taskId)).rejects.toMatchObject({ code: -32_602 });
  await expect(theirs.cancel(taskId)).rejects.toMatchObject({ code: -32_602 });
  end('the report');
  expect((await mine.until(taskId, 'completed')).result).toBeDefined();
});

test('a tool for its app is for agents that show apps, and does not exist for others', async () => {
  const { session } = await world();
  const connect = await session();
  const [plain, app] = [await connect({}), await connect(shows)];
  const names = async ({ client }: typeof plain) =>
    (await client.listTools()).tools.map(({ name }) => name);
  expect(await names(plain)).not.toContain('move');
  expect(await names(app)).toContain('move');
  expect(await plain.call('move')).toMatchObject({
    isError: true,
    _meta: { 'host-tools/error': { code: 'tool_not_found' } },
  });
  expect((await app.call('move')).content?.[0]?.text).toBe('moved');
});
