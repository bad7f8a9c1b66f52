/** MCP Apps: tools that no model sees, who may call them, and the pages of apps. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { App } from '@modelcontextprotocol/ext-apps';
import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';
import {
  EXTENSION_ID,
  RESOURCE_MIME_TYPE,
  registerAppResource,
  registerAppTool,
} from '@modelcontextprotocol/ext-apps/server';
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type ToolSession,
} from '../../../src/index.ts';
import { toAiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';
import { toAnthropicTools } from '../../../src/surfaces/anthropic/index.ts';
import { toClaudeAgent } from '../../../src/surfaces/claude-agent/index.ts';
import { toGeminiTools } from '../../../src/surfaces/gemini/index.ts';
import { toLangChainTools } from '../../../src/surfaces/langchain/index.ts';
import { importMcpTools } from '../../../src/surfaces/mcp/index.ts';
import { toOpenAITools } from '../../../src/surfaces/openai/index.ts';
import { tool } from './client/raw-http.ts';
import { brief, closeAll, imports, serve } from './client/world.ts';
import { anything, connectClient, type Era, eras, listen, opened, secret } from './server/kit.ts';

const open = opened();
afterEach(async () => {
  await open.close();
  await closeAll();
});

const extension = { extensions: { [EXTENSION_ID]: { mimeTypes: [RESOURCE_MIME_TYPE] } } };
const uri = 'ui://charts/view.html';
const page = '<!doctype html><title>Chart</title>';

/** A server on the official packages, and a client that is connected to it. */
async function charts(name = 'charts', html = page): Promise<Client> {
  const server = new McpServer({ name, version: '1.0.0' });
  registerAppTool(
    server,
    'show_chart',
    {
      title: 'Show a chart',
      description: 'Shows a chart.',
      inputSchema: z.object({ of: z.string().optional() }),
      _meta: { ui: { resourceUri: uri } },
    },
    async () => ({ content: [{ type: 'text', text: `a chart of ${name}` }] }),
  );
  registerAppTool(
    server,
    'refresh_chart',
    {
      description: 'Reads it again.',
      inputSchema: z.object({ since: z.number() }),
      outputSchema: z.object({ rows: z.number() }),
      _meta: { ui: { resourceUri: uri, visibility: ['app'] } },
    },
    async ({ since }) => ({ content: [], structuredContent: { rows: since + 1 } }),
  );
  registerAppTool(
    server,
    'ask_model',
    { description: 'Not for the app.', _meta: { ui: { visibility: ['model'] } } },
    async () => ({ content: [{ type: 'text', text: 'for a model' }] }),
  );
  registerAppResource(
    server,
    'Chart',
    uri,
    { _meta: { ui: { prefersBorder: true } } },
    async () => ({
      contents: [
        {
          uri,
          mimeType: RESOURCE_MIME_TYPE,
          text: html,
          _meta: { ui: { csp: { connectDomains: ['https://a.example'] } } },
        },
      ],
    }),
  );
  const client = new Client({ name: 'host', version: '1' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await client.connect(near);
  open.defer(() => client.close());
  return client;
}

async function sessionOf(
  tools: readonly AnyTool<unknown>[],
  options: RegistryOptions = {},
): Promise<ToolSession> {
  const registry = new HostToolRegistry(options);
  open.defer(() => registry.close());
  registry.registerAll(tools);
  return registry.createSession({ sessionId: 's', discovery: undefined });
}

async function imported(name = 'charts', prefix = '', html = page) {
  const found = await importMcpTools(await charts(name, html), { name, prefix });
  open.defer(() => found.close());
  return found;
}

const app = (source: string) => ({ surface: { name: 'app', source } });

describe('a tool that is only for its app', () => {
  test('is in no list and no search for a model, on any surface', async () => {
    const { tools, appOnly } = await imported();
    expect(appOnly).toEqual(['refresh_chart']);
    const session = await sessionOf(tools);
    const told = JSON.stringify([
      session.tools(),
      session.effectiveTools().names,
      toOpenAITools(session).tools,
      toAnthropicTools(session).tools,
      toGeminiTools(session).tools,
      toLangChainTools(session).tools.map(({ name, description }) => [name, description]),
      Object.keys(toAiSdkTools(session).tools),
      toClaudeAgent(session).allowedTools,
      await session.search('refresh the chart again'),
      (await session.call('refresh_chrt', {})).error,
    ]);
    expect(told).toContain('show_chart');
    expect(told).not.toContain('refresh_chart');
    expect(session.effectiveTools().dropped).toEqual([{ name: 'refresh_chart', code: 'app_only' }]);
    expect(session.tool('refresh_chart')).toBeUndefined();
  });

  test('is not in the declarations of programs, and a program cannot call it', async () => {
    const { tools } = await imported();
    const registry = new HostToolRegistry({ approvals: { secret } });
    open.defer(() => registry.close());
    registry.registerAll(tools);
    const session = registry.createSession({ sessionId: 's', code: { show: 'both' } });
    const errors: unknown[] = [];
    session.events.on('tool:error', ({ toolName, error }) => {
      if (toolName !== 'run_code') errors.push([toolName, error.reason]);
    });
    const shown = JSON.stringify([session.tools(), await session.declarations()]);
    expect(shown).toContain('show_chart');
    expect(shown).not.toContain('refresh_chart');
    const found = await session.call('run_code', {
      code: "return JSON.stringify(await tools.find('refresh the chart'))",
    });
    expect([found.success, String(found.output).includes('refresh_chart')]).toEqual([true, false]);
    const code = 'return await tools.refresh_chart({ since: 1 })';
    const refused = await session.call('run_code', { code });
    expect(refused.error?.message).toContain('refresh_chart');
    expect([refused.success, errors]).toEqual([false, [['refresh_chart', 'app_only']]]);
  });

  test('does not exist for a model that calls it, and for a program and a batch', async () => {
    const { tools } = await imported();
    const registry = new HostToolRegistry();
    open.defer(() => registry.close());
    registry.registerAll(tools);
    const errors: unknown[] = [];
    const session = registry.createSession({ sessionId: 's' });
    session.events.on('tool:error', ({ error }) => errors.push([error.code, error.reason]));
    const input = { since: 1 };
    const { results } = await session.executeBatch([
      { id: '1', name: 'refresh_chart', arguments: input },
    ]);
    for (const result of [
      await session.call('refresh_chart', input),
      await session.call('refresh_chart', input, { surface: { name: 'openai' } }),
      ...results.map(({ result: one }) => one),
    ])
      expect(brief(result)).toEqual(['tool_not_found']);
    // The host learns why.
    expect(errors[0]).toEqual(['tool_not_available', 'app_only']);
    expect(await session.explain('refresh_chart', input)).toMatchObject({
      visible: false,
      hiddenBy: 'app_only',
    });
  });

  test('is called by the app of its server, behind all gates, and by no other app', async () => {
    const [one, other] = [await imported('charts', 'a.'), await imported('other', 'b.')];
    const session = await sessionOf([...one.tools, ...other.tools], {
      rules: [{ effect: 'deny', tools: 'a.refresh_chart', surface: 'app', when: { since: 13 } }],
    });
    const call = (name: string, source: string, since: unknown = 1) =>
      session.call(name, { since }, app(source)).then(brief);
    expect(await call('a.refresh_chart', 'mcp:charts')).toEqual({ rows: 2 });
    expect(await call('a.refresh_chart', 'mcp:charts', 'x')).toEqual(['invalid_input']);
    expect(await call('a.refresh_chart', 'mcp:charts', 13)).toEqual([
      'policy_denied',
      'denied_by_rule',
    ]);
    expect(await call('a.refresh_chart', 'mcp:other')).toEqual(['tool_not_found']);
    expect(await call('b.refresh_chart', 'mcp:charts')).toEqual(['tool_not_found']);
    // A tool for both may be called by its own app only, and one for models by none.
    const show = (source: string) => session.call('a.show_chart', {}, app(source)).then(brief);
    expect(await show('mcp:charts')).toEqual([{ type: 'text', text: 'a chart of charts' }]);
    expect(await show('mcp:other')).toEqual(['tool_not_found']);
    expect(await session.call('a.ask_model', {}, app('mcp:charts')).then(brief)).toEqual([
      'tool_not_available',
      'model_only',
    ]);
    expect((await session.call('a.ask_model', {})).success).toBe(true);
  });

  test('that waits for a person is called when the person agrees', async () => {
    const { tools } = await imported();
    const registry = new HostToolRegistry({
      approvals: { secret: 'a-secret-of-more-than-thirty-two-bytes' },
      rules: [{ effect: 'ask', tools: 'refresh_chart' }],
    });
    open.defer(() => registry.close());
    registry.registerAll(tools);
    const session = registry.createSession({
      sessionId: 's',
      approvalMode: 'suspend',
      principal: 'p',
    });
    const asked = await session.call('refresh_chart', { since: 1 }, app('mcp:charts'));
    const token = asked.success ? '' : (asked.approval?.token ?? '');
    const done = await session.approvals.resume(token, 'allow_once');
    expect(brief(done)).toEqual({ rows: 2 });
  });

  test('whose visibility changes is withdrawn until it is accepted', async () => {
    const ui = (visibility: unknown): object => ({ _meta: { ui: { visibility } } });
    const server = await serve([tool('one', ui(['app'])), tool('two')]);
    const found = await imports(server, { name: 'x' });
    const session = await sessionOf(found.tools);
    server.tools = [tool('one', ui(['model', 'app'])), tool('two', ui(['app']))];
    await found.refresh();
    expect(session.tools()).toEqual([]);
    expect(await session.call('one', {}, app('mcp:x')).then(brief)).toEqual([
      'tool_not_available',
      'definition_changed',
    ]);
    expect(found.drift.map(({ name }) => name)).toEqual(['one', 'two']);
    found.accept('one');
    expect(session.tools().map(({ name }) => name)).toEqual(['one']);
  });
});

describe.each(eras)('through an MCP server, %s era', (era: Era) => {
  const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

  test('only a client that shows apps sees, calls and reads', async () => {
    const { tools } = await imported();
    const session = await sessionOf(tools);
    const calls: unknown[] = [];
    session.events.on('tool:pre', ({ surface }) => calls.push(surface));
    const { url } = await listen(open, session);
    const plain = await connectClient(open, url, era);
    const shows = await connectClient(open, url, era, extension as never);
    const ask = { name: 'refresh_chart', arguments: { since: 1 } };
    expect(await names(plain)).toEqual(['show_chart', 'ask_model']);
    expect(await plain.callTool(ask)).toMatchObject({
      isError: true,
      _meta: { 'host-tools/error': { code: 'tool_not_found' } },
    });
    const listed = (await shows.listTools()).tools;
    const direct = (await (await charts()).listTools()).tools;
    expect(listed.map(({ name, _meta }) => [name, _meta]).sort()).toEqual(
      direct.map(({ name, _meta }) => [name, _meta]).sort(),
    );
    expect(await shows.callTool(ask)).toMatchObject(await (await charts()).callTool(ask));
    expect(calls.at(-1)).toBe('app');
    await shows.callTool({ name: 'show_chart', arguments: {} });
    expect(calls.at(-1)).toBe('mcp');
    const other = await charts();
    expect((await shows.listResources()).resources).toEqual(
      (await other.listResources()).resources,
    );
    expect((await shows.readResource({ uri })).contents).toEqual(
      (await other.readResource({ uri })).contents,
    );
    await expect(shows.readResource({ uri: 'ui://charts/other' })).rejects.toThrow('no such');
    await expect(shows.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow('no such');
  });

  test('pages of two servers at one address are kept apart: the first tool has it', async () => {
    const [one, other] = [
      await imported('one', 'a.', 'page one'),
      await imported('other', 'b.', 'page other'),
    ];
    const { url } = await listen(open, await sessionOf([...one.tools, ...other.tools]));
    const client = await connectClient(open, url, era, extension as never);
    const { tools } = await client.listTools();
    const pageOf = (name: string) =>
      (tools.find((one) => one.name === name)?._meta?.ui as { resourceUri?: string } | undefined)
        ?.resourceUri;
    expect(['a_show_chart', 'b_show_chart', 'b_refresh_chart'].map(pageOf)).toEqual([
      uri,
      undefined,
      undefined,
    ]);
    expect(JSON.stringify(tools.find(({ name }) => name === 'b_show_chart'))).not.toContain(uri);
    expect(JSON.stringify(await client.readResource({ uri }))).toContain('page one');
  });
});

test('the official bridge shows the app of a tool, and the app calls its server', async () => {
  const { tools } = await imported();
  const { url } = await listen(open, await sessionOf(tools));
  const client = await connectClient(open, url, 'modern', extension as never);
  const bridge = new AppBridge(
    client,
    { name: 'host', version: '1' },
    { serverTools: {}, serverResources: {} },
  );
  const view = new App({ name: 'view', version: '1' }, {}, { autoResize: false });
  const [near, far] = InMemoryTransport.createLinkedPair();
  open.defer(() => Promise.all([bridge.close(), view.close()]));
  await bridge.connect(near);
  await view.connect(far);
  expect(
    await view.callServerTool({ name: 'refresh_chart', arguments: { since: 41 } }),
  ).toMatchObject({ structuredContent: { rows: 42 } });
  expect(await view.callServerTool({ name: 'no_such_tool', arguments: {} })).toMatchObject({
    isError: true,
  });
});

test('a client that shows apps in one request of the 2026 era gets them in that one only', async () => {
  const { tools } = await imported();
  const { url } = await listen(open, await sessionOf(tools));
  const list = async (capabilities: object): Promise<string> => {
    const client = await connectClient(open, url, 'modern', capabilities as never);
    return JSON.stringify(await client.listTools());
  };
  expect(await list(extension)).toContain('refresh_chart');
  expect(await list({})).not.toContain('refresh_chart');
  expect(await list({ extensions: { [EXTENSION_ID]: null } }).catch(String)).not.toContain(
    'refresh',
  );
});

describe('a server that lies', () => {
  test('about the address of its page: it is not passed on', async () => {
    const meta = (resourceUri: unknown) => ({
      _meta: { ui: { resourceUri }, 'ui/resourceUri': resourceUri, 'a.b/c': 1 },
    });
    const found = await imports(
      await serve([
        tool('web', meta('https://evil.example/')),
        tool('file', meta('file:///etc/passwd')),
        tool('list', meta(['ui://a'])),
        tool('long', meta(`ui://${'a'.repeat(3_000)}`)),
        tool('lines', meta('ui://a\n')),
        tool('fine', meta('ui://a/b')),
      ]),
    );
    expect(found.warnings.map(({ name }) => name)).toEqual([
      'web',
      'file',
      'list',
      'long',
      'lines',
    ]);
    const { url } = await listen(open, await sessionOf(found.tools));
    const client = await connectClient(open, url, 'legacy', extension as never);
    const listed = (await client.listTools()).tools;
    expect(listed.map(({ _meta }) => _meta)).toEqual([
      ...Array(5).fill({ 'a.b/c': 1, ui: {} }),
      meta('ui://a/b')._meta,
    ]);
    await expect(client.readResource({ uri: 'https://evil.example/' })).rejects.toThrow('no such');
  });

  test('with a page of 50 MB, the read fails and calls go on', async () => {
    const { tools } = await imported('charts', '', 'x'.repeat(50_000_000));
    const { url } = await listen(open, await sessionOf(tools));
    const client = await connectClient(open, url, 'legacy', extension as never);
    await expect(client.readResource({ uri })).rejects.toThrow('cannot be read now');
    expect((await client.callTool({ name: 'show_chart', arguments: {} })).isError).toBeUndefined();
  });
});

describe('an own tool with an app', () => {
  const own = (name: string, ui: object, more: object = {}): AnyTool<unknown> =>
    defineTool({
      name,
      description: 'x',
      parameters: anything,
      handler: () => name,
      ui,
      ...more,
    } as never) as never;

  test('has its page served, to sessions that may see the tool', async () => {
    const registry = new HostToolRegistry();
    open.defer(() => registry.close());
    registry.registerAll([
      own('board', { resourceUri: 'ui://own/board', html: page }),
      own('move', { resourceUri: 'ui://own/board', visibility: ['app'] }),
      own('late', { resourceUri: 'ui://own/late', html: async () => `${page} late` }),
      own('broken', {
        resourceUri: 'ui://own/broken',
        html: () => Promise.reject(new Error('secret')),
      }),
      own('long', { resourceUri: 'ui://own/long', html: () => 'x'.repeat(4_000_001) }),
    ]);
    registry.defineProfile({ id: 'none', tools: ['late'] });
    const clientOf = async (session: ToolSession) => {
      const { url } = await listen(open, session);
      return connectClient(open, url, 'modern', extension as never);
    };
    const client = await clientOf(registry.createSession({ sessionId: 's' }));
    expect((await client.listResources()).resources).toContainEqual({
      uri: 'ui://own/board',
      name: 'board',
      mimeType: 'text/html;profile=mcp-app',
    });
    expect((await client.readResource({ uri: 'ui://own/board' })).contents).toEqual([
      { uri: 'ui://own/board', mimeType: RESOURCE_MIME_TYPE, text: page },
    ]);
    expect(JSON.stringify(await client.readResource({ uri: 'ui://own/late' }))).toContain('late');
    for (const name of ['broken', 'long'])
      await expect(client.readResource({ uri: `ui://own/${name}` })).rejects.toThrow(
        `The page of \`${name}\` cannot be read now.`,
      );
    const listed = (await client.listTools()).tools;
    expect(listed.find(({ name }) => name === 'move')?._meta).toEqual({
      ui: { resourceUri: 'ui://own/board', visibility: ['app'] },
    });
    expect(await client.callTool({ name: 'move' })).toMatchObject({ content: [{ text: 'move' }] });
    const narrow = await clientOf(registry.createSession({ sessionId: 'n', profile: 'none' }));
    await expect(narrow.readResource({ uri: 'ui://own/board' })).rejects.toThrow('no such');
    const session = registry.createSession({ sessionId: 'h' });
    expect(brief(await session.call('move', {}))).toEqual(['tool_not_found']);
    expect(brief(await session.call('move', {}, app('host')))).toBe('move');
  });

  test('shares one page at an address with others of its source, and never has another', () => {
    const registry = new HostToolRegistry();
    open.defer(() => registry.close());
    const at = (name: string, html?: unknown, more = {}) =>
      own(name, { resourceUri: 'ui://own/board', ...(html === undefined ? {} : { html }) }, more);
    const other =
      'Tool `two`: expected `ui.html` to be the page that `one` has at `ui://own/board`';
    expect(() => registry.registerAll([at('one', page), at('two', 'b')])).toThrow(other);
    registry.registerAll([at('one', page), at('same', page), at('shares')]);
    expect(() => registry.register(at('two', () => page))).toThrow('`ui.html` to be the page');
    expect(() => registry.registerOrReplace(at('two', 'b'))).toThrow('`ui.html` to be the page');
    registry.unregister('same');
    registry.registerOrReplace(at('one', 'b'));
    registry.register(at('two', 'b'));
    // A source that has other pages has other addresses, too.
    const scope = registry.scope('plugin');
    scope.register(at('three', page));
    const session = registry.createSession({ sessionId: 's' });
    session.register(at('four', page));
    expect(() => session.register(at('five', 'c'))).toThrow('`ui.html` to be the page');
  });

  test('is listed without an address at which no tool has a page, and the host hears of it', async () => {
    const warn = vi.fn();
    const session = await sessionOf(
      [own('board', { resourceUri: 'ui://own/board', visibility: ['model'] })],
      { logger: { warn, error: vi.fn() } },
    );
    const { url } = await listen(open, session);
    for (const _ of [1, 2]) {
      const client = await connectClient(open, url, 'modern', extension as never);
      expect((await client.listTools()).tools[0]?._meta).toEqual({ ui: { visibility: ['model'] } });
      expect(client.getServerCapabilities()).not.toHaveProperty('resources');
    }
    const told = warn.mock.calls.filter(([data]) => data.toolName === 'board');
    expect(told).toHaveLength(1);
  });

  test('hears what is wrong with a call of its app', async () => {
    const session = await sessionOf([
      own('board', { resourceUri: 'ui://own/board', html: page }),
      own('summary', { visibility: ['model'] }),
      own('boards', { visibility: ['app'] }),
    ]);
    const errors: unknown[] = [];
    session.events.on('tool:error', ({ error }) => errors.push(error.reason));
    const failure = async (name: string, surface: object) =>
      (await session.call(name, {}, { surface } as never)).error;
    const of = (source: string) => ({ name: 'app', source });
    expect(await failure('summary', of('host'))).toMatchObject({
      code: 'tool_not_available',
      reason: 'model_only',
      message: expect.stringContaining('`summary` is not available in this session to apps'),
    });
    // Another app learns of no tool, not even by a hint.
    const foreign = await failure('board', of('mcp:x'));
    expect([foreign?.code, foreign?.message]).toEqual([
      'tool_not_found',
      'There is no tool `board`.',
    ]);
    expect((await failure('boord', of('host')))?.message).toContain('Did you mean `board`?');
    expect((await failure('sumary', of('host')))?.message).toBe('There is no tool `sumary`.');
    for (const source of [undefined, '', 7])
      expect(await failure('board', { name: 'app', source })).toMatchObject({
        code: 'invalid_input',
        reason: 'invalid_option',
        message: expect.stringContaining('`surface.source` to be the source of the app'),
      });
    expect((await failure('board', { name: 'mcp', source: 'host' }))?.reason).toBe(
      'invalid_option',
    );
    expect(errors.slice(0, 2)).toEqual(['model_only', 'other_app']);
  });

  test.each<[string, unknown]>([
    ['`ui.resourceUri` to be a `ui://` address', { resourceUri: 'https://a', html: '' }],
    ['`ui.resourceUri` to be a `ui://` address', { html: '' }],
    ['"model" and "app"', { visibility: 'app' }],
    ['"model" and "app"', { visibility: ['admin'] }],
    ['"model" and "app"', { visibility: [] }],
    ['unknown field `ui.resourceURI`', { resourceURI: 'ui://a' }],
    ['to be HTML', { resourceUri: 'ui://a', html: 7 }],
    ['to be HTML', { resourceUri: 'ui://a', html: 'x'.repeat(4_000_001) }],
    ['an object', 'ui://a'],
    ['`ui` to be an object with `resourceUri` or `visibility`', {}],
  ])('is refused if it cannot be meant: %s', (text, ui) => {
    expect(() => own('one', ui as object)).toThrow(text);
  });
});
