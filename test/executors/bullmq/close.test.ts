/** What a worker leaves behind if BullMQ fails to close. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { loadBullmq } from '../../../src/executors/bullmq/connection.ts';
import { serveFleet } from '../../../src/executors/bullmq/index.ts';
import { defineTool } from '../../../src/index.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from '../../stores/redis/redis-server.ts';
import { connectionTo, face, fleetWorld } from './fleet-world.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`a worker whose queue cannot be closed${whyNot}`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test('gives its calls up, aborts them, and leaves no connection', async () => {
    const queue = 'unclosed';
    const client = new Redis(redis.port);
    const connections = async (): Promise<number> =>
      Number(/connected_clients:(\d+)/.exec(await client.info('clients'))?.[1]);
    const before = await connections();
    const signals: AbortSignal[] = [];
    const handler = (_input: unknown, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const worker = await serveFleet({
      connection: connectionTo(redis),
      queue,
      tools: [defineTool({ ...face, handler })],
    });
    expect(await connections()).toBeGreaterThan(before);
    const world = fleetWorld(redis, { queue, leaseMs: 60_000 });
    const failure = world.failure();
    await soon(() => signals.length).toBe(1);

    // BullMQ does all of its closing inside this method.
    const { prototype } = loadBullmq().Worker;
    const tracing = vi
      .spyOn(prototype, 'trace')
      .mockRejectedValue(new Error('The queue cannot be closed.'));
    await expect(worker.close({ graceMs: 60_000 })).rejects.toThrow('The queue cannot be closed.');
    tracing.mockRestore();
    expect([worker.running, signals[0]?.aborted]).toEqual([0, true]);
    expect(await failure).toBe('executor_lost worker_closed');
    await world.registry.close();
    await soon(connections).toBe(before);
    client.disconnect();
  });
});
