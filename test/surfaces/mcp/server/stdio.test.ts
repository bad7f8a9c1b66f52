import { PassThrough } from 'node:stream';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, test } from 'vitest';
import { defineTool, type HostToolRegistry } from '../../../../src/index.ts';
import { type McpStdioOptions, serveMcpStdio } from '../../../../src/surfaces/mcp/index.ts';
import { redirectPrints } from '../../../../src/surfaces/mcp/server/line-streams.ts';
import { program } from '../../../runner/programs.ts';
import {
  anything,
  eras,
  initializeParams,
  newClient,
  opened,
  sampleRegistry,
  signal,
} from './kit.ts';
import { echoCall as echo, pipedServer } from './stdio-kit.ts';

const open = opened();
afterEach(() => open.close());

/** A server over two pipes, spoken to in lines. */
const pipes = (registry?: HostToolRegistry, options?: McpStdioOptions) =>
  pipedServer(open, registry, options);

describe.each(eras)('stdio, %s era', (era) => {
  test('a child process serves the real client, and ends when the client leaves', async () => {
    const client = newClient(era);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program('test/surfaces/mcp/server/child.ts')],
      stderr: 'ignore',
    });
    await client.connect(transport);
    open.defer(() => client.close());
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'danger']);
    expect(await client.callTool({ name: 'echo', arguments: { text: 'ä€😀' } })).toMatchObject({
      content: [{ text: 'ä€😀' }],
    });
    expect(client.getNegotiatedProtocolVersion()).toBe(
      era === 'legacy' ? '2025-11-25' : '2026-07-28',
    );
  });
});

