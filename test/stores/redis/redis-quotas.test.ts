/** Quotas in Redis: the contract of every such store, and what is Redis' own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  HostToolRegistry,
  memoryQuotas,
  type Quota,
  type QuotaSpend,
  type QuotaStore,
  type QuotaUse,
} from '../../../src/index.ts';
import { redisQuotas } from '../../../src/stores/redis/index.ts';
import { quotaAmountsKey, quotaTimesKey } from '../../../src/stores/redis/keys.ts';
import { quotaStoreConformance } from '../../../src/surfaces/testing/index.ts';
import { tool } from '../../core/call/world.ts';
import { program } from '../../runner/programs.ts';
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

const hourMs = 3_600_000;
const spend = (key: string, more: Partial<QuotaSpend> = {}): QuotaSpend => ({
  key,
  amount: 1n,
  max: 3n,
  windowMs: hourMs,
  ...more,
});

describe.skipIf(!redisAvailable)(`quotas on Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: ReturnType<RedisServer['connect']>;
  let stores = 0;
  const fresh = (): QuotaStore => redisQuotas({ client, prefix: `test-${++stores}`, ...patient });
  const keys = async (): Promise<string[]> => (await client.keys(`test-${stores}:*`)).toSorted();
  const usedOf = async (store: QuotaStore, key: string): Promise<bigint | undefined> =>
    (await store.look([spend(key, { amount: 0n })]))[0]?.used;

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
  });
  afterAll(() => server.stop());

  describe('keep the contract', () => {
    for (const rule of quotaStoreConformance(fresh)) test(rule.name, rule.run);
  });

  test('add, subtract and compare exactly as the store in memory does', async () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 34n });
    const small = fc.bigInt({ min: 1n, max: 1_000n });
    const steps = fc.array(
      fc.record({
        amount: fc.oneof(amount, small),
        max: fc.oneof(amount, small),
        back: fc.boolean(),
      }),
      { minLength: 1, maxLength: 15 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const [redis, memory] = [fresh(), memoryQuotas()];
        for (const { amount, max, back } of all) {
          const one = spend('k', { amount, max, windowMs: undefined });
          const [left, right] = [await redis.reserve([one]), await memory.reserve([one])];
          if ('refused' in left || 'refused' in right) expect(left).toEqual(right);
          else if (back) {
            await redis.giveBack(left.reservation);
            await memory.giveBack(right.reservation);
          } else {
            // Beyond the most, as what a person has agreed to is.
            const more = spend('k', { amount, max: undefined, windowMs: undefined });
            await redis.reserve([more]);
            await memory.reserve([more]);
          }
          expect(await redis.look([one])).toEqual(await memory.look([one]));
        }
      }),
      { numRuns: 30 },
    );
  });

  test('expire with their windows, and what a session has spent after a month', async () => {
    const store = fresh();
    await store.reserve([spend('k'), spend('s', { windowMs: undefined })]);
    const times = await Promise.all((await keys()).map((key) => client.pttl(key)));
    const month = 30 * 86_400_000;
    expect(
      times.toSorted((a, b) => a - b).map((ttl) => (ttl > hourMs + 1 ? month : hourMs)),
    ).toEqual([hourMs, hourMs, month, month]);
    for (const ttl of times) expect(ttl).toBeGreaterThan(hourMs - 60_000);
    await store.reserve([spend('short', { windowMs: 50 })]);
    await soon(keys).toHaveLength(4);
  });

  test('looking writes nothing, and leaves no key', async () => {
    const store = fresh();
    await store.look([spend('k'), spend('l')]);
    expect(await keys()).toEqual([]);
  });

  test('no key reveals its purpose, and those of a prefix have one hash tag', async () => {
    const store = fresh();
    await store.reserve([spend('["refunds"]"ann@example.org"'), spend('["refunds"]"bob"')]);
    const found = await keys();
    expect(found).toHaveLength(4);
    for (const key of found)
      expect(key).toMatch(
        new RegExp(`^test-${stores}:quota:\\{test-${stores}\\}:[0-9a-f]{64}:(times|amounts)$`),
      );
  });

  test('a giving back that the client sends twice takes off once', async () => {
    const proxied = Object.create(client) as typeof client;
    let doubled = 0;
    proxied.evalsha = ((...values: Parameters<typeof client.evalsha>) => {
      doubled++;
      return client.evalsha(...values).then(() => client.evalsha(...values));
    }) as typeof client.evalsha;
    const prefix = `test-${++stores}`;
    const [store, twice] = [
      redisQuotas({ client, prefix }),
      redisQuotas({ client: proxied, prefix }),
    ];
    // So that Redis knows the scripts.
    const early = await store.reserve([spend('other')]);
    if ('reservation' in early) await store.giveBack(early.reservation);
    await store.reserve([spend('k', { windowMs: undefined })]);
    const answer = await store.reserve([spend('k', { windowMs: undefined })]);
    if ('reservation' in answer) await twice.giveBack(answer.reservation);
    expect(doubled).toBe(1);
    expect(await usedOf(store, 'k')).toBe(1n);
  });

  test('prefixes see nothing of each other', async () => {
    const [one, other] = [fresh(), fresh()];
    await one.reserve([spend('k', { amount: 3n })]);
    expect(await usedOf(other, 'k')).toBe(0n);
    expect(await usedOf(one, 'k')).toBe(3n);
  });

  test('a window with thousands of reservations keeps about two thousand', async () => {
    const store = fresh();
    const windowMs = 2_000_000;
    for (let round = 0; round < 20; round++)
      await Promise.all(
        Array.from({ length: 200 }, () =>
          store.reserve([spend('k', { max: undefined, windowMs, amount: 1n })]),
        ),
      );
    const [, times] = await keys();
    expect(await client.zcard(times as string)).toBeLessThanOrEqual(2_048);
    expect((await store.look([spend('k', { windowMs, amount: 0n })]))[0]?.used).toBe(4_000n);
  });

  test('a reservation that is answered too late is given back', async () => {
    const own = await startRedis();
    try {
      const client = own.connect();
      const store = redisQuotas({ client, commandTimeoutMs: 300 });
      const calm = redisQuotas({ client, ...patient });
      // So that the script is known, and the connection is open.
      await calm.reserve([spend('k')]);
      own.signal('SIGSTOP');
      await expect(store.reserve([spend('k')])).rejects.toThrow(/timeout/);
      own.signal('SIGCONT');
      await soon(() => usedOf(calm, 'k')).toBe(1n);
    } finally {
      own.signal('SIGCONT');
      await own.stop();
    }
  });

  test('reject while Redis is down, refuse the calls, and survive a SIGKILL', async () => {
    const own = await startRedis();
    try {
      const connection = own.connect();
      const store = redisQuotas({ client: connection });
      const faults: object[] = [];
      const registry = new HostToolRegistry({
        quotaStore: store,
        quotas: [{ id: 'few', max: 2, per: 'day', by: 'registry' }],
        logger: { warn: () => {}, error: (data) => void faults.push(data) },
      });
      registry.register(tool(() => 'paid', { name: 'pay' }));
      const session = registry.createSession({ sessionId: 's' });
      expect((await session.call('pay', {})).success).toBe(true);
      await own.kill('SIGKILL');
      await soon(() => connection.status).toBe('reconnecting');
      const { error } = await session.call('pay', {});
      expect([error?.code, error?.reason, error?.retryable]).toEqual([
        'policy_denied',
        'quota_unavailable',
        true,
      ]);
      expect(faults).toMatchObject([{ source: 'quotaStore' }]);
      for (const operation of [() => store.reserve([spend('k')]), () => store.look([spend('k')])])
        await expect(operation()).rejects.toThrow(
          /^The store cannot be reached: Redis did not execute the command \(\w+\)\. Try again later\.$/,
        );
      await own.restart();
      await soon(() => connection.status).toBe('ready');
      expect((await session.call('pay', {})).success).toBe(true);
      expect((await session.call('pay', {})).error?.reason).toBe('quota_exceeded');
    } finally {
      await own.stop();
    }
  });

  describe('several processes that spend at once', () => {
    interface Spent {
      readonly ran: number;
      readonly reasons: Readonly<Record<string, number>>;
    }

    /** Starts them, lets them begin together, and answers what each has spent. */
    async function race(quotas: readonly Quota[], calls: number, atOnce: number): Promise<Spent[]> {
      const given = { redisPort: server.port, prefix: `test-${++stores}`, quotas, calls, atOnce };
      const children = Array.from({ length: 4 }, () =>
        spawn(
          process.execPath,
          [program('test/stores/redis/quota-spender.ts'), JSON.stringify(given)],
          {
            stdio: ['pipe', 'pipe', 'inherit'],
          },
        ),
      );
      try {
        const lines = children.map(({ stdout }) => createInterface(stdout)[Symbol.asyncIterator]());
        for (const line of lines) expect((await line.next()).value).toBe('ready');
        for (const { stdin } of children) stdin.write('go\n');
        return await Promise.all(
          lines.map(async (line) => JSON.parse((await line.next()).value as string) as Spent),
        );
      } finally {
        await Promise.all(
          children.map(async (child) => {
            if (child.exitCode !== null || child.signalCode !== null) return;
            child.kill('SIGKILL');
            await once(child, 'exit');
          }),
        );
      }
    }
    const total = (spent: readonly Spent[], reason: string): number =>
      spent.reduce((sum, { reasons }) => sum + (reasons[reason] ?? 0), 0);

    test('never exceed a quota, and spend exactly all of it', async () => {
      const quota: Quota = { id: 'all', max: 137, per: 'day', by: 'principal' };
      const spent = await race([quota], 100, 20);
      expect(spent.reduce((sum, { ran }) => sum + ran, 0)).toBe(137);
      expect(total(spent, 'ran')).toBe(137);
      expect(total(spent, 'quota_exceeded')).toBe(400 - 137);
    });

    test('nor of several quotas any: sums, counts and sums for each value together', async () => {
      const common = { per: 'day', by: 'registry' } as const;
      const spent = await race(
        [
          { ...common, id: 'sum', sum: 'amount', max: 12.3 },
          { ...common, id: 'calls', max: 200 },
          { ...common, id: 'each', sum: 'amount', max: 50, by: { path: 'to.*' } },
        ],
        60,
        15,
      );
      // 12.3 in steps of 0.1, exactly.
      expect(total(spent, 'ran')).toBe(123);
      expect(total(spent, 'quota_exceeded')).toBe(240 - 123);
    });
  });

  describe('at the limits of one call', () => {
    const names = Array.from({ length: 100 }, (_, at) => `payee-${at}`);
    const earlier = 1_000;

    /** A store whose hundred keys have a thousand earlier reservations each, of one unit. */
    const filled = async (ageMs: (index: number) => number): Promise<QuotaStore> => {
      const store = fresh();
      const now = Date.now();
      const pipeline = client.pipeline();
      for (const name of names) {
        const ids = Array.from({ length: earlier }, (_, at) => `id-${at}`);
        const times = ids.flatMap((id, at) => [now - ageMs(at), id]);
        pipeline.zadd(quotaTimesKey(`test-${stores}`, name), ...times);
        const amounts = ids.flatMap((id) => [id, '1']);
        pipeline.hset(quotaAmountsKey(`test-${stores}`, name), 't', String(earlier), ...amounts);
      }
      await pipeline.exec();
      return store;
    };
    /** How many commands a script has run, on average: its time follows from that. */
    const costOf = async (work: () => unknown): Promise<number> => {
      await client.config('RESETSTAT');
      await work();
      const stats = await client.info('commandstats');
      const calls = [...stats.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)];
      const sum = (which: RegExp): number =>
        calls.reduce(
          (all, [, name = '', count]) => all + (which.test(name) ? Number(count) : 0),
          0,
        );
      return sum(/^(?!eval|config|info|script)/) / sum(/^evalsha$/);
    };
    const all = (max: bigint): QuotaSpend[] => names.map((key) => spend(key, { max }));

    test('a refusal costs about what a reservation costs, whatever it depends on', async () => {
      // Spread over the window, so that many would have to leave it before the amount fits.
      const store = await filled((at) => Math.floor((hourMs * (earlier - at)) / (2 * earlier)));
      const reserved = await costOf(() => store.reserve(all(10_000n)));
      const refused = await costOf(async () => {
        const answer = await store.reserve(all(2n));
        expect(answer).toHaveProperty('refused.0.used', 1_001n);
        // The bound is the end of the newest reservation's window.
        const { refused } = answer as { refused: readonly QuotaUse[] };
        for (const { retryAfterMs = Number.NaN } of refused)
          expect(retryAfterMs).toBeLessThanOrEqual(hourMs);
      });
      expect(refused).toBeLessThanOrEqual(reserved);
      expect(refused).toBeLessThanOrEqual(12 * names.length);
    });

    test('reservations that have left the window are removed in steps, or all at once', async () => {
      const some = await filled((at) => (at < 900 ? 2 * hourMs : hourMs / 2));
      const partly = await costOf(async () => {
        expect(await some.reserve(all(102n))).toHaveProperty('reservation');
      });
      expect(partly).toBeLessThanOrEqual(12 * names.length);
      for (const use of await some.look(all(102n))) expect(use.used).toBe(101n);
      const every = await filled(() => 2 * hourMs);
      const gone = await costOf(async () => {
        expect(await every.reserve(all(1n))).toHaveProperty('reservation');
      });
      expect(gone).toBeLessThanOrEqual(12 * names.length);
      for (const use of await every.look(all(1n))) expect(use.used).toBe(1n);
    });
  });
});
