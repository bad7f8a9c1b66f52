/** A call that a worker of a fleet runs, against a bare job of BullMQ and its result. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Queue, QueueEvents } from 'bullmq';
import { fleetExecutor } from '../src/bullmq/index.ts';
import { defineTool, HostToolRegistry } from '../src/index.ts';
import { type Case, compare } from './harness.ts';
import { redisMissing, startRedis } from './relay/redis.ts';
import type { FamilyResult } from './targets.ts';

const atOnce = 32;
const input = { path: 'reports/2026/11.md', pages: 12, draft: true };

type Trip = () => Promise<unknown>;

const oneByOne = (name: string, trip: Trip): Case => ({
  name,
  run: async (times) => {
    for (let left = times; left > 0; left--) await trip();
  },
});

const manyAtOnce = (name: string, trip: Trip): Case => ({
  name,
  run: async (times) => {
    let left = times * atOnce;
    const lane = async (): Promise<void> => {
      while (left-- > 0) await trip();
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
  },
});

export async function measure(): Promise<FamilyResult> {
  const redis = await startRedis();
  if (redis === undefined) return { rows: [], skipped: redisMissing };
  const connection = { host: '127.0.0.1', port: redis.port };
  const worker = fork(fileURLToPath(new URL('./fleet-serve.js', import.meta.url)), [
    String(redis.port),
  ]);
  await once(worker, 'message');
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      name: 'echo',
      description: 'Answers with its input.',
      parameters: { type: 'object' },
      executor: fleetExecutor({ connection, queue: 'fleet' }),
    }),
  );
  const session = registry.createSession({ sessionId: 'bench' });
  const queue = new Queue('bare', { connection });
  const events = new QueueEvents('bare', { connection });
  for (const one of [queue, events]) one.setMaxListeners(0);
  await events.waitUntilReady();
  const called: Trip = async () => {
    const { success, error } = await session.call('echo', input);
    if (!success) throw new Error(error?.message);
  };
  // The wait for a job that is removed at once may find nothing.
  const bare: Trip = async () =>
    (await queue.add('echo', input, { removeOnComplete: 1_000 })).waitUntilFinished(events);
  try {
    const alone = await compare([oneByOne('bare', bare), oneByOne('fleet', called)], {
      sampleMs: 100,
    });
    const many = await compare([manyAtOnce('bare', bare), manyAtOnce('fleet', called)], {
      sampleMs: 150,
    });
    const [bareOne, fleetOne] = alone;
    const [bareMany, fleetMany] = many;
    if (!bareOne || !fleetOne || !bareMany || !fleetMany) throw new Error('None.');
    const ms = (ns: number): string => (ns / 1e6).toFixed(2);
    const perSecond = (ns: number): number => Math.round((atOnce * 1e9) / ns);
    return {
      rows: [
        {
          id: 'fleet_call',
          value: fleetOne.ratio,
          note: `${ms(bareOne.ns)} → ${ms(fleetOne.ns)} ms`,
        },
        {
          id: 'fleet_calls',
          value: fleetMany.ratio,
          note: `${perSecond(bareMany.ns)} → ${perSecond(fleetMany.ns)} a second`,
        },
      ],
    };
  } finally {
    await registry.close();
    await queue.close();
    await events.close();
    worker.disconnect();
    await once(worker, 'exit');
    await redis.close();
  }
}
