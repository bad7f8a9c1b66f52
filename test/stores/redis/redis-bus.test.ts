/**
 * The bus of a relay on Redis: the contract of every bus, and what becomes of it when its
 * connection is lost.
 */
import type { Redis, RedisOptions } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { redisBus, redisStore } from '../../../src/stores/redis/index.ts';
import type { RelayBus } from '../../../src/surfaces/relay/ports/bus.ts';
import type { StoreOp } from '../../../src/surfaces/relay/ports/store-ops.ts';
import { busConformance } from '../../../src/surfaces/testing/index.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from './redis-server.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`a relay's bus on Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: Redis;
  const buses: RelayBus[] = [];
  let names = 0;
  const fresh = (own = client): RelayBus => {
    const bus = redisBus({ client: own, prefix: `test-${++names}` });
    buses.push(bus);
    return bus;
  };
  const listening = async (): Promise<number> =>
    ((await client.client('LIST', 'TYPE', 'PUBSUB')) as string).split('\n').filter(Boolean).length;
  const subscribed = async (): Promise<unknown> => client.pubsub('CHANNELS', `test-${names}:*`);
  const ear = async (bus: RelayBus, channel: string) => {
    const heard: (string | undefined)[] = [];
    const stop = await bus.subscribe(channel, (message) => void heard.push(message));
    return { heard, stop };
  };

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
    await client.ping();
  });
  afterEach(async () => {
    for (const bus of buses.splice(0)) await bus.close?.();
  });
  afterAll(() => server.stop());

  describe('keeps the contract', () => {
    for (const rule of busConformance(() => fresh())) test(rule.name, rule.run);
  });

  test('hears what a store over the same client and with the same prefix publishes', async () => {
    const bus = fresh();
    const prefix = `test-${names}`;
    const store = redisStore({ client, prefix });
    const others = [
      redisStore({ client, prefix: `${prefix}-other` }),
      redisStore({ client: server.connect(), prefix }),
    ];
    expect(store.carrier).toBe(bus.carrier);
    for (const other of others) expect(other.carrier).not.toBe(bus.carrier);
    const { heard } = await ear(bus, 's');
    await store.create('s', 'k', '1', Date.now() + 60_000);
    const step: readonly StoreOp[] = [
      { op: 'get', keys: ['k', 'none', 'k'] },
      { op: 'publish', message: 'without' },
      { op: 'set', key: 'k', value: '2', version: 1 },
      { op: 'publish', message: 'with', versionOf: 2 },
    ];
    expect((await store.apply('s', step)).refused).toBeUndefined();
    expect((await store.apply('s', step)).refused).toBe(2);
    await bus.publish('s', 'end');
    await soon(async () => heard).toEqual(['without', 'with 2', 'end']);
  });

  test(
    'has one connection of its own, from its first listener to its end, and leaves the host its ' +
      'client',
    async () => {
      await soon(listening).toBe(0);
      const bus = fresh();
      await bus.publish('c', 'm');
      expect(await listening()).toBe(0);
      await Promise.all(['a', 'b', 'c', 'a'].map((channel) => bus.subscribe(channel, () => {})));
      expect(await listening()).toBe(1);
      await bus.close?.();
      await soon(listening).toBe(0);
      expect(await client.ping()).toBe('PONG');
      await expect(bus.subscribe('c', () => {})).rejects.toThrow('cannot be reached');
    },
  );

  test('subscribes once to a channel, and to none without listeners', async () => {
    const bus = fresh();
    const [one, two] = [await ear(bus, 'c'), await ear(bus, 'c')];
    expect(await subscribed()).toEqual([`test-${names}:channel:{c}`]);
    one.stop();
    one.stop();
    expect(await subscribed()).toEqual([`test-${names}:channel:{c}`]);
    two.stop();
    await soon(subscribed).toEqual([]);
    const again = await ear(bus, 'c');
    await bus.publish('c', 'm');
    await soon(() => again.heard).toEqual(['m']);
    expect([one.heard, two.heard]).toEqual([[], []]);
  });

  test('reaches the buses of other clients, and none with another prefix', async () => {
    const [one, stranger] = [fresh(), fresh()];
    const other = redisBus({ client: server.connect(), prefix: `test-${names - 1}` });
    buses.push(other);
    const [near, far, strange] = [
      await ear(one, 'c'),
      await ear(other, 'c'),
      await ear(stranger, 'c'),
    ];
    await one.publish('c', 'm');
    await soon(() => [near.heard, far.heard]).toEqual([['m'], ['m']]);
    expect(strange.heard).toEqual([]);
  });

  test.each<[string, RedisOptions & { replyMapping?: 'resp3' }]>([
    ['with names of its own for keys', { keyPrefix: 'host:' }],
    ['with pipelines of its own', { enableAutoPipelining: true }],
    ['with the replies of RESP3', { replyMapping: 'resp3' }],
    ['with the older protocol', { protocol: 2 }],
    ['that connects when it is first used', { lazyConnect: true }],
    ['that keeps no commands while it is not connected', { enableOfflineQueue: false }],
  ])('takes a client %s', async (_, options) => {
    const own = server.connect(options);
    if (options.enableOfflineQueue === false)
      await new Promise((resolve) => own.once('ready', resolve));
    const bus = fresh(own);
    const { heard } = await ear(bus, 'c');
    await bus.publish('c', 'm');
    await soon(() => heard).toEqual(['m']);
  });
});

describe.skipIf(!redisAvailable)(`a relay's bus whose Redis fails${whyNot}`, () => {
  const withServer = async (
    check: (server: RedisServer, bus: RelayBus, client: Redis) => Promise<void>,
    commandTimeoutMs?: number,
  ): Promise<void> => {
    const server = await startRedis();
    const client = server.connect();
    const bus = redisBus({ client, commandTimeoutMs });
    try {
      await check(server, bus, client);
    } finally {
      await bus.close?.();
      await server.stop();
    }
  };

  test('informs every listener that messages may be lost, and continues', () =>
    withServer(async (server, bus, client) => {
      const heard: Record<string, (string | undefined)[]> = { a: [], b: [], c: [] };
      for (const [channel, messages] of Object.entries(heard))
        await bus.subscribe(channel, (message) => void messages.push(message));
      await bus.subscribe('a', () => {
        throw new Error('thrown by a listener');
      });
      const late: unknown[] = [];
      const stop = await bus.subscribe('stopped', (message) => void late.push(message));
      for (let round = 1; round <= 2; round++) {
        await server.kill('SIGKILL');
        await soon(() => client.status).toBe('reconnecting');
        if (round === 1) stop();
        await expect(bus.publish('a', 'a secret')).rejects.toThrow(
          /^The store cannot be reached: Redis did not execute the command \(reconnecting\)/,
        );
        await expect(bus.subscribe('a secret', () => {})).rejects.toThrow(
          /^The store cannot be reached/,
        );
        await server.restart();
        await soon(() => heard).toEqual({
          a: Array(round).fill(undefined),
          b: Array(round).fill(undefined),
          c: Array(round).fill(undefined),
        });
        await soon(() => client.pubsub('CHANNELS')).toHaveLength(3);
        await soon(() => client.status).toBe('ready');
      }
      for (const channel of Object.keys(heard)) await bus.publish(channel, `to ${channel}`);
      await expect
        .poll(() => heard)
        .toEqual({
          a: [undefined, undefined, 'to a'],
          b: [undefined, undefined, 'to b'],
          c: [undefined, undefined, 'to c'],
        });
    }));

  test('comes back also where only its own connection was cut', () =>
    withServer(async (_, bus, client) => {
      const heard: (string | undefined)[] = [];
      await bus.subscribe('c', (message) => void heard.push(message));
      await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await soon(() => heard).toEqual([undefined]);
      await bus.publish('c', 'm');
      await soon(() => heard).toEqual([undefined, 'm']);
    }));

  test('comes back where Redis refused to let it listen for a while', () =>
    withServer(async (_, bus, client) => {
      const heard: (string | undefined)[] = [];
      await bus.subscribe('c', (message) => void heard.push(message));
      await client.acl('SETUSER', 'default', '-subscribe');
      await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await expect(bus.subscribe('other', () => {})).rejects.toThrow(
        /^The store cannot be reached/,
      );
      await soon(async () => ((await client.acl('LOG')) as unknown[]).length).toBeGreaterThan(0);
      expect(heard).toEqual([]);
      await client.acl('SETUSER', 'default', '+subscribe');
      await soon(() => heard).toEqual([undefined]);
      await bus.publish('c', 'm');
      await soon(() => heard).toEqual([undefined, 'm']);
    }));

  test('comes back where a client does not do so by itself', () =>
    withServer(async (server) => {
      const client = server.connect({ retryStrategy: () => null });
      const bus = redisBus({ client });
      const heard: (string | undefined)[] = [];
      await bus.subscribe('c', (message) => void heard.push(message));
      await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await soon(() => heard).toEqual([undefined]);
      await bus.publish('c', 'm');
      await soon(() => heard).toEqual([undefined, 'm']);
      await bus.close?.();
    }));

  test('rejects in time without an answer, and stops listening to the channel', () =>
    withServer(async (server, bus, client) => {
      const { signal } = server;
      await bus.subscribe('c', () => {});
      signal('SIGSTOP');
      const answers = await Promise.allSettled([
        bus.publish('c', 'a secret'),
        bus.subscribe('a secret', () => {}),
        bus.subscribe('a secret', () => {}),
      ]);
      expect(answers.map((answer) => (answer as PromiseRejectedResult).reason.message)).toEqual(
        Array(3).fill(expect.stringContaining('(timeout)')),
      );
      signal('SIGCONT');
      await soon(() => client.pubsub('CHANNELS')).toEqual(['host-tools:channel:{c}']);
    }, 500));

  test('closes while it is being connected, and while it is cut off', () =>
    withServer(async (server, bus, client) => {
      const opening = bus.subscribe('c', () => {});
      await bus.close?.();
      await expect(opening).rejects.toThrow('cannot be reached');
      const other = redisBus({ client });
      const late: unknown[] = [];
      await other.subscribe('c', (message) => void late.push(message));
      await server.kill('SIGKILL');
      await other.close?.();
      await server.restart();
      await soon(() => client.status).toBe('ready');
      expect(await client.pubsub('CHANNELS')).toEqual([]);
      expect(late).toEqual([]);
    }));
});
