/** The client against a relay as it is served, over each transport. */
import { execFile } from 'node:child_process';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { memoryStore } from '../../../src/index.ts';
import type { ServeRelayOptions } from '../../../src/surfaces/relay/index.ts';
import {
  connectRelay,
  type JsonObject,
  type RelayClientOptions,
  type RelayTool,
  type RelayTransport,
} from '../../../src/surfaces/relay-client/index.ts';
import { program } from '../../runner/programs.ts';
import { freePort } from '../../stores/free-port.ts';
import { call, closeAll, connect, serve, session, tool, toolsOf } from './real-relay-kit.ts';

const transports: readonly RelayTransport[] = ['websocket', 'sse', 'poll'];

afterEach(closeAll);

/** What is so before long. */
const soon = <T>(read: () => T) => expect.poll(read, { interval: 10 });
const stands = (status: string) => ({ status });

describe.each(transports)('over %s', (transport) => {
  const sides = async (
    options: Partial<ServeRelayOptions>,
    tools: readonly RelayTool[],
    more: Partial<RelayClientOptions> = {},
  ) => {
    // A busy machine may need longer than the default to send large arguments.
    const relay = await serve({ leaseMs: 60_000, ...options });
    const made = await session(relay);
    return { relay, made, ...(await connect(relay, made, tools, { transport, ...more })) };
  };

  test('a call runs its handler, and its answer reaches the agent as it is', async () => {
    const values = [
      0,
      false,
      '',
      null,
      'ä\u{1F600}\u0000',
      [1, { a: [] }],
      { __proto__: null, output: { success: false } },
    ];
    const { relay, made, connection } = await sides({}, [
      tool('nth', ({ n }: { n: number }) => values[n], {
        type: 'object',
        properties: { n: { type: 'integer' } },
        required: ['n'],
      }),
      tool('nothing', () => undefined),
      tool('fails', () => Promise.reject(new Error('The disk is full: /dev/sda1'))),
      tool('breaks', () => {
        throw null;
      }),
    ]);
    expect([connection.status, connection.transport, connection.failed]).toEqual([
      'connected',
      transport,
      [],
    ]);
    for (const [n, value] of values.entries())
      expect(await call(relay, made, 'nth', { n })).toEqual(value);
    expect(await call(relay, made, 'nothing')).toBeNull();
    expect(await call(relay, made, 'fails')).toEqual([
      'handler_error',
      'The disk is full: /dev/sda1',
    ]);
    expect(await call(relay, made, 'breaks')).toEqual(['handler_error', 'The handler threw null.']);
    expect(await call(relay, made, 'nth', { n: 'x' })).toEqual([
      'invalid_input',
      expect.any(String),
    ]);
  });

  test('a hundred calls at once are answered, each by its own answer', async () => {
    const { relay, made } = await sides({}, [
      tool('twice', async ({ n }: { n: number }) => ({ n, twice: 2 * n })),
    ]);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => call(relay, made, 'twice', { n })),
    );
    expect(answers).toEqual(Array.from({ length: 100 }, (_, n) => ({ n, twice: 2 * n })));
  });

  test('a result of nearly 4 MB arrives, and a larger one is an error that says so', async () => {
    const { relay, made } = await sides({ requestTimeoutMs: 10_000 }, [
      tool('text', ({ length }: { length: number }) => 'x'.repeat(length)),
    ]);
    const most = 4 * 1_048_576;
    expect(await call(relay, made, 'text', { length: most - 200 })).toHaveLength(most - 200);
    const refused = await Promise.all(
      [most, 3 * most].map((length) => call(relay, made, 'text', { length })),
    );
    expect(refused).toMatchObject([
      ['handler_error', expect.stringContaining('4.0 MB')],
      ['handler_error', expect.stringContaining('12.0 MB')],
    ]);
  });

  test('a result that no relay takes is an error that says so, at once', async () => {
    const nested = JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`) as unknown;
    const { relay, made } = await sides({}, [
      tool('deep', () => nested),
      tool('many', () => Array.from({ length: 125_000 }, () => 1)),
    ]);
    for (const name of ['deep', 'many'])
      expect(await call(relay, made, name)).toEqual([
        'handler_error',
        expect.stringMatching(/at most 125000 values and 100 levels/),
      ]);
  });

  test('arguments of many calls at once arrive, however large', async () => {
    const { relay, made } = await sides({}, [
      tool('length', ({ text }: { text: string }) => text.length),
    ]);
    const text = 'x'.repeat(1_000_000);
    expect(
      await Promise.all(Array.from({ length: 8 }, () => call(relay, made, 'length', { text }))),
    ).toEqual(Array.from({ length: 8 }, () => text.length));
  });

  test('a refused tool does not affect the others, and can be corrected', async () => {
    const wrong = [tool('a'), tool('b', () => 'old', { type: 'string' })];
    const { relay, made, connection } = await sides({}, wrong);
    expect([connection.failed, await toolsOf(relay, made)]).toMatchObject([
      [{ toolName: 'b' }],
      ['a'],
    ]);
    await connection.update([tool('a'), tool('b', () => 'new')]);
    expect([connection.failed, await call(relay, made, 'b')]).toEqual([[], 'new']);
    await connection.close();
    await expect(connect(relay, made, wrong.slice(1), { transport })).rejects.toMatchObject({
      status: 422,
      failedTools: [{ toolName: 'b' }],
    });
  });

  test('a handler learns that its answer is no longer needed', async () => {
    let begun = 0;
    const reasons: unknown[] = [];
    const { relay, made } = await sides({ requestTimeoutMs: 300 }, [
      tool('slow', (_, { signal }) => {
        begun++;
        return new Promise(() =>
          signal.addEventListener('abort', () => reasons.push(signal.reason)),
        );
      }),
    ]);
    // On a busy machine, the time may be over before the handler has begun.
    do expect(await call(relay, made, 'slow')).toEqual(['timeout', expect.any(String)]);
    while (begun === 0);
    await soon(() => reasons[0]).toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('timeout'),
    });
  });

  test("an update changes the agents' tools by the difference", async () => {
    const updates: JsonObject[] = [];
    const { relay, made, connection } = await sides({}, [tool('a'), tool('b')], {
      onToolsChanged: (update) => updates.push(update),
    });
    await connection.update([tool('b', () => 'new b'), tool('c')], 'document opened');
    expect(await toolsOf(relay, made)).toEqual(['b', 'c']);
    expect(await Promise.all(['a', 'b', 'c'].map((name) => call(relay, made, name)))).toEqual([
      ['tool_not_found', expect.any(String)],
      'new b',
      'c',
    ]);
    await soon(() => updates.at(-1)).toMatchObject({
      updates: { added: [{ name: 'c' }], removed: ['a'], modified: [] },
      reason: 'document opened',
    });
    await connection.update([]);
    expect(await toolsOf(relay, made)).toEqual([]);
  });

  test('a relay that restarts is found again, with the tools as they were', async () => {
    const store = memoryStore();
    const routes: unknown[] = [];
    const logger = {
      info: (line: object) => routes.push((line as { route?: unknown }).route),
      warn() {},
      error() {},
    };
    const { relay, made, connection, statuses } = await sides(
      { store, logger, port: await freePort() },
      [tool('a')],
    );
    await connection.update([tool('a'), tool('b')]);
    await relay.close();
    await soon(() => statuses).toContainEqual(expect.objectContaining(stands('reconnecting')));
    const again = await serve({ store, port: relay.port, logger });
    await soon(() => connection.status).toBe('connected');
    expect(await call(again, made, 'b')).toBe('b');
    await connection.update([tool('c')]);
    expect(await toolsOf(again, made)).toEqual(['c']);
    // Polls do not tell what the relay has: then it is told again.
    expect(routes.filter((route) => String(route).endsWith('/register-tools'))).toHaveLength(
      transport === 'poll' ? 2 : 1,
    );
  });

  test('a relay that restarts without what it had ends the connection', async () => {
    const { relay, connection, statuses } = await sides({ port: await freePort() }, [tool('a')]);
    await relay.close();
    await serve({ port: relay.port });
    await soon(() => connection.status).toBe('closed');
    expect(statuses.at(-1)).toMatchObject({
      status: 'closed',
      reason: 'session_not_found',
      error: { status: 404 },
    });
  });

  test('a second application takes the session over, and the first one is informed', async () => {
    const { relay, made, connection, statuses } = await sides({}, [tool('who', () => 'first')]);
    const second = await connect(relay, made, [tool('who', () => 'second')], { transport });
    await soon(() => connection.status).toBe('closed');
    expect(statuses.at(-1)).toMatchObject({ status: 'closed', reason: 'replaced' });
    expect(await call(relay, made, 'who')).toBe('second');
    expect(second.connection.status).toBe('connected');
  });

  test.each([
    ['deleted', 'session_closed'],
    ['expired', 'session_expired'],
  ])('a session that is %s closes the connection, with that reason', async (how, reason) => {
    // Time goes on once the connection is there, however long that takes.
    let now = Date.now();
    const { relay, made, connection, statuses } = await sides(
      how === 'expired' ? { ttlSeconds: 1, now: () => now } : {},
      [tool('a')],
    );
    now += 1_000;
    if (how === 'deleted') {
      const response = await fetch(`${relay.url}/api/sessions/${made.code}`, {
        method: 'DELETE',
        headers: { Authorization: `Bearer ${made.sessionToken}` },
      });
      expect(response.status).toBe(204);
    }
    await soon(() => connection.status).toBe('closed');
    expect(statuses.at(-1)).toMatchObject({ status: 'closed', reason });
    await expect(connection.update([])).rejects.toMatchObject({ code: reason });
  });

  test('closing leaves nothing open at the relay, and can take the session along', async () => {
    const { relay, made, connection } = await sides({}, [tool('a')]);
    expect(await call(relay, made, 'a')).toBe('a');
    await connection.close({ deleteSession: true });
    await soon(() => relay.relay.metrics().openStreams).toBe(0);
    await expect(
      connectRelay({
        url: relay.url,
        code: made.code,
        token: made.sessionToken,
        tools: [tool('a')],
      }),
    ).rejects.toMatchObject({ status: 404 });
  });

  test('closing leaves nothing that keeps the process up', async () => {
    const relay = await serve();
    const made = await session(relay);
    const given = JSON.stringify({
      url: relay.url,
      code: made.code,
      token: made.sessionToken,
      transport,
    });
    const script = program('test/surfaces/relay-client/come-and-go.ts');
    let letClose = (): void => {};
    const ended = new Promise((resolve) => {
      const { stdin } = execFile(
        process.execPath,
        [script, given],
        { timeout: 120_000 },
        (error, stdout, stderr) => {
          resolve({ error, stdout, stderr });
        },
      );
      letClose = () => stdin?.end();
    });
    await expect.poll(() => toolsOf(relay, made)).toEqual(['a']);
    expect(await call(relay, made, 'a')).toBe('called');
    letClose();
    expect(await ended).toEqual({ error: null, stdout: `${transport}\nclosed\n`, stderr: '' });
  });
});

describe('a relay that limits', () => {
  test('updates makes them wait as long as it says, and takes the last of them', async () => {
    const relay = await serve({ limits: { updatesPerMinute: 2 } });
    const made = await session(relay);
    const { connection, statuses } = await connect(relay, made, [tool('a')]);
    await connection.update([tool('b')]);
    const late = [connection.update([tool('c')]), connection.update([tool('d')])];
    await soon(() => statuses.at(-1)).toMatchObject({
      status: 'connected',
      error: { code: 'rate_limit_exceeded', status: 429 },
    });
    const { retryInMs, error } = statuses.at(-1) ?? {};
    expect([error?.retryAfterMs, retryInMs]).toEqual([
      expect.toSatisfy((ms) => ms > 20_000 && ms <= 60_000),
      error?.retryAfterMs,
    ]);
    expect(await call(relay, made, 'b')).toBe('b');
    await connection.close();
    expect(await Promise.allSettled(late)).toMatchObject(
      late.map(() => ({ status: 'rejected', reason: { code: 'closed' } })),
    );
  });

  test.each(transports)('answers has them come again, over %s', async (transport) => {
    const memory = memoryStore();
    let refusals = 2;
    const store: typeof memory = {
      ...memory,
      async apply(space, ops) {
        const isResponse = ops.some((op) => op.op === 'count' && op.key === 'responses');
        if (!isResponse || refusals === 0) return memory.apply(space, ops);
        refusals -= 1;
        return { refused: 0, gone: false, retryAfterMs: 900 };
      },
    };
    const relay = await serve({ store });
    const made = await session(relay);
    const handler = vi.fn(() => 'once');
    await connect(relay, made, [tool('a', handler)], { transport });
    expect(await call(relay, made, 'a')).toBe('once');
    expect([handler.mock.calls.length, refusals]).toEqual([1, 0]);
  });
});

describe('which way is taken', () => {
  test.each<[string, Partial<RelayClientOptions>, RelayTransport]>([
    ['a WebSocket where there is one', { WebSocket }, 'websocket'],
    ['server-sent events without a WebSocket', { WebSocket: undefined }, 'sse'],
  ])('by itself: %s', async (_, options, transport) => {
    vi.stubGlobal('WebSocket', undefined);
    const relay = await serve();
    expect(
      (await connect(relay, await session(relay), [tool('a')], options)).connection.transport,
    ).toBe(transport);
  });

  test('server-sent events where no WebSocket opens', async () => {
    const relay = await serve();
    const made = await session(relay);
    class Blocked extends WebSocket {
      constructor() {
        // Nobody listens there.
        super('ws://127.0.0.1:1');
      }
    }
    const { connection, statuses } = await connect(relay, made, [tool('a')], {
      WebSocket: Blocked,
    });
    expect(connection.transport).toBe('sse');
    expect(await call(relay, made, 'a')).toBe('a');
    expect(statuses).toContainEqual(
      expect.objectContaining({
        error: expect.objectContaining({ code: 'transport_unavailable' }),
      }),
    );
  });

  test('polls where streams are held back on the way', async () => {
    // Later versions of Node have one.
    vi.stubGlobal('WebSocket', undefined);
    const relay = await serve();
    const made = await session(relay);
    const blocked: NonNullable<RelayClientOptions['fetch']> = async (url, init) => {
      const response = await fetch(url, init);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
      await response.body?.cancel();
      return new Response('<html>blocked</html>', { headers: { 'Content-Type': 'text/html' } });
    };
    const { connection } = await connect(relay, made, [tool('a')], {
      WebSocket: undefined,
      fetch: blocked,
    });
    expect(connection.transport).toBe('poll');
    expect(await call(relay, made, 'a')).toBe('a');
  });
});
