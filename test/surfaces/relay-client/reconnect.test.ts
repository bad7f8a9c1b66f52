/** `connection.reconnect()`: an application that was replaced takes its session back. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  connectRelay,
  type RelayClientOptions,
  type RelayConnection,
  type RelayStatusEvent,
  type RelayTool,
} from '../../../src/surfaces/relay-client/index.ts';
import { code, type FakeRelay, fakeRelay, token } from './fake-relay.ts';
import { call, closeAll, connect as connectTo, serve, session, tool } from './real-relay-kit.ts';

let relay: FakeRelay;
let statuses: RelayStatusEvent[];
let connections: RelayConnection[];
beforeEach(async () => {
  relay = await fakeRelay();
  statuses = [];
  connections = [];
});
afterEach(async () => {
  for (const connection of connections) await connection.close();
  await relay.close();
  await closeAll();
});

async function connect(options: Partial<RelayClientOptions> = {}): Promise<RelayConnection> {
  const connection = await connectRelay({
    url: relay.url,
    code,
    token,
    tools: [tool('a')],
    transport: 'sse',
    onStatus: (event) => statuses.push(event),
    ...options,
  });
  connections.push(connection);
  return connection;
}
const until = (connection: RelayConnection, status: string) =>
  vi.waitFor(() => expect(connection.status).toBe(status));
const streams = () => relay.of('/stream');
const goodbye = (reason: string) => relay.send('goodbye', { reason, reconnect: false });

describe('a connection that was replaced', () => {
  test('takes the session back, with its newest tools, as a new application', async () => {
    const connection = await connect();
    await connection.update([tool('a'), tool('b')]);
    goodbye('replaced');
    await until(connection, 'closed');
    await connection.reconnect();
    expect(connection.status).toBe('connected');
    expect(relay.of('/register-tools').at(-1)?.body.availableTools).toMatchObject([
      { name: 'a' },
      { name: 'b' },
    ]);
    const [first, second] = streams().map(({ query, headers }) => [
      query.get('client'),
      headers['last-event-id'],
    ]);
    expect(second?.[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(second?.[0]).not.toBe(first?.[0]);
    expect(second?.[1]).toBeUndefined();
    expect(statuses.slice(-4)).toMatchObject([
      { status: 'closed', reason: 'replaced' },
      { status: 'reconnecting' },
      { status: 'reconnecting', failedTools: [] },
      { status: 'connected', transport: 'sse' },
    ]);
  });

  test('may set other tools before it comes back', async () => {
    const connection = await connect();
    goodbye('replaced');
    await until(connection, 'closed');
    await expect(connection.update([tool('c')])).rejects.toMatchObject({ code: 'replaced' });
    await connection.reconnect();
    expect(relay.of('/register-tools').at(-1)?.body.availableTools).toMatchObject([{ name: 'c' }]);
  });

  test('comes back once, however often it is asked at the same time', async () => {
    const connection = await connect();
    goodbye('replaced');
    await until(connection, 'closed');
    await Promise.all([connection.reconnect(), connection.reconnect(), connection.reconnect()]);
    await connection.reconnect();
    expect(streams()).toHaveLength(2);
  });

  test('can be replaced again and come back again', async () => {
    const connection = await connect();
    for (let times = 0; times < 3; times++) {
      goodbye('replaced');
      await until(connection, 'closed');
      await connection.reconnect();
    }
    expect([connection.status, streams().length]).toEqual(['connected', 4]);
  });

  test('stays closed once it was closed, or its signal has aborted', async () => {
    const closed = await connect();
    goodbye('replaced');
    await until(closed, 'closed');
    await closed.close();
    await expect(closed.reconnect()).rejects.toMatchObject({ code: 'closed' });
    const abort = new AbortController();
    const aborted = await connect({ signal: abort.signal });
    goodbye('replaced');
    await until(aborted, 'closed');
    abort.abort(new Error('no longer'));
    await expect(aborted.reconnect()).rejects.toThrow('no longer');
    expect([aborted.status, streams().length]).toEqual(['closed', 2]);
  });

  test('says why if the session is gone when it comes back', async () => {
    const connection = await connect();
    goodbye('replaced');
    await until(connection, 'closed');
    relay.reply('POST /register-tools', { status: 404, body: { error: 'session_not_found' } });
    await expect(connection.reconnect()).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(connection.reconnect()).rejects.toMatchObject({ code: 'session_not_found' });
    expect(statuses.at(-1)).toMatchObject({ status: 'closed', reason: 'session_not_found' });
  });

  test('is closed while it comes back', async () => {
    const connection = await connect();
    goodbye('replaced');
    await until(connection, 'closed');
    const back = connection.reconnect();
    await connection.close();
    await expect(back).rejects.toMatchObject({ code: 'closed' });
  });
});

describe('reconnecting', () => {
  test.each(['session_closed', 'session_expired'])('is refused after %s', async (reason) => {
    const connection = await connect();
    goodbye(reason);
    await until(connection, 'closed');
    await expect(connection.reconnect()).rejects.toMatchObject({ code: reason });
    expect(streams()).toHaveLength(1);
  });

  test('does nothing while the connection is up', async () => {
    const connection = await connect();
    await connection.reconnect();
    expect(streams()).toHaveLength(1);
  });

  test('does not wait for the pause after a loss', async () => {
    // Pauses of hours, if nobody asks.
    const connection = await connect({ random: () => 1e6 });
    relay.cut();
    await until(connection, 'reconnecting');
    await vi.waitFor(() => expect(statuses.at(-1)?.retryInMs).toBeGreaterThan(60_000));
    await connection.reconnect();
    expect([connection.status, streams().length]).toEqual(['connected', 2]);
  });

  test('makes the next attempt at once and then waits as usual', async () => {
    const connection = await connect({ random: () => 1e6 });
    relay.cut();
    await vi.waitFor(() => expect(statuses.at(-1)?.retryInMs).toBeGreaterThan(60_000));
    relay.reply('GET /stream', { status: 503, body: { error: 'store_unavailable' } });
    let back = false;
    const waiting = connection.reconnect().then(() => {
      back = true;
    });
    await vi.waitFor(() => expect(streams()).toHaveLength(2));
    await vi.waitFor(() => expect(statuses.at(-1)).toMatchObject({ status: 'reconnecting' }));
    expect(back).toBe(false);
    await vi.waitFor(() => {
      void connection.reconnect();
      expect(back).toBe(true);
    });
    await waiting;
  });
});

describe('two applications of one session at a real relay', () => {
  const seat = (name: string): RelayTool => tool('who', () => name);

  test('take it from each other, and calls go to the one that has it', async () => {
    const served = await serve();
    const made = await session(served);
    const one = await connectTo(served, made, [seat('one')]);
    const two = await connectTo(served, made, [seat('two')]);
    for (let times = 0; times < 3; times++) {
      await until(one.connection, 'closed');
      expect(await call(served, made, 'who')).toBe('two');
      await one.connection.reconnect();
      await until(two.connection, 'closed');
      expect(await call(served, made, 'who')).toBe('one');
      await two.connection.reconnect();
    }
  });

  test('a call that one had begun is not run by the other, nor twice', async () => {
    const served = await serve();
    const made = await session(served);
    const runs: string[] = [];
    const slow = (name: string): RelayTool =>
      tool('slow', (_args, { signal }) => {
        runs.push(name);
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      });
    const one = await connectTo(served, made, [slow('one')]);
    const asked = call(served, made, 'slow');
    await vi.waitFor(() => expect(runs).toEqual(['one']));
    await connectTo(served, made, [slow('two')]);
    await until(one.connection, 'closed');
    await one.connection.reconnect();
    expect(await asked).toEqual(['executor_lost', expect.any(String)]);
    expect(runs).toEqual(['one']);
  });
});
