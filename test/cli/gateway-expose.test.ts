/** Prompts and resources of a gateway's servers, as its clients get them. */
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import { program } from '../runner/programs.ts';
import { folder } from '../surfaces/config/folder.ts';
import { cli } from './cli-run.ts';
import { until } from './until.ts';

const offering = fileURLToPath(new URL('./fixtures/offering-server.mjs', import.meta.url));
const all = ['tools', 'prompts', 'resources'];
const server = (name: string, expose?: readonly string[]) => ({
  command: process.execPath,
  args: [offering, name],
  ...(expose === undefined ? {} : { expose }),
});

/** A client at a gateway over stdio, after the servers that offer tools have started. */
async function serve(mcpServers: Readonly<Record<string, ReturnType<typeof server>>>) {
  const files = folder({ 'gateway.json': { mcpServers } });
  const client = new Client({ name: 'test', version: '1' }, {});
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program('src/cli/index.ts'), 'serve', 'gateway.json'],
      cwd: files.path,
      stderr: 'ignore',
    }),
  );
  onTestFinished(() => client.close());
  const names = Object.keys(mcpServers).filter(
    (name) => mcpServers[name]?.expose?.includes('tools') !== false,
  );
  await until(async () => {
    const { tools } = await client.listTools();
    return names.every((name) => tools.some((tool) => tool.name.startsWith(`${name}_`)));
  });
  return { client, ...files };
}

const promptNames = async (client: Client) =>
  (await client.listPrompts()).prompts.map(({ name }) => name);
const uris = async (client: Client) =>
  (await client.listResources()).resources.map(({ uri, name }) => [uri, name]);

describe('what is exposed', () => {
  test('is offered: prompts by prefix, resources by address, the first server wins', async () => {
    const { client } = await serve({ one: server('one', all), two: server('two', all) });
    expect(client.getServerCapabilities()).toMatchObject({ prompts: {}, resources: {} });
    const { prompts } = await client.listPrompts();
    expect(prompts).toEqual([
      { name: 'one.greet', description: 'Greets.', arguments: [{ name: 'who', required: true }] },
      { name: 'two.greet', description: 'Greets.', arguments: [{ name: 'who', required: true }] },
    ]);
    expect(await uris(client)).toEqual([
      ['note://shared', 'shared of one'],
      ['note://one', 'one'],
      ['note://two', 'two'],
    ]);
    const got = await client.getPrompt({ name: 'two.greet', arguments: { who: 'Ann' } });
    expect(got).toEqual({
      description: 'greet',
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello Ann' } }],
    });
    const read = async (uri: string) => (await client.readResource({ uri })).contents[0];
    expect(await read('note://shared')).toMatchObject({ text: 'one has note://shared' });
    expect(await read('note://two')).toMatchObject({ text: 'two has note://two' });
    // By the template that begins as the address does.
    expect(await read('two://notes/7')).toMatchObject({ text: 'two has two://notes/7' });
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2);
  });

  test('an unknown prompt or resource does not exist, and no server is asked', async () => {
    const { client } = await serve({ one: server('one', all) });
    await expect(client.getPrompt({ name: 'greet' })).rejects.toThrow('There is no such prompt.');
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow(
      'There is no such resource.',
    );
  });

  test('is informed of a change', async () => {
    const { client } = await serve({ one: server('one', all) });
    let changes = 0;
    client.setNotificationHandler('notifications/prompts/list_changed', () => {
      changes++;
    });
    await until(async () => (await promptNames(client)).length === 1);
    await client.callTool({ name: 'one.tell', arguments: {} });
    await until(() => changes > 0);
    await until(async () => (await promptNames(client)).includes('one.later-3'));
    await expect(client.getPrompt({ name: 'one.later-3' })).rejects.toThrow(/No prompt later-3$/);
  });
});

test('without `expose`, only tools are offered, and pages of apps, of which there are none', async () => {
  const { client } = await serve({ one: server('one') });
  expect(Object.keys(client.getServerCapabilities() ?? {}).sort()).toEqual([
    'logging',
    'resources',
    'tools',
  ]);
  expect((await client.listResources()).resources).toEqual([]);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('one_tell');
});

test('a server that does not expose its tools is not asked for them', async () => {
  const { client } = await serve({ one: server('one', ['prompts']), two: server('two') });
  await until(async () => (await promptNames(client)).join() === 'one.greet');
  expect((await client.listTools()).tools.every(({ name }) => name.startsWith('two_'))).toBe(true);
  expect((await client.listResources()).resources).toEqual([]);
});

test('over HTTP, clients of the 2026 era get them as well', async () => {
  const { path } = folder({ 'gateway.json': { mcpServers: { one: server('one', all) } } });
  const stop = new AbortController();
  let said = '';
  const ended = cli(['serve', 'gateway.json', '--http', '0'], {
    cwd: path,
    signal: stop.signal,
    onStderr: (text) => {
      said = text;
    },
  });
  await until(() => said.includes('Serving MCP'));
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const url = new URL(/http:\/\/\S+/.exec(said)?.[0] ?? '');
  await client.connect(new StreamableHTTPClientTransport(url));
  expect(client.getProtocolEra()).toBe('modern');
  expect(await promptNames(client)).toEqual(['one.greet']);
  expect((await client.readResource({ uri: 'note://one' })).contents).toMatchObject([
    { text: 'one has note://one' },
  ]);
  await client.close();
  stop.abort();
  expect((await ended).exit).toBe(0);
});

test('`expose` knows its words', async () => {
  const { path } = folder({ 'gateway.json': { mcpServers: { one: server('one', ['promts']) } } });
  const { exit, stderr } = await cli(['list', '--host-tools', 'gateway.json'], { cwd: path });
  expect(exit).toBe(1);
  expect(stderr).toContain('did you mean `prompts`?');
});
