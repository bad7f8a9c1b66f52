/**
 * Store, bus, approvals and quotas on a cluster of three: the same contracts, since what belongs
 * together lies together.
 */
import type { Cluster } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  redisApprovals,
  redisBus,
  redisQuotas,
  redisStore,
} from '../../../src/stores/redis/index.ts';
import type { RelayBus } from '../../../src/surfaces/relay/ports/bus.ts';
import {
  approvalStoreConformance,
  busConformance,
  quotaStoreConformance,
  relayStoreConformance,
} from '../../../src/surfaces/testing/index.ts';
import { type RedisCluster, startCluster } from './redis-cluster.ts';
import { demandRedis, patient, redisAvailable, soon, whyNot } from './redis-server.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`a cluster of Redis${whyNot}`, () => {
  let cluster: RedisCluster;
  let client: Cluster;
  let made = 0;
  const buses: RelayBus[] = [];
  const options = (): { client: Cluster; prefix: string; commandTimeoutMs: number } => ({
    client,
    prefix: `test-${++made}`,
    ...patient,
  });
  const freshBus = (own = options()): RelayBus => {
    const bus = redisBus(own);
    buses.push(bus);
    return bus;
  };

  beforeAll(async () => {
    cluster = await startCluster();
    client = cluster.connect();
  });
  afterEach(async () => {
    for (const bus of buses.splice(0)) await bus.close?.();
  });
  afterAll(() => cluster.stop());

  describe('keeps the contract of a store', () => {
    for (const rule of relayStoreConformance(() => redisStore(options())))
      test(rule.name, rule.run);
  });
  describe('keeps the contract of a bus', () => {
    for (const rule of busConformance(() => freshBus())) test(rule.name, rule.run);
  });
  describe('keeps the contract of approvals', () => {
    for (const rule of approvalStoreConformance(() => redisApprovals(options())))
      test(rule.name, rule.run);
  });

  describe('keeps the contract of quotas', () => {
    for (const rule of quotaStoreConformance(() => redisQuotas(options())))
      test(rule.name, rule.run);
  });

  test('has the keys of a session in one slot, and sessions in many', async () => {
    const own = options();
    const store = redisStore(own);
    const slots = new Set<number>();
    for (const session of ['', 'a', 'b', '{c}', '{}', '}{', 'a:b']) {
      await store.create(session, 'k', 'v', Date.now() + 60_000);
      for (const log of ['', 'one', '{two}']) await store.append(session, log, 'v', 10);
    }
    const keys = (
      await Promise.all(client.nodes('master').map((node) => node.keys(`${own.prefix}:*`)))
    ).flat();
    expect(keys).toHaveLength(7 * 4);
    const bySession = new Set(keys.map((key) => `${key.split('}')[0]}}`));
    expect(bySession.size).toBe(7);
    for (const session of bySession) {
      const group = keys.filter((key) => key.startsWith(session));
      const found = new Set(await Promise.all(group.map((key) => client.cluster('KEYSLOT', key))));
      expect([group, found.size]).toEqual([group, 1]);
      slots.add([...found][0] as number);
    }
    expect(slots.size).toBeGreaterThan(3);
  });

  test('takes a client with pipelines of its own', async () => {
    const store = redisStore({
      client: cluster.connect({ enableAutoPipelining: true }),
      prefix: `test-${++made}`,
    });
    const sessions = Array.from({ length: 30 }, (_, index) => `s${index}`);
    expect(
      await Promise.all(
        sessions.map((session) => store.create(session, 'k', session, Date.now() + 60_000)),
      ),
    ).toEqual(sessions.map(() => true));
    expect(await Promise.all(sessions.map((session) => store.get(session, ['k'])))).toEqual(
      sessions.map((value) => [{ value, version: 1 }]),
    );
  });

  test(
    'tells listeners that messages may be lost when the server they listen on dies, and another ' +
      'takes its place',
    async () => {
      const own = options();
      const bus = freshBus(own);
      const heard: (string | undefined)[] = [];
      const channels = Array.from({ length: 20 }, (_, index) => `c${index}`);
      for (const channel of channels)
        await bus.subscribe(channel, (message) => void heard.push(message));
      const subscribed = await Promise.all(
        client.nodes('master').map((node) => node.pubsub('CHANNELS', `${own.prefix}:*`)),
      );
      const port =
        client.nodes('master')[subscribed.findIndex((names) => (names as string[]).length > 0)]
          ?.options.port;
      const dying = cluster.servers.find((server) => server.port === port);
      await dying?.kill('SIGKILL');
      try {
        await soon(() => heard.filter((message) => message === undefined).length).toBe(
          channels.length,
        );
        const sent = await Promise.allSettled(
          channels.map((channel) => bus.publish(channel, channel)),
        );
        const arrived = channels.filter((_, index) => sent[index]?.status === 'fulfilled');
        expect(arrived.length).toBeGreaterThan(0);
        await soon(() => heard).toEqual(expect.arrayContaining(arrived));
      } finally {
        await dying?.restart();
        await cluster.settled();
      }
    },
  );
});
