/** The store on a real PostgreSQL: what only this driver can get wrong. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import {
  type PostgresOptions,
  type PostgresPool,
  postgresStore,
} from '../../../src/stores/postgres/index.ts';
import {
  demandPostgres,
  type PostgresServer,
  patient,
  postgresAvailable,
  startPostgres,
  whyNot,
} from './postgres-server.ts';
import { programs } from './start-postgres.ts';

demandPostgres();

const calls = { shared: 'calls' } as const;

test('a Pool of pg is a pool, and nothing connects by itself', () => {
  const pool: PostgresPool = new Pool({ host: '127.0.0.1', port: 1 });
  postgresStore({ pool });
  expect((pool as Pool).totalCount).toBe(0);
});

describe('options that cannot be meant', () => {
  const pool = new Pool({ host: '127.0.0.1', port: 1 });
  const hostile: [string, PostgresOptions][] = [
    ['pool', {} as PostgresOptions],
    ['pool', { pool: 'postgres://127.0.0.1' } as unknown as PostgresOptions],
    ['listenPool', { pool, listenPool: {} } as unknown as PostgresOptions],
    // A client hands out no connections.
    ['pool', { pool: new Client({ host: '127.0.0.1', port: 1 }) } as unknown as PostgresOptions],
    ...['', 'a b', 'a"b', "a';--", '1a', 'pg_x', 'PG_x', 'x'.repeat(41), 'ä', 'a.b'].map(
      (schema): [string, PostgresOptions] => ['schema', { pool, schema }],
    ),
    ...[0, -1, Number.NaN, 2 ** 31, '5' as unknown as number].map(
      (commandTimeoutMs): [string, PostgresOptions] => [
        'commandTimeoutMs',
        { pool, commandTimeoutMs },
      ],
    ),
  ];
  test.each(hostile)('%s', (field, options) => {
    expect(() => postgresStore(options)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(`postgresStore: expected \`${field}\``),
      }),
    );
  });
});

describe.skipIf(!postgresAvailable)(`a store on PostgreSQL${whyNot}`, () => {
  let server: PostgresServer;
  let pool: Pool;
  let schemas = 0;
  const opened: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    server = await startPostgres();
    pool = server.pool();
  });
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
  afterAll(() => server.stop());

  const open = (options: Partial<PostgresOptions> = {}) => {
    const store = postgresStore({ pool, ...patient, ...options });
    opened.push(() => store.close());
    return store;
  };
  /** A store of its own. */
  const migrated = async (options: Partial<PostgresOptions> = {}) => {
    const schema = `Schema_${++schemas}`;
    const store = open({ schema, ...options });
    await store.migrate();
    return { store, schema };
  };
  const rows = async (text: string): Promise<Record<string, unknown>[]> =>
    (await pool.query(text)).rows;

  describe('texts', () => {
    const odd = ['\0', '\x01', '\0\x01', '\x01\0\x01\x01', '\x01\x02', 'a\0b', '\u{10ffff}', '"\\'];

    test('names and values with any character come back, and are in the order of bytes', async () => {
      const { store } = await migrated();
      await store.apply(
        calls,
        odd.map((key) => ({ op: 'set', key, value: `${key}!${key}`, lists: [`l${key}`, 'all'] })),
      );
      const { results } = await store.apply(calls, [
        { op: 'get', keys: odd },
        { op: 'list', list: 'all', limit: 100 },
        { op: 'list', list: 'l\0', limit: 100 },
      ]);
      expect(results?.[0].map((found) => found?.value)).toEqual(odd.map((key) => `${key}!${key}`));
      const sorted = [...odd].sort((one, other) =>
        Buffer.compare(Buffer.from(one), Buffer.from(other)),
      );
      expect(results?.[1].map(({ key }) => key)).toEqual(sorted);
      expect(results?.[2].map(({ key }) => key)).toEqual(['\0']);
    });

    test('logs, items, sums, counters, sessions and messages have them too', async () => {
      const { store } = await migrated();
      const space = { session: 'a\0b' };
      await store.apply(space, [
        { op: 'open', expiresAt: Date.now() + 600_000 },
        { op: 'append', log: '\0', value: 'x\0y' },
        { op: 'count', key: '\0', limit: 5, windowMs: 60_000 },
      ]);
      const { results } = await store.apply(space, [{ op: 'read', log: '\0', after: 0, limit: 9 }]);
      expect(results?.[0].entries).toEqual([{ id: 1, value: 'x\0y' }]);
      await store.apply(calls, [{ op: 'add', key: '\x01', amount: 3n }]);
      const sum = await store.apply(calls, [
        { op: 'sum', key: '\x01', amount: 0n },
        { op: 'sum', key: '\0', amount: 0n },
      ]);
      expect(sum.results?.map(({ used }) => used)).toEqual([3n, 0n]);
      await store.schedule([{ owner: '\0', key: 'k\x01' }], 0);
      expect(await store.due(10, 1_000)).toEqual([{ owner: '\0', key: 'k\x01' }]);
      const heard: unknown[] = [];
      await store.listen(space, (message) => heard.push(message));
      await store.apply(space, [{ op: 'publish', message: 'm\0\x01' }]);
      await expect.poll(() => heard).toEqual(['m\0\x01']);
    });

    test('names of 2 000 characters that differ only at their ends are different, and in order', async () => {
      const { store } = await migrated();
      const long = (end: string): string => '\u{1f600}'.repeat(990) + end;
      const keys = ['c', 'a', 'b', ''].map(long);
      const space = { shared: long('space') };
      await store.apply(
        space,
        keys.map((key) => ({ op: 'set', key, value: key.slice(1_980), lists: [long('list')] })),
      );
      const { results } = await store.apply(space, [
        { op: 'list', list: long('list'), limit: 2 },
        { op: 'get', keys: [long('b'), long('d')] },
      ]);
      expect(results?.[0].map(({ key }) => key)).toEqual(['', 'a'].map(long));
      expect(results?.[1].map((found) => found?.value)).toEqual(['b', undefined]);
      const next = await store.apply(space, [
        {
          op: 'list',
          list: long('list'),
          limit: 9,
          after: { expiresAt: null, key: long('a') },
        },
      ]);
      expect(next.results?.[0].map(({ key }) => key)).toEqual(['b', 'c'].map(long));
      await store.apply(space, [{ op: 'delete', key: long('b') }]);
      const left = await store.apply(space, [{ op: 'list', list: long('list'), limit: 9 }]);
      expect(left.results?.[0].map(({ key }) => key)).toEqual(['', 'a', 'c'].map(long));
    });

    test('a value of 8 MB comes back, and its beginning alone', async () => {
      const { store } = await migrated();
      const value = `${'ü\0'.repeat(100_000)}${'ü'.repeat(3_800_000)}`;
      await store.apply(calls, [{ op: 'set', key: 'k', value, lists: ['all'] }]);
      const { results } = await store.apply(calls, [
        { op: 'get', keys: ['k'] },
        { op: 'list', list: 'all', limit: 1, bytes: 1_000 },
      ]);
      expect(results?.[0][0]?.value === value).toBe(true);
      const head = results?.[1][0]?.value ?? '';
      expect(Buffer.byteLength(head)).toBeGreaterThanOrEqual(1_000);
      expect(head.length).toBeLessThan(3_000);
      // The last character may be damaged.
      expect(value.startsWith(head.slice(0, -1))).toBe(true);
    });
  });

  describe('sums', () => {
    test('are exact, and one step with 100 keys and 1 000 earlier amounts each is quick', async () => {
      const { store, schema } = await migrated();
      const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`);
      const add = (amount: bigint, max?: bigint) =>
        store.apply(
          calls,
          keys.map((key) => ({ op: 'add', key, amount, max, windowMs: 3_600_000 })),
        );
      await add(10n ** 34n);
      // As if 1 000 amounts of 1 had been added over the last hour, half of them an hour ago.
      await pool.query(`
        insert into "${schema}".amounts
        select s.number, s.at - 3700000 + n * 7400, s.at - 3700000 + n * 7400, 1,
          s.at - 3700000 + n * 7400 + 3600000
        from "${schema}".sums s, generate_series(0, 499) n`);
      await pool.query(`update "${schema}".sums set total = total + 500, amounts = 501`);
      const ms = async (work: () => unknown): Promise<number> => {
        const start = performance.now();
        await work();
        return Math.round(performance.now() - start);
      };
      const sliding = await ms(() => add(1n));
      const adding = await ms(() => add(1n));
      const refused = await ms(() => add(1n, 10n));
      const empty = await ms(() =>
        store.apply(
          calls,
          keys.map((key) => ({ op: 'add', key: `new ${key}`, amount: 1n, windowMs: 3_600_000 })),
        ),
      );
      process.stdout.write(
        `100 sums with 1 000 amounts each: ${sliding} ms with amounts that are too old, ` +
          `${adding} ms without, ${refused} ms refused, ${empty} ms for new sums\n`,
      );
      const { results } = await store.apply(calls, [
        { op: 'sum', key: 'key 7', amount: 0n, windowMs: 3_600_000 },
      ]);
      const tooOld = 14n;
      expect(results?.[0].used).toBe(10n ** 34n + 500n - tooOld + 2n);
    });

    test('keep 1 024 amounts one by one, and then join those of a 1 024th of the window', async () => {
      const { store, schema } = await migrated();
      const windowMs = 3_600_000;
      const add = () => store.apply(calls, [{ op: 'add', key: 'k', amount: 1n, windowMs }]);
      await add();
      // As if 1 021 amounts had been added within the last hour.
      await pool.query(`
        insert into "${schema}".amounts
        select s.number, s.at - n * 1000, s.at - n * 1000, 1, s.at - n * 1000 + ${windowMs}
        from "${schema}".sums s, generate_series(1, 1021) n;
        update "${schema}".sums set total = 1022, amounts = 1022`);
      const places: string[] = [];
      for (let n = 0; n < 12; n++) places.push((await add()).results?.[0] as string);
      const [kept] = await rows(`
        select total, amounts, (select count(*)::int from "${schema}".amounts) as rows
        from "${schema}".sums`);
      expect(kept?.total).toBe('1034');
      expect(kept?.amounts).toBe(kept?.rows);
      // The others came within a 1 024th of the window, 3.5 seconds, unless the machine stood still.
      expect(kept?.rows).toBeLessThanOrEqual(1_026);
      expect(new Set(places).size).toBe(Number(kept?.rows) - 1_022);
    });

    test('an amount goes back once it was added, and not when it is old', async () => {
      const { store } = await migrated();
      const windows = { a: 60_000, b: undefined, c: 1 };
      const keys = ['a', 'b', 'c'] as const;
      const used = async (): Promise<bigint[]> => {
        const { results } = await store.apply(
          calls,
          keys.map((key) => ({ op: 'sum', key, amount: 0n, windowMs: windows[key] })),
        );
        return results?.map((one) => one.used) ?? [];
      };
      const { results: places } = await store.apply(
        calls,
        keys.map((key) => ({ op: 'add', key, amount: 5n, windowMs: windows[key] })),
      );
      await expect.poll(used).toEqual([5n, 5n, 0n]);
      const back = keys.map((key, at) => ({
        op: 'subtract' as const,
        key,
        amount: 3n,
        place: places?.[at] as string,
      }));
      await store.apply(calls, [...back, { op: 'subtract', key: 'a', amount: 1n, place: 'none' }]);
      expect(await used()).toEqual([2n, 2n, 0n]);
      // Never more than was added.
      await store.apply(calls, back);
      expect(await used()).toEqual([0n, 0n, 0n]);
    });
  });

  describe('expiry', () => {
    const count = async (schema: string): Promise<Record<string, number>> => {
      const tables = ['sessions', 'documents', 'listed', 'logs', 'entries', 'counters', 'sums'];
      const counts = await Promise.all(
        [...tables, 'amounts'].map((table) =>
          rows(`select count(*)::int as n from "${schema}".${table}`),
        ),
      );
      return Object.fromEntries(
        [...tables, 'amounts'].map((t, at) => [t, counts[at]?.[0]?.n as number]),
      );
    };
    const none = {
      sessions: 0,
      documents: 0,
      listed: 0,
      logs: 0,
      entries: 0,
      counters: 0,
      sums: 0,
      amounts: 0,
    };

    test('removes what is over in steps of at most 500 rows, and nothing else', async () => {
      const { store, schema } = await migrated();
      const end = Date.now() + 600_000;
      await store.apply(
        calls,
        Array.from({ length: 400 }, (_, index) => ({
          op: 'set',
          key: `k${index}`,
          value: 'v',
          expiresAt: end,
          lists: index % 2 ? ['all', 'odd'] : [],
        })),
      );
      for (const session of ['one', 'two'])
        await store.apply({ session }, [
          { op: 'open', expiresAt: end },
          ...Array.from({ length: 300 }, () => ({ op: 'append' as const, log: 'l', value: 'v' })),
          { op: 'set', key: 'k', value: 'v' },
          { op: 'count', key: 'c', limit: 9, windowMs: 600_000 },
        ]);
      await store.apply(calls, [
        { op: 'add', key: 'short', amount: 1n, windowMs: 1_000 },
        { op: 'add', key: 'still', amount: 1n },
        { op: 'set', key: 'stays', value: 'v', lists: ['all'] },
      ]);
      await store.apply({ session: 'three' }, [{ op: 'open', expiresAt: end + 86_400_000 }]);
      await store.apply({ session: 'two' }, [{ op: 'drop' }]);
      // Time passes.
      for (const [table, columns] of Object.entries({
        sessions: ['ends'],
        documents: ['ends'],
        listed: ['ends'],
        counters: ['ends'],
        sums: ['ends', 'at', 'newest'],
        amounts: ['ends', 'at', 'started'],
      }))
        await pool.query(
          `update "${schema}".${table} set ${columns.map((one) => `${one} = ${one} - 700000`)}
           where ends < 9223372036854775807`,
        );
      const steps: number[] = [];
      while (steps.length < 50 && steps.at(-1) !== 0) {
        const before = Object.values(await count(schema)).reduce((sum, n) => sum + n, 0);
        const [row] = await rows(`select "${schema}".expire(1, 500) as n`);
        const after = Object.values(await count(schema)).reduce((sum, n) => sum + n, 0);
        expect(before - after).toBe(Number(row?.n));
        steps.push(Number(row?.n));
      }
      expect(Math.max(...steps)).toBeLessThanOrEqual(500);
      // It needs no more steps than that.
      expect(steps.length).toBeLessThan(8);
      expect(await count(schema)).toEqual({
        ...none,
        sessions: 1,
        documents: 1,
        listed: 1,
        sums: 1,
      });
    });

    test('what is over is not there, whether its rows are or not', async () => {
      const { store, schema } = await migrated();
      const space = { session: 's' };
      await store.apply(space, [
        { op: 'open', expiresAt: Date.now() + 600_000 },
        { op: 'set', key: 'k', value: 'old' },
        { op: 'append', log: 'l', value: 'old' },
      ]);
      await pool.query(`update "${schema}".sessions set ends = 1`);
      expect(await store.apply(space, [{ op: 'set', key: 'k', value: 'v' }])).toMatchObject({
        refused: 0,
        gone: true,
      });
      await store.apply(space, [{ op: 'open', expiresAt: Date.now() + 600_000 }]);
      const { results } = await store.apply(space, [
        { op: 'get', keys: ['k'] },
        { op: 'read', log: 'l', after: 0, limit: 9 },
      ]);
      expect(results).toEqual([[undefined], { entries: [], first: 0, last: 0 }]);
    });

    test('sums that go on lose what is too old, and stay exact', async () => {
      const { store, schema } = await migrated();
      const add = (amount: bigint) =>
        store.apply(calls, [{ op: 'add', key: 'k', amount, windowMs: 600_000 }]);
      await add(100n);
      await pool.query(
        `update "${schema}".amounts set started = started - 700000, at = at - 700000, ends = ends - 700000`,
      );
      await pool.query(`update "${schema}".sums set newest = newest - 700000, at = at - 1000`);
      await add(7n);
      const [first] = await rows(`select "${schema}".expire(1, 500) as n`);
      expect(first?.n).toBe('1');
      const { results } = await store.apply(calls, [
        { op: 'sum', key: 'k', amount: 1n, max: 7n, windowMs: 600_000 },
      ]);
      expect(results?.[0].used).toBe(7n);
      expect(results?.[0].retryAfterMs).toBeGreaterThan(0);
    });
  });

  describe('tables', () => {
    test('a store that was never migrated is refused with that advice', async () => {
      const store = open({ schema: 'never_made' });
      const advice = expect.objectContaining({
        message: expect.stringContaining('Call `await store.migrate()` once before use'),
      });
      await expect(store.apply(calls, [{ op: 'get', keys: ['k'] }])).rejects.toEqual(advice);
      await expect(store.apply(calls, [{ op: 'delete', key: 'k' }])).rejects.toEqual(advice);
      await expect(store.due(1, 1)).rejects.toEqual(advice);
      expect(await store.status()).toEqual({ found: 0, needed: 1 });
      await store.ping();
    });

    test('many that migrate at once make them once, and steps go on meanwhile', async () => {
      const schema = `Schema_${++schemas}`;
      const pools = Array.from({ length: 12 }, () => server.pool({ max: 2 }));
      const stores = pools.map((one) => open({ pool: one, schema }));
      await Promise.all(stores.map((store) => store.migrate()));
      await Promise.all(
        stores.map(async (store, index) => {
          await store.apply(calls, [{ op: 'set', key: `${index}`, value: 'v' }]);
          await store.migrate();
        }),
      );
      expect(await stores[0]?.status()).toEqual({ found: 1, needed: 1 });
      expect(await rows(`select version from "${schema}".meta`)).toEqual([{ version: 1 }]);
      await Promise.all(pools.map((one) => one.end()));
    });

    test('tables of a newer program are refused, by steps and by migrations', async () => {
      const { store, schema } = await migrated();
      await pool.query(`update "${schema}".meta set version = 2`);
      const newer = expect.objectContaining({
        message: expect.stringContaining('if they are newer, update `host-tools` here'),
      });
      expect(await store.status()).toEqual({ found: 2, needed: 1 });
      await expect(store.migrate()).rejects.toEqual(newer);
      await expect(store.apply(calls, [{ op: 'get', keys: ['k'] }])).rejects.toEqual(newer);
      await expect(store.apply(calls, [{ op: 'set', key: 'k', value: 'v' }])).rejects.toEqual(
        newer,
      );
      await expect(store.due(1, 1)).rejects.toEqual(newer);
    });

    test('a role that may not create works once another has migrated, and else learns what it lacks', async () => {
      const { store, schema } = await migrated();
      await pool.query(`create role guest${schemas} login`);
      const guest = open({
        pool: server.pool({ user: `guest${schemas}`, max: 2 }),
        schema,
      });
      await expect(guest.apply(calls, [{ op: 'delete', key: 'k' }])).rejects.toMatchObject({
        reason: '42501',
        message: expect.stringContaining('the role lacks a right. Grant it'),
      });
      await expect(open({ pool, schema: 'other' }).status()).resolves.toEqual({
        found: 0,
        needed: 1,
      });
      await pool.query(`
        grant usage on schema "${schema}" to guest${schemas};
        grant select on "${schema}".meta to guest${schemas};
        grant usage on sequence "${schema}".numbers to guest${schemas};
        grant select, insert, update, delete on all tables in schema "${schema}" to guest${schemas};`);
      await guest.migrate();
      await guest.apply(calls, [
        { op: 'set', key: 'k', value: 'v', lists: ['all'] },
        { op: 'add', key: 'k', amount: 1n, windowMs: 1_000 },
        { op: 'append', log: 'l', value: 'v' },
        { op: 'count', key: 'c', limit: 1, windowMs: 1_000 },
        { op: 'publish', message: 'm' },
      ]);
      await guest.schedule([{ owner: 'o', key: 'k' }], 0);
      expect(await guest.due(1, 1)).toHaveLength(1);
      const { results } = await store.apply(calls, [{ op: 'get', keys: ['k'] }]);
      expect(results?.[0][0]?.value).toBe('v');
      const fresh = open({
        pool: server.pool({ user: `guest${schemas}`, max: 2 }),
        schema: 'fresh',
      });
      await expect(fresh.migrate()).rejects.toMatchObject({ reason: '42501' });
    });

    test('tables and operators of others take the place of none', async () => {
      const { schema } = await migrated();
      await pool.query(`
        create schema trap; create table trap.documents (space text, key text);
        create function trap.fail(bigint, bigint) returns boolean language plpgsql as
          $$ begin raise exception 'trapped'; end $$;
        create operator trap.> (leftarg = bigint, rightarg = bigint, function = trap.fail);`);
      const trapped = open({
        pool: server.pool({ options: '-c search_path=trap,pg_catalog' }),
        schema,
      });
      await trapped.apply(calls, [{ op: 'set', key: 'k', value: 'v', lists: ['all'] }]);
      const { results } = await trapped.apply(calls, [{ op: 'list', list: 'all', limit: 9 }]);
      expect(results?.[0]).toHaveLength(1);
    });
  });

  describe('failures', () => {
    test('a server that cannot be reached', async () => {
      const nowhere = open({ pool: new Pool({ host: '127.0.0.1', port: 1 }) as PostgresPool });
      await expect(nowhere.apply(calls, [{ op: 'get', keys: ['secret'] }])).rejects.toMatchObject({
        reason: 'ECONNREFUSED',
        message: expect.not.stringContaining('secret'),
      });
      await expect(nowhere.ping()).rejects.toMatchObject({ reason: 'ECONNREFUSED' });
      await expect(nowhere.migrate()).rejects.toMatchObject({ reason: 'ECONNREFUSED' });
      await expect(nowhere.listen(calls, () => {})).rejects.toMatchObject({
        reason: 'ECONNREFUSED',
      });
    });

    test('a step that waits too long ends, here and at the server, and leaves nothing', async () => {
      const { store, schema } = await migrated();
      const hasty = open({ schema, commandTimeoutMs: 300 });
      const key = 'k';
      await store.apply(calls, [{ op: 'set', key, value: 'old' }]);
      const blocker = await pool.connect();
      try {
        await blocker.query('begin');
        await blocker.query(`select from "${schema}".documents for update`);
        const late = hasty.apply(calls, [{ op: 'set', key, value: 'new' }]);
        await expect(late).rejects.toMatchObject({
          reason: expect.stringMatching(/^(?:timeout|55P03)$/),
          message: expect.stringContaining('`commandTimeoutMs`'),
        });
        // Nobody is left who waits.
        await expect
          .poll(() => rows("select pid from pg_stat_activity where wait_event_type = 'Lock'"))
          .toEqual([]);
      } finally {
        await blocker.query('rollback');
        blocker.release();
      }
      const { results } = await store.apply(calls, [{ op: 'get', keys: [key] }]);
      expect(results?.[0][0]?.value).toBe('old');
    });

    test('a pool without a free connection: what was waited for is not sent later', async () => {
      const { store, schema } = await migrated();
      const small = server.pool({ max: 1 });
      const hasty = open({ pool: small, schema, commandTimeoutMs: 100 });
      const held = await small.connect();
      await expect(hasty.apply(calls, [{ op: 'set', key: 'k', value: 'v' }])).rejects.toMatchObject(
        { reason: 'timeout' },
      );
      held.release();
      await open({ pool: small, schema }).ping();
      const { results } = await store.apply(calls, [{ op: 'get', keys: ['k'] }]);
      expect(results?.[0]).toEqual([undefined]);
      await expect(open({ pool: small, schema }).listen(calls, () => {})).rejects.toThrow(
        'Raise `max`, or give a `listenPool`',
      );
    });

    test('another isolation level is refused, since its statements do not see the others', async () => {
      const { schema } = await migrated();
      const strict = open({
        pool: server.pool({ options: '-c default_transaction_isolation=serializable' }),
        schema,
      });
      await expect(strict.apply(calls, [{ op: 'delete', key: 'k' }])).rejects.toThrow(
        'expected the isolation level `read committed`',
      );
    });

    test('an error of a statement does not cost the pool its connection', async () => {
      const one = server.pool({ max: 1 });
      const store = open({ pool: one, schema: 'never_made' });
      const pid = async () => (await one.query('select pg_backend_pid() as pid')).rows[0].pid;
      const before = await pid();
      await expect(store.apply(calls, [{ op: 'delete', key: 'k' }])).rejects.toThrow('migrate');
      expect(await pid()).toBe(before);
    });

    test('a closed store refuses, and leaves the pool to the host', async () => {
      const { store } = await migrated();
      await store.close();
      await store.close();
      await expect(store.apply(calls, [{ op: 'get', keys: ['k'] }])).rejects.toMatchObject({
        reason: 'closed',
      });
      await expect(store.listen(calls, () => {})).rejects.toMatchObject({ reason: 'closed' });
      expect(await rows('select 1 as one')).toEqual([{ one: 1 }]);
    });

    test('settings of the host for the types of answers change nothing', async () => {
      const { schema } = await migrated();
      const types = { getTypeParser: () => () => 'changed' };
      const store = open({ pool: server.pool({ types } as never), schema });
      await store.apply(calls, [{ op: 'set', key: 'k', value: 'v' }]);
      const { results } = await store.apply(calls, [{ op: 'get', keys: ['k'] }]);
      expect(results?.[0][0]?.value).toBe('v');
      expect(await store.status()).toEqual({ found: 1, needed: 1 });
    });
  });

  test('an exchange is one statement, prepared once for each connection', async () => {
    const { schema } = await migrated();
    const one = server.pool({ max: 1 });
    const store = open({ pool: one, schema });
    const client = await one.connect();
    const sent: { name?: string; text: string }[] = [];
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    Object.assign(client, {
      query: (...given: unknown[]) => {
        sent.push(given[0] as { text: string });
        return query(...given);
      },
    });
    client.release();
    const steps: readonly (readonly Store.Operation[])[] = [
      [{ op: 'set', key: 'k', value: 'v', version: 0 }],
      [
        { op: 'set', key: 'k', value: 'v', version: 0 },
        { op: 'add', key: 'k', amount: 1n },
      ],
    ];
    for (const step of steps) await store.apply(calls, step);
    expect(sent).toHaveLength(2);
    expect(sent[0]?.name).toMatch(/^host_tools_[0-9a-f]{32}$/);
    expect(sent[1]?.name).toBe(sent[0]?.name);
    const prepared = await one.query('select name from pg_prepared_statements');
    expect(prepared.rows).toEqual([{ name: sent[0]?.name }]);
  });

  test('what `pg_dump` wrote is restored, and steps go on from it', async () => {
    const { store, schema } = await migrated();
    await store.apply(calls, [{ op: 'set', key: 'k', value: 'a\0b' }]);
    const at = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres'];
    const run = (program: string, given: readonly string[], input = '') => {
      const ran = spawnSync(join(programs as string, program), [...at, ...given], { input });
      expect(ran).toMatchObject({ status: 0 });
      return String(ran.stdout);
    };
    const dump = run('pg_dump', ['-n', `"${schema}"`, 'postgres']);
    run('createdb', ['restored']);
    run('psql', ['-q', '-v', 'ON_ERROR_STOP=1', 'restored'], dump);
    const restored = open({ pool: server.pool({ database: 'restored' }), schema });
    const [before] = (await restored.apply(calls, [{ op: 'get', keys: ['k'] }])).results ?? [];
    expect(before?.[0]?.value).toBe('a\0b');
    const [version] =
      (await restored.apply(calls, [{ op: 'set', key: 'k', value: 'w' }])).results ?? [];
    expect(Number(version)).toBeGreaterThan(Number(before?.[0]?.version));
  });

  test('a pooler that knows no prepared statements gets plain ones', async () => {
    const { schema } = await migrated();
    const few = server.pool({ max: 3 });
    const store = open({ pool: few, schema });
    const write = (value: string) =>
      Promise.all(['a', 'b', 'c'].map((key) => store.apply(calls, [{ op: 'set', key, value }])));
    const onEach = async (text: string): Promise<unknown[][]> => {
      const clients = await Promise.all([few.connect(), few.connect(), few.connect()]);
      const answers = await Promise.all(clients.map((client) => client.query(text)));
      for (const client of clients) client.release();
      return answers.map(({ rows }) => rows);
    };
    await onEach('select 1');
    await write('v');
    // Other server connections than those that have prepared it, for all at once.
    await onEach('deallocate all');
    await write('w');
    const { results } = await store.apply(calls, [{ op: 'get', keys: ['a', 'b', 'c'] }]);
    expect(results?.[0].map((found) => found?.value)).toEqual(['w', 'w', 'w']);
    expect(await onEach('select from pg_prepared_statements')).toEqual([[], [], []]);
  });
});
