/** Agents of a relay find what applications have registered. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { defineTool } from '../../../src/index.ts';
import { createRelay } from '../../../src/surfaces/relay/create-relay.ts';
import type { RelaySessionOptions } from '../../../src/surfaces/relay/options.ts';
import { type Ask, askOf, base, type Made, type Told } from './http/app-kit.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const drawing = {
  name: 'draw_circle',
  description: 'Draws a circle on the page.',
  parameters: { type: 'object', properties: {} },
};

async function world(session: RelaySessionOptions = {}) {
  const weather = defineTool({
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: { type: 'object' },
    handler: () => 'Sun',
  });
  const relay = createRelay({
    session: {
      tools: [weather],
      rules: [{ effect: 'deny', tools: 'drop_*' }],
      discovery: { keep: 'get_weather' },
      ...session,
    },
  });
  open.push(relay);
  const ask = (method: string, path: string, what?: Ask): Promise<Told> =>
    askOf(relay.fetch, method, `${base}${path}`, what);
  const made = (await ask('POST', '', { body: {} })).body as unknown as Made;
  const { code, agentToken: token } = made;
  const register = (availableTools: object[]): Promise<Told> =>
    ask('POST', `/${code}/register-tools`, {
      token: made.sessionToken,
      body: { pluginType: 'custom', pluginVersion: '1', availableTools },
    });
  await register([drawing, { ...drawing, name: 'drop_circle' }]);
  return {
    register,
    metadata: (headers: Record<string, string> = {}) =>
      ask('GET', `/${code}/metadata`, { token, headers }),
    async names() {
      const { body } = await ask('GET', `/${code}/metadata`, { token });
      return (body as unknown as { tools: { name: string }[] }).tools.map(({ name }) => name);
    },
    find: (query: string) =>
      ask('POST', `/${code}/request`, {
        token,
        body: { tool: 'find_tools', args: { query }, wait: true },
      }),
    async mcp() {
      const client = new Client({ name: 'agent', version: '1' }, { capabilities: {} });
      const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
        relay.fetch(new Request(url, init));
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${base}/${code}/mcp`), {
          fetch: fetch as never,
          requestInit: { headers: { Authorization: `Bearer ${token}` } },
        }),
      );
      open.push(client);
      return client;
    },
  };
}

describe('an agent over REST', () => {
  test('sees few tools, finds those of the application, and sees them from then on', async () => {
    const { names, find, metadata } = await world();
    expect(await names()).toEqual(['get_weather', 'find_tools']);
    const etag = (await metadata()).headers.get('etag') ?? '';
    const { body } = await find('draw something round');
    expect(JSON.stringify(body)).toContain('draw_circle');
    expect(JSON.stringify(body)).not.toContain('drop_circle');
    expect(await names()).toEqual(['get_weather', 'find_tools', 'draw_circle']);
    expect(await metadata({ 'If-None-Match': etag })).toMatchObject({ status: 200 });
  });

  test('gets 304 for the metadata while it has found nothing new', async () => {
    const { find, metadata } = await world();
    await find('circle');
    const etag = (await metadata()).headers.get('etag') ?? '';
    await find('circle');
    expect(await metadata({ 'If-None-Match': etag })).toMatchObject({ status: 304 });
  });
});

test.each(['find_tools', 'Find-Tools'])('an application cannot take the name %s', async (name) => {
  const { register, names, find } = await world();
  const { status, body } = await register([{ ...drawing, name }]);
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(name)]);
  expect(await names()).toEqual(['get_weather', 'find_tools']);
  expect(JSON.stringify((await find('circle')).body)).toContain('draw_circle');
});

test('an agent over MCP is notified when its list of tools changes', async () => {
  const { mcp, names } = await world();
  const client = await mcp();
  const told = new Promise<void>((resolve) => {
    client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
  });
  const listed = async () => (await client.listTools()).tools.map(({ name }) => name);
  expect(await listed()).toEqual(['get_weather', 'find_tools']);
  await client.callTool({ name: 'find_tools', arguments: { query: 'a circle' } });
  await told;
  expect(await listed()).toEqual(['get_weather', 'find_tools', 'draw_circle']);
  expect(await names()).toEqual(['get_weather', 'find_tools', 'draw_circle']);
});
