/** Messages of a store on Redis, and what becomes of them when its connection is lost. */
import type { Redis, RedisOptions } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import { redisStore } from '../../../src/stores/redis/redis-store.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from './redis-server.ts';

demandRedis();

const space = { session: 'c' } as const;

/** What is heard of a space. */
async function ear(store: Store, of: Store.Space = space) {
  const heard: (string | undefined)[] = [];
  const stop = await store.listen(of, (message) => void heard.push(message));
  return { heard, stop };
}

async function publish(store: Store, message: string, to: Store.Space = space): Promise<void> {
  await store.apply(to, [{ op: 'publish', message }]);
}

describe.skipIf(!redisAvailable)(`messages on Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: Redis;
  const stores: Store[] = [];
  let names = 0;
  const fresh = (own = client, prefix = `test-${++names}`): Store => {
    const store = redisStore({ client: own, prefix });
    stores.push(store);
    return store;
  };
  const listening = async (): Promise<number> =>
    ((await client.client('LIST', 'TYPE', 'PUBSUB')) as string).split('\n').filter(Boolean).length;
  const subscribed = async (): Promise<unknown> => client.pubsub('CHANNELS', `test-${names}:*`);

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
    await client.ping();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
  afterAll(() => server.stop());

  test(
    'have one connection of their own, from the first listener to the end, and leave the host ' +
      'its client',
    async () => {
      await soon(listening).toBe(0);
      const store = fresh();
      await publish(store, 'm');
      expect(await listening()).toBe(0);
      await Promise.all(['a', 'b', 'c', 'a'].map((session) => store.listen({ session }, () => {})));
      expect(await listening()).toBe(1);
      await store.close();
      await store.close();
      await soon(listening).toBe(0);
      expect(await client.ping()).toBe('PONG');
      await expect(ear(store)).rejects.toThrow('cannot be reached');
    },
  );

  test('subscribe once to a channel, and to none without listeners', async () => {
    const store = fresh();
    const [one, two] = [await ear(store), await ear(store)];
    expect(await subscribed()).toEqual([`test-${names}:session:{c}:channel`]);
    one.stop();
    one.stop();
    expect(await subscribed()).toHaveLength(1);
    two.stop();
    await soon(subscribed).toEqual([]);
    const again = await ear(store);
    await publish(store, 'm');
    await soon(() => again.heard).toEqual(['m']);
    expect([one.heard, two.heard]).toEqual([[], []]);
  });

  test('reach other clients, but no other space and no other prefix', async () => {
    const [one, stranger] = [fresh(), fresh()];
    const other = fresh(server.connect(), `test-${names - 1}`);
    const ears = await Promise.all([
      ear(one),
      ear(other),
      ear(one, { shared: 'c' }),
      ear(one, { session: 'd' }),
      ear(stranger),
    ]);
    await publish(one, 'm');
    await publish(other, 'last', { shared: 'c' });
    await soon(() => ears.map(({ heard }) => heard)).toEqual([['m'], ['m'], ['last'], [], []]);
  });

  test('have any text up to the limit, and of a longer one it is said to be lost', async () => {
    const store = fresh();
    const { heard } = await ear(store);
    const limit = store.maxMessageChars as number;
    const texts = ['', '=', ' ', '\0', 'ä\u{1f600}', 'x'.repeat(limit)];
    for (const text of texts) await publish(store, text);
    await publish(store, 'x'.repeat(limit + 1));
    await soon(() => heard).toEqual([...texts, undefined]);
  });

  test.each<[string, RedisOptions & { replyMapping?: 'resp3' }]>([
    ['that connects when it is first used', { lazyConnect: true }],
    ['that keeps no commands while it is not connected', { enableOfflineQueue: false }],
  ])('take a client %s', async (_, options) => {
    const own = server.connect(options);
    if (options.enableOfflineQueue === false)
      await new Promise((resolve) => own.once('ready', resolve));
    const store = fresh(own);
    const { heard } = await ear(store);
    await publish(store, 'm');
    await soon(() => heard).toEqual(['m']);
  });
});

describe.skipIf(!redisAvailable)(`messages of a Redis that fails${whyNot}`, () => {
  const withServer = async (
    check: (server: RedisServer, store: Store, client: Redis) => Promise<void>,
    commandTimeoutMs?: number,
  ): Promise<void> => {
    const server = await startRedis();
    const client = server.connect();
    const store = redisStore({ client, commandTimeoutMs });
    try {
      await check(server, store, client);
    } finally {
      await store.close();
      await server.stop();
    }
  };
  const cut = (client: Redis): Promise<unknown> => client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');

  test('every listener hears that messages may be lost, and hears again', () =>
    withServer(async (server, store, client) => {
      const sessions = ['a', 'b', 'c'];
      const ears = await Promise.all(sessions.map((session) => ear(store, { session })));
      await store.listen({ session: 'a' }, () => {
        throw new Error('thrown by a listener');
      });
      const stopped = await ear(store, { session: 'stopped' });
      for (let round = 1; round <= 2; round++) {
        await server.kill('SIGKILL');
        await soon(() => client.status).toBe('reconnecting');
        if (round === 1) stopped.stop();
        await expect(publish(store, 'a secret')).rejects.toThrow(/\(reconnecting\)/);
        await expect(ear(store, { session: 'new' })).rejects.toThrow(
          /^The store cannot be reached/,
        );
        await server.restart();
        await soon(() => ears.map(({ heard }) => heard)).toEqual(
          sessions.map(() => Array(round).fill(undefined)),
        );
        await soon(() => client.pubsub('CHANNELS')).toHaveLength(3);
        await soon(() => client.status).toBe('ready');
      }
      for (const session of sessions) await publish(store, `to ${session}`, { session });
      await soon(() => ears.map(({ heard }) => heard)).toEqual(
        sessions.map((session) => [undefined, undefined, `to ${session}`]),
      );
      expect(stopped.heard).toEqual([]);
    }));

  test('they come back also where only their own connection was cut', () =>
    withServer(async (_, store, client) => {
      const { heard } = await ear(store);
      await cut(client);
      await soon(() => heard).toEqual([undefined]);
      await publish(store, 'm');
      await soon(() => heard).toEqual([undefined, 'm']);
    }));

  test('they come back where Redis refused to let the store listen for a while', () =>
    withServer(async (_, store, client) => {
      const { heard } = await ear(store);
      await client.acl('SETUSER', 'default', '-subscribe');
      await cut(client);
      await expect(ear(store, { session: 'other' })).rejects.toThrow(
        /^The store cannot be reached/,
      );
      await soon(async () => ((await client.acl('LOG')) as unknown[]).length).toBeGreaterThan(0);
      expect(heard).toEqual([]);
      await client.acl('SETUSER', 'default', '+subscribe');
      await soon(() => heard).toEqual([undefined]);
      await publish(store, 'm');
      await soon(() => heard).toEqual([undefined, 'm']);
    }));

  test('they come back where a client does not do so by itself', () =>
    withServer(async (server) => {
      const client = server.connect({ retryStrategy: () => null });
      const store = redisStore({ client });
      const { heard } = await ear(store);
      await cut(client);
      await soon(() => heard).toEqual([undefined]);
      await publish(store, 'm');
      await soon(() => heard).toEqual([undefined, 'm']);
      await store.close();
    }));

  test('an answer that does not come in time rejects, and the channel is not listened to', () =>
    withServer(async (server, store, client) => {
      await ear(store);
      server.signal('SIGSTOP');
      const answers = await Promise.allSettled([
        publish(store, 'a secret'),
        ear(store, { session: 'a secret' }),
        ear(store, { session: 'a secret' }),
      ]);
      expect(answers.map((answer) => (answer as PromiseRejectedResult).reason.message)).toEqual(
        Array(3).fill(expect.stringContaining('(timeout)')),
      );
      server.signal('SIGCONT');
      await soon(() => client.pubsub('CHANNELS')).toEqual(['host-tools:session:{c}:channel']);
    }, 500));

  test('a store closes while it is being connected, and while it is cut off', () =>
    withServer(async (server, store, client) => {
      const opening = ear(store);
      await store.close();
      await expect(opening).rejects.toThrow('cannot be reached');
      const other = redisStore({ client });
      const { heard } = await ear(other);
      await server.kill('SIGKILL');
      await other.close();
      await server.restart();
      await soon(() => client.status).toBe('ready');
      expect(await client.pubsub('CHANNELS')).toEqual([]);
      expect(heard).toEqual([]);
    }));
});
