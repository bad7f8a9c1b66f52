/** Calls of programs that run in sandboxes, and on the workers of a fleet. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { fleetExecutor, serveFleet } from '../../../src/executors/bullmq/index.ts';
import {
  defineTool,
  HostToolRegistry,
  type SessionOptions,
  type ToolContext,
  type ToolSession,
} from '../../../src/index.ts';
import { handlerOf, kinds } from '../../executors/sandbox/executors.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot,
} from '../../stores/redis/redis-server.ts';
import { key, questionOf, yes } from './kit.ts';

demandRedis();

const parameters = { type: 'object' } as const;

/** A session that runs programs, whose tools are these. */
function world(
  tools: readonly { readonly name: string }[],
  options: Partial<SessionOptions> = {},
): { readonly session: ToolSession; readonly registry: HostToolRegistry } {
  const registry = new HostToolRegistry({ approvals: { secret: key }, graceMs: 100 });
  for (const tool of tools)
    registry.register(defineTool({ description: 'Does a job.', parameters, ...tool } as never));
  onTestFinished(() => registry.close());
  const session = registry.createSession({ sessionId: 's', code: true, ...options });
  return { session, registry };
}

const run = (session: ToolSession, code: string, callId = 'p') =>
  session.call('run_code', { code }, { callId });

describe.each(kinds)('in a sandbox: %s', (_, make) => {
  const probe = (name: string, more: object = {}) => ({
    name,
    executor: make({ module: handlerOf('probes'), export: name }),
    ...more,
  });

  test('calls give what direct calls give, each under an id of its own', async () => {
    const { session } = world([probe('gives'), probe('said')]);
    const input = { list: [1, 'two', null], nested: { deep: true } };
    const direct = await session.call('gives', input);
    const { output } = await run(
      session,
      `const given = await tools.gives(${JSON.stringify(input)});
const said = await Promise.all([tools.said({}), tools.said({})]);
return { given, ids: said.map(({ callId }) => callId) };`,
    );
    expect(output).toEqual({ given: direct.output, ids: ['p/2', 'p/3'] });
  });

  test('one that never ends costs the program only that call', async () => {
    const { session } = world([probe('loop', { timeoutMs: 300 }), probe('gives')]);
    const { output } = await run(
      session,
      'return [await tools.loop({}).catch(({ code }) => code), await tools.gives({ a: 1 })];',
    );
    expect(output).toEqual(['timeout', { a: 1 }]);
  });

  test('the end of the program ends them', async () => {
    const { session } = world([probe('waits')]);
    const ended: string[] = [];
    session.events.on('tool:error', ({ error }) => void ended.push(error.code));
    const caller = new AbortController();
    session.events.on('tool:event', ({ name }) => {
      if (name === 'waiting') caller.abort();
    });
    const code = 'return await tools.waits({});';
    const result = await session.call('run_code', { code }, { signal: caller.signal });
    expect(result.error?.code).toBe('cancelled');
    await expect.poll(() => ended).toEqual(['cancelled', 'cancelled']);
  });

  test('a handler there can call the tools that it names', async () => {
    const caller = {
      name: 'caller',
      executor: make({ module: handlerOf('callers') }),
      uses: ['gives'],
    };
    const { session } = world([caller, { name: 'gives', handler: () => 'given' } as never]);
    const code = 'return await tools.caller({ tool: "gives" });';
    expect((await run(session, code)).output).toBe('given');
  });
});

describe.skipIf(!redisAvailable)(`on a fleet${whyNot}`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** A session whose tool `job` runs on a worker. What ran there is in `ran`. */
  async function fleet(queue: string, more: object, options: Partial<SessionOptions> = {}) {
    const connection = { host: '127.0.0.1', port: redis.port };
    const ran: [n: number, callId: string][] = [];
    const handler = async ({ n }: { n: number }, { callId }: ToolContext) => {
      ran.push([n, callId]);
      return { n, square: n * n };
    };
    const shared = { name: 'job', description: 'Does a job.', parameters, ...more };
    const service = await serveFleet({
      connection,
      queue,
      tools: [defineTool({ ...shared, handler } as never)],
    });
    onTestFinished(() => service.close({ graceMs: 0 }));
    const executor = fleetExecutor({ connection, queue, leaseMs: 60_000, startTimeoutMs: 60_000 });
    return { ran, ...world([{ ...shared, executor } as never], options) };
  }

  test('calls at once are jobs of their own, and give what direct calls give', async () => {
    const { session, ran } = await fleet('code-1', {});
    const code = 'return await Promise.all([1, 2, 3].map((n) => tools.job({ n })));';
    const { output } = await run(session, code);
    const direct = await Promise.all([1, 2, 3].map((n) => session.call('job', { n })));
    expect(output).toEqual(direct.map((one) => one.output));
    const inProgram = ran.filter(([, id]) => id.startsWith('p/'));
    expect(inProgram.toSorted()).toEqual([
      [1, 'p/1'],
      [2, 'p/2'],
      [3, 'p/3'],
    ]);
  });

  test('one that waited for a person runs there once, and the program goes on', async () => {
    const { session, registry, ran } = await fleet(
      'code-2',
      { requiresApproval: ({ n }: { n: number }) => n > 1 },
      { principal: 'user:ann', approvalMode: 'suspend' },
    );
    const code = 'return [await tools.job({ n: 1 }), await tools.job({ n: 2 })];';
    const waiting = await run(session, code);
    const answer = await registry.approvals.answer(questionOf(waiting)?.id as string, yes);
    expect(answer.success).toBe(true);
    await expect.poll(async () => (await session.approvals.outcome('p')).status).toBe('settled');
    expect((await session.approvals.outcome('p')).result?.output).toEqual([
      { n: 1, square: 1 },
      { n: 2, square: 4 },
    ]);
    expect(ran).toEqual([
      [1, 'p/1'],
      [2, 'p/2'],
    ]);
  });
});
