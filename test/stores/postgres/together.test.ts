/** Many clients of one PostgreSQL, with what dies meanwhile. */
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import { postgresStore } from '../../../src/stores/postgres/index.ts';
import { expectWhole, stepWriters } from '../shared/step-ledger.ts';
import {
  demandPostgres,
  type PostgresServer,
  patient,
  postgresAvailable,
  startPostgres,
  whyNot,
} from './postgres-server.ts';

demandPostgres();

const calls = { shared: 'calls' } as const;
const ledger = { shared: 'ledger' } as const;

describe.skipIf(!postgresAvailable)(`clients of one PostgreSQL${whyNot}`, () => {
  let server: PostgresServer;
  let pool: Pool;
  let schemas = 0;
  const opened: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    server = await startPostgres(['deadlock_timeout=100ms']);
    pool = server.pool({ max: 40 });
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  afterAll(() => server.stop());

  const migrated = async () => {
    const schema = `schema_${++schemas}`;
    const store = postgresStore({ pool, schema, ...patient });
    opened.push(store);
    await store.migrate();
    return { store, schema };
  };
  const deadlocks = async (): Promise<number> => {
    const { rows } = await pool.query('select sum(deadlocks)::int as n from pg_stat_database');
    return rows[0].n;
  };

  test('16 at once that claim the same keys and spend from one sum never exceed it', async () => {
    const { store } = await migrated();
    const answers = await Promise.all(
      Array.from({ length: 16 * 8 }, (_, n) =>
        store.apply(calls, [
          { op: 'set', key: `claim ${n % 32}`, value: `${n}`, version: 0, ttlMs: 600_000 },
          { op: 'add', key: 'money', amount: 10n, max: 200n, windowMs: 600_000 },
        ]),
      ),
    );
    expect(answers.filter(({ refused }) => refused === undefined)).toHaveLength(20);
    const { results } = await store.apply(calls, [
      { op: 'sum', key: 'money', amount: 0n, windowMs: 600_000 },
      { op: 'get', keys: Array.from({ length: 32 }, (_, n) => `claim ${n}`) },
    ]);
    expect(results?.[0].used).toBe(200n);
    // A refused step leaves nothing.
    expect(results?.[1].filter((found) => found !== undefined)).toHaveLength(20);
  });

  test('steps in opposite orders, with few keys and with many, never wait in a circle', async () => {
    const { store } = await migrated();
    const before = await deadlocks();
    const step = (n: number): Store.Operation[] => {
      const size = n % 5 === 0 ? 150 : 6;
      const keys = Array.from({ length: size }, (_, at) => `k${(at * 7 + n) % (size + 2)}`);
      if (n % 2) keys.reverse();
      return keys.flatMap((key, at): Store.Operation[] => [
        { op: 'set', key, value: `${n}`, lists: [`l${at % 3}`] },
        { op: 'add', key, amount: 1n },
        { op: 'append', log: key, value: `${n}`, keep: 10 },
        ...(at % 3 ? [] : [{ op: 'delete' as const, key }]),
      ]);
    };
    await Promise.all(
      Array.from({ length: 16 }, async (_, worker) => {
        for (let n = 0; n < 5; n++) {
          await store.apply(calls, step(worker * 5 + n));
          const items = [1, 2, 3].map((at) => ({ owner: 'o', key: `${(worker + at) % 5}` }));
          await store.schedule(items, 0, [{ owner: 'o', key: `${(worker + 4) % 5}` }]);
        }
      }),
    );
    expect(await deadlocks()).toBe(before);
  });

  test('steps on different keys do not wait for each other', async () => {
    const { store, schema } = await migrated();
    await store.apply(calls, [{ op: 'set', key: 'held', value: 'v' }]);
    const blocker = await pool.connect();
    try {
      await blocker.query('begin');
      await blocker.query(`select from "${schema}".documents for update`);
      const held = store.apply(calls, [{ op: 'set', key: 'held', value: 'w' }]);
      await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          store.apply(calls, [
            { op: 'set', key: `free ${n}`, value: 'v' },
            { op: 'add', key: `free ${n}`, amount: 1n, windowMs: 1_000 },
          ]),
        ),
      );
      // Expiry goes around it, too.
      await pool.query(`update "${schema}".documents set ends = 1 where key like 'free%'`);
      const { rows } = await pool.query(`select "${schema}".expire(1, 500) as n`);
      expect(Number(rows[0].n)).toBeGreaterThanOrEqual(16);
      await blocker.query('rollback');
      await held;
    } finally {
      blocker.release();
    }
  });

  test('a reader sees all of a step or nothing of it', async () => {
    const { store } = await migrated();
    let over = false;
    const writer = (async () => {
      for (let n = 1; n <= 60; n++)
        await store.apply(calls, [
          { op: 'set', key: 'a', value: `${n}` },
          { op: 'append', log: 'l', value: `${n}` },
          { op: 'set', key: 'b', value: `${n}` },
        ]);
      over = true;
    })();
    while (!over) {
      const { results } = await store.apply(calls, [
        { op: 'get', keys: ['a'] },
        { op: 'read', log: 'l', after: 0, limit: 0 },
        { op: 'get', keys: ['b'] },
      ]);
      const [a, l, b] = results as [Store.Document[], Store.Page, Store.Document[]];
      expect([a[0]?.value ?? '0', b[0]?.value ?? '0']).toEqual([`${l.last}`, `${l.last}`]);
    }
    await writer;
  });

  test('an item goes to one of several, and comes back if that one dies', async () => {
    const { store } = await migrated();
    await store.schedule(
      Array.from({ length: 60 }, (_, n) => ({ owner: 'o', key: `${n}` })),
      0,
    );
    const taken = await Promise.all(Array.from({ length: 8 }, () => store.due(10, 600_000)));
    const keys = taken.flat().map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    const rest = await store.due(1_000, 0);
    expect(new Set([...keys, ...rest.map(({ key }) => key)]).size).toBe(60);
    expect(await store.due(1_000, 600_000)).toHaveLength(rest.length);
  });

  test('messages of a step come in order and whole, and a lost connection is made known', async () => {
    const { store, schema } = await migrated();
    const heard: unknown[] = [];
    const others: unknown[] = [];
    await store.listen(calls, () => {
      throw new Error('a listener of somebody else');
    });
    const stop = await store.listen(calls, (message) => heard.push(message));
    await store.listen(ledger, (message) => others.push(message));
    await store.apply(calls, [
      { op: 'set', key: 'k', value: 'v' },
      { op: 'publish', message: 'same' },
      { op: 'publish', message: 'same' },
      { op: 'publish', message: 'x'.repeat(store.maxMessageChars ?? 0) },
      { op: 'publish', message: '\u{ffff}'.repeat(store.maxMessageChars ?? 0), versionOf: 0 },
      { op: 'publish', message: 'x'.repeat((store.maxMessageChars ?? 0) + 1) },
    ]);
    await expect.poll(() => heard.length).toBe(5);
    expect(heard.slice(0, 2)).toEqual(['same', 'same']);
    expect(heard[2]).toBe('x'.repeat(store.maxMessageChars ?? 0));
    expect(heard[3]).toMatch(/^\uffff+ \d+$/);
    expect(heard[4]).toBeUndefined();
    // What a refused step says is never heard.
    await store.apply(calls, [
      { op: 'publish', message: 'never' },
      { op: 'set', key: 'k', value: 'v', version: 0 },
    ]);
    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%${schema}%'`,
    );
    await expect.poll(() => others).toEqual([undefined]);
    expect(heard.slice(5)).toEqual([undefined]);
    await store.apply(calls, [{ op: 'publish', message: 'again' }]);
    await expect.poll(() => heard.slice(6)).toEqual(['again']);
    stop();
    stop();
    await store.apply(calls, [{ op: 'publish', message: 'unheard' }]);
    await store.apply(ledger, [{ op: 'publish', message: 'heard' }]);
    await expect.poll(() => others.slice(1)).toEqual(['heard']);
    expect(heard).toHaveLength(7);
  });

  test('what was answered is there after kills of clients and crashes of the server', async () => {
    const { store, schema } = await migrated();
    const writers = stepWriters(['postgres', `${server.port}`, schema]);
    try {
      const [one, two] = [writers.start('one'), writers.start('two')];
      await writers.more(30);
      await server.crash();
      await writers.more(30);
      await one.kill();
      writers.start('three');
      await writers.more(30);
      await server.crash();
      await two.kill();
      await writers.more(30);
    } finally {
      await writers.end();
    }
    await expect
      .poll(() =>
        pool.query('select 1').then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const written = await expectWhole(store, writers.answered);
    process.stdout.write(
      `${writers.answered.length} steps answered and ${written} written, over 2 crashes of the ` +
        'server and 2 kills of clients\n',
    );
  });
});
