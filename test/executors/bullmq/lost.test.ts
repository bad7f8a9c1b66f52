/** What happens to calls when workers die, when Redis goes away, and when strangers write to it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FleetService, serveFleet } from '../../../src/executors/bullmq/index.ts';
import { defineTool, type ToolContext } from '../../../src/index.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from '../../stores/redis/redis-server.ts';
import {
  connectionTo,
  dashboard,
  type FleetWorld,
  face,
  fleetWorld,
  gate,
  type WorldOptions,
} from './fleet-world.ts';
import { killWorkers, startWorker, type WorkerProcess } from './worker-processes.ts';

demandRedis();

const module = new URL('./handlers.js', import.meta.url).href;
const idempotent = { annotations: { idempotent: true } };

describe.skipIf(!redisAvailable)(`a fleet that loses parts${whyNot}`, () => {
  let redis: RedisServer;
  let client: Redis;
  let folder: string;
  let ledger: string;
  let queue: string;
  let queues = 0;
  const services: FleetService[] = [];
  const worlds: FleetWorld[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    client = redis.connect();
    folder = await mkdtemp(join(tmpdir(), 'host-tools-fleet-'));
  });
  beforeEach(async () => {
    queue = `lost-${++queues}`;
    ledger = join(folder, `${queue}.jsonl`);
    await writeFile(ledger, '');
  });
  afterEach(async () => {
    await Promise.all(worlds.splice(0).map(({ registry }) => registry.close()));
    await Promise.all(services.splice(0).map((service) => service.close({ graceMs: 0 })));
    await killWorkers();
  });
  afterAll(async () => {
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const world = (options: Partial<WorldOptions> = {}): FleetWorld => {
    const one = fleetWorld(redis, { queue, leaseMs: 60_000, startTimeoutMs: 60_000, ...options });
    worlds.push(one);
    return one;
  };
  const worker = async (
    handler: string,
    tool: object = {},
    skewMs?: number,
  ): Promise<WorkerProcess> => {
    const one = await startWorker();
    const { name, description } = face;
    await one.serve({
      port: redis.port,
      queue,
      module,
      export: handler,
      tools: [{ name, description, ...tool }],
      ledger,
      instance: String(one.pid),
      ...(skewMs === undefined ? {} : { skewMs }),
    });
    return one;
  };
  const serve = async (
    handler: (input: never, context: ToolContext) => unknown,
  ): Promise<FleetService> => {
    const tool = defineTool({ ...face, handler: handler as never });
    const service = await serveFleet({ connection: connectionTo(redis), queue, tools: [tool] });
    services.push(service);
    return service;
  };
  const noted = async (event: string): Promise<Record<string, unknown>[]> =>
    (await readFile(ledger, 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line.event === event);

  describe('workers', () => {
    test('the call of a worker that dies ends, even if no worker is left', async () => {
      const one = await worker('held');
      const { failure } = world({ leaseMs: 1_000 });
      const result = failure();
      await soon(() => noted('started')).toHaveLength(1);
      await one.kill();
      expect(await result).toBe('executor_lost worker_lost');
    });

    test('a call to an idempotent tool runs again on another worker', async () => {
      const one = await worker('held', idempotent);
      const { call } = world({ leaseMs: 2_000, tool: idempotent });
      const result = call({ n: 1, ms: 0 });
      await soon(() => noted('started')).toHaveLength(1);
      await worker('noted', idempotent);
      await one.kill();
      expect((await result).output).toEqual({ n: 1 });
      const keys = (await noted('started')).map(({ instance }) => instance);
      expect(new Set(keys).size).toBe(2);
    });

    test('a call to another tool does not run again, even if BullMQ repeats its job', async () => {
      const one = await worker('held');
      const { failure } = world({ leaseMs: 1_000 });
      const result = failure();
      await soon(() => noted('started')).toHaveLength(1);
      await one.kill();
      await worker('noted');
      expect(await result).toBe('executor_lost worker_lost');
      // BullMQ's check for stalled jobs would do this later.
      const board = dashboard(redis, queue);
      const [job] = await board.getActive();
      await client.del(`bull:${queue}:${job?.id}:lock`);
      await client.lrem(`bull:${queue}:active`, 1, job?.id ?? '');
      await client.rpush(`bull:${queue}:wait`, job?.id ?? '');
      await client.zadd(`bull:${queue}:marker`, 0, '0');
      await soon(() => board.getJobCounts()).toMatchObject({ waiting: 0, active: 0 });
      expect(await noted('started')).toHaveLength(1);
      await board.close();
    });

    test('a call to an idempotent tool ends when its worker was lost three times', async () => {
      const { failure } = world({ leaseMs: 2_000, tool: idempotent });
      const result = failure();
      for (let runs = 1; runs <= 3; runs++) {
        const one = await worker('held', idempotent);
        await soon(() => noted('started')).toHaveLength(runs);
        await one.kill();
      }
      expect(await result).toBe('executor_lost worker_lost');
    });

    test('a suspended worker loses its call, and aborts the handler when it resumes', async () => {
      const one = await worker('held');
      const { failure } = world({ leaseMs: 1_000 });
      const result = failure();
      await soon(() => noted('started')).toHaveLength(1);
      one.signal('SIGSTOP');
      expect(await result).toBe('executor_lost worker_lost');
      one.signal('SIGCONT');
      await soon(() => noted('aborted')).toHaveLength(1);
    });

    test('a handler may block its process for a part of the lease', async () => {
      await worker('blocking');
      const { call } = world();
      expect((await call({ ms: 1_000 })).output).toBe('finished');
    });

    test.each([3_600_000, -3_600_000])('the clocks may differ by %i ms', async (skewMs) => {
      await worker('timed', {}, skewMs);
      const { call } = world();
      const { output } = await call({}, { timeoutMs: 50_000 });
      expect(output).toBeGreaterThan(10_000);
      expect(output).toBeLessThanOrEqual(50_000);
    });

    test('a worker aborts the calls of a host that has died', async () => {
      await worker('held');
      const { call, registry } = world({ leaseMs: 1_000 });
      const result = call();
      await soon(() => noted('started')).toHaveLength(1);
      const [record] = await client.keys(`bull-host-tools:${queue}:call:*`);
      // This is what happens when the host no longer renews the record.
      await client.del(record as string);
      await soon(() => noted('aborted')).toHaveLength(1);
      await registry.close();
      await result;
    });
  });

  describe('records', () => {
    const jobId = 'call-0123456789abcdef0123456789abcdef';
    const job = (more: object = {}): object => ({
      format: 1,
      tool: face.name,
      input: {},
      context: {
        sessionId: 's',
        cwd: '',
        environment: {},
        metadata: {},
        callId: 'c',
        toolName: 'job',
        idempotencyKey: 'k',
        knobs: {},
        sample: false,
        elicit: false,
      },
      fingerprint: defineTool({ ...face, handler: () => 1 }).fingerprint,
      host: '0123456789abcdef01234567',
      leaseMs: 5_000,
      ...more,
    });
    const add = async (record: Record<string, string> | undefined, data = job()) => {
      const board = dashboard(redis, queue);
      const key = `bull-host-tools:${queue}:call:${jobId}`;
      const [, run = ''] = /run_id:(\w+)/.exec(await client.info('server')) ?? [];
      if (record !== undefined) await client.hset(key, { r: run, ...record });
      await board.add(face.name, data, { jobId, removeOnComplete: true });
      return board;
    };

    test.each<[string, Record<string, string> | undefined]>([
      ['that has ended', undefined],
      ['that another worker has claimed', { s: 'c', w: 'other.1', u: '1' }],
      ['that already has its outcome', { s: 'd', w: 'other.1', u: '1' }],
      ['that has timed out', { s: 'o', d: '1' }],
      ['whose claim Redis may have lost', { s: 'o', r: 'another' }],
    ])('the job of a call %s runs nothing', async (_title, record) => {
      let runs = 0;
      await serve(() => void runs++);
      const board = await add(record);
      await soon(() => board.getJobCounts()).toMatchObject({ waiting: 0, active: 0, failed: 0 });
      expect(runs).toBe(0);
      await board.close();
    });

    test('a call stops at its deadline even if the host does not abort it', async () => {
      const aborted = gate<unknown>();
      await serve(
        (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted.open(signal.reason);
              reject(signal.reason);
            });
          }),
      );
      const [seconds] = await client.time();
      const board = await add({ s: 'o', d: String((Number(seconds) + 2) * 1_000) });
      expect(await aborted.opened).toMatchObject({ name: 'TimeoutError' });
      await soon(() => board.getJobCounts()).toMatchObject({ waiting: 0, active: 0, failed: 0 });
      // The host ends the call with a timeout, so the worker must not report an outcome.
      expect(await client.exists(`bull-host-tools:${queue}:host:0123456789abcdef01234567`)).toBe(0);
      await board.close();
    });

    test.each<[string, object]>([
      ['of a stranger', { hello: 'world' }],
      ['of another format', job({ format: 2 })],
      ['whose tool is not a string', job({ tool: { toString: 'x' } })],
      ['with a mailbox elsewhere', job({ host: '../../other' })],
      ['with a lease that never ends', job({ leaseMs: 1e12 })],
      ['without a context', job({ context: null })],
      ['with a context that lacks parts', job({ context: { sessionId: 's' } })],
      ['with an invalid trace', job({ trace: 'x' })],
      ['whose arguments are not an object', job({ input: [] })],
      [
        'that is nested too deeply',
        job({ input: JSON.parse('{"a":'.repeat(500) + 1 + '}'.repeat(500)) }),
      ],
      ['with too many values', job({ input: { list: new Array(300_000).fill(1) } })],
      ['that is too long', job({ input: { text: 'x'.repeat(5_000_000) } })],
    ])('a job %s is refused, and the next call runs', async (_title, data) => {
      let runs = 0;
      await serve(() => ++runs);
      const board = await add({ s: 'o' }, data);
      await soon(() => board.getFailedCount()).toBe(1);
      const [failed] = await board.getFailed();
      expect(failed?.failedReason).toContain('not a call');
      expect((await world().call()).output).toBe(1);
      await board.obliterate({ force: true });
      await board.close();
    });

    test('a job whose id is not that of a call is refused', async () => {
      await serve(() => 1);
      const board = dashboard(redis, queue);
      await board.add(face.name, job());
      await soon(() => board.getFailedCount()).toBe(1);
      await board.close();
    });
  });

  describe('mailboxes', () => {
    /** Finds the running call, and the mailboxes of its host and its worker. */
    const running = async (service: FleetService) => {
      await soon(() => service.running).toBe(1);
      const root = `bull-host-tools:${queue}:`;
      const [record = ''] = await client.keys(`${root}call:*`);
      const id = record.slice(`${root}call:`.length);
      const claim = (await client.hget(record, 'w')) ?? '';
      const data = await client.hget(`bull:${queue}:${id}`, 'data');
      const { host } = JSON.parse(data ?? '{}') as { host?: string };
      const [worker] = claim.split('.');
      return { id, claim, host: `${root}host:${host}`, worker: `${root}worker:${worker}` };
    };
    const post = async (box: string, letters: readonly (readonly string[])[]): Promise<void> => {
      for (const fields of letters) await client.xadd(box, '*', ...fields);
    };

    test('a host ignores letters that are not about its calls', async () => {
      const { opened, open } = gate();
      const service = await serve(() => opened);
      const { call } = world();
      const result = call();
      const { host } = await running(service);
      const returned = '{"t":"returned","id":1,"kind":"value","value":"forged"}';
      await post(host, [
        ['c', 'call-unknown', 'w', 'x.1', 'm', returned],
        ['m', returned],
        ['x', 'y'],
        ['c', '', 'w', '', 'm', ''],
      ]);
      open();
      expect((await result).output).toBe(null);
    });

    test.each([
      ['not JSON', 'x'],
      ['an unknown message', '{"t":"unknown","id":1}'],
      [
        'a long message',
        `{"t":"returned","id":1,"kind":"value","value":"${'x'.repeat(4_300_000)}"}`,
      ],
      [
        'a message that is nested too deeply',
        `{"t":"returned","id":1,"kind":"value","value":${'['.repeat(600)}${']'.repeat(600)}}`,
      ],
      ['a message about another call', '{"t":"returned","id":2,"kind":"value","value":1}'],
      ['an unknown refusal', '!because'],
    ])('a worker that sends %s loses that call and no other', async (_title, text) => {
      const { opened, open } = gate();
      const service = await serve(() => opened);
      const { call, failure } = world();
      const result = failure();
      const { id, claim, host } = await running(service);
      await post(host, [['c', id, 'w', claim, 'm', text]]);
      expect(await result).toBe('executor_lost fleet_protocol');
      open();
      expect((await call()).success).toBe(true);
    });

    test('a worker ignores letters that are not a valid message about its call', async () => {
      const { opened, open } = gate();
      const service = await serve(() => opened);
      const { call } = world();
      const result = call();
      const { id, claim, worker: box } = await running(service);
      const abort = '{"t":"abort","id":1,"reason":{"name":"AbortError","message":"x"}}';
      await post(box, [
        ['c', id, 'w', 'other.1', 'm', abort],
        ['c', 'call-unknown', 'w', claim, 'm', abort],
        ...['x', '[]', '{"t":"abort"}', '{"t":"confirm","count":-1,"size":0}', '{"t":"load"}'].map(
          (text) => ['c', id, 'w', claim, 'm', text],
        ),
      ]);
      open();
      expect((await result).success).toBe(true);
    });
  });

  describe('Redis', () => {
    test('a call outlasts a restart of Redis', async () => {
      const { opened, open } = gate();
      const service = await serve(() => opened);
      const { call } = world();
      const result = call();
      await soon(() => service.running).toBe(1);
      await redis.kill('SIGKILL');
      await redis.restart();
      open();
      expect((await result).success).toBe(true);
      expect((await call()).success).toBe(true);
    });

    test('a call that waits while Redis restarts runs only if it is idempotent', async () => {
      const { failure } = world();
      const again = world({ tool: { ...idempotent, name: 'again' } });
      const board = dashboard(redis, queue);
      const results = [failure(), again.session.call('again', {})] as const;
      await soon(() => board.getWaitingCount()).toBe(2);
      await redis.kill('SIGKILL');
      await redis.restart();
      expect(await results[0]).toBe('executor_lost record_lost');
      const handler = (): string => 'ran';
      const tools = [defineTool({ ...face, ...idempotent, name: 'again', handler })];
      services.push(await serveFleet({ connection: connectionTo(redis), queue, tools }));
      expect((await results[1]).output).toBe('ran');
      await board.close();
    });

    test('calls end while Redis is away', async () => {
      const own = await startRedis();
      const { opened, open } = gate();
      let runs = 0;
      const handler = (): Promise<void> => {
        runs++;
        return opened;
      };
      const tools = [defineTool({ ...face, handler })];
      const service = await serveFleet({ connection: connectionTo(own), queue, tools });
      const { failure, registry } = fleetWorld(own, {
        queue,
        leaseMs: 1_000,
        startTimeoutMs: 6_000,
      });
      const result = failure();
      await soon(() => runs).toBe(1);
      await own.kill('SIGKILL');
      expect(await result).toBe('executor_lost fleet_unreachable');
      expect(await failure()).toBe('executor_lost fleet_unreachable');
      await own.restart();
      open();
      // A call that was refused in the meantime does not run now, but the next call does.
      const next = fleetWorld(own, { queue, startTimeoutMs: 60_000 });
      expect((await next.call()).success).toBe(true);
      expect(runs).toBe(2);
      await Promise.all([registry.close(), next.registry.close()]);
      await service.close();
      await own.stop();
    });

    test('calls end if Redis has lost their records', async () => {
      const own = await startRedis();
      const { opened, open } = gate();
      const tools = [defineTool({ ...face, handler: () => opened })];
      const service = await serveFleet({ connection: connectionTo(own), queue, tools });
      const { failure, call, registry } = fleetWorld(own, { queue, leaseMs: 2_000 });
      const result = failure();
      await soon(() => service.running).toBe(1);
      await own.connect().flushall();
      expect(await result).toBe('executor_lost record_lost');
      open();
      expect((await call()).success).toBe(true);
      await registry.close();
      await service.close();
      await own.stop();
    });

    test('calls end if Redis has lost their records while other calls go on', async () => {
      const own = await startRedis();
      const { opened, open } = gate();
      const handler = ({ quick }: { quick?: boolean }) => (quick === true ? 1 : opened);
      const tools = [defineTool({ ...face, handler: handler as never })];
      const service = await serveFleet({ connection: connectionTo(own), queue, tools });
      const { failure, call, registry } = fleetWorld(own, { queue, leaseMs: 1_000 });
      let ended: string | undefined;
      const result = failure().then((how) => {
        ended = how;
      });
      await soon(() => service.running).toBe(1);
      await own.connect().flushall();
      while (ended === undefined) await call({ quick: true });
      await result;
      expect(ended).toBe('executor_lost record_lost');
      open();
      await registry.close();
      await service.close();
      await own.stop();
    });

    test('a call fails at once if Redis accepts no more data', async () => {
      const own = await startRedis();
      const { failure, registry } = fleetWorld(own, { queue, startTimeoutMs: 60_000 });
      await own.connect().config('SET', 'maxmemory', '1');
      expect(await failure()).toBe('executor_lost fleet_unreachable');
      await registry.close();
      await own.stop();
    });

    test('a worker can be closed while Redis is away', async () => {
      const own = await startRedis();
      const errors: Error[] = [];
      let runs = 0;
      const handler = (): Promise<void> => {
        runs++;
        return new Promise(() => {});
      };
      const service = await serveFleet({
        connection: connectionTo(own),
        queue,
        tools: [defineTool({ ...face, handler })],
        onError: (error) => {
          errors.push(error);
          throw error;
        },
      });
      const { failure, registry } = fleetWorld(own, { queue, leaseMs: 1_000 });
      const result = failure();
      await soon(() => runs).toBe(1);
      await own.kill('SIGKILL');
      await soon(() => errors.length).toBeGreaterThan(0);
      await service.close({ graceMs: 10 });
      // The worker no longer tries to report to the host.
      await soon(() => service.running).toBe(0);
      expect(await result).toBe('executor_lost fleet_unreachable');
      await registry.close();
      await own.stop();
    });

    test('a worker does not start if it cannot reach Redis', async () => {
      const own = await startRedis();
      const connection = connectionTo(own);
      await own.stop();
      const tools = [defineTool({ ...face, handler: () => 1 })];
      await expect(serveFleet({ connection, queue, tools })).rejects.toThrow('ECONNREFUSED');
      const { failure, registry } = fleetWorld(own, { queue, startTimeoutMs: 100 });
      expect(await failure()).toBe('executor_lost fleet_unreachable');
      await registry.close();
    });
  });
});
