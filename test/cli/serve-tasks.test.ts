/** Tasks and apps of MCP through the command `serve --http`: of tools of a file, and of a gateway. */
import { writeFileSync } from 'node:fs';
import { EXTENSION_ID, RESOURCE_MIME_TYPE } from '@modelcontextprotocol/ext-apps/server';
import { afterEach, describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../src/index.ts';
import { folder } from '../surfaces/config/folder.ts';
import { anything, connectClient, listen, opened, signal } from '../surfaces/mcp/server/kit.ts';
import { taskClient } from '../surfaces/mcp/server/task-kit.ts';
import { serve } from './served-gateway.ts';

const open = opened();
afterEach(() => open.close());

/** A client of the 2026 era that knows tasks. */
const knowing = (url: string) =>
  taskClient(open, { fetch: (request) => fetch(request) }, { url, token: 'none' });

const resourceUri = 'ui://board/view.html';
const page = '<!doctype html><title>Board</title>';

/** A server elsewhere, with a tool that takes as long as it is told, and one for its app. */
async function farServer() {
  const registry = new HostToolRegistry();
  open.defer(() => registry.close());
  const ended = signal<string>();
  let aborted = false;
  registry.registerAll([
    defineTool({
      name: 'report',
      description: 'Takes long.',
      parameters: anything,
      handler: (_input, { signal: over }) => {
        over.addEventListener('abort', () => {
          aborted = true;
          ended.resolve('aborted');
        });
        return ended.promise;
      },
    }),
    defineTool({
      name: 'show',
      description: 'Shows the board.',
      parameters: anything,
      ui: { resourceUri, html: page },
      handler: () => 'the board',
    }),
    defineTool({
      name: 'move',
      description: 'Moves a card.',
      parameters: anything,
      ui: { resourceUri, visibility: ['app'] },
      handler: () => 'moved',
    }),
  ]);
  const { url } = await listen(open, () => registry.createSession({ sessionId: 'far' }));
  return { url: url.href, end: ended.resolve, isAborted: () => aborted };
}

async function gateway(labels: object = {}, more: object = {}) {
  const far = await farServer();
  const { path } = folder({
    'gateway.json': { mcpServers: { far: { url: far.url, labels } }, ...more },
  });
  const { mcp } = await serve(path, '0', [], false);
  return { ...far, mcp };
}

describe('a long call of a tool behind a gateway', () => {
  test('is a task if the file says so, and its end is the answer of the server', async () => {
    const { mcp, end } = await gateway({ report: { task: 'optional' } });
    const { call, get, until } = await knowing(mcp);
    const { taskId, status } = await call('far.report');
    expect(status).toBe('working');
    expect((await get(taskId)).status).toBe('working');
    end('the report');
    const { result } = await until(taskId, 'completed');
    expect(result?.content?.[0]?.text).toBe('the report');
  });

  test('ends at its server when its client cancels it', async () => {
    const { mcp, isAborted } = await gateway({ report: { task: 'required' } });
    const { call, cancel, get } = await knowing(mcp);
    const { taskId } = await call('far.report');
    await cancel(taskId);
    expect((await get(taskId)).status).toBe('cancelled');
    await expect.poll(isAborted).toBe(true);
  });

  test('is for no client that knows no tasks, if it must be one', async () => {
    const { mcp } = await gateway({ report: { task: 'required' } });
    const { call } = await taskClient(
      open,
      { fetch: (request) => fetch(request) },
      { url: mcp, token: 'none', capabilities: {} },
    );
    await expect(call('far.report')).rejects.toMatchObject({ code: -32_021 });
  });

  test('is no task where nobody says so', async () => {
    const { mcp, end } = await gateway();
    const { call } = await knowing(mcp);
    setTimeout(() => end('the report'), 1_500);
    expect((await call('far.report')).content?.[0]?.text).toBe('the report');
  });
});

test('a call that a rule asks about is a task, which the page of approvals answers', async () => {
  const far = await farServer();
  const { path } = folder({
    'gateway.json': {
      mcpServers: { far: { url: far.url } },
      rules: [{ effect: 'ask', tools: 'far.show' }],
      approvals: { dir: 'kept', page: true },
    },
  });
  const { mcp, ask } = await serve(path);
  const { call, until } = await taskClient(
    open,
    { fetch: (request) => fetch(request) },
    {
      url: mcp,
      token: 'none',
      capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  );
  const { taskId } = await call('far.show');
  const { approvals: [waiting] = [] } = await ask('');
  await ask(`/${waiting?.id}`, { decision: 'allow_once' });
  const { result } = await until(taskId, 'completed');
  expect(result?.content?.[0]?.text).toBe('the board');
});

describe('tools of a file', () => {
  const slow = `import { existsSync } from 'node:fs';
export default async ({ path }) => {
  while (!existsSync(path)) await new Promise((done) => setTimeout(done, 20));
  return 'the report';
};`;
  const parameters = { type: 'object', properties: { path: { type: 'string' } } };
  const report = { name: 'report', description: 'Takes long.', parameters, module: './slow.mjs' };
  const files = (word: object, more: object = {}) => ({
    'slow.mjs': slow,
    'gateway.json': { tools: [{ ...report, ...word }], ...more },
  });

  test('are tasks by their word', async () => {
    const { path, at } = folder(files({ task: 'required' }));
    const { mcp } = await serve(path, '0', [], false);
    const { call, until } = await knowing(mcp);
    const { taskId, status } = await call('report', { path: at('go') });
    expect(status).toBe('working');
    writeFileSync(at('go'), '');
    const { result } = await until(taskId, 'completed');
    expect(result?.content?.[0]?.text).toBe('the report');
  });

  test('must be tasks under a profile that says so', async () => {
    const profiles = { strict: { tools: [{ name: 'report', task: 'required' }] } };
    const { path, at } = folder(files({}, { profiles }));
    const { mcp } = await serve(path, '0', ['--profile', 'strict'], false);
    const { call, cancel } = await knowing(mcp);
    const plain = await taskClient(
      open,
      { fetch: (request) => fetch(request) },
      { url: mcp, token: 'none', capabilities: {} },
    );
    await expect(plain.call('report', { path: at('go') })).rejects.toMatchObject({ code: -32_021 });
    const { taskId, status } = await call('report', { path: at('go') });
    expect(status).toBe('working');
    await cancel(taskId);
    writeFileSync(at('go'), '');
  });
});

describe('apps behind a gateway', () => {
  const shows = { extensions: { [EXTENSION_ID]: { mimeTypes: [RESOURCE_MIME_TYPE] } } };
  const named = ({ tools }: { tools: readonly { name: string }[] }): readonly string[] =>
    tools.map(({ name }) => name).sort();

  test('are for a client that shows them: it lists, calls and reads', async () => {
    const { mcp } = await gateway();
    const client = await connectClient(open, new URL(mcp), 'legacy', shows as never);
    const listed = await client.listTools();
    expect(named(listed)).toEqual(['far_move', 'far_report', 'far_show']);
    const move = listed.tools.find(({ name }) => name === 'far_move');
    expect(move?._meta?.ui).toEqual({ resourceUri, visibility: ['app'] });
    expect(await client.callTool({ name: 'far_move', arguments: {} })).toMatchObject({
      content: [{ type: 'text', text: 'moved' }],
    });
    const { contents } = await client.readResource({ uri: resourceUri });
    expect(contents).toMatchObject([{ mimeType: RESOURCE_MIME_TYPE, text: page }]);
  });

  test('are for no other: the tool of an app is unknown to it', async () => {
    const { mcp } = await gateway();
    const client = await connectClient(open, new URL(mcp), 'legacy', {});
    expect(named(await client.listTools())).toEqual(['far_report', 'far_show']);
    expect(await client.callTool({ name: 'far_move', arguments: {} })).toMatchObject({
      isError: true,
      _meta: { 'host-tools/error': { code: 'tool_not_found' } },
    });
  });
});
