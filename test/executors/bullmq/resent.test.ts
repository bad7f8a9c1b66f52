/** What happens to calls when a Redis client repeats a command that got no answer. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FleetService, serveFleet } from '../../../src/executors/bullmq/index.ts';
import { defineTool } from '../../../src/index.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from '../../stores/redis/redis-server.ts';
import { type CutLine, cutLine } from './cut-line.ts';
import { type FleetWorld, face, fleetWorld, gate } from './fleet-world.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`a host that repeats an offer${whyNot}`, () => {
  let redis: RedisServer;
  let line: CutLine;
  let world: FleetWorld;
  let queues = 0;
  let queue: string;
  const services: FleetService[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  beforeEach(async () => {
    queue = `resent-${++queues}`;
    line = await cutLine(redis.port);
    world = fleetWorld(redis, {
      queue,
      connection: { host: '127.0.0.1', port: line.port },
      leaseMs: 60_000,
      startTimeoutMs: 60_000,
    });
  });
  afterEach(async () => {
    await world.registry.close();
    await Promise.all(services.splice(0).map((service) => service.close({ graceMs: 0 })));
    await line.close();
  });
  afterAll(() => redis.stop());

  const serve = async (
    handler: (input: never) => unknown,
    { port }: RedisServer = redis,
  ): Promise<void> => {
    const tool = defineTool({ ...face, handler: handler as never });
    const connection = { host: '127.0.0.1', port };
    services.push(await serveFleet({ connection, queue, tools: [tool] }));
  };

  test('does not take the call from a worker that has claimed it in the meantime', async () => {
    let runs = 0;
    const held = gate<string>();
    await serve(({ name }: { name: string }) => (name === 'first' ? name : ++runs && held.opened));
    expect((await world.call({ name: 'first' })).output).toBe('first');
    const read = line.keepBack('"second"');
    const result = world.call({ name: 'second' });
    await read;
    await soon(() => runs).toBe(1);
    await line.cut();
    held.open('done');
    expect((await result).output).toBe('done');
    expect(runs).toBe(1);
  });

  test('does not offer the call to a Redis that has taken over without its record', async () => {
    const other = await startRedis();
    try {
      const runs: string[] = [];
      const held = gate();
      const note = (where: string) => async (input: { name: string }) => {
        if (input.name === 'second') {
          runs.push(where);
          if (where === 'here') await held.opened;
        }
        return where;
      };
      await serve(note('here'));
      await serve(note('there'), other);
      expect((await world.call({ name: 'first' })).output).toBe('here');
      const read = line.keepBack('"second"');
      const result = world.failure({ name: 'second' });
      await read;
      await soon(() => runs).toEqual(['here']);
      await line.cut(other.port);
      expect(await result).toBe('executor_lost record_lost');
      expect((await world.call({ name: 'third' })).output).toBe('there');
      expect(runs).toEqual(['here']);
      held.open();
      await Promise.all(services.splice(0).map((service) => service.close({ graceMs: 0 })));
    } finally {
      await other.stop();
    }
  });
});
