/**
 * What a step of the store costs on each driver, beside the least that a database can do. Servers
 * are started for the run, with the durability that they have by default.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Store } from '../src/extend.ts';
import { memoryStore } from '../src/index.ts';
import { postgresStore } from '../src/stores/postgres/index.ts';
import { redisStore } from '../src/stores/redis/index.ts';
import { sqliteStore } from '../src/stores/sqlite/index.ts';
import { programs, startPostgres } from '../test/stores/postgres/start-postgres.ts';
import { type Case, compare, type Timing } from './harness.ts';
import { redisMissing, startRedis } from './relay/redis.ts';
import type { FamilyResult, Row } from './targets.ts';

const atOnce = 16;

/** What a governed call with a quota and an idempotency key asks for before its handler. */
function steps(store: Store): (index: number) => unknown {
  let count = 0;
  return (lane) =>
    store.apply({ shared: 'calls' }, [
      { op: 'set', key: `claim ${lane} ${++count}`, value: 'running', version: 0, ttlMs: 60_000 },
      { op: 'add', key: `ann ${lane}`, amount: 1n, max: 10n ** 9n, windowMs: 60_000 },
    ]);
}

/** One at a time, and sixteen lanes that go on by themselves. */
function both(name: string, run: (lane: number) => unknown): readonly Case[] {
  return [
    {
      name,
      run: async (times) => {
        for (let index = 0; index < times; index++) await run(0);
      },
    },
    {
      name: `${name}, ${atOnce} at once`,
      run: async (times) => {
        let left = times;
        const lane = async (number: number): Promise<void> => {
          while (left-- > 0) await run(number);
        };
        await Promise.all(Array.from({ length: atOnce }, (_, number) => lane(number)));
      },
    },
  ];
}

export async function measure(): Promise<FamilyResult> {
  if (programs === undefined)
    return { rows: [], skipped: 'the rows of the store need PostgreSQL, to be compared with it.' };
  const folder = mkdtempSync(join(tmpdir(), 'host-tools-bench-'));
  const redis = await startRedis();
  const postgres = await startPostgres(['fsync=on']);
  const client = redis === undefined ? undefined : new Redis({ port: redis.port });
  const file = sqliteStore({ path: join(folder, 'full.db') });
  const fast = sqliteStore({ path: join(folder, 'normal.db'), synchronous: 'normal' });
  try {
    const pool = postgres.pool({ max: atOnce });
    await pool.query('create table bare (id bigserial primary key, value text)');
    const insert = { name: 'bare', text: 'insert into bare (value) values ($1) returning id' };
    const tables = postgresStore({ pool });
    for (const store of [tables, file, fast]) await store.migrate();
    const cases = [
      ...both('bare', () => pool.query({ ...insert, values: ['running'] })),
      ...both('PostgreSQL', steps(tables)),
      ...(client === undefined ? [] : both('Redis', steps(redisStore({ client })))),
      ...both('SQLite, `full`', steps(file)),
      ...both('SQLite, `normal`', steps(fast)),
      ...both('memory', steps(memoryStore())),
    ];
    const one = await compare(cases.filter((_, index) => index % 2 === 0));
    const many = await compare(cases.filter((_, index) => index % 2 === 1));
    await tables.close();
    return {
      rows: [...one, ...many].map(rowOf),
      ...(client === undefined && { skipped: redisMissing }),
    };
  } finally {
    await file.close();
    await fast.close();
    client?.disconnect();
    await postgres.stop();
    await redis?.close();
    rmSync(folder, { recursive: true });
  }
}

function rowOf({ name, ratio, ns }: Timing): Row {
  const [driver, ...rest] = name.split(/(?=, 16)/);
  return {
    what:
      driver === 'bare'
        ? `a bare \`insert … returning\` on PostgreSQL${rest.join('')}`
        : `a step of the store with a claim and a sum: ${name}, against a bare \`insert\``,
    value: ratio,
    unit: '×',
    note: `${Math.round(1e9 / ns)
      .toLocaleString('en')
      .replaceAll(',', ' ')} a second`,
  };
}