describe('lines', () => {
  test('the server introduces itself and shows errors: the client is the host’s own', async () => {
    const registry = sampleRegistry();
    const fails = () => {
      throw new Error('the disk is full');
    };
    registry.register(
      defineTool({ name: 'fails', description: 'Fails.', parameters: anything, handler: fails }),
    );
    const world = pipes(registry);
    expect(await world.handshake()).toMatchObject({
      result: {
        serverInfo: { name: 'piped', version: '2.0.0' },
        instructions: 'Be kind.',
        capabilities: { tools: { listChanged: true }, logging: {} },
      },
    });
    world.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'fails' } });
    expect(JSON.stringify(await world.next({ id: 1 }))).toContain('the disk is full');
  });

  test.each([
    ['no JSON', '{"jsonrpc":', -32_700],
    ['an array', '[]', -32_600],
    ['a batch in a version without', JSON.stringify([echo(1, 'x')]), -32_600],
    ['a number', '7', -32_600],
    ['an id that is none', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
    ['a line that never ends', `"${'x'.repeat(4 * 1_048_576)}"`, -32_600],
  ])('%s is answered with an error, and the next line is read', async (_title, line, code) => {
    const world = pipes();
    await world.handshake();
    world.send(line, echo(9, 'next'));
    expect(await world.next({ id: null })).toMatchObject({ error: { code } });
    expect(await world.next({ id: 9 })).toMatchObject({ result: { content: [{ text: 'next' }] } });
  });

  test('an id in flight: the second is refused at once, the first is answered', async () => {
    const registry = sampleRegistry();
    const started = signal();
    const release = signal<string>();
    registry.register(
      defineTool({
        name: 'waits',
        description: 'Waits.',
        parameters: anything,
        handler: () => {
          started.resolve();
          return release.promise;
        },
      }),
    );
    const world = pipes(registry);
    await world.handshake();
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'waits' } };
    world.send(call);
    await started.promise;
    world.send(call);
    expect(await world.next({ id: 1 })).toMatchObject({
      result: { isError: true, _meta: { 'host-tools/error': { code: 'duplicate_call_id' } } },
    });
    release.resolve('first');
    expect(await world.next({ id: 1 })).toMatchObject({ result: { content: [{ text: 'first' }] } });
  });

  test('a batch of the version that has them is answered by one line', async () => {
    const world = pipes();
    await world.handshake('2025-03-26');
    world.send(JSON.stringify([echo(1, 'a'), echo(2, 'b')]));
    await expect.poll(() => world.lines).toHaveLength(1);
    expect((world.lines[0] as { id: number }[]).map(({ id }) => id).sort()).toEqual([1, 2]);
  });

  test('requests before the end of input are answered, then the connection ends', async () => {
    const world = pipes();
    world.send(
      { jsonrpc: '2.0', id: 0, method: 'initialize', params: initializeParams },
      echo(1, 'last'),
    );
    world.stdin.end();
    expect(await world.next({ id: 1 })).toMatchObject({ result: { content: [{ text: 'last' }] } });
    await world.served.closed;
    expect(await world.session.call('echo', { text: 'x' })).toMatchObject({ success: true });
    expect((world.session.events as unknown as { size: number }).size).toBe(0);
  });

  test('closing twice, and before anything was said, is no fault', async () => {
    const world = pipes();
    await Promise.all([world.served.close(), world.served.close()]);
    await world.served.closed;
  });

  test('what is no session throws at once', () => {
    expect(() => serveMcpStdio({} as never)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });

  test.each([
    [
      'before its arguments',
      (pad: string) =>
        `{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":"echo","arguments":{"text":"${pad}"}}}`,
    ],
    [
      'after its arguments',
      (pad: string) =>
        `{"method":"tools/call","params":{"name":"echo","arguments":{"text":"${pad}","id":7}},"jsonrpc":"2.0","id":"big"}`,
    ],
  ])(
    'a request of more than 4 MB is answered with its id, which stands %s',
    async (_where, line) => {
      const world = pipes();
      await world.handshake();
      for (const pad of [
        'y'.repeat(5_000_000),
        `","id":7}`.replaceAll('"', '\\"').repeat(600_000),
      ]) {
        world.send(line(pad));
        expect(await world.next({ id: 'big' })).toMatchObject({ error: { code: -32_600 } });
      }
      world.send(echo(2, 'after'));
      expect(await world.next({ id: 2 })).toMatchObject({
        result: { content: [{ text: 'after' }] },
      });
    },
  );

  test.each([
    ['an answer', `{"jsonrpc":"2.0","id":"init","result":{"text":"${'y'.repeat(5_000_000)}"}}`],
    [
      'a notification',
      `{"jsonrpc":"2.0","method":"x","params":{"id":"init","text":"${'y'.repeat(5_000_000)}"}}`,
    ],
    ['what is no JSON', `{"id":"init","method":"a\\q",${'y'.repeat(5_000_000)}`],
  ])(
    '%s of more than 4 MB is answered without an id: it could be taken for the answer to ' +
      'another request',
    async (_what, line) => {
      const world = pipes();
      world.send(line);
      expect(await world.next({ id: null })).toMatchObject({ error: { code: -32_600 } });
    },
  );

  test('nesting beyond 256 levels is -32600 with the id of the request', async () => {
    const world = pipes();
    world.send(
      `{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"capabilities":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}}`,
    );
    expect(await world.next({ id: 5 })).toMatchObject({ error: { code: -32_600 } });
  });

  test('what runs when the input ends has the milliseconds that the host gives it', async () => {
    const registry = sampleRegistry();
    const started = signal();
    const aborted = signal();
    registry.register(
      defineTool({
        name: 'waits',
        description: 'Waits.',
        parameters: anything,
        handler: (_input, context) => {
          started.resolve();
          context.signal.addEventListener('abort', () => aborted.resolve(), { once: true });
          return new Promise(() => {});
        },
      }),
    );
    const world = pipes(registry, { graceMs: 0 });
    await world.handshake();
    world.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'waits' } });
    await started.promise;
    world.stdin.end();
    await Promise.all([aborted.promise, world.served.closed]);
  });

  test.each<[string, object, RegExp]>([
    [
      'an unknown option',
      { nam: 'x' },
      /serveMcpStdio: unknown option `nam`; did you mean `name`\?/,
    ],
    ['a grace that is no time', { graceMs: -1 }, /`graceMs`/],
    ['a stream that cannot be read', { stdin: {} }, /`stdin`/],
    [
      'prints to redirect beside a stream of its own',
      { redirectPrints: true, stdout: new PassThrough() },
      /`redirectPrints`/,
    ],
    ['an empty name', { name: '' }, /`name`/],
  ])('%s throws at once', (_what, options, message) => {
    const registry = sampleRegistry();
    open.defer(() => registry.close());
    expect(() => serveMcpStdio(registry.createSession({ sessionId: 's' }), options)).toThrow(
      message,
    );
  });
});

test('prints go to standard error while redirected, and messages to standard output', () => {
  const written: string[] = [];
  const host = {
    stdout: { write: (text: string) => void written.push(`out ${text}`) },
    stderr: { write: (text: string) => void written.push(`err ${text}`) },
  };
  const { stdout, restore } = redirectPrints(host);
  host.stdout.write('print');
  stdout.write('message');
  restore();
  restore();
  host.stdout.write('after');
  expect(written).toEqual(['err print', 'out message', 'out after']);
});
