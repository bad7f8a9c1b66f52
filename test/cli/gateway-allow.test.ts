/** What a gateway's servers may ask of the client in front of it. */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { program } from '../runner/programs.ts';
import { folder } from '../surfaces/config/folder.ts';

const offering = fileURLToPath(new URL('./fixtures/offering-server.mjs', import.meta.url));

/** A client that answers, at a gateway with one server. */
async function serve(allow: readonly string[] | undefined, capabilities: object) {
  const { path } = folder({
    'gateway.json': {
      mcpServers: {
        one: {
          command: process.execPath,
          args: [offering],
          ...(allow === undefined ? {} : { allow }),
        },
      },
    },
  });
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  const asked: unknown[] = [];
  if ('elicitation' in capabilities)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept' as const, content: { colour: 'red' } };
    });
  if ('sampling' in capabilities)
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      asked.push(params.systemPrompt);
      return {
        role: 'assistant' as const,
        model: 'm',
        content: { type: 'text' as const, text: '42' },
      };
    });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program('src/cli/index.ts'), 'serve', 'gateway.json'],
      cwd: path,
      stderr: 'ignore',
    }),
  );
  onTestFinished(() => client.close());
  const call = async (name: string) => {
    const { content } = await client.callTool({ name, arguments: {} });
    return JSON.parse((content as { text: string }[])[0]?.text ?? '') as object;
  };
  return { asked, call };
}

test('allowed questions reach the client, with the name of the server', async () => {
  const { asked, call } = await serve(['elicitation', 'sampling'], {
    elicitation: {},
    sampling: {},
  });
  expect(await call('one.ask')).toEqual({ action: 'accept', content: { colour: 'red' } });
  expect(await call('one.sample')).toMatchObject({ content: { text: '42' } });
  expect(asked).toEqual([
    'The MCP server `one` asks: Which colour?',
    'This request comes from the MCP server `one`.',
  ]);
});

test('others are refused, and so are those to a client that cannot be asked', async () => {
  const { asked, call } = await serve(['sampling'], { elicitation: {} });
  expect(await call('one.ask')).toEqual({
    error: expect.stringContaining('`elicitation/create` is not allowed'),
  });
  expect(await call('one.sample')).toEqual({
    error: expect.stringContaining('the client cannot ask its model'),
  });
  expect(asked).toEqual([]);
});

test('without `allow`, a server cannot ask anything', async () => {
  const { asked, call } = await serve(undefined, { elicitation: {}, sampling: {} });
  expect(await call('one.ask')).toHaveProperty('error');
  expect(await call('one.sample')).toHaveProperty('error');
  expect(asked).toEqual([]);
});
