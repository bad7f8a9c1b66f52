/** A call that a worker of a fleet runs, against a bare job of BullMQ and its result. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Queue, QueueEvents } from 'bullmq';
import { fleetExecutor } from '../src/executors/bullmq/index.ts';
import { defineTool, HostToolRegistry } from '../src/index.ts';
import { type Case, compare, quick } from './harness.ts';
import { redisMissing, startRedis } from './relay/redis.ts';
import type { FamilyResult } from './targets.ts';

const atOnce = 32;
/** What takes longer has failed. */
const maxMs = 60_000;
const input = { path: 'reports/2026/11.md', pages: 12, draft: true };

type Trip = () => Promise<unknown>;

/**
 * Milliseconds of one trip of each, taken in turn: the lower quartile, since what disturbs a trip
 * only adds to it.
 */
async function alone(trips: readonly Trip[]): Promise<number[]> {
  const times: number[][] = trips.map(() => []);
  for (let round = quick ? 400 : 2_000; round > 0; round--)
    for (const [index, trip] of trips.entries()) {
      const start = performance.now();
      await trip();
      times[index]?.push(performance.now() - start);
    }
  return times.map((all) => all.sort((a, b) => a - b)[all.length >> 2] ?? Number.NaN);
}

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
  const failed = once(worker, 'exit').then(() => {
    throw new Error('The worker of the benchmark ended before it was ready.');
  });
  await Promise.race([once(worker, 'message'), failed]);
  failed.catch(() => {});
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
  // From the start: by itself it begins at some time after it is ready.
  const events = new QueueEvents('bare', { connection, lastEventId: '0-0' });
  for (const one of [queue, events]) one.setMaxListeners(0);
  await events.waitUntilReady();
  const called: Trip = async () => {
    const { success, error } = await session.call('echo', input);
    if (!success) throw new Error(error?.message);
  };
  // The wait for a job that is removed at once may find nothing.
  const bare: Trip = async () =>
    (await queue.add('echo', input, { removeOnComplete: 1_000 })).waitUntilFinished(events, maxMs);
  try {
    await alone([bare, called]);
    const [bareMs = 0, fleetMs = 0] = await alone([bare, called]);
    const many = await compare([manyAtOnce('bare', bare), manyAtOnce('fleet', called)], {
      sampleMs: 150,
    });
    // The quickest round of each, for the same reason.
    const [bareMany = 0, fleetMany = 0] = many.map(({ best }) => best);
    const perSecond = (ns: number): number => Math.round((atOnce * 1e9) / ns);
    return {
      rows: [
        {
          id: 'fleet_call',
          value: fleetMs / bareMs,
          note: `${bareMs.toFixed(2)} → ${fleetMs.toFixed(2)} ms`,
        },
        {
          id: 'fleet_calls',
          value: fleetMany / bareMany,
          note: `${perSecond(bareMany)} → ${perSecond(fleetMany)} a second`,
        },
      ],
    };
  } finally {
    await registry.close();
    await queue.close();
    await events.close();
    if (worker.connected) worker.disconnect();
    await failed.catch(() => {});
    await redis.close();
  }
}
