/** Idempotency keys in Redis: the contract of every such store, and what is Redis' own. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostToolRegistry, type IdempotencyStore } from '../../../src/index.ts';
import { redisIdempotency } from '../../../src/stores/redis/index.ts';
import { idempotencyStoreConformance } from '../../../src/surfaces/testing/index.ts';
import { gate, tool } from '../../core/call/world.ts';
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

describe.skipIf(!redisAvailable)(`idempotency keys in Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: ReturnType<RedisServer['connect']>;
  let stores = 0;
  const fresh = (): IdempotencyStore =>
    redisIdempotency({ client, prefix: `test-${++stores}`, ...patient });
  const keys = async (): Promise<string[]> => (await client.keys(`test-${stores}:*`)).toSorted();
  const claim = {
    key: 'k',
    input: 'i',
    holder: 'a',
    leaseMs: 1_000,
    ttlMs: 60_000,
    takeOver: false,
  };

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
  });
  afterAll(() => server.stop());

  describe('keep the contract', () => {
    for (const rule of idempotencyStoreConformance(fresh)) test(rule.name, rule.run);
  });

  test('a key is one hash that expires by itself; a released one leaves nothing', async () => {
    const store = fresh();
    await store.claim(claim);
    expect(await keys()).toEqual([`test-${stores}:once:{k}`]);
    const left = await client.pttl(`test-${stores}:once:{k}`);
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(61_000);
    await store.finish('k', 'a', 'x', 1_000);
    expect(await client.pttl(`test-${stores}:once:{k}`)).toBeLessThanOrEqual(1_000);
    await store.claim({ ...claim, key: 'other' });
    await store.release('other', 'a');
    expect(await keys()).toHaveLength(1);
  });

  test('fractions of a millisecond are rounded up', async () => {
    const store = fresh();
    const times = { leaseMs: 0.5, ttlMs: 60_000.5 };
    expect(await store.claim({ ...claim, ...times })).toEqual({ state: 'claimed' });
    expect(await store.renew('k', 'a', times)).toBe(true);
    expect(await store.finish('k', 'a', 'x', 0.5)).toBe(true);
  });

  test('two registries run a call once, and the second gets the outcome of the first', async () => {
    const store = fresh();
    const [started, finish] = [gate(), gate<string>()];
    let runs = 0;
    const worker = (principal: string) => {
      const registry = new HostToolRegistry({ idempotency: { store } });
      registry.register(
        tool(
          async () => {
            runs++;
            started.open();
            return finish.promise;
          },
          { name: 'pay' },
        ),
      );
      return registry.createSession({ sessionId: `s${Math.random()}`, principal });
    };
    const first = worker('ann').call('pay', { amount: 1 }, { idempotencyKey: 'k' });
    await started.promise;
    const second = worker('ann').call('pay', { amount: 1 }, { idempotencyKey: 'k' });
    finish.open('paid');
    expect(await first).toMatchObject({ success: true, output: 'paid' });
    expect(await second).toMatchObject({
      success: true,
      output: 'paid',
      metadata: { replayed: true },
    });
    expect(runs).toBe(1);
    // What is in Redis has neither the key nor the principal.
    const [key] = await keys();
    const kept = await client.hgetall(key as string);
    expect(JSON.stringify([key, kept.i, kept.h])).not.toMatch(/ann|amount/);
    expect(Object.keys(kept).toSorted()).toEqual(['h', 'i', 'l', 'o']);
  });

  test('a claim that is answered too late is released', async () => {
    const prefix = `test-${++stores}`;
    const store = redisIdempotency({ client, prefix, commandTimeoutMs: 50 });
    await client.ping();
    server.signal('SIGSTOP');
    const refused = store.claim(claim);
    await expect(refused).rejects.toThrow(
      'The store cannot be reached: Redis did not execute the command (timeout). Try again later.',
    );
    server.signal('SIGCONT');
    await soon(async () => (await store.claim({ ...claim, holder: 'b' })).state).toBe('claimed');
  });

  test('a Redis that is away refuses the call before it runs', async () => {
    const gone = server.connect({ lazyConnect: true });
    gone.disconnect();
    let runs = 0;
    const registry = new HostToolRegistry({
      idempotency: { store: redisIdempotency({ client: gone }) },
    });
    registry.register(tool(() => ++runs, { name: 'pay' }));
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.call('pay', {}, { idempotencyKey: 'k' })).toMatchObject({
      success: false,
      error: { code: 'policy_error', reason: 'idempotency_unavailable', retryable: true },
    });
    expect(runs).toBe(0);
    expect(await session.call('pay', {})).toMatchObject({ success: true, output: 1 });
  });

  test('wrong options are named', () => {
    expect(() => redisIdempotency({} as never)).toThrow(
      'redisIdempotency: expected `client` to be a `Redis` or a `Cluster` of ioredis',
    );
  });
});
