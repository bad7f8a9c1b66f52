/** Programs that come in over other surfaces than a direct call. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { createMcpHandler } from '../../../src/surfaces/mcp/index.ts';
import { createRelay } from '../../../src/surfaces/relay/create-relay.ts';
import { type Ask, askOf, base, type Made, type Told } from '../../surfaces/relay/http/app-kit.ts';
import { suspending, tools, world, yes } from './kit.ts';

const code = 'return (await tools.read({ id: "a" })).text';

test('over MCP, a client sees run_code and runs a program', async () => {
  const { session } = world();
  const handler = createMcpHandler(() => session);
  const client = new Client({ name: 'agent', version: '1' });
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    handler.fetch(new Request(input, init));
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }),
  );
  onTestFinished(() => client.close());
  const listed = (await client.listTools()).tools;
  expect(listed.map(({ name }) => name)).toEqual(['run_code']);
  expect(listed[0]?.description).toContain('read(input: {');
  const result = await client.callTool({ name: 'run_code', arguments: { code } });
  expect(result.content).toEqual([{ type: 'text', text: 'text of a' }]);
});

test('over the relay, an agent runs a program, and an application may not take its names', async () => {
  const did: string[] = [];
  const relay = createRelay({ session: { tools: tools(did), code: {} } });
  onTestFinished(() => relay.close());
  const ask = (method: string, path: string, what?: Ask): Promise<Told> =>
    askOf(relay.fetch, method, `${base}${path}`, what);
  const made = (await ask('POST', '', { body: {} })).body as unknown as Made;
  const { body } = await ask('POST', `/${made.code}/request`, {
    token: made.agentToken,
    body: { tool: 'run_code', args: { code }, wait: true },
  });
  expect(body).toMatchObject({ result: { output: 'text of a' } });
  expect(did).toEqual(['read a']);
  for (const name of ['run_code', 'sleep', 'find']) {
    const taken = await ask('POST', `/${made.code}/register-tools`, {
      token: made.sessionToken,
      body: {
        pluginType: 'custom',
        pluginVersion: '1',
        availableTools: [
          { name, description: 'Another one.', parameters: { type: 'object', properties: {} } },
        ],
      },
    });
    expect(JSON.stringify(taken.body)).toContain(name);
    expect(taken.status).toBe(422);
  }
});

test('the inbox sends the program with each question', async () => {
  const { registry, session } = suspending();
  await session.call('run_code', { code: 'return await tools.pay({ amount: 20 })' });
  const { createApprovalsHandler } = await import('../../../src/surfaces/approvals/index.ts');
  const inbox = createApprovalsHandler(registry, {
    authenticate: () => 'user:bob',
  });
  const list = await inbox.fetch(new Request('http://127.0.0.1/api/approvals'));
  const text = await list.text();
  expect(text).toContain('"program":{');
  expect(text).toContain('"line":1');
  const [asked] = await registry.approvals.pending();
  expect((await registry.approvals.answer(asked?.id as string, yes)).success).toBe(true);
});
