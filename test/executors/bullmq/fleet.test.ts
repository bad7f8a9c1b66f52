/** Calls that the workers of a fleet run: what reaches the workers, and how the calls end. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadBullmq } from '../../../src/executors/bullmq/connection.ts';
import {
  type FleetService,
  fleetExecutor,
  type ServeFleetOptions,
  serveFleet,
} from '../../../src/executors/bullmq/index.ts';
import { workerExecutor } from '../../../src/executors/sandbox/index.ts';
import { defineTool, HostToolRegistry, type ToolContext } from '../../../src/index.ts';
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

demandRedis();

type Handler = (input: never, context: ToolContext) => unknown;

describe.skipIf(!redisAvailable)(`a fleet${whyNot}`, () => {
  let redis: RedisServer;
  let queues = 0;
  const services: FleetService[] = [];
  const worlds: FleetWorld[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    await Promise.all(worlds.splice(0).map(({ registry }) => registry.close()));
    await Promise.all(services.splice(0).map((service) => service.close({ graceMs: 0 })));
  });
  afterAll(() => redis.stop());

  const newQueue = (): string => `fleet-${++queues}`;
  const world = (options: WorldOptions): FleetWorld => {
    const one = fleetWorld(redis, { leaseMs: 60_000, startTimeoutMs: 60_000, ...options });
    worlds.push(one);
    return one;
  };
  const serve = async (
    queue: string,
    handler: Handler,
    more: Partial<ServeFleetOptions> & { readonly tool?: object } = {},
  ): Promise<FleetService> => {
    const { tool, ...options } = more;
    const service = await serveFleet({
      connection: connectionTo(redis),
      queue,
      tools: [defineTool({ ...face, ...tool, handler: handler as never })],
      ...options,
    });
    services.push(service);
    return service;
  };

  test('a worker runs the call, and the result says that a fleet ran it', async () => {
    const queue = newQueue();
    await serve(queue, ({ a }: { a: number }) => a + 1);
    const { call, session, registry } = world({ queue });
    expect((await call({ a: 1 })).output).toBe(2);
    expect((await session.explain('job')).executor).toBe('fleet');
    expect(registry.metrics().byExecutor.fleet?.calls).toBe(1);
  });

  test('finished calls leave nothing in the queue', async () => {
    const queue = newQueue();
    await serve(queue, () => 'done');
    const { call, registry } = world({ queue });
    await Promise.all(Array.from({ length: 30 }, () => call()));
    const board = dashboard(redis, queue);
    const client = redis.connect();
    await soon(() => board.getJobCounts()).toMatchObject({ completed: 0, failed: 0, active: 0 });
    await soon(() => client.keys(`bull-host-tools:${queue}:call:*`)).toEqual([]);
    await registry.close();
    await soon(() => client.keys(`bull-host-tools:${queue}:host:*`)).toEqual([]);
    await board.close();
  });

  test('the handler gets the input as the schema has parsed it', async () => {
    const queue = newQueue();
    const parameters = z.object({ at: z.iso.datetime(), count: z.number().default(3) });
    const tool = { parameters };
    const seen: unknown[] = [];
    await serve(queue, (input) => void seen.push(input), { tool });
    await world({ queue, tool }).call({ at: '2024-01-02T03:04:05Z' });
    expect(seen).toEqual([{ at: '2024-01-02T03:04:05Z', count: 3 }]);
  });

  test('handlers get the services of the worker, not those of the host', async () => {
    const queue = newQueue();
    const services = { name: 'of the worker' };
    await serve(queue, (_, context) => context.services, { services });
    expect((await world({ queue }).call()).output).toEqual(services);
  });

  test('a worker can run calls in its own sandboxes', async () => {
    const queue = newQueue();
    const module = new URL('../sandbox/handlers/probes.js', import.meta.url);
    const executor = workerExecutor({ module, export: 'pid' });
    services.push(
      await serveFleet({
        connection: connectionTo(redis),
        queue,
        tools: [defineTool({ ...face, executor })],
      }),
    );
    expect((await world({ queue }).call({ value: 1 })).success).toBe(true);
    await executor.dispose?.();
  });

  describe('starting', () => {
    test('a call that no worker takes in time ends, and never runs later', async () => {
      const queue = newQueue();
      const { failure } = world({ queue, startTimeoutMs: 2_000 });
      expect(await failure()).toBe('executor_lost not_started');
      const board = dashboard(redis, queue);
      await soon(() => board.getJobCounts()).toMatchObject({ waiting: 0, active: 0 });
      let runs = 0;
      await serve(queue, () => void runs++);
      expect((await world({ queue }).call()).success).toBe(true);
      expect(runs).toBe(1);
      await board.close();
    });

    test('a call ends in the same way if all workers are busy', async () => {
      const queue = newQueue();
      const { opened, open } = gate();
      let runs = 0;
      const handler = (): Promise<void> => {
        runs++;
        return opened;
      };
      await serve(queue, handler, { concurrency: 1 });
      const { call } = world({ queue });
      const first = call();
      await soon(() => runs).toBe(1);
      const { failure } = world({ queue, startTimeoutMs: 2_000 });
      expect(await failure()).toBe('executor_lost not_started');
      open();
      expect((await first).success).toBe(true);
      expect(runs).toBe(1);
    });

    test('a call that waits for the connection is judged after it', async () => {
      const queue = newQueue();
      let runs = 0;
      await serve(queue, () => void runs++);
      const { call, registry } = world({ queue });
      const calling = call();
      registry.addRules([{ effect: 'deny', reason: 'since_then' }]);
      expect((await calling).error).toMatchObject({ code: 'policy_denied', reason: 'since_then' });
      expect(runs).toBe(0);
    });

    test('a call that is taken in time may run longer than the start timeout', async () => {
      // A busy machine may need longer to take the call.
      for (let startTimeoutMs = 2_000; ; startTimeoutMs *= 2) {
        const queue = newQueue();
        const { opened, open } = gate();
        await serve(queue, () => opened);
        const { call } = world({ queue, startTimeoutMs });
        const result = call();
        setTimeout(open, startTimeoutMs + 500);
        if ((await result).success) return;
      }
    });
  });

  describe('cancelling', () => {
    test('a call that no worker has taken never runs', async () => {
      const queue = newQueue();
      const { call } = world({ queue });
      const board = dashboard(redis, queue);
      const caller = new AbortController();
      const result = call({}, { signal: caller.signal });
      await soon(() => board.getWaitingCount()).toBe(1);
      caller.abort();
      expect((await result).error?.code).toBe('cancelled');
      await soon(() => board.getWaitingCount()).toBe(0);
      let runs = 0;
      await serve(queue, () => void runs++);
      await call();
      expect(runs).toBe(1);
      await board.close();
    });

    test.each(['cancelled', 'timeout', 'session_closed'])(
      'the signal of a running handler aborts when its call ends: %s',
      async (code) => {
        const queue = newQueue();
        const started = gate();
        const stopped = gate<unknown>();
        await serve(queue, (_, { signal }) => {
          started.open();
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              stopped.open(signal.reason);
              reject(signal.reason);
            });
          });
        });
        const { call, session } = world({ queue });
        const caller = new AbortController();
        // More than a busy machine takes to start the handler.
        const timeoutMs = code === 'timeout' ? 2_000 : 60_000;
        const result = call({}, { signal: caller.signal, timeoutMs });
        expect(await Promise.race([started.opened, result])).toBe(undefined);
        if (code === 'cancelled') caller.abort();
        if (code === 'session_closed') await session.close();
        expect((await result).error?.code).toBe(code);
        const expected = { cancelled: 'AbortError', timeout: 'TimeoutError' }[code];
        const reason = await stopped.opened;
        if (expected !== undefined) expect(reason).toMatchObject({ name: expected });
      },
    );

    test('a call that is cancelled at any moment ends exactly once', async () => {
      const queue = newQueue();
      let started = 0;
      await serve(queue, async (_, { signal }) => {
        started++;
        await new Promise((resolve) => setTimeout(resolve, 2));
        signal.throwIfAborted();
      });
      const { call, events } = world({ queue });
      await call();
      const codes = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          const caller = new AbortController();
          const result = call({}, { signal: caller.signal });
          if (index % 4 !== 0) setTimeout(() => caller.abort(), index * 2);
          const { success, error } = await result;
          return success ? 'succeeded' : error?.code;
        }),
      );
      expect(new Set(codes)).toEqual(new Set(['cancelled', 'succeeded']));
      const ends = events.filter(({ type }) => type === 'tool:post' || type === 'tool:error');
      expect(ends).toHaveLength(201);
      expect(started).toBeLessThanOrEqual(201);
      await soon(() => services[0]?.running).toBe(0);
    });
  });

  describe('definitions', () => {
    test('a worker with another definition refuses the call', async () => {
      const queue = newQueue();
      let runs = 0;
      await serve(queue, () => void runs++, { tool: { description: 'Does another job.' } });
      expect(await world({ queue }).failure()).toBe('tool_not_available definition_changed');
      expect(runs).toBe(0);
    });

    test('a worker without the tool refuses the call', async () => {
      const queue = newQueue();
      await serve(queue, () => 1, { tool: { name: 'other' } });
      expect(await world({ queue }).failure()).toBe('tool_not_available handler_missing');
    });

    test('a worker refuses to start with a tool that it cannot run', async () => {
      const connection = connectionTo(redis);
      const start = (...tools: never[]) => serveFleet({ connection, queue: 'q', tools });
      const handler = (): number => 1;
      const one = defineTool({ ...face, handler }) as never;
      await expect(start()).rejects.toThrow('expected `tools` to have a definition');
      await expect(start(one, one)).rejects.toThrow('one definition of `job`, got two');
      await expect(start({ name: 'job' } as never)).rejects.toThrow('defineTool()');
      const create = (): { handler: () => number } => ({ handler });
      await expect(start(defineTool({ ...face, create }) as never)).rejects.toThrow('`create`');
      const { registry } = world({ queue: 'q' });
      await expect(start(registry.get('job') as never)).rejects.toThrow('is a fleet itself');
    });
  });

  describe('reports', () => {
    test('all progress arrives in order, even if BullMQ trims its events', async () => {
      const queue = newQueue();
      const board = dashboard(redis, queue);
      await serve(queue, async (_, { progress }) => {
        for (let done = 1; done <= 900; done++) {
          progress(done);
          if (done % 300 === 0) await board.trimEvents(0);
        }
        await board.trimEvents(0);
        return 'done';
      });
      const { call, events } = world({ queue });
      expect((await call()).output).toBe('done');
      const seen = events.flatMap((event) => (event.type === 'tool:progress' ? [event.done] : []));
      expect(seen).toEqual(Array.from({ length: 900 }, (_, index) => index + 1));
      await board.close();
    });

    test('a handler that emits very many events is held back, and its call still finishes', async () => {
      const queue = newQueue();
      const text = 'x'.repeat(60_000);
      await serve(queue, async (_, { emit, signal }) => {
        for (let count = 0; count < 3_000 && !signal.aborted; count++) {
          emit('noise', text);
          if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        return 'done';
      });
      const { call } = world({ queue });
      expect((await call()).output).toBe('done');
    });

    test('an output of up to 4 MiB arrives, and a larger one is an error', async () => {
      const queue = newQueue();
      await serve(queue, ({ size }: { size: number }) => 'x'.repeat(size));
      const { call, failure } = world({ queue, tool: { maxOutputChars: Number.MAX_SAFE_INTEGER } });
      const results = await Promise.all(
        Array.from({ length: 12 }, () => call({ size: 4_000_000 })),
      );
      for (const { output } of results) expect((output as string).length).toBe(4_000_000);
      expect(await failure({ size: 5_000_000 })).toBe('invalid_output output_too_large');
    });

    test('a call that is too long for the queue is refused', async () => {
      const queue = newQueue();
      await serve(queue, () => 1);
      const { call } = world({ queue, metadata: { text: 'x'.repeat(5_000_000) } });
      const result = await call();
      expect(result.error).toMatchObject({ code: 'handler_error' });
      expect(result.error?.message).toContain('too long for the queue');
    });

    test('the trace of the call reaches the worker', async () => {
      const queue = newQueue();
      const calls: unknown[] = [];
      await serve(queue, () => 'done', {
        around: (call, run) => {
          calls.push(call);
          return run();
        },
      });
      const { call } = world({ queue });
      expect((await call({}, { callId: 'c1' })).output).toBe('done');
      const told = { toolName: 'job', callId: 'c1', sessionId: 's', principal: 'ada' };
      expect(calls).toEqual([{ ...told, traceContext: undefined }]);
    });
  });

  test('two hosts on one queue each get the results of their own calls', async () => {
    const queue = newQueue();
    await serve(queue, ({ n }: { n: number }) => n);
    await serve(queue, ({ n }: { n: number }) => n);
    const hosts = [world({ queue }), world({ queue })];
    const numbers = Array.from({ length: 60 }, (_, index) => index);
    const results = await Promise.all(
      numbers.map((n) => hosts[n % 2]?.call({ n }, { idempotencyKey: 'the same' })),
    );
    expect(results.map((result) => result?.output)).toEqual(numbers);
  });

  describe('closing', () => {
    test('a closing worker finishes its running calls and takes no more', async () => {
      const queue = newQueue();
      const { opened, open } = gate();
      const service = await serve(queue, () => opened);
      const result = world({ queue }).call();
      await soon(() => service.running).toBe(1);
      const closed = service.close({ graceMs: 60_000 });
      const { failure } = world({ queue, startTimeoutMs: 2_000 });
      expect(await failure()).toBe('executor_lost not_started');
      open();
      expect((await result).success).toBe(true);
      await closed;
    });

    test('a closing worker gives up a call that does not end within the grace period', async () => {
      const queue = newQueue();
      const service = await serve(queue, () => new Promise(() => {}));
      const { failure } = world({ queue });
      const result = failure();
      await soon(() => service.running).toBe(1);
      await service.close({ graceMs: 10 });
      expect(await result).toBe('executor_lost worker_closed');
    });

    test('a call that was given up runs on another worker if its tool is idempotent', async () => {
      const queue = newQueue();
      const tool = { annotations: { idempotent: true } };
      const service = await serve(queue, () => new Promise(() => {}), { tool });
      const { call } = world({ queue, tool });
      const result = call();
      await soon(() => service.running).toBe(1);
      await serve(queue, () => 'elsewhere', { tool });
      await service.close({ graceMs: 10 });
      expect((await result).output).toBe('elsewhere');
    });

    test('disposing the executor ends its calls', async () => {
      const queue = newQueue();
      const service = await serve(queue, () => new Promise(() => {}));
      const { failure, registry } = world({ queue });
      const result = failure();
      await soon(() => service.running).toBe(1);
      await registry.close();
      expect(await result).toMatch(/^(session_closed|executor_lost)/);
    });
  });

  test('a disposed executor connects again when a tool is registered with it later', async () => {
    const queue = newQueue();
    await serve(queue, () => 'done');
    const executor = fleetExecutor({ connection: connectionTo(redis), queue });
    for (let round = 0; round < 2; round++) {
      const registry = new HostToolRegistry();
      registry.register(defineTool({ ...face, executor }));
      const session = registry.createSession({ sessionId: 's' });
      expect((await session.call('job')).output).toBe('done');
      await registry.close();
    }
  });

  test('closing does not wait for a Redis that has stopped', async () => {
    const stopped = await startRedis();
    const queue = newQueue();
    const worker = await serveFleet({
      connection: connectionTo(stopped),
      queue,
      tools: [defineTool({ ...face, handler: () => 'done' })],
    });
    const registry = new HostToolRegistry({ policyTimeoutMs: 600_000 });
    const executor = fleetExecutor({ connection: connectionTo(stopped), queue });
    registry.register(defineTool({ ...face, executor }));
    const session = registry.createSession({ sessionId: 's' });
    expect((await session.call('job')).output).toBe('done');
    await worker.close();
    stopped.signal('SIGSTOP');
    try {
      await registry.close();
    } finally {
      stopped.signal('SIGCONT');
      await stopped.stop();
    }
  });

  test('without the package, the error says what to install', () => {
    const missing = (): never => {
      const message = "Cannot find module 'bullmq'";
      throw Object.assign(new Error(message), { code: 'MODULE_NOT_FOUND' });
    };
    expect(() => loadBullmq(missing)).toThrow('is not installed; run `npm install bullmq@6`');
  });

  test.each([
    [{ queue: 'a:b' }, 'a name of 1 to 200 characters without colons'],
    [{ queue: '' }, 'a name of 1 to 200 characters without colons'],
    [{ leaseMs: 1 }, '`leaseMs` to be a number of milliseconds from 100'],
    [{ startTimeoutMs: 0 }, '`startTimeoutMs` to be a number of milliseconds from 1'],
    [{ prefix: 'a b' }, '`prefix` to be'],
    [{ queues: 'a' }, 'unknown option `queues`; did you mean `queue`?'],
  ])('a wrong option is named: %j', (options, message) => {
    expect(() => fleetWorld(redis, { queue: 'q', ...options } as WorldOptions)).toThrow(message);
  });
});
