import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { reviewerRegistry, serveHttp } from '../../../../examples/mcp-server.ts';
import { eras, newClient } from './kit.ts';

const names = ['git', 'read_file', 'search_files', 'fetch_status'];
const root = fileURLToPath(new URL('../../../../', import.meta.url));

test.each(eras)('the example serves the reviewer over HTTP, %s era', async (era) => {
  const registry = reviewerRegistry();
  const served = await serveHttp(registry, root);
  const client = newClient(era);
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url)));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
  expect(
    await client.callTool({ name: 'git', arguments: { action: 'commit', message: 'x' } }),
  ).toMatchObject({ isError: true });
  await client.close();
  await served.close();
  await registry.close();
});

test('the example serves the reviewer over stdio', async () => {
  const client = newClient('legacy');
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['--import', 'tsx', 'examples/mcp-server.ts'],
      cwd: root,
      stderr: 'ignore',
    }),
  );
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
  await client.close();
});
