/** A real cluster of three masters for tests. */
import { Cluster, type ClusterOptions } from 'ioredis';
import { freePort } from '../free-port.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

export interface RedisCluster {
  readonly servers: readonly RedisServer[];
  /** A client; it ends with the cluster. */
  connect(options?: Pick<ClusterOptions, 'enableAutoPipelining'>): Cluster;
  /** Resolves when all servers agree that all is well. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const slots = [
  [0, 5_460],
  [5_461, 10_922],
  [10_923, 16_383],
] as const;

export async function startCluster(): Promise<RedisCluster> {
  const busPorts = await Promise.all(slots.map(freePort));
  const servers = await Promise.all(
    busPorts.map((busPort) =>
      // One server's absence is not to silence the others.
      startRedis([
        '--cluster-enabled',
        'yes',
        '--cluster-port',
        String(busPort),
        '--cluster-node-timeout',
        '1000',
        '--cluster-require-full-coverage',
        'no',
      ]),
    ),
  );
  const clients: Cluster[] = [];
  const admins = servers.map((server) => server.connect());
  const settled = async (): Promise<void> => {
    const deadline = performance.now() + 15_000;
    for (const admin of admins)
      while (
        !/cluster_state:ok.*cluster_slots_ok:16384.*cluster_known_nodes:3/s.test(
          await admin.cluster('INFO'),
        )
      ) {
        if (performance.now() > deadline)
          throw new Error('Expected the cluster to settle within 15 s');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
  };
  const stop = async (): Promise<void> => {
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    for (const [index, admin] of admins.entries()) {
      await admin.cluster('SET-CONFIG-EPOCH', index + 1);
      await admin.cluster('ADDSLOTSRANGE', slots[index]?.[0] ?? 0, slots[index]?.[1] ?? 0);
      if (index > 0)
        await admin.call(
          'CLUSTER',
          'MEET',
          '127.0.0.1',
          String(servers[0]?.port),
          String(busPorts[0]),
        );
    }
    await settled();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    servers,
    settled,
    stop,
    connect(options) {
      const client = new Cluster(
        servers.map(({ port }) => ({ host: '127.0.0.1', port })),
        { clusterRetryStrategy: () => 50, ...options },
      );
      client.on('error', () => {});
      clients.push(client);
      return client;
    },
  };
}
