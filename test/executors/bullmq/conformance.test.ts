/** The executor of a fleet fulfils the contract of executors. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { fleetExecutor } from '../../../src/executors/bullmq/index.ts';
import type { Executor } from '../../../src/index.ts';
import { type ExecutorTask, executorConformance } from '../../../src/surfaces/testing/index.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot,
} from '../../stores/redis/redis-server.ts';
import { killWorkers, startWorker, type WorkerProcess } from './worker-processes.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`the executor of a fleet${whyNot}`, () => {
  let redis: RedisServer;
  const workers: WorkerProcess[] = [];
  let queues = 0;

  beforeAll(async () => {
    redis = await startRedis();
    workers.push(...(await Promise.all([startWorker(), startWorker()])));
  });
  afterAll(async () => {
    await killWorkers();
    await redis.stop();
  });

  async function make(task: ExecutorTask): Promise<Executor> {
    const queue = `conformance-${++queues}`;
    await Promise.all(
      workers.map((worker) =>
        worker.serve({
          port: redis.port,
          queue,
          module: task.module,
          export: task.export,
          tools: [task.definition],
        }),
      ),
    );
    const fleet = fleetExecutor({ connection: { port: redis.port, host: '127.0.0.1' }, queue });
    return {
      kind: 'fleet',
      execute: fleet.execute,
      async dispose() {
        await fleet.dispose?.();
        await Promise.all(workers.map((worker) => worker.close(queue)));
      },
    };
  }

  test.each(executorConformance(make))('$name', ({ run }) => run());
});
