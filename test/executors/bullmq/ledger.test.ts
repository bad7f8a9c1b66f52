/**
 * A ledger of calls while processes are killed at random: each call that a fleet accepts ends once,
 * and a call that must not run twice never does.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fleetExecutor } from '../../../src/executors/bullmq/index.ts';
import {
  type AnyEvent,
  defineTool,
  HostToolRegistry,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from '../../stores/redis/redis-server.ts';
import { failureOf } from './fleet-world.ts';
import { killWorkers, startWorker, type WorkerProcess } from './worker-processes.ts';

demandRedis();

const fewestCalls = 60;
const seeds = Array.from(
  { length: Number(process.env.HOST_TOOLS_LEDGER_SEEDS ?? 1) },
  (_, index) => index + 1,
);
const module = new URL('./handlers.js', import.meta.url).href;
const tools = [
  { name: 'once', description: 'May run once.' },
  { name: 'again', description: 'May run again.', annotations: { idempotent: true } },
] as const;

/** Makes pseudo-random numbers from 0 up to 1. The same seed gives the same numbers. */
function numbers(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Line {
  readonly event: 'started' | 'finished';
  readonly n: number;
  readonly instance: string;
}

interface Call {
  readonly n: number;
  readonly tool: 'once' | 'again';
  result?: ToolResult;
}

describe.skipIf(!redisAvailable)(`a ledger of calls over random kills${whyNot}`, () => {
  let redis: RedisServer;
  let folder: string;

  beforeAll(async () => {
    redis = await startRedis();
    folder = await mkdtemp(join(tmpdir(), 'host-tools-fleet-ledger-'));
  });
  afterAll(async () => {
    await killWorkers();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const host = (queue: string, events: AnyEvent[]): [HostToolRegistry, ToolSession] => {
    const registry = new HostToolRegistry({ graceMs: 100 });
    const executor = fleetExecutor({
      connection: { port: redis.port, host: '127.0.0.1', retryStrategy: () => 50 },
      queue,
      leaseMs: 2_000,
      startTimeoutMs: 60_000,
    });
    for (const tool of tools)
      registry.register(defineTool({ ...tool, parameters: { type: 'object' }, executor }));
    const session = registry.createSession({ sessionId: 's' });
    session.events.on('*', (event) => void events.push(event));
    return [registry, session];
  };

  test.each(seeds)(
    'every accepted call ends, and no call runs twice that must not (seed %i)',
    async (seed) => {
      const random = numbers(seed);
      const pick = (count: number): number => Math.floor(random() * count);
      const queue = `ledger-${seed}`;
      const ledger = join(folder, `${seed}.jsonl`);
      await writeFile(ledger, '');
      let instances = 0;
      const startOne = async (): Promise<WorkerProcess> => {
        const worker = await startWorker();
        const instance = `worker-${++instances}`;
        const order = { port: redis.port, queue, module, export: 'noted', ledger, instance };
        await worker.serve({ ...order, tools, concurrency: 4 });
        return worker;
      };
      const workers = await Promise.all([startOne(), startOne(), startOne()]);
      const events: AnyEvent[] = [];
      const hosts = [host(queue, events), host(queue, events)];

      // The workers die one after the other. Each is restarted while the next one dies.
      let over = false;
      const chaos = async (): Promise<void> => {
        const back: Promise<void>[] = [];
        const replace = async (at: number): Promise<void> => {
          await back[at];
          await workers[at]?.kill();
          back[at] = pause(pick(500))
            .then(startOne)
            .then((one) => {
              workers[at] = one;
            });
        };
        const still = async (at: number): Promise<void> => {
          await back[at];
          const worker = workers[at];
          worker?.signal('SIGSTOP');
          back[at] = pause(1_000 + pick(3_000)).then(() => worker?.signal('SIGCONT'));
        };
        const away = async (): Promise<void> => {
          // A worker that cannot reach Redis when it starts exits.
          await Promise.all(back);
          await redis.kill('SIGKILL');
          await pause(pick(400));
          await redis.restart();
        };
        const kills = [0, 1, 2, 0, 1, 2].map((at) => () => replace(at));
        const all = [...kills, () => still(0), () => still(1), away];
        for (let left = all.length; left > 0; left--) {
          await pause(100 + pick(500));
          await all.splice(pick(left), 1)[0]?.();
        }
        await Promise.all(back);
      };
      const killing = chaos().finally(() => {
        over = true;
      });
      killing.catch(() => {});
      const calls: Call[] = [];
      const work: Promise<void>[] = [];
      for (let n = 0; n < fewestCalls || !over; n++) {
        const call: Call = { n, tool: random() < 0.6 ? 'once' : 'again' };
        const input = { n, ms: pick(4) === 0 ? 300 + pick(1_000) : pick(60) };
        calls.push(call);
        const [, session] = hosts[pick(2)] as [HostToolRegistry, ToolSession];
        work.push(
          session.call(call.tool, input, { timeoutMs: 120_000 }).then((result) => {
            call.result = result;
          }),
        );
        await pause(20 + pick(100));
      }
      await killing;
      await Promise.all(work);

      const ends = events.filter(({ type }) => type === 'tool:post' || type === 'tool:error');
      expect(ends).toHaveLength(calls.length);
      const client = redis.connect();
      await soon(() => client.keys(`bull-host-tools:${queue}:call:*`)).toEqual([]);
      await Promise.all(hosts.map(([registry]) => registry.close()));
      await killWorkers();

      const lines = (await readFile(ledger, 'utf8')).split('\n').filter(Boolean);
      const entries = lines.map((line) => JSON.parse(line) as Line);
      const endings = new Map<string, number>();
      for (const { n, tool, result } of calls) {
        const of = (event: Line['event']): Line[] =>
          entries.filter((line) => line.n === n && line.event === event);
        const context = `${n} of ${tool}: ${JSON.stringify({ lines: [...of('started'), ...of('finished')], result })}`;
        expect(of('started').length, context).toBeLessThanOrEqual(tool === 'once' ? 1 : 3);
        const ending = result === undefined ? 'none' : failureOf(result);
        endings.set(ending, (endings.get(ending) ?? 0) + 1);
        if (result?.success === true) {
          expect(result.output, context).toEqual({ n });
          expect(of('finished').length, context).toBeGreaterThan(0);
        } else expect(result?.error?.code, context).toBe('executor_lost');
      }
      // Some calls lose their result because of the kills, but most do not.
      const shown = JSON.stringify([...endings]);
      expect(endings.get('succeeded') ?? 0, shown).toBeGreaterThan(calls.length / 4);
      if (process.env.HOST_TOOLS_LEDGER_SEEDS !== undefined)
        process.stdout.write(`fleet ledger, seed ${seed}: ${calls.length} calls, ${shown}\n`);
    },
  );
});
