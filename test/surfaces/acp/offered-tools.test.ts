import type { McpOverAcpCaller, Stream } from '@agentclientprotocol/sdk/unstable';
import * as acpSdk from '@agentclientprotocol/sdk/unstable';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { type AcpClient, toAcpClient } from '../../../src/surfaces/acp/index.ts';
import { linePair, scriptedAgent, type Turn } from './scripted-agent.ts';

let acp: AcpClient | undefined;
afterEach(() => acp?.close());

type Server = { readonly name: string; readonly type?: string } & Record<string, unknown>;

/** Runs a turn of an agent that was given the session's tools. */
async function run(
  mcp: object,
  script: (turn: Turn, servers: readonly Server[]) => Promise<void>,
  connect?: (stream: Stream, script: (turn: Turn) => Promise<void>) => void,
) {
  const warned: string[] = [];
  const logger = { warn: (_: object, text: string) => void warned.push(text), error() {} };
  const registry = new HostToolRegistry({ logger: logger as never });
  registry.register(
    defineTool({
      ...{ name: 'pay', description: 'Pays.', requiresApproval: true },
      parameters: { type: 'object', properties: { sum: { type: 'number' } } } as const,
      handler: ({ sum }) => `paid ${sum}`,
    }),
  );
  const session = registry.createSession({ sessionId: 'h' });
  const asked: unknown[] = [];
  acp = toAcpClient(session, {
    agent: 'claude-code',
    ask: ({ input }) => {
      asked.push(input);
      return input.sum === 1 ? 'allow_once' : 'reject_once';
    },
  });
  const [ours, theirs] = linePair();
  let servers: readonly Server[] = [];
  if (connect === undefined) scriptedAgent(theirs, (turn) => script(turn, servers), { mcp });
  else connect(theirs, (turn) => script(turn, servers));
  const connection = acp.connect(ours);
  const { agent } = connection;
  const { agentCapabilities } = await agent.request('initialize', { protocolVersion: 1 });
  servers = (await acp.mcpServers(agentCapabilities, connection)) as unknown as Server[];
  const { sessionId } = await agent.request('session/new', {
    ...{ cwd: '/', mcpServers: servers as never },
  });
  await agent.request('session/prompt', { sessionId, prompt: [] });
  return { warned, asked, servers };
}

test('an agent that takes HTTP gets the tools on loopback, with a secret', async () => {
  const said: unknown[] = [];
  const { asked } = await run({ http: true }, async (_, [server]) => {
    const { url, headers } = server as unknown as {
      url: string;
      headers: { name: string; value: string }[];
    };
    expect(new URL(url).hostname).toBe('127.0.0.1');
    const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect((await fetch(url, init)).status).toBe(401);
    const wrong = { ...init.headers, authorization: 'Bearer x' };
    expect((await fetch(url, { ...init, headers: wrong })).status).toBe(401);
    const client = new Client({ name: 'agent', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: Object.fromEntries(headers.map((one) => [one.name, one.value])) },
      }),
    );
    said.push((await client.listTools()).tools.map(({ name }) => name));
    for (const sum of [1, 2]) {
      const { content, isError } = await client.callTool({ name: 'pay', arguments: { sum } });
      said.push([(content as { text: string }[])[0]?.text, isError ?? false]);
    }
    await client.close();
  });
  expect(said).toEqual([
    ['pay'],
    ['paid 1', false],
    [expect.stringContaining('not approved'), true],
  ]);
  expect(asked).toEqual([{ sum: 1 }, { sum: 2 }]);
});

test('an agent that takes MCP over ACP gets the tools over the same line', async () => {
  const caller: McpOverAcpCaller = new acpSdk.McpOverAcpCaller({
    clientInfo: { name: 'agent', version: '1' },
  });
  const said: unknown[] = [];
  const { asked, servers } = await run({ acp: true, http: true }, async ({ client }, [server]) => {
    const { serverId } = server as unknown as { serverId: string };
    const ask = (method: string, params?: Record<string, unknown>) =>
      caller.request(client, serverId, method, params);
    said.push(await ask('tools/list'));
    said.push(await ask('tools/call', { name: 'pay', arguments: { sum: 1 } }));
    said.push(await ask('tools/call', { name: 'pay', arguments: { sum: 2 } }));
    said.push(await ask('no/such'), await ask('bad method'));
  });
  expect(servers).toEqual([
    { type: 'acp', name: expect.any(String), serverId: expect.any(String) },
  ]);
  expect(said).toMatchObject([
    { result: { tools: [{ name: 'pay' }] } },
    { result: { content: [{ text: 'paid 1' }] } },
    { result: { isError: true } },
    { error: { code: -32_601 } },
    { error: { code: -32_601 } },
  ]);
  expect(asked).toEqual([{ sum: 1 }, { sum: 2 }]);
});

test('an agent that takes neither gets no tools, and the log says so', async () => {
  const { warned, servers } = await run({}, async () => {});
  expect(servers).toEqual([]);
  expect(warned).toEqual([expect.stringContaining('gets no tools')]);
});

test('a question about an offered tool needs no second answer, under its own name only', async () => {
  const said: string[] = [];
  const { asked } = await run({ http: true }, async ({ ask }, [server]) => {
    const name = (tool: string): string => `mcp__${tool}__pay`;
    said.push(await ask({ toolCallId: '1', name: name(String(server?.name)), rawInput: {} }));
    said.push(await ask({ toolCallId: '2', name: name('host-tools'), rawInput: {} }));
  });
  expect(said).toEqual(['once', 'once']);
  // The second one was judged, and the default allows.
  expect(asked).toEqual([]);
});
