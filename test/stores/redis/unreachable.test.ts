/**
 * How failures of Redis are told: by their kind, and by nothing that a command carried. No server
 * is needed.
 */
import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import {
  type RedisClient,
  type RedisUnreachable,
  redisApprovals,
  redisStore,
} from '../../../src/stores/redis/index.ts';

/** A client whose commands do what it is told. */
function client(command: () => Promise<never>, status = 'ready'): RedisClient {
  const commands = Object.fromEntries(
    ['eval', 'evalsha', 'get', 'getdel', 'set', 'hmget', 'zrem', 'ping'].map((name) => [
      name,
      vi.fn(command),
    ]),
  );
  return {
    status,
    duplicate: () => expect.unreachable('Expected no connection to be made'),
    ...commands,
  } as unknown as RedisClient;
}

const refusal = (message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { command: { name: 'evalsha', args: ['a secret'] }, ...more });

const operations = (
  of: RedisClient,
  commandTimeoutMs?: number,
): readonly (() => Promise<unknown>)[] => {
  const options = { client: of, commandTimeoutMs };
  const [store, approvals] = [redisStore(options), redisApprovals(options)];
  const space = { session: 'a secret' };
  return [
    async () => store.apply(space, [{ op: 'set', key: 'k', value: 'a secret' }]),
    async () => store.apply(space, [{ op: 'get', keys: ['k'] }]),
    async () => store.apply(space, [{ op: 'publish', message: 'a secret' }]),
    async () => store.schedule([{ owner: 'a secret', key: 'a secret' }], 1),
    async () => store.due(1, 1),
    async () => store.ping(),
    () => store.listen(space, () => {}),
    async () =>
      approvals.apply({ shared: 'a secret' }, [{ op: 'set', key: 'a secret', value: 'a secret' }]),
    async () => approvals.apply({ shared: 'a secret' }, [{ op: 'get', keys: ['a secret'] }]),
    async () => approvals.apply({ shared: 'a' }, [{ op: 'list', list: 'a secret', limit: 9 }]),
  ];
};

async function reasons(running: readonly (() => Promise<unknown>)[]): Promise<string> {
  const found = new Set<string>();
  for (const run of running) {
    const error = (await run().then(
      () => expect.unreachable('Expected it to reject'),
      (error: unknown) => error,
    )) as RedisUnreachable;
    expect(error).toBeInstanceOf(Error);
    expect(error.message).toBe(
      `The store cannot be reached: Redis did not execute the command (${error.reason}). Try ` +
        'again later.',
    );
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('a secret');
    found.add(error.reason);
  }
  return [...found].join();
}

test.each([
  ["READONLY You can't write against a read only replica.", 'READONLY'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'OOM'],
  ['LOADING Redis is loading the dataset in memory', 'LOADING'],
  ['CLUSTERDOWN The cluster is down', 'CLUSTERDOWN'],
  ['MOVED 866 127.0.0.1:7001', 'MOVED'],
  ['MISCONF Redis is configured to save snapshots', 'MISCONF'],
  ['NOAUTH Authentication required.', 'NOAUTH'],
  ['NOSCRIPT No matching script. Please use EVAL.', 'NOSCRIPT'],
  ['Connection is closed.', 'failed'],
  ['Too many Cluster redirections. Last error: a secret', 'failed'],
  ['a secret', 'failed'],
  ['ASECRETTHATISVERYLONGINDEED', 'failed'],
  ['', 'failed'],
])('an error of Redis is told by its word: %s', async (message, reason) => {
  expect(await reasons(operations(client(() => Promise.reject(refusal(message)))))).toBe(reason);
});

test('an error of a socket has its code, and any other value is `failed`', async () => {
  const rejects = (error: unknown): Promise<string> =>
    reasons(operations(client(() => Promise.reject(error))));
  expect(await rejects(refusal('connect to a secret', { code: 'ECONNREFUSED' }))).toBe(
    'ECONNREFUSED',
  );
  expect(await rejects(refusal('a secret', { name: 'MaxRetriesPerRequestError' }))).toBe(
    'reconnecting',
  );
  for (const odd of ['READONLY a secret', undefined, { message: 'OOM' }])
    expect(await rejects(odd)).toBe('failed');
});

test.each(['reconnecting', 'close', 'end', 'disconnecting'])(
  'a client that is %s is given no command',
  async (status) => {
    const command = vi.fn(() => Promise.reject(new Error('sent')));
    expect(await reasons(operations(client(command, status)))).toBe(status);
    expect(command).not.toHaveBeenCalled();
  },
);

test('a command without an answer is reported in time', async () => {
  vi.useFakeTimers();
  for (const run of operations(
    client(() => new Promise(() => {})),
    700,
  )) {
    let reason: string | undefined;
    const told = reasons([run]).then((found) => {
      reason = found;
    });
    await vi.advanceTimersByTimeAsync(699);
    expect(reason).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await told;
    expect(reason).toBe('timeout');
  }
});
