/** Approvals, quotas, idempotency keys and offloaded outputs on Redis. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import {
  redisApprovals,
  redisIdempotency,
  redisOffload,
  redisQuotas,
  redisStore,
} from '../../../src/stores/redis/index.ts';
import { tool } from '../../core/call/world.ts';
import { featureRules } from '../shared/feature-rules.ts';
import {
  demandRedis,
  patient,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from './redis-server.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`the features of a registry on Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: ReturnType<RedisServer['connect']>;
  let stores = 0;
  const options = () => ({ client, prefix: `test-${++stores}`, ...patient });

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
  });
  afterAll(() => server.stop());

  for (const { name, run } of featureRules(() => redisStore(options()))) test(name, run);

  test.each([redisApprovals, redisQuotas, redisIdempotency, redisOffload])(
    '%o is the one store, by another name',
    async (named) => {
      const own = options();
      await named(own).apply({ shared: 's' }, [{ op: 'set', key: 'k', value: 'v' }]);
      const { results } = await redisStore(own).apply({ shared: 's' }, [
        { op: 'get', keys: ['k'] },
      ]);
      expect(results?.[0]).toMatchObject([{ value: 'v' }]);
    },
  );

  const host = (commandTimeoutMs: number) => {
    const ran: unknown[] = [];
    const store = redisStore({ ...options(), commandTimeoutMs });
    const registry = new HostToolRegistry({
      store,
      idempotency: {},
      quotas: [{ id: 'q', tools: 'pay', sum: 'amount', max: 5, per: 'day', by: 'principal' }],
    });
    registry.register(
      tool(
        (input) => {
          ran.push(input);
          return 'paid';
        },
        { name: 'pay' },
      ),
    );
    const session = registry.createSession({ sessionId: 's', principal: 'ann' });
    const pay = (amount: number, idempotencyKey: string) =>
      session.call('pay', { amount }, { idempotencyKey });
    const used = async () => (await session.explain('pay', { amount: 0 })).quotas?.[0]?.used;
    return { ran, pay, used };
  };

  test('what nobody can read there: principals, keys, and amounts by payee', async () => {
    const { pay } = host(60_000);
    await pay(1, 'a secret key');
    const keys = await client.keys(`test-${stores}:*`);
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.join()).not.toMatch(/ann|secret/);
  });

  test('a claim and a reservation that are answered too late are taken back', async () => {
    const { ran, pay, used } = host(200);
    expect(await pay(1, 'before')).toMatchObject({ output: 'paid' });
    server.signal('SIGSTOP');
    const refused = await pay(2, 'k');
    expect(refused.error).toMatchObject({
      code: 'policy_error',
      reason: 'idempotency_unavailable',
      retryable: true,
    });
    server.signal('SIGCONT');
    await soon(async () => await used()).toBe(1);
    await soon(async () => (await pay(3, 'k')).output).toBe('paid');
    expect(await used()).toBe(4);
    expect(ran).toHaveLength(2);
  });

  test('a Redis that is away refuses calls before they run', async () => {
    const gone = server.connect({ lazyConnect: true });
    gone.disconnect();
    const registry = new HostToolRegistry({ idempotency: { store: redisStore({ client: gone }) } });
    let runs = 0;
    registry.register(tool(() => ++runs, { name: 'pay' }));
    const session = registry.createSession({ sessionId: 's' });
    expect((await session.call('pay', {}, { idempotencyKey: 'k' })).error).toMatchObject({
      reason: 'idempotency_unavailable',
    });
    expect(runs).toBe(0);
    expect(await session.call('pay', {})).toMatchObject({ output: 1 });
  });

  test('a call with a quota and a key costs two exchanges: one before the handler, one after', async () => {
    const { pay } = host(60_000);
    await pay(1, 'warm');
    const monitor = await client.monitor();
    const sent: string[] = [];
    monitor.on('monitor', (_time: string, [command = '']: string[], source: string) => {
      // What a script does there is no exchange.
      if (source !== 'lua') sent.push(command.toLowerCase());
    });
    expect(await pay(1, 'one')).toMatchObject({ output: 'paid' });
    await client.ping();
    await soon(() => sent.at(-1)).toBe('ping');
    expect(sent.slice(0, -1)).toEqual(['evalsha', 'evalsha']);
    // A replay counts nothing, and costs one.
    sent.length = 0;
    expect((await pay(1, 'one')).metadata.replayed).toBe(true);
    // A refusal by the quota leaves no claim.
    expect((await pay(9, 'two')).error?.reason).toBe('quota_exceeded');
    expect(await pay(1, 'two')).toMatchObject({ output: 'paid' });
    await client.ping();
    await soon(() => sent.at(-1)).toBe('ping');
    expect(sent.slice(0, -1)).toEqual(Array(4).fill('evalsha'));
    monitor.disconnect();
  });
});
