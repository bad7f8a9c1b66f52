/** A text that was cut inside an emoji leaves on every surface as well-formed Unicode. */
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  content,
  defineTool,
  fail,
  HostToolRegistry,
  jsonSchema,
  type Rule,
  type ToolSession,
} from '../../src/index.ts';
import { toAiSdkTools } from '../../src/surfaces/ai-sdk/index.ts';
import { dispatchAnthropic, toAnthropicTools } from '../../src/surfaces/anthropic/index.ts';
import { createApprovalsHandler, webhookNotifier } from '../../src/surfaces/approvals/index.ts';
import { toClaudeAgent } from '../../src/surfaces/claude-agent/index.ts';
import { dispatchGemini, toGeminiTools } from '../../src/surfaces/gemini/index.ts';
import { dispatchLangChain, toLangChainTools } from '../../src/surfaces/langchain/index.ts';
import { createMcpHandler } from '../../src/surfaces/mcp/index.ts';
import { passOn } from '../../src/surfaces/mcp/passed-on.ts';
import { dispatchOpenAI, toOpenAITools } from '../../src/surfaces/openai/index.ts';
import { createRelay } from '../../src/surfaces/relay/index.ts';
import { setup as auditSetup } from './audit/kit.ts';
import { inspect, told } from './inspector/kit.ts';
import { closeAll, closing, imports, serve } from './mcp/client/world.ts';
import { initialize, opened, post } from './mcp/server/kit.ts';
import { pipedServer } from './mcp/server/stdio-kit.ts';
import { askClaudeAgent, askModern } from './raw-mcp.ts';
import { askOf, base, type Made } from './relay/http/app-kit.ts';
import { instrumented } from './telemetry/otel/kit.ts';

afterEach(closeAll);

const cut = 'Report 📊'.slice(0, 8);
/** Two keys that become equal if each lone surrogate is only replaced. */
const data = { title: cut, [cut]: 1, 'Report \ufffd': 2, list: [{ name: cut }] };

const tools: readonly AnyTool<unknown>[] = [
  defineTool({
    name: 'data',
    title: cut,
    description: `Finds ${cut}`,
    tags: [cut],
    category: cut,
    deprecated: { since: '2', message: cut },
    parameters: z.object({
      q: z.string().describe(cut).optional(),
      kind: z.literal(cut).optional(),
    }),
    outputSchema: z.looseObject({ title: z.string().describe(cut) }),
    handler: async function* () {
      yield { half: cut };
      return data;
    },
  }),
  defineTool({
    name: 'raw',
    description: cut,
    parameters: jsonSchema({
      type: 'object',
      title: cut,
      properties: { [cut]: { enum: [cut, 'Report \ufffd'], default: cut, examples: [cut] } },
    }),
    outputSchema: jsonSchema({ type: 'object', properties: { [cut]: { const: 1 } } }),
    handler: (_, { progress, log }) => {
      progress(1, 2, cut);
      log('info', { half: cut });
      return data;
    },
  }),
  defineTool({
    name: 'parts',
    description: 'Parts.',
    parameters: z.object({}),
    handler: () => [
      content.link({ uri: `file:///${cut}`, name: cut }),
      content.resource({ uri: `file:///${cut}`, text: cut, mimeType: cut }),
      content.text(cut),
    ],
  }),
  defineTool({
    name: 'fails',
    description: 'Fails.',
    parameters: z.object({}),
    handler: () => fail({ message: cut, details: data }),
  }),
  defineTool({
    name: 'denied',
    description: 'A rule denies it when it is called.',
    parameters: z.object({}),
    handler: () => 'done',
  }),
  defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ to: z.string().optional() }),
    requiresApproval: { title: cut, message: cut },
    handler: () => 'paid',
  }),
] as never;
const names = ['data', 'raw', 'parts', 'fails', 'denied'] as const;
const rules: readonly Rule[] = [{ id: `no ${cut}`, effect: 'deny', tools: 'denied' }];

function open(): { registry: HostToolRegistry; session: ToolSession } {
  const registry = closing(
    new HostToolRegistry({
      approvals: { secret: 'x'.repeat(40) },
      logger: { warn() {}, error() {} },
      rules,
    }),
  );
  registry.registerAll(tools);
  return {
    registry,
    session: registry.createSession({ sessionId: 's', principal: cut, approvalMode: 'suspend' }),
  };
}

