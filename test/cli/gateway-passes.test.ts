/** What a server answers reaches a client behind the gateway as it reaches a client without one. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { program } from '../runner/programs.ts';
import { folder } from '../surfaces/config/folder.ts';

const passed = fileURLToPath(new URL('./fixtures/passed-server.mjs', import.meta.url));
const node = process.execPath;

interface Answers {
  readonly tools: readonly {
    readonly name: string;
    readonly title?: string | undefined;
    readonly annotations?: object | undefined;
    readonly _meta?: object | undefined;
  }[];
  /** By the server's own name of the tool. */
  readonly results: Readonly<Record<string, object>>;
}

/** The official servers, with calls of which some fail. */
const official: Readonly<Record<string, readonly [tool: string, input: object][]>> = {
  'server-everything': [
    ['echo', { message: '\u001b[1mgrößer 👋' }],
    ['get-sum', { a: 2, b: 3 }],
    ['get-tiny-image', {}],
    ['get-annotated-message', { messageType: 'error', includeImage: true }],
    ['get-structured-content', { location: 'Chicago' }],
    ['get-resource-links', { count: 3 }],
    ['get-resource-reference', { resourceType: 'Blob', resourceId: 1 }],
  ],
  'server-filesystem': [
    ['read_text_file', { path: 'note.txt' }],
    ['list_directory', { path: '.' }],
    ['read_text_file', { path: 'none.txt' }],
    ['read_text_file', { path: '/etc/passwd' }],
    ['read_media_file', { path: 'dot.png' }],
  ],
  'server-memory': [
    ['read_graph', {}],
    ['search_nodes', { query: 'x' }],
    ['add_observations', { observations: [{ entityName: 'none', contents: ['x'] }] }],
  ],
};

async function answersOf(
  client: Pick<Client, 'listTools' | 'callTool'>,
  prefix: string,
): Promise<Answers> {
  const { tools } = await client.listTools();
  const results: Record<string, object> = {};
  for (const { name } of tools)
    results[name.slice(prefix.length)] = await client.callTool({ name, arguments: {} });
  return { tools, results };
}

const clients: [string, (args: string[], cwd?: string) => Promise<Client>][] = [
  [
    'of the present SDK',
    async (args, cwd) => {
      const client = new Client({ name: 'test', version: '1' }, {});
      const stderr = 'ignore';
      await client.connect(
        new StdioClientTransport({ command: node, args, stderr, ...(cwd && { cwd }) }),
      );
      return client;
    },
  ],
  [
    'of the older SDK',
    async (args, cwd) => {
      const client = new OlderClient({ name: 'test', version: '1' }, {});
      const stderr = 'ignore';
      await client.connect(
        new OlderTransport({ command: node, args, stderr, ...(cwd && { cwd }) }) as never,
      );
      return client as unknown as Client;
    },
  ],
];

test.each(clients)('a client %s gets every part of every result', async (_which, connect) => {
  const files = folder({
    'gateway.json': { mcpServers: { s: { command: node, args: [passed] } } },
  });
  const direct = await connect([passed]);
  onTestFinished(() => direct.close());
  const behind = await connect([program('src/cli/index.ts'), 'serve', 'gateway.json'], files.path);
  onTestFinished(() => behind.close());
  const without = await answersOf(direct, '');
  const through = await answersOf(behind, 's.');
  expect(Object.keys(without.results)).toHaveLength(20);
  // Byte for byte: the order of members, too.
  for (const [name, result] of Object.entries(without.results))
    expect(JSON.stringify(through.results[name]), name).toBe(JSON.stringify(result));
  const facts = ({ tools }: Answers) =>
    tools.map(({ title, annotations, _meta }) => ({ title, annotations, _meta }));
  expect(facts(through)).toEqual(facts(without));
});

test('the official servers behind it list the same facts, and answer and fail the same', async () => {
  const [, connect] = clients[0] as (typeof clients)[number];
  const files = folder({ 'note.txt': 'A note.\n', 'dot.png': 'iVBOR', 'gateway.json': {} });
  const mcpServers = Object.fromEntries(
    Object.keys(official).map((name) => [
      name,
      {
        command: node,
        args: [
          fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`)),
          ...(name === 'server-filesystem' ? [files.path] : []),
        ],
        env: { MEMORY_FILE_PATH: join(files.path, `${name}.jsonl`) },
        cwd: files.path,
      },
    ]),
  );
  files.write({ 'gateway.json': { mcpServers } });
  const behind = await connect([program('src/cli/index.ts'), 'serve', 'gateway.json'], files.path);
  onTestFinished(() => behind.close());
  // The first list does not wait for a slow server.
  const listed = await vi.waitFor(
    async () => {
      const { tools } = await behind.listTools();
      for (const name of Object.keys(official))
        expect(tools.some((tool) => tool.name.startsWith(name))).toBe(true);
      return tools;
    },
    { timeout: 30_000, interval: 100 },
  );
  for (const [name, calls] of Object.entries(official)) {
    const { args = [] } = mcpServers[name] as { args?: string[] };
    const direct = await connect(args, files.path);
    onTestFinished(() => direct.close());
    for (const { name: tool, title, annotations, _meta } of (await direct.listTools()).tools)
      expect(listed.find((one) => one.name === `${name}_${tool}`)).toMatchObject({
        ...(title === undefined ? {} : { title }),
        ...(annotations === undefined ? {} : { annotations }),
        ...(_meta === undefined ? {} : { _meta }),
      });
    for (const [tool, input] of calls) {
      const ask = { arguments: input as Record<string, unknown> };
      const without = await direct.callTool({ ...ask, name: tool });
      const through = await behind.callTool({ ...ask, name: `${name}_${tool}` });
      expect(JSON.stringify(through), `${name} ${tool}`).toBe(JSON.stringify(without));
    }
  }
});
