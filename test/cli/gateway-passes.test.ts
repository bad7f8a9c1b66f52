/** What a server answers reaches a client behind the gateway as it reaches a client without one. */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished, test } from 'vitest';
import { program } from '../runner/programs.ts';
import { folder } from '../surfaces/config/folder.ts';

const passed = fileURLToPath(new URL('./fixtures/passed-server.mjs', import.meta.url));
const node = process.execPath;

interface Answers {
  readonly tools: readonly { readonly name: string; readonly annotations?: object | undefined }[];
  /** By the server's own name of the tool. */
  readonly results: Readonly<Record<string, object>>;
}

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
  expect(Object.keys(without.results)).toHaveLength(11);
  for (const [name, result] of Object.entries(without.results))
    expect(
      // The gateway adds the code of a failure.
      name === 'fails' ? { ...through.results[name], _meta: undefined } : through.results[name],
      name,
    ).toEqual(result);
  const hints = ({ tools }: Answers) => tools.map(({ annotations }) => annotations);
  expect(hints(through)).toEqual(hints(without));
});