/** The messages in a text with one message per line, or per event. */
const messagesIn = (text: string): unknown[] =>
  text
    .split('\n')
    .map((line) => line.replace(/^data: ?/, ''))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as unknown);

async function overLegacyHttp(session: ToolSession): Promise<unknown> {
  const handler = closing(createMcpHandler(session, { name: cut, instructions: cut }));
  const headers = { 'mcp-session-id': await initialize(handler) };
  const ask = async (method: string, params: object): Promise<unknown> => {
    const message = { jsonrpc: '2.0', id: `${method} ${JSON.stringify(params)}`, method, params };
    return messagesIn(await (await handler.fetch(post(message, headers))).text());
  };
  return Promise.all([
    ask('tools/list', {}),
    ...names.map((name) =>
      ask('tools/call', { name, arguments: {}, _meta: { progressToken: name } }),
    ),
  ]);
}

async function overStdio(registry: HostToolRegistry, modern: boolean): Promise<unknown> {
  const all = opened();
  onTestFinished(all.close);
  const server = pipedServer(all, registry, { instructions: cut });
  const seen: unknown[] = [];
  if (!modern) seen.push(await server.handshake());
  const _meta = modern
    ? {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/logLevel': 'debug',
      }
    : {};
  server.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list', params: { _meta } });
  seen.push(await server.next({ id: 'list' }));
  for (const name of names) {
    const params = { name, arguments: {}, _meta: { ..._meta, progressToken: name } };
    server.send({ jsonrpc: '2.0', id: name, method: 'tools/call', params });
    seen.push(await server.next({ id: name }));
  }
  return [...seen, ...server.lines];
}

/** A gateway's part: a foreign server's tools, prompts and resources. */
async function overGateway(): Promise<unknown> {
  const half = `${cut} of the server`;
  const foreign = await serve([
    {
      name: 'foreign',
      title: half,
      description: half,
      inputSchema: { type: 'object', properties: { a: { enum: [half], description: half } } },
    },
  ]);
  foreign.call = () => ({
    content: [
      { type: 'text', text: half },
      { type: 'resource_link', uri: `file:///${half}`, name: half },
    ],
    structuredContent: { half },
    _meta: { half },
  });
  const registry = closing(new HostToolRegistry());
  registry.registerAll((await imports(foreign)).tools);
  const entry = { name: half, description: half, uri: `file:///${half}` };
  passOn(registry as never, {
    prompts: true,
    resources: true,
    list: async () => [entry],
    prompt: async () => ({ messages: [{ role: 'user', content: { type: 'text', text: half } }] }),
    resource: async () => {
      throw new Error(half);
    },
    onChanged: () => () => {},
  });
  const session = registry.createSession({ sessionId: 's' });
  const answers = await Promise.all(
    (
      [
        ['tools/list', {}],
        ['prompts/list', {}],
        ['resources/list', {}],
        ['resources/templates/list', {}],
        ['tools/call', { name: 'foreign', arguments: { [cut]: half } }],
        ['prompts/get', { name: 'x' }],
        ['resources/read', { uri: 'file:///x' }],
      ] as const
    ).map(async ([method, params]) => {
      const messages = messagesIn(await askModern(session, method, params));
      expect(messages).toHaveLength(1);
      return messages;
    }),
  );
  const sent = foreign.received.filter(({ method }) => method === 'tools/call');
  expect(JSON.stringify(sent)).toContain('"arguments":{"Report \ufffd":"Report \ufffd of');
  return [answers, sent];
}

