/** The store on Redis: what is Redis' own beside the contract of every store. */
import { inspect } from 'node:util';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import type { RedisClient } from '../../../src/stores/redis/index.ts';
import { redisStore } from '../../../src/stores/redis/redis-store.ts';
import { storeConformance } from '../../../src/surfaces/testing/index.ts';
import {
  demandRedis,
  patient,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from './redis-server.ts';
import { hourMs, later, refusals, resultsOf, steps } from './redis-steps.ts';

demandRedis();

const session: Store.Space = { session: 'a {b}:c' };
const shared: Store.Space = { shared: 'a {b}:c' };

describe.skipIf(!redisAvailable)(`a store on Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: Redis;
  let stores = 0;
  const fresh = (own: Redis | RedisClient = client): Store =>
    redisStore({ client: own as RedisClient, prefix: `test-${++stores}`, ...patient });
  const keys = async (): Promise<string[]> => (await client.keys(`test-${stores}:*`)).toSorted();
  /** All that is kept, with what ends when. */
  const dump = async (): Promise<unknown[]> =>
    Promise.all(
      (await keys()).map(async (key) => [
        key,
        await client.dumpBuffer(key),
        await client.pexpiretime(key),
      ]),
    );

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
  });
  afterAll(() => server.stop());

  describe('keeps the contract', () => {
    const make = (): readonly [Store, Store] => {
      const options = { client, prefix: `test-${++stores}`, ...patient };
      return [redisStore(options), redisStore(options)];
    };
    for (const rule of storeConformance(make)) test(rule.name, rule.run);
  });

  describe('has keys', () => {
    test('of a session that share a slot of a cluster and the expiry, and go together', async () => {
      const store = fresh();
      const expiresAt = later();
      await resultsOf(store, session, [
        { op: 'open', expiresAt },
        { op: 'set', key: 'k', value: 'v' },
        { op: 'set', key: 'lease', value: 'v', ttlMs: 30_000 },
        { op: 'append', log: 'one', value: 'v' },
        { op: 'append', log: 'two {x}', value: 'v' },
      ]);
      const root = `test-${stores}:session:{a%20%7Bb%7D%3Ac}`;
      expect(await keys()).toEqual(
        ['', ':ends', ':log:one', ':log:two {x}'].map((rest) => `${root}${rest}`),
      );
      for (const key of await keys()) expect(await client.pexpiretime(key)).toBe(expiresAt);
      await resultsOf(store, session, [
        { op: 'append', log: 'three', value: 'v' },
        { op: 'extend', expiresAt: expiresAt + 5_000 },
        { op: 'extend', expiresAt },
      ]);
      expect(await keys()).toHaveLength(5);
      for (const key of await keys()) expect(await client.pexpiretime(key)).toBe(expiresAt + 5_000);
      expect(await resultsOf(store, session, [{ op: 'drop' }])).toEqual([true]);
      expect(await keys()).toEqual([]);
      expect(await resultsOf(store, session, [{ op: 'drop' }])).toEqual([false]);
    });

    test('of a shared space that have one hash tag and end when they must', async () => {
      const store = fresh();
      const expiresAt = later();
      await resultsOf(store, shared, [
        { op: 'set', key: 'k', value: 'v', expiresAt, lists: ['all', 'ö 2'] },
        { op: 'set', key: 'for ever', value: 'v' },
        { op: 'count', key: 'c', limit: 1, windowMs: hourMs },
        { op: 'add', key: 's', amount: 1n, windowMs: hourMs },
        { op: 'add', key: 'r', amount: 1n },
        { op: 'append', log: 'l', value: 'v', keep: 3 },
      ]);
      const found = await keys();
      expect([...new Set(found.map((key) => /\{[^}]+\}/.exec(key)?.[0]))]).toEqual([
        '{a%20%7Bb%7D%3Ac}',
      ]);
      const ends = await Promise.all(
        found.map(async (key) => [key.split('}:')[1], await client.pexpiretime(key)] as const),
      );
      const about = (moment: number): unknown =>
        expect.toSatisfy((end: number) => Math.abs(end - moment) < 60_000);
      const month = about(Date.now() + 30 * 24 * hourMs);
      const hour = about(Date.now() + hourMs);
      expect(Object.fromEntries(ends)).toEqual({
        'd:k': expiresAt,
        'd:for ever': -1,
        'l:all': expiresAt,
        'l:%C3%B6%202': expiresAt,
        'c:c': hour,
        't:s': hour,
        'a:s': hour,
        't:r': month,
        'a:r': month,
        'log:l': -1,
      });
    });

    test('of a list that live as long as the last document in it', async () => {
      const store = fresh();
      const list = async (): Promise<number> =>
        client.pexpiretime(`test-${stores}:shared:{a%20%7Bb%7D%3Ac}:l:l`);
      const expiresAt = later();
      const set = (key: string, end?: number): Store.Set => ({
        op: 'set',
        key,
        value: 'v',
        expiresAt: end,
        lists: ['l'],
      });
      await resultsOf(store, shared, [set('a', expiresAt), set('b')]);
      expect(await list()).toBe(-1);
      await resultsOf(store, shared, [{ op: 'delete', key: 'b' }]);
      expect(await list()).toBe(expiresAt);
      const [version] = await resultsOf(store, shared, [set('a', expiresAt + 1)]);
      expect(await list()).toBe(expiresAt + 1);
      await resultsOf(store, shared, [{ op: 'touch', key: 'a', version, ttlMs: hourMs }]);
      expect(await list()).toBeGreaterThan(expiresAt + 1);
      await resultsOf(store, shared, [{ op: 'delete', key: 'a' }]);
      expect(await keys()).toEqual([]);
    });
  });

  describe('forgets what is over', () => {
    test('documents and counters of a session, while others are written', async () => {
      const store = fresh();
      const many = Array.from({ length: 30 }, (_, at) => `k${at}`);
      await resultsOf(store, session, [
        { op: 'open', expiresAt: later() },
        ...many.map((key) => ({ op: 'set', key, value: 'v', ttlMs: 1 }) as const),
        { op: 'count', key: 'k', limit: 1, windowMs: 1 },
        { op: 'set', key: 'd', value: 'v' },
      ]);
      const root = `test-${stores}:session:{a%20%7Bb%7D%3Ac}`;
      // The step comes back after more than a millisecond of Redis' clock.
      await soon(async () => {
        await resultsOf(store, session, [{ op: 'set', key: 'new', value: 'v', ttlMs: hourMs }]);
        await resultsOf(store, session, [{ op: 'delete', key: 'new' }]);
        return (await client.hkeys(root)).toSorted();
      }).toEqual(['d:d', 'e', 'v:d']);
      expect(await resultsOf(store, session, [{ op: 'get', keys: ['k1', 'd'] }])).toMatchObject([
        [undefined, { value: 'v' }],
      ]);
    });

    test('but not a lease that was renewed, nor a document that has no end any more', async () => {
      const store = fresh();
      const [, lease] = await resultsOf(store, session, [
        { op: 'open', expiresAt: later() },
        { op: 'set', key: 'lease', value: 'v', ttlMs: hourMs },
        { op: 'set', key: 'plain', value: 'v', ttlMs: 1 },
        { op: 'set', key: 'plain', value: 'w' },
      ]);
      await client.zadd(`test-${stores}:session:{a%20%7Bb%7D%3Ac}:ends`, '1', 'v:lease');
      await resultsOf(store, session, [{ op: 'set', key: 'other', value: 'v', ttlMs: hourMs }]);
      await resultsOf(store, session, [
        { op: 'touch', key: 'lease', version: lease as number, ttlMs: hourMs },
      ]);
      expect(
        await resultsOf(store, session, [{ op: 'get', keys: ['lease', 'plain'] }]),
      ).toMatchObject([[{ value: 'v', version: lease }, { value: 'w' }]]);
    });

    test('a log of an evicted session of that name', async () => {
      const store = fresh();
      const open = { op: 'open', expiresAt: later() } as const;
      const append = { op: 'append', log: 'l', value: 'old' } as const;
      await resultsOf(store, session, [open, append, append, append]);
      await client.del(`test-${stores}:session:{a%20%7Bb%7D%3Ac}`);
      const read = { op: 'read', log: 'l', after: 0, limit: 10 } as const;
      const none = { entries: [], first: 0, last: 0 };
      expect(await resultsOf(store, session, [read])).toEqual([none]);
      expect(await resultsOf(store, session, [open, read, append])).toEqual([
        true,
        none,
        { id: 1, dropped: [] },
      ]);
    });

    test('evicted documents of a list, and what a list had of an earlier document', async () => {
      const store = fresh();
      const root = `test-${stores}:shared:{a%20%7Bb%7D%3Ac}`;
      const set = (key: string, lists: readonly string[]): Store.Set => ({
        op: 'set',
        key,
        value: key,
        lists,
        ttlMs: hourMs,
      });
      await resultsOf(store, shared, [set('a', ['l']), set('b', ['l']), set('c', ['l'])]);
      await client.del(`${root}:d:a`, `${root}:d:b`);
      await resultsOf(store, shared, [set('b', ['other'])]);
      const list = { op: 'list', list: 'l', limit: 1 } as const;
      expect(await resultsOf(store, shared, [list])).toMatchObject([[{ key: 'c' }]]);
      expect(await client.zrange(`${root}:l:l`, '0', '-1')).toEqual(['c']);
    });
  });

  test('never uses a version of a document twice', async () => {
    for (const space of [session, shared]) {
      const store = fresh();
      if (space === session) await resultsOf(store, space, [{ op: 'open', expiresAt: later() }]);
      const seen = new Set<number>();
      let last = 0;
      for (let round = 0; round < 20; round++) {
        const set = { op: 'set', key: 'k', value: 'v', version: 0, ttlMs: hourMs } as const;
        const found = await resultsOf(store, space, [
          set,
          { ...set, version: undefined },
          { op: 'delete', key: 'k', required: true },
          set,
          { op: 'delete', key: 'k', required: true },
        ]);
        for (const version of [found[0], found[1], found[3]]) {
          expect(version).toBeGreaterThan(last);
          last = version;
          seen.add(version);
        }
      }
      expect(seen.size).toBe(60);
    }
  });

  test('lists documents of one end by the bytes of their keys, from any place', async () => {
    const store = fresh();
    const names = ['a', 'a\0', 'ab', 'b', '\u{ffff}', '\u{10000}', 'Z', 'é', 'z'];
    const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const expiresAt of [undefined, later()]) {
      const list = expiresAt === undefined ? 'endless' : 'ending';
      await resultsOf(
        store,
        shared,
        names.map((key) => ({
          op: 'set',
          key: `${key}${list}`,
          value: key,
          expiresAt,
          lists: [list],
        })),
      );
      for (const after of ['', ...sorted, 'aa', 'x']) {
        const [found] = (await resultsOf(store, shared, [
          {
            op: 'list',
            list,
            limit: 1_000,
            after: { expiresAt: expiresAt ?? null, key: `${after}${list}` },
          },
        ])) as [Store.Listed[]];
        expect(found.map(({ key }) => key)).toEqual(
          sorted
            .map((key) => `${key}${list}`)
            .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
            .filter((key) => Buffer.compare(Buffer.from(key), Buffer.from(`${after}${list}`)) > 0),
        );
      }
    }
  });

  test('reads the beginnings of values, whatever the names of their lists take', async () => {
    const store = fresh();
    const long = Array.from({ length: 8 }, (_, at) => `${at}${'ä'.repeat(1_999)}`);
    const value = 'é'.repeat(10_000);
    await resultsOf(store, shared, [
      { op: 'set', key: 'few', value, lists: ['l'] },
      { op: 'set', key: 'many', value, lists: [...long.slice(1), 'l'] },
      { op: 'set', key: 'short', value: 'é', lists: ['l'] },
    ]);
    const [found] = (await resultsOf(store, shared, [
      { op: 'list', list: 'l', limit: 10, bytes: 1_001 },
    ])) as [Store.Listed[]];
    expect(found.map(({ key }) => key)).toEqual(['few', 'many', 'short']);
    for (const { key, value: head } of found) {
      if (key === 'short') expect(head).toBe('é');
      else {
        expect(head.slice(0, 500)).toBe(value.slice(0, 500));
        expect(head.length).toBeLessThan(1_000);
      }
    }
    const [whole] = await resultsOf(store, shared, [{ op: 'list', list: 'l', limit: 10 }]);
    expect(whole).toMatchObject([{ value }, { value }, { value: 'é' }]);
  });

  test('takes one round trip per step, and another one for an unknown script', async () => {
    const sent: string[] = [];
    const counting = new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          sent.push(String(name));
          return Reflect.apply(member, target, args);
        };
      },
    });
    const store = fresh(counting as unknown as RedisClient);
    await client.script('FLUSH');
    for (const known of [false, true])
      for (const [space, step] of steps(`s${known}`)) {
        await resultsOf(store, space, [{ op: 'get', keys: ['k'] }]);
        sent.length = 0;
        await resultsOf(store, space, step);
        expect(sent).toEqual(known ? ['evalsha'] : ['evalsha', 'eval']);
      }
    for (const run of [
      () => store.schedule([{ owner: 'o', key: 'k' }], 0),
      () => store.due(10, 1_000),
    ]) {
      await run();
      sent.length = 0;
      await run();
      expect(sent).toEqual(['evalsha']);
    }
    sent.length = 0;
    await store.schedule([], 0);
    expect(sent).toEqual([]);
  });

  describe('leaves nothing of a step in which an operation does not fit', () => {
    for (const [name, { space, before, fits, refused, answer }] of Object.entries(refusals))
      test(name, async () => {
        const store = fresh();
        if (before.length > 0) await resultsOf(store, space, before);
        const kept = await dump();
        const heard: unknown[] = [];
        const stop = await store.listen(space, (message) => void heard.push(message));
        expect(await store.apply(space, [...fits, refused])).toEqual({
          refused: fits.length,
          gone: false,
          retryAfterMs: 0,
          ...answer,
        });
        expect(await dump()).toEqual(kept);
        await resultsOf(store, space, [{ op: 'publish', message: 'end' }]);
        await soon(() => heard).toEqual(['end']);
        stop();
        await store.close();
      });
  });

  test('serves any number of clients: of those who race, one wins', async () => {
    const prefix = `test-${++stores}`;
    const all = Array.from({ length: 3 }, () =>
      redisStore({ client: server.connect(), prefix, ...patient }),
    );
    const racing = async (space: Store.Space, step: readonly Store.Operation[]) => {
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) => all[index % 3]!.apply(space, step)),
      );
      return answers.flatMap(({ results }) => (results === undefined ? [] : [results]));
    };
    expect(await racing(session, [{ op: 'open', expiresAt: later() }])).toHaveLength(1);
    for (const space of [session, shared]) {
      const set = { op: 'set', key: 'k', value: 'v', version: 0, ttlMs: hourMs } as const;
      const won = await racing(space, [set]);
      expect(won).toHaveLength(1);
      const version = won[0]?.[0] as number;
      expect(await racing(space, [{ ...set, version }])).toHaveLength(1);
      expect(
        await racing(space, [{ op: 'delete', key: 'k', version: version + 1, required: true }]),
      ).toHaveLength(1);
      expect(await racing(space, [{ op: 'append', log: 'l', value: 'v', after: 0 }])).toHaveLength(
        1,
      );
      const ids = (await racing(space, [{ op: 'append', log: 'l', value: 'v' }])).map(
        ([added]) => (added as { id: number }).id,
      );
      expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, at) => at + 2));
      expect(
        await racing(space, [{ op: 'count', key: 'c', limit: 7, windowMs: hourMs }]),
      ).toHaveLength(7);
    }
    // A claim and a reservation in one step: neither without the other.
    const spent = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        all[index % 3]!.apply(shared, [
          { op: 'set', key: `call ${index % 20}`, value: 'v', version: 0 },
          { op: 'add', key: 'sum', amount: 3n, max: 40n, windowMs: hourMs },
        ]),
      ),
    );
    expect(spent.filter(({ results }) => results !== undefined)).toHaveLength(13);
    const keysOf = Array.from({ length: 20 }, (_, at) => `call ${at}`);
    const [found, use] = (await resultsOf(all[0]!, shared, [
      { op: 'get', keys: keysOf },
      { op: 'sum', key: 'sum', amount: 0n, windowMs: hourMs },
    ])) as [unknown[], Store.Use];
    expect(found.filter((one) => one !== undefined)).toHaveLength(13);
    expect(use.used).toBe(39n);
    await all[0]!.schedule([{ owner: 'o', key: 'k' }], 0);
    expect(
      (
        await Promise.all(Array.from({ length: 60 }, (_, at) => all[at % 3]!.due(10, hourMs)))
      ).flat(),
    ).toEqual([{ owner: 'o', key: 'k' }]);
    expect(await racing(session, [{ op: 'drop' }])).toContainEqual([true]);
  });

  test.each([
    ['with names of its own for keys', { keyPrefix: 'host:' }],
    ['with pipelines of its own', { enableAutoPipelining: true }],
    ['with the replies of RESP3', { replyMapping: 'resp3' as const }],
    ['with the older protocol', { protocol: 2 as const }],
  ])('takes a client %s', async (_, options) => {
    const own = server.connect(options);
    const store = fresh(own);
    for (const [space, step] of steps('s')) {
      const heard: unknown[] = [];
      await store.listen(space, (message) => void heard.push(message));
      const [first, second] = await Promise.all([
        resultsOf(store, space, step),
        resultsOf(store, space, [{ op: 'get', keys: ['k'] }]),
      ]);
      expect(first).toHaveLength(step.length);
      expect(second).toEqual([[expect.objectContaining({ value: 'v\0' })]]);
      await soon(() => heard).toEqual([expect.stringMatching(/^m \d+$/)]);
    }
    await store.schedule([{ owner: 'o', key: 'k' }], 0);
    expect(await store.due(9, 60_000)).toEqual([{ owner: 'o', key: 'k' }]);
    await store.close();
  });

  test('refuses what no store can carry out before anything is sent', async () => {
    const sent = (): never => expect.unreachable('Expected nothing to be sent');
    const silent = { status: 'ready', evalsha: sent, eval: sent, duplicate: sent };
    const store = fresh(silent as unknown as RedisClient);
    for (const [space, step] of [
      [session, [{ op: 'get', keys: ['\ud800'] }]],
      [session, [{ op: 'list', list: 'l', limit: 1 }]],
      [shared, []],
    ] as const)
      await expect(store.apply(space, step as readonly Store.Operation[])).rejects.toMatchObject({
        code: 'invalid_operation',
      });
    await expect(store.listen({ shared: '' }, () => {})).rejects.toMatchObject({
      code: 'invalid_operation',
    });
    await expect(store.schedule([], -1)).rejects.toMatchObject({ code: 'invalid_operation' });
    await expect(store.due(0, 1)).rejects.toMatchObject({ code: 'invalid_operation' });
  });
});

describe.skipIf(!redisAvailable)(`a store whose Redis fails${whyNot}`, () => {
  /** A server that a test may treat as it likes. */
  const withServer = async (
    check: (server: RedisServer, store: Store, client: Redis) => Promise<void>,
  ): Promise<void> => {
    const server = await startRedis();
    try {
      const client = server.connect();
      await check(server, redisStore({ client }), client);
    } finally {
      await server.stop();
    }
  };
  /** Rejects as it has to, soon, and tells nothing that was given to it. */
  const fails = async (operation: () => unknown, reason: string | RegExp): Promise<void> => {
    const error = await Promise.resolve(operation()).then(
      () => expect.unreachable('Expected the operation to reject'),
      (error: unknown) => error,
    );
    expect((error as Error).message).toMatch(
      /^The store cannot be reached: Redis did not execute the command \(\w+\)\. Try again later\.$/,
    );
    expect((error as { reason?: unknown }).reason).toEqual(
      typeof reason === 'string' ? reason : expect.stringMatching(reason),
    );
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/secret|a session/);
  };
  const secret = { session: 'a session' } as const;
  const set = { op: 'set', key: 'k', value: 'a secret' } as const;

  test('keeps what was acknowledged over a SIGKILL', () =>
    withServer(async (server, store, client) => {
      await resultsOf(store, session, [{ op: 'open', expiresAt: later() }]);
      const acknowledged = [0, 0];
      const spend = { op: 'add', key: 's', amount: 1n, windowMs: hourMs } as const;
      const writing = [session, shared].map(async (space, at) => {
        for (;;) {
          const { results } = await store.apply(space, [
            { op: 'append', log: 'l', value: 'v', after: acknowledged[at] },
            { ...set, lists: undefined },
            ...(space === shared ? [spend] : []),
          ]);
          if (results !== undefined) acknowledged[at] = (results[0] as { id: number }).id;
        }
      });
      const ended = Promise.allSettled(writing);
      await soon(() => Math.min(...acknowledged)).toBeGreaterThan(30);
      await server.kill('SIGKILL');
      await ended;
      await server.restart();
      await soon(() => client.status).toBe('ready');
      for (const [at, space] of [session, shared].entries()) {
        const [page] = (await resultsOf(store, space, [
          { op: 'read', log: 'l', after: 0, limit: 0 },
        ])) as [Store.Page];
        expect(page.last - (acknowledged[at] as number)).toBeOneOf([0, 1]);
        expect(page.first).toBe(1);
        if (space === shared)
          expect(await resultsOf(store, shared, [{ ...spend, op: 'sum' }])).toEqual([
            { used: BigInt(page.last), retryAfterMs: 0 },
          ]);
      }
    }));

  test('rejects at once while the server is down, and recovers by itself', () =>
    withServer(async (server, store, client) => {
      await resultsOf(store, shared, [set]);
      await server.kill('SIGKILL');
      await soon(() => client.status).toBe('reconnecting');
      for (const run of [
        () => store.apply(secret, [set]),
        () => store.apply({ shared: 'a secret' }, [{ op: 'get', keys: ['a secret'] }]),
        () => store.schedule([{ owner: 'a secret', key: 'k' }], 0),
        () => store.due(1, 1),
        () => store.ping(),
        () => store.listen(secret, () => {}),
      ])
        await fails(run, /reconnecting|close|timeout/);
      await server.restart();
      await soon(() => client.status).toBe('ready');
      expect(await resultsOf(store, shared, [{ op: 'get', keys: ['k'] }])).toMatchObject([
        [{ value: 'a secret' }],
      ]);
    }));

  test('rejects in time when the server does not answer', () =>
    withServer(async (server, store, client) => {
      const hasty = redisStore({ client, commandTimeoutMs: 200 });
      await resultsOf(store, shared, [{ ...set, value: 'old' }]);
      server.signal('SIGSTOP');
      await fails(() => hasty.apply(shared, [set]), 'timeout');
      server.signal('SIGCONT');
      // It was sent: that the caller gave up does not call it back.
      await soon(() => resultsOf(store, shared, [{ op: 'get', keys: ['k'] }])).toMatchObject([
        [{ value: 'a secret' }],
      ]);
    }));

  test('has no session left after FLUSHALL, and takes no write to one', () =>
    withServer(async (_, store, client) => {
      await resultsOf(store, session, [{ op: 'open', expiresAt: later() }, set]);
      await client.flushall();
      expect(await resultsOf(store, session, [{ op: 'get', keys: ['k'] }])).toEqual([[undefined]]);
      expect(await store.apply(session, [set])).toMatchObject({ refused: 0, gone: true });
      expect(await client.dbsize()).toBe(0);
    }));

  test('rejects what a replica refuses to write, and reads', () =>
    withServer(async (_, store, client) => {
      await resultsOf(store, secret, [{ op: 'open', expiresAt: later() }, set]);
      await resultsOf(store, { shared: 'a secret' }, [{ ...set, lists: ['l'] }]);
      await client.replicaof('127.0.0.1', 1);
      for (const space of [secret, { shared: 'a secret' }] as const) {
        await fails(() => store.apply(space, [set]), 'READONLY');
        await fails(() => store.apply(space, [{ op: 'append', log: 'l', value: 'v' }]), 'READONLY');
        expect(await resultsOf(store, space, [{ op: 'get', keys: ['k'] }])).toMatchObject([
          [{ value: 'a secret' }],
        ]);
      }
      await fails(() => store.schedule([{ owner: 'o', key: 'k' }], 0), 'READONLY');
      await client.replicaof('NO', 'ONE');
      await resultsOf(store, secret, [set]);
    }));

  test('rejects what a full server refuses, with nothing half done, and still frees room', () =>
    withServer(async (_, store, client) => {
      const kept = [
        { op: 'set', key: 'old', value: 'v', ttlMs: hourMs },
        { op: 'append', log: 'l', value: 'v' },
      ] as const;
      for (const [space, step] of steps('a session')) {
        const isShared = 'shared' in space;
        await resultsOf(
          store,
          space,
          isShared ? kept : [{ op: 'open', expiresAt: later() }, ...kept],
        );
        const before = await client.dbsize();
        await client.config('SET', 'maxmemory', '1');
        const writes = step.filter(({ op }) => op !== 'open' && op !== 'publish');
        await fails(() => store.apply(space, writes), 'OOM');
        for (const operation of writes)
          if (
            !['get', 'read', 'list', 'sum', 'delete', 'subtract', 'touch', 'extend'].includes(
              operation.op,
            )
          )
            await fails(() => store.apply(space, [operation]), 'OOM');
        expect(await client.dbsize()).toBe(before);
        expect(
          await resultsOf(store, space, [
            { op: 'get', keys: ['old', 'k'] },
            { op: 'read', log: 'l', after: 0, limit: 0 },
            { op: 'delete', key: 'old' },
          ]),
        ).toMatchObject([[{ value: 'v' }, undefined], { last: 1 }, true]);
        if (!isShared) await resultsOf(store, space, [{ op: 'drop' }]);
        await client.config('SET', 'maxmemory', '0');
        await resultsOf(store, space, isShared ? writes : step);
      }
      await client.config('SET', 'maxmemory', '1');
      await fails(() => store.schedule([{ owner: 'a secret', key: 'k' }], 0), 'OOM');
      expect(await store.due(1, 1)).toEqual([]);
    }));
});
