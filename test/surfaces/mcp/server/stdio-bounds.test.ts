/** What a client may send over stdio, and that all of it is answered. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { defineTool, type HostToolRegistry } from '../../../../src/index.ts';
import { program } from '../../../runner/programs.ts';
import { anything, opened, sampleRegistry, signal } from './kit.ts';
import { echoCall, pipedServer } from './stdio-kit.ts';

const open = opened();
afterEach(() => open.close());

const ping = (id: unknown, more: object = {}) => ({ jsonrpc: '2.0', id, method: 'ping', ...more });
const call = (id: unknown, params: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params,
});

/** A registry whose `waits` ends when it is told to. */
function waiting(): {
  readonly registry: HostToolRegistry;
  readonly release: (value: string) => void;
  readonly runs: () => number;
} {
  const registry = sampleRegistry();
  const released = signal<string>();
  let runs = 0;
  const handler = (): Promise<string> => {
    runs++;
    return released.promise;
  };
  registry.register(
    defineTool({ name: 'waits', description: 'Waits.', parameters: anything, handler }),
  );
  return { registry, release: released.resolve, runs: () => runs };
}

describe('every line is answered', () => {
  test.each<[string, object, unknown]>([
    ['a request with a member that no request has', ping(1, { x: 1 }), 1],
    ['a request that is an answer as well', ping(1, { result: {} }), 1],
    ['a request whose `_meta` is no object', call(1, { name: 'echo', _meta: 5 }), 1],
    [
      'a progress token that is no token',
      call(1, { name: 'echo', _meta: { progressToken: {} } }),
      1,
    ],
    [
      'a related task without an id',
      call(1, { name: 'echo', _meta: { 'io.modelcontextprotocol/related-task': {} } }),
      1,
    ],
    ['parameters that are no object', ping(1, { params: [] }), 1],
    ['a notification with a member that none has', { jsonrpc: '2.0', method: 'x', x: 1 }, null],
    ['an answer with a member that none has', { jsonrpc: '2.0', id: 1, result: {}, x: 1 }, null],
    ['an error that says nothing', { jsonrpc: '2.0', id: 1, error: {} }, null],
  ])('%s is no message, and its id stays free', async (_what, line, id) => {
    const world = pipedServer(open);
    await world.handshake();
    world.send(line);
    expect(await world.next({ id })).toMatchObject({ error: { code: -32_600 } });
    world.send(echoCall(1, 'after'));
    expect(await world.next({ id: 1 })).toMatchObject({ result: { content: [{ text: 'after' }] } });
    world.stdin.end();
    await world.served.closed;
  });

  test('whatever a client sends and cancels, the connection ends with its input', async () => {
    const odd = fc.constantFrom<unknown>(
      5,
      null,
      {},
      [],
      'x',
      { progressToken: {} },
      { progressToken: 1 },
    );
    const method = fc.constantFrom(
      'ping',
      'tools/call',
      'tools/list',
      'initialize',
      'logging/setLevel',
      'subscriptions/listen',
      'notifications/cancelled',
      'x',
    );
    const params = fc.record(
      {
        name: fc.constantFrom<unknown>('echo', 'none', 5),
        _meta: odd,
        requestId: fc.nat({ max: 3 }),
        x: odd,
      },
      { requiredKeys: [] },
    );
    const one = fc
      .record(
        { id: fc.nat({ max: 3 }), method, params, result: odd, x: odd },
        { requiredKeys: ['method'] },
      )
      .map((members) => ({ jsonrpc: '2.0', ...members }));
    const line = fc.oneof(
      { weight: 3, arbitrary: one },
      fc.array(fc.oneof(one, fc.constant(1)), { maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 8 }),
        fc.constantFrom('2025-03-26', '2025-11-25'),
        async (lines, version) => {
          // So long that a test which has to wait for it fails.
          const world = pipedServer(open, sampleRegistry(), { graceMs: 2 ** 31 - 1 });
          await world.handshake(version);
          world.send(...lines);
          world.stdin.end();
          await world.served.closed;
        },
      ),
      { numRuns: 150 },
    );
  });

  test('a process with unanswered requests lives until its connection has ended', async () => {
    const child = spawn(process.execPath, [program('test/surfaces/mcp/server/silent-child.ts')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    open.defer(() => child.kill());
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.stdin.end(`${JSON.stringify(ping(1))}\n`);
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(text).toBe('closed\n');
  });

  test('an input that was closed before anyone listened ends the connection', async () => {
    const stdin = new PassThrough();
    stdin.destroy();
    await once(stdin, 'close');
    await pipedServer(open, sampleRegistry(), { stdin }).served.closed;
  });
});

describe('a line', () => {
  test.each([
    ['many values', `{"a":[${Array(50_100).fill(1)}]}`],
    ['many keys', `{${Array.from({ length: 10_100 }, (_, index) => `"${index}":1`)}}`],
  ])('of %s is refused with the id of its request before it is parsed', async (_what, params) => {
    const world = pipedServer(open);
    await world.handshake();
    world.send(
      `{"jsonrpc":"2.0","id":"many","method":"tools/call","params":${params}}`,
      `{"method":"ping","params":${params},"id":"last","jsonrpc":"2.0"}`,
    );
    expect(await world.next({ id: 'many' })).toMatchObject({
      error: { code: -32_600, message: expect.stringContaining('50100 values') },
    });
    expect(await world.next({ id: 'last' })).toMatchObject({ error: { code: -32_600 } });
    world.send(echoCall(2, 'after'));
    expect(await world.next({ id: 2 })).toMatchObject({ result: { content: [{ text: 'after' }] } });
  });

  test('holds a call with as many values as an input may have', async () => {
    const registry = sampleRegistry();
    registry.register(
      defineTool({
        name: 'count',
        description: 'Counts.',
        parameters: anything,
        handler: ({ list }) => (list as unknown[]).length,
      }),
    );
    const world = pipedServer(open, registry);
    await world.handshake();
    world.send(call(1, { name: 'count', arguments: { list: Array(49_990).fill(1) } }));
    expect(await world.next({ id: 1 })).toMatchObject({ result: { content: [{ text: '49990' }] } });
  });

  test.each<[string, (request: object) => unknown, unknown]>([
    ['a request', (request) => request, 'many'],
    ['a batch', (request) => [echoCall(1, 'x'), request], null],
  ])(
    'may hold 4 000 values beside the arguments of calls, and %s of more is refused',
    async (_what, lineOf, id) => {
      const world = pipedServer(open);
      await world.handshake('2025-03-26');
      const listOf = (length: number) => ({
        jsonrpc: '2.0',
        id: 'many',
        method: 'tools/list',
        params: { list: Array(length).fill(1) },
      });
      world.send(JSON.stringify(lineOf(listOf(4_000))));
      expect(await world.next({ id })).toMatchObject({
        error: { code: -32_600, message: expect.stringContaining('4000 values') },
      });
      world.send(listOf(3_990));
      expect(await world.next({ id: 'many' })).toMatchObject({
        result: { tools: expect.any(Array) },
      });
    },
  );

  test('comes in any chunks, also such as part a character', async () => {
    const world = pipedServer(open);
    await world.handshake();
    const bytes = new TextEncoder().encode(
      `${JSON.stringify(echoCall(1, 'ä€😀'))}\n${JSON.stringify(echoCall(2, 'b'))}\n`,
    );
    for (const byte of bytes) world.stdin.write(new Uint8Array([byte]));
    expect(await world.next({ id: 1 })).toMatchObject({ result: { content: [{ text: 'ä€😀' }] } });
    expect(await world.next({ id: 2 })).toMatchObject({ result: { content: [{ text: 'b' }] } });
  });
});

describe('a batch', () => {
  const version = '2025-03-26';

  test.each([
    ['junk', Array(101).fill(1)],
    ['calls', Array.from({ length: 101 }, (_, id) => call(id, { name: 'waits' }))],
  ])(
    'of more than 100 messages, %s, is answered once, and nothing of it runs',
    async (_what, batch) => {
      const { registry, runs } = waiting();
      const world = pipedServer(open, registry);
      await world.handshake(version);
      world.send(JSON.stringify(batch), ping('after'));
      await world.next({ id: 'after' });
      expect(world.lines).toEqual([
        {
          jsonrpc: '2.0',
          id: null,
          error: {
            code: -32_600,
            message: 'Invalid Request: a batch may have at most 100 messages.',
          },
        },
      ]);
      expect(runs()).toBe(0);
    },
  );

  test('of junk is answered by one line with an error for each', async () => {
    const world = pipedServer(open);
    await world.handshake(version);
    world.send(JSON.stringify(Array(100).fill(1)), ping('after'));
    await world.next({ id: 'after' });
    expect(world.lines).toHaveLength(1);
    expect(world.lines[0]).toEqual(
      Array(100).fill(
        expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32_600 }) }),
      ),
    );
  });

  test('is answered by one line, whether its messages are answered at once or later', async () => {
    const { registry, release } = waiting();
    const world = pipedServer(open, registry);
    await world.handshake(version);
    const cancel = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'cancelled' },
    };
    world.send(
      JSON.stringify([
        { ...ping('unknown'), method: 'x' },
        1,
        call('waits', { name: 'waits' }),
        ping('twice'),
        ping('twice'),
        call('cancelled', { name: 'waits' }),
        cancel,
      ]),
      ping('after'),
    );
    await world.next({ id: 'after' });
    expect(world.lines).toEqual([]);
    release('done');
    await expect.poll(() => world.lines).toHaveLength(1);
    expect((world.lines[0] as { id: unknown }[]).map(({ id }) => id).sort()).toEqual(
      [null, 'twice', 'twice', 'unknown', 'waits'].sort(),
    );
  });
});

test(
  'beyond 1 000 requests without an answer, each more is refused at once, and the first are ' +
    'answered',
  async () => {
    const { registry, release, runs } = waiting();
    const world = pipedServer(open, registry);
    await world.handshake();
    world.send(...Array.from({ length: 1_001 }, (_, id) => call(id, { name: 'waits' })));
    expect(await world.next({ id: 1_000 })).toMatchObject({
      error: { code: -32_000, message: 'Too many requests have no answer yet.' },
    });
    release('done');
    expect(await world.next({ id: 999 })).toMatchObject({ id: 999 });
    expect(runs()).toBeLessThanOrEqual(1_000);
    const another = (): Promise<object> => {
      world.send(echoCall('more', 'room'));
      return world.next({ id: 'more' });
    };
    // The place of an answer is free once it has been handed on.
    await expect.poll(another).toMatchObject({ result: { content: [{ text: 'room' }] } });
  },
);