async function overRelay(): Promise<unknown> {
  const hostKey = 'a-key-of-the-host-that-is-long-enough';
  const relay = createRelay({ hostKey, session: { tools, rules } });
  onTestFinished(() => relay.close());
  const made = (await askOf(relay.fetch, 'POST', base, { token: hostKey, body: {} }))
    .body as unknown as Made;
  const ask = async (token: string, method: string, path: string, body?: unknown) =>
    messagesIn(
      (await askOf(relay.fetch, method, `${base}/${made.code}/${path}`, { token, body })).text,
    );
  const agent = (method: string, path: string, body?: unknown) =>
    ask(made.agentToken, method, path, body);
  const sent = [
    await ask(made.sessionToken, 'POST', 'register-tools', {
      pluginType: 'custom',
      pluginVersion: '1.0.0',
      environment: { [cut]: cut },
      constraints: { half: cut },
      availableTools: [
        {
          name: 'own',
          title: cut,
          description: cut,
          parameters: { type: 'object', properties: { [cut]: { enum: [cut] } } },
        },
      ],
    }),
    await agent('GET', 'metadata'),
    ...(await Promise.all(
      names.map((tool) =>
        agent('POST', 'request', { requestId: tool, tool, args: {}, wait: true }),
      ),
    )),
    await agent('GET', 'request/data'),
    await agent('GET', 'events?mode=poll&after=0'),
    await agent('POST', 'request', { requestId: 'x', tool: `no ${cut}`, args: {}, wait: true }),
    await ask(made.sessionToken, 'GET', 'stream?mode=poll&client=app'),
  ];
  const call = { requestId: 'own', tool: 'own', args: { [cut]: cut } };
  const answer = agent('POST', 'request', call);
  const delivered = await ask(made.sessionToken, 'GET', 'stream?mode=poll&client=app&after=1');
  expect(JSON.stringify(delivered)).toContain('"tool-request"');
  await ask(made.sessionToken, 'POST', 'response', { requestId: 'own', result: { half: cut } });
  return [sent, delivered, await answer];
}

async function overApprovals(): Promise<unknown> {
  const { registry, session } = open();
  const sent: unknown[] = [];
  const notifier = webhookNotifier({
    url: 'https://chat.example.com/hook',
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    fetch: async (_to, { body }) => {
      sent.push(JSON.parse(body));
      return { status: 200 };
    },
  });
  onTestFinished(notifier.attach(registry));
  await session.call('pay', { to: cut });
  await notifier.flush();
  const handler = createApprovalsHandler(registry, { authenticate: () => cut });
  const url = 'http://127.0.0.1/api/approvals';
  const ask = async (path: string): Promise<unknown> =>
    messagesIn(await (await handler.fetch(new Request(url + path))).text());
  const [pending] = await session.approvals.pending();
  return [sent, await ask(''), await ask(`/${pending?.id}`)];
}

async function overInspector(): Promise<unknown> {
  const { registry, session } = open();
  const { ask } = inspect(registry);
  const line = ask('api/stream').then((response) =>
    told(response, (message) =>
      message.type === 'calls' && message.calls.some(({ tool }) => tool === 'fails')
        ? message
        : undefined,
    ),
  );
  const seen: unknown[] = [];
  for (const name of names) await session.call(name, { q: cut });
  seen.push(await line);
  for (const path of ['tools?profile=', 'tool?profile=&name=data', 'tool?profile=&name=raw'])
    seen.push(messagesIn(await (await ask(`api/${path}`)).text()));
  for (const n of [1, 2, 3, 4, 5])
    seen.push(messagesIn(await (await ask(`api/call?n=${n}`)).text()));
  return seen;
}

async function overAudit(): Promise<unknown> {
  const { session, audit, lines } = auditSetup({
    tools,
    audit: { content: 'redacted' },
    registry: { rules },
    session: { principal: cut },
  });
  for (const name of names) await session.call(name, { q: cut });
  await audit.flush();
  return lines();
}

async function overOpenTelemetry(): Promise<unknown> {
  const { session, spans } = instrumented(tools, {
    options: { content: true },
    registry: { rules },
  });
  for (const name of names) await session.call(name, { q: cut });
  return spans().map(({ name, attributes, status, events }) => ({
    name,
    status,
    events,
    attributes: Object.entries(attributes).map(([key, value]) => [
      key,
      typeof value === 'string' && value.startsWith('{') ? JSON.parse(value) : value,
    ]),
  }));
}

async function overAiSdk(session: ToolSession): Promise<unknown> {
  const { tools: shown } = toAiSdkTools(session);
  const seen: unknown[] = [];
  for (const name of names) {
    const tool = shown[name] as NonNullable<(typeof shown)[string]>;
    const { description, title, inputSchema } = tool;
    const call = { toolCallId: `c-${name}`, messages: [] };
    const running = tool.execute({}, call) as Promise<unknown> & Partial<AsyncIterable<unknown>>;
    const results: unknown[] = [await running];
    if (running[Symbol.asyncIterator] !== undefined)
      for await (const one of running as AsyncIterable<unknown>) results.push(one);
    const shownToModel = await Promise.all(
      results.map((output) => tool.toModelOutput({ output } as never)),
    );
    const schema = (inputSchema as { readonly jsonSchema?: unknown }).jsonSchema;
    seen.push({ description, title, schema, results, shownToModel });
  }
  return seen;
}

