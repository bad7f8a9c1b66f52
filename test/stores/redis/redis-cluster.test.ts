/** The store on a cluster of three: what belongs together lies together. */
import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import { redisStore } from '../../../src/stores/redis/index.ts';
import { storeConformance } from '../../../src/surfaces/testing/index.ts';
import { featureRules } from '../shared/feature-rules.ts';
import { type RedisCluster, startCluster } from './redis-cluster.ts';
import { demandRedis, patient, redisAvailable, soon, whyNot } from './redis-server.ts';
import { resultsOf, steps } from './redis-steps.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`a store on a cluster of Redis${whyNot}`, () => {
  let cluster: RedisCluster;
  let client: Cluster;

  beforeAll(async () => {
    cluster = await startCluster();
    client = cluster.connect();
  });
  afterAll(() => cluster.stop());

  describe('keeps the contract', () => {
    let stores = 0;
    const options = () => ({ client, prefix: `contract-${++stores}`, ...patient });
    const make = (): Store => redisStore(options());
    for (const rule of storeConformance(make)) test(rule.name, rule.run);
    for (const rule of featureRules(make)) test(rule.name, rule.run);
  });

  test('has the keys of a space in one slot, and spaces in many', async () => {
    const prefix = 'slots';
    const store = redisStore({ client, prefix, ...patient });
    const names = ['a', 'b', '{c}', '{}', '}{', 'a:b', '\u{1f600}'];
    for (const name of names)
      for (const [space, step] of steps(name)) await resultsOf(store, space, step);
    const keys = (
      await Promise.all(client.nodes('master').map((node) => node.keys(`${prefix}:*`)))
    ).flat();
    expect(keys).toHaveLength(names.length * (3 + 7));
    const spaces = new Set(keys.map((key) => `${key.split('}')[0]}}`));
    expect(spaces.size).toBe(2 * names.length);
    const slots = new Set<number>();
    for (const space of spaces) {
      const group = keys.filter((key) => key.startsWith(space));
      const found = new Set(await Promise.all(group.map((key) => client.cluster('KEYSLOT', key))));
      expect([group, found.size]).toEqual([group, 1]);
      slots.add([...found][0] as number);
    }
    expect(slots.size).toBeGreaterThan(3);
    await store.schedule([{ owner: 'o', key: 'k' }], 0);
    expect(await store.due(1, 60_000)).toEqual([{ owner: 'o', key: 'k' }]);
  });

  test('takes a client with pipelines of its own', async () => {
    const store = redisStore({
      client: cluster.connect({ enableAutoPipelining: true }),
      prefix: 'pipelines',
      ...patient,
    });
    const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
    const set = { op: 'set', key: 'k', value: 'v', version: 0 } as const;
    await Promise.all(names.map((shared) => resultsOf(store, { shared }, [set])));
    expect(
      await Promise.all(
        names.map((shared) => resultsOf(store, { shared }, [{ op: 'get', keys: ['k'] }])),
      ),
    ).toMatchObject(names.map(() => [[{ value: 'v' }]]));
  });

  test(
    'tells listeners that messages may be lost when the server they listen on dies, and another ' +
      'takes its place',
    async () => {
      const prefix = 'dying';
      const store = redisStore({ client, prefix, ...patient });
      const heard: (string | undefined)[] = [];
      const spaces = Array.from({ length: 20 }, (_, index) => ({ session: `c${index}` }));
      for (const space of spaces) await store.listen(space, (message) => void heard.push(message));
      const subscribed = await Promise.all(
        client.nodes('master').map((node) => node.pubsub('CHANNELS', `${prefix}:*`)),
      );
      const port =
        client.nodes('master')[subscribed.findIndex((names) => (names as string[]).length > 0)]
          ?.options.port;
      const dying = cluster.servers.find((server) => server.port === port);
      await dying?.kill('SIGKILL');
      const hasty: Store = redisStore({ client, prefix });
      try {
        await soon(() => heard.filter((message) => message === undefined).length).toBe(
          spaces.length,
        );
        const sent = await Promise.allSettled(
          spaces.map((space) => hasty.apply(space, [{ op: 'publish', message: space.session }])),
        );
        const arrived = spaces.filter((_, index) => sent[index]?.status === 'fulfilled');
        expect(arrived.length).toBeGreaterThan(0);
        await soon(() => heard).toEqual(
          expect.arrayContaining(arrived.map(({ session }) => session)),
        );
      } finally {
        await dying?.restart();
        await cluster.settled();
        await store.close();
      }
    },
  );
});
