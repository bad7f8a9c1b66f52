/** The store of a relay on Redis: the contract of every store, and what is Redis' own. */
import { inspect } from 'node:util';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RedisClient, redisStore } from '../../../src/stores/redis/index.ts';
import type { RelayStore } from '../../../src/surfaces/relay/ports/store.ts';
import { relayStoreConformance } from '../../../src/surfaces/testing/index.ts';
import {
  demandRedis,
  patient,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from './redis-server.ts';

demandRedis();

const later = (): number => Date.now() + 60_000;

/**
 * Each operation that a session can be asked for; none of them may take more than one round trip.
 */
const operations: Readonly<
  Record<string, (store: RelayStore, session: string) => Promise<unknown>>
> = {
  create: (store, session) => store.create(`${session} again`, 'k', 'a secret', later()),
  get: (store, session) => store.get(session, ['k', 'other']),
  set: (store, session) => store.set(session, 'k', 'a secret', 1),
  delete: (store, session) => store.delete(session, 'other'),
  append: (store, session) => store.append(session, 'log', 'a secret', 10),
  read: (store, session) => store.read(session, 'log', 0, 10),
  acquire: (store, session) => store.acquire(session, 'lease', 'a secret', 1_000),
  renew: (store, session) => store.renew(session, 'lease', 1, 1_000),
  holder: (store, session) => store.holder(session, 'lease'),
  release: (store, session) => store.release(session, 'lease', 1),
  count: (store, session) => store.count(session, 1, 1_000),
  schedule: (store, session) => store.schedule(session, 'k', 0),
  due: (store) => store.due(10, 1_000),
  unschedule: (store, session) => store.unschedule(session, 'k'),
  ping: (store) => store.ping(),
  extend: (store, session) => store.extend(session, Date.now() + 60_000),
  drop: (store, session) => store.drop(session),
};

describe.skipIf(!redisAvailable)(`a relay's store on Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: Redis;
  let stores = 0;
  const fresh = (): RelayStore => redisStore({ client, prefix: `test-${++stores}`, ...patient });

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
  });
  afterAll(() => server.stop());

  describe('keeps the contract', () => {
    for (const rule of relayStoreConformance(() => fresh())) test(rule.name, rule.run);
  });

  describe('has keys', () => {
    const session = 'a {b}:c';
    const keys = (): Promise<string[]> => client.keys(`test-${stores}:*`);

    test('that start with the prefix share a slot of a cluster and the expiry', async () => {
      const store = fresh();
      const others = (await client.keys('*')).length;
      const expiresAt = Date.now() + 60_000;
      await store.create(session, 'k', 'v', expiresAt);
      await store.append(session, 'one', 'v', 10);
      await store.append(session, 'two {x}', 'v', 10);
      await store.acquire(session, 'lease', 'me', 10);
      const found = await keys();
      expect(found.toSorted()).toEqual(
        ['', ':log:one', ':log:two {x}'].map(
          (rest) => `test-${stores}:session:{a%20%7Bb%7D%3Ac}${rest}`,
        ),
      );
      expect((await client.keys('*')).length).toBe(others + found.length);
      expect(new Set(found.map((key) => /\{[^}]+\}/.exec(key)?.[0])).size).toBe(1);
      for (const key of found) expect(await client.pexpiretime(key)).toBe(expiresAt);
    });

    test('are all gone after a drop, except those that belong to no session', async () => {
      const store = fresh();
      for (const name of [session, 'other']) {
        await store.create(name, 'k', 'v', later());
        await store.append(name, 'log', 'v', 10);
      }
      await store.count('who', 1, 60_000);
      await store.schedule(session, 'k', 60_000);
      await store.drop(session);
      expect((await keys()).toSorted()).toEqual(
        ['count:{who}', 'due', 'session:{other}', 'session:{other}:log:log'].map(
          (rest) => `test-${stores}:${rest}`,
        ),
      );
      expect(await client.pttl(`test-${stores}:count:{who}`)).toBeGreaterThan(0);
      await store.unschedule(session, 'k');
      await store.drop('other');
      expect(await keys()).toEqual([`test-${stores}:count:{who}`]);
    });

    test('of a log that forget what an evicted session of that name left', async () => {
      const store = fresh();
      await store.create('s', 'k', 'v', later());
      for (let entry = 0; entry < 3; entry++) await store.append('s', 'log', 'old', 10);
      await client.del(`test-${stores}:session:{s}`);
      expect(await store.read('s', 'log', 0, 10)).toEqual({ entries: [], first: 0, last: 0 });
      await store.create('s', 'k', 'v', later());
      expect(await store.read('s', 'log', 0, 10)).toEqual({ entries: [], first: 0, last: 0 });
      expect(await store.append('s', 'log', 'new', 10)).toEqual({ id: 1, dropped: [] });
      expect(await store.read('s', 'log', 0, 10)).toEqual({
        entries: [{ id: 1, value: 'new' }],
        first: 1,
        last: 1,
      });
    });
  });

  test('takes one round trip per operation, and another one for an unknown script', async () => {
    const sent: string[] = [];
    const counting = new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          sent.push(String(name));
          return Reflect.apply(member, target, args);
        };
      },
    });
    const store = redisStore({
      client: counting as unknown as RedisClient,
      prefix: `test-${++stores}`,
    });
    for (const session of ['to make the scripts known', 's']) {
      await store.create(session, 'k', 'v', later());
      for (const [name, run] of Object.entries(operations)) {
        sent.length = 0;
        await run(store, session);
        if (session === 's')
          expect([name, sent]).toEqual([
            name,
            [expect.stringMatching(/^(evalsha|hmget|zrem|ping)$/)],
          ]);
      }
    }
    await client.script('FLUSH');
    sent.length = 0;
    expect(await store.create('s', 'k', 'v', later())).toBe(true);
    expect(sent).toEqual(['evalsha', 'eval']);
  });

  test('serves any number of clients: of those who race, one wins', async () => {
    const prefix = `test-${++stores}`;
    const [one, two] = [server.connect(), server.connect()].map((client) =>
      redisStore({ client, prefix }),
    ) as [RelayStore, RelayStore];
    const racing = <T>(run: (store: RelayStore, index: number) => Promise<T>): Promise<T[]> =>
      Promise.all(
        Array.from({ length: 40 }, (_, index) => run(index % 2 === 0 ? one : two, index)),
      );
    const winners = (answers: readonly unknown[]): number =>
      answers.filter((answer) => answer !== undefined && answer !== false).length;
    expect(
      winners(await racing((store, index) => store.create('s', 'k', String(index), later()))),
    ).toBe(1);
    expect(winners(await racing((store, index) => store.set('s', 'k', String(index), 1)))).toBe(1);
    expect(winners(await racing((store, index) => store.set('s', 'new', String(index), 0)))).toBe(
      1,
    );
    expect(
      winners(await racing((store, index) => store.acquire('s', 'lease', String(index), 60_000))),
    ).toBe(1);
    expect(
      (await racing((store) => store.count('c', 7, 60_000))).filter(({ allowed }) => allowed),
    ).toHaveLength(7);
    await one.schedule('s', 'k', 0);
    expect((await racing((store) => store.due(10, 60_000))).flat()).toEqual([
      { session: 's', key: 'k' },
    ]);
    const ids = (await racing((store) => store.append('s', 'log', 'v', 40))).map(
      (added) => added?.id,
    );
    expect(ids.toSorted((a = 0, b = 0) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, index) => index + 1),
    );
    expect(winners(await racing((store) => store.delete('s', 'k', 2)))).toBe(1);
    expect(winners(await racing((store) => store.drop('s')))).toBe(1);
  });

  test.each([
    ['with names of its own for keys', { keyPrefix: 'host:' }],
    ['with pipelines of its own', { enableAutoPipelining: true }],
    ['with the replies of RESP3', { replyMapping: 'resp3' as const }],
    ['with the older protocol', { protocol: 2 as const }],
  ])('takes a client %s', async (_, options) => {
    const store = redisStore({ client: server.connect(options), prefix: `test-${++stores}` });
    expect(await store.create('s', 'k', 'v', later())).toBe(true);
    expect(await Promise.all([store.set('s', 'k', 'w', 1), store.set('s', 'k', 'x', 1)])).toEqual([
      2,
      undefined,
    ]);
    expect(await store.get('s', ['k', 'none'])).toEqual([{ value: 'w', version: 2 }, undefined]);
    for (const value of ['a', 'b']) await store.append('s', 'log', value, 1);
    expect(await store.append('s', 'log', 'c', 1)).toEqual({ id: 3, dropped: ['b'] });
    expect(await store.read('s', 'log', 0, 9)).toEqual({
      entries: [{ id: 3, value: 'c' }],
      first: 3,
      last: 3,
    });
    expect(await store.acquire('s', 'lease', 'me', 60_000)).toBe(1);
    expect(await store.holder('s', 'lease')).toMatchObject({ holder: 'me', epoch: 1 });
    expect(await store.count('c', 1, 60_000)).toEqual({ allowed: true, retryAfterMs: 0 });
    await store.schedule('s', 'k', 0);
    expect(await store.due(9, 60_000)).toEqual([{ session: 's', key: 'k' }]);
    expect(await store.drop('s')).toBe(true);
    expect(await store.read('s', 'log', 0, 9)).toEqual({ entries: [], first: 0, last: 0 });
  });
});

describe.skipIf(!redisAvailable)(`a relay's store whose Redis fails${whyNot}`, () => {
  /** A server that a test may treat as it likes. */
  const withServer = async (
    check: (server: RedisServer, store: RelayStore, client: Redis) => Promise<void>,
    more: readonly string[] = [],
  ): Promise<void> => {
    const server = await startRedis(more);
    try {
      const client = server.connect();
      await check(server, redisStore({ client }), client);
    } finally {
      await server.stop();
    }
  };
  /** Rejects as it has to, soon, and tells nothing that was given to it. */
  const fails = async (
    operation: () => Promise<unknown>,
    reason: string | RegExp,
  ): Promise<void> => {
    const error = await operation().then(
      () => expect.unreachable('Expected the operation to reject'),
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(
      /^The store cannot be reached: Redis did not execute the command \(\w+\)\. Try again later\.$/,
    );
    expect((error as { reason?: unknown }).reason).toEqual(
      typeof reason === 'string' ? reason : expect.stringMatching(reason),
    );
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/secret|a session/);
  };
  const reads = ['get', 'read', 'holder', 'ping'];

  test('keeps what was acknowledged over a SIGKILL', () =>
    withServer(async (server, store, client) => {
      await store.create('s', 'k', 'v', later());
      const epoch = await store.acquire('s', 'lease', 'me', 1);
      await store.schedule('s', 'due', 0);
      await store.count('c', 1, 60_000);
      let acknowledged = 0;
      let version = 1;
      const writing = (async () => {
        for (;;) {
          version = (await store.set('s', 'k', 'v', version)) as number;
          acknowledged = (await store.append('s', 'log', String(acknowledged + 1), 10_000))
            ?.id as number;
        }
      })().catch(() => {});
      await soon(() => acknowledged).toBeGreaterThan(50);
      await server.kill('SIGKILL');
      await writing;
      await server.restart();
      await soon(() => client.status).toBe('ready');
      const { entries, last } = await store.read('s', 'log', 0, 10_000);
      expect(last).toBeGreaterThanOrEqual(acknowledged);
      expect(entries.map(({ id }) => id)).toEqual(
        Array.from({ length: last }, (_, index) => index + 1),
      );
      expect((await store.get('s', ['k']))[0]?.version).toBeGreaterThanOrEqual(version);
      expect(await store.acquire('s', 'lease', 'other', 1_000)).toBe((epoch ?? 0) + 1);
      expect(await store.due(10, 0)).toEqual([{ session: 's', key: 'due' }]);
      expect((await store.count('c', 1, 60_000)).allowed).toBe(false);
    }));

  test('rejects at once while the server is down, and recovers by itself', () =>
    withServer(async (server, store, client) => {
      await store.create('a session', 'k', 'v', later());
      await server.kill('SIGKILL');
      await soon(() => client.status).toBe('reconnecting');
      for (const run of Object.values(operations))
        await fails(() => run(store, 'a session'), /reconnecting|close|timeout/);
      await server.restart();
      await soon(() => client.status).toBe('ready');
      expect(await store.get('a session', ['k'])).toEqual([{ value: 'v', version: 1 }]);
    }));

  test('rejects in time when the server does not answer', () =>
    withServer(async (server, store, client) => {
      await store.create('a session', 'k', 'v', later());
      server.signal('SIGSTOP');
      await fails(
        () => redisStore({ client, commandTimeoutMs: 200 }).set('a session', 'k', 'a secret'),
        'timeout',
      );
      server.signal('SIGCONT');
      // It was sent: that the caller gave up does not call it back.
      await soon(() => store.get('a session', ['k'])).toEqual([{ value: 'a secret', version: 2 }]);
    }));

  test('waits for a client that is being connected, and for none that was ended', () =>
    withServer(async (server) => {
      const client = server.connect({ lazyConnect: true });
      const store = redisStore({ client });
      await store.ping();
      client.disconnect();
      await soon(() => client.status).toBe('end');
      await fails(() => store.get('a session', ['k']), 'end');
    }));

  test('has no session left after FLUSHALL, and takes no write to one', () =>
    withServer(async (_, store, client) => {
      await store.create('s', 'k', 'v', later());
      await client.flushall();
      expect(await store.get('s', ['k'])).toEqual([undefined]);
      expect(await store.set('s', 'k', 'v', 1)).toBeUndefined();
      expect(await store.append('s', 'log', 'v', 1)).toBeUndefined();
      expect(await client.dbsize()).toBe(0);
    }));

  test('rejects what a replica refuses to write', () =>
    withServer(async (_, store, client) => {
      await store.create('a session', 'k', 'a secret', later());
      await store.acquire('a session', 'lease', 'a secret', 60_000);
      await client.replicaof('127.0.0.1', 1);
      for (const [name, run] of Object.entries(operations))
        if (!reads.includes(name) && !['delete', 'due'].includes(name))
          await fails(() => run(store, 'a session'), 'READONLY');
      await client.replicaof('NO', 'ONE');
      expect(await store.set('a session', 'k', 'w', 1)).toBe(2);
    }));

  test('rejects what a full server refuses, with nothing half done', () =>
    withServer(async (_, store, client) => {
      await store.create('a session', 'k', 'v', later());
      await store.append('a session', 'log', 'v', 10);
      await client.config('SET', 'maxmemory', '1');
      for (const name of ['create', 'set', 'append', 'acquire', 'count', 'schedule'])
        await fails(() => operations[name]!(store, 'a session'), 'OOM');
      expect(await store.get('a session', ['k'])).toEqual([{ value: 'v', version: 1 }]);
      expect(await store.read('a session', 'log', 0, 10)).toMatchObject({ last: 1 });
      expect(await client.keys('*')).toHaveLength(2);
      await client.config('SET', 'maxmemory', '0');
      expect(await store.append('a session', 'log', 'v', 10)).toEqual({ id: 2, dropped: [] });
      await client.config('SET', 'maxmemory', '1');
      // What frees room goes.
      expect(await store.delete('a session', 'k')).toBe(true);
      expect(await store.drop('a session')).toBe(true);
    }));
});