const surfaces: readonly (readonly [string, () => unknown])[] = [
  [
    'MCP of 2026 over HTTP',
    () =>
      Promise.all([
        askModern(open().session, 'tools/list').then(messagesIn),
        ...names.map((name) =>
          askModern(open().session, 'tools/call', { name, arguments: {} }).then(messagesIn),
        ),
      ]),
  ],
  ['MCP of 2025 over HTTP', () => overLegacyHttp(open().session)],
  ['MCP of 2026 over stdio', () => overStdio(open().registry, true)],
  ['MCP of 2025 over stdio', () => overStdio(open().registry, false)],
  ['a gateway', overGateway],
  ['AI SDK', () => overAiSdk(open().session)],
  [
    'OpenAI',
    async () => {
      const { session } = open();
      return [
        ...(['chat', 'responses', 'agents'] as const).flatMap((api) =>
          [true, false].map((strict) => toOpenAITools(session, { api, strict }).tools),
        ),
        await dispatchOpenAI(session, {
          role: 'assistant',
          tool_calls: names.map((name) => ({
            id: name,
            type: 'function',
            function: { name, arguments: '{}' },
          })),
        } as never),
        await dispatchOpenAI(
          session,
          names.map((name) => ({
            type: 'function_call',
            call_id: `r-${name}`,
            name,
            arguments: '{}',
          })),
        ),
      ];
    },
  ],
  [
    'Anthropic',
    async () => {
      const { session } = open();
      return [
        toAnthropicTools(session).tools,
        await dispatchAnthropic(
          session,
          names.map((name) => ({ type: 'tool_use', id: name, name, input: {} })) as never,
        ),
      ];
    },
  ],
  [
    'Gemini',
    async () => {
      const { session } = open();
      return [
        toGeminiTools(session).tools,
        toGeminiTools(session, { schema: 'openapi' }).tools,
        await dispatchGemini(
          session,
          names.map((name) => ({ id: name, name, args: {} })),
        ),
      ];
    },
  ],
  [
    'LangChain',
    async () => {
      const { session } = open();
      const { tools: shown } = toLangChainTools(session);
      return [
        shown.map(({ description, schema }) => ({ description, schema })),
        (
          await dispatchLangChain(session, {
            tool_calls: names.map((name) => ({ id: name, name, args: {} })),
          })
        ).map((message) => message.toJSON()),
        (await shown
          .find(({ name }) => name === 'data')
          ?.invoke({
            type: 'tool_call',
            id: 'direct',
            name: 'data',
            args: {},
          } as never)) as unknown,
      ];
    },
  ],
  [
    'Claude Agent SDK',
    async () => {
      const { session } = open();
      const hook = toClaudeAgent(session).hooks.PreToolUse?.[0]?.hooks[0];
      return [
        await askClaudeAgent(session, 'tools/list'),
        ...(await Promise.all(
          names.map((name) =>
            askClaudeAgent(session, 'tools/call', {
              name,
              arguments: {},
              _meta: { progressToken: 1 },
            }),
          ),
        )),
        await hook?.(
          {
            hook_event_name: 'PreToolUse',
            tool_name: cut,
            tool_use_id: 'u',
            tool_input: {},
          } as never,
          'u',
          { signal: new AbortController().signal } as never,
        ),
      ];
    },
  ],
  ['a relay', overRelay],
  ['the approvals API and webhooks', overApprovals],
  ['the inspector', overInspector],
  ['an audit log', overAudit],
  ['OpenTelemetry', overOpenTelemetry],
];

/** The value of a text that is JSON. */
function parsed(text: string): unknown {
  try {
    return /^[[{"]/.test(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Where a text or a key has half of a character, also within JSON texts. */
function broken(value: unknown, path = '', seen = new Set<unknown>()): string[] {
  if (typeof value === 'string')
    return value.isWellFormed() ? broken(parsed(value), `${path}/its JSON`, seen) : [path];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  return Object.entries(value).flatMap(([key, one]) => [
    ...(key.isWellFormed() ? [] : [`${path}/a key`]),
    ...broken(one, `${path}/${key}`, seen),
  ]);
}

test.each(surfaces)('%s', async (_name, texts) => {
  const sent = await texts();
  expect(broken(sent)).toEqual([]);
  expect(JSON.stringify(sent)).toContain('Report \ufffd');
});
