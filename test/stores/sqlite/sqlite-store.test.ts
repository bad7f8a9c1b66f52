/** The store in SQLite: what the port says, its tables and its file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import type { SqliteDatabase } from '../../../src/stores/sqlite/database.ts';
import { expire } from '../../../src/stores/sqlite/expiry.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { preparedSql } from '../../../src/stores/sqlite/step.ts';
import { storeConformance } from '../../../src/surfaces/testing/conformance/one-store-conformance.ts';

type Driver = new (path: string) => SqliteDatabase;

/** `node:sqlite`. That of Node 22 cuts texts at NUL. Another driver has not been tried yet. */
function driver(): Driver | undefined {
  if (Number.parseInt(process.versions.node, 10) < 24) return undefined;
  try {
    return (createRequire(import.meta.url)('node:sqlite') as { DatabaseSync: Driver }).DatabaseSync;
  } catch {
    return undefined;
  }
}

const Database = driver();
const why =
  Database === undefined
    ? ' (skipped: needs `node:sqlite` of Node 24, since that of 22 cuts texts at NUL)'
    : '';
const folder = mkdtempSync(join(tmpdir(), 'host-tools-sqlite-'));
let files = 0;
const fresh = (): string => join(folder, `${++files}.db`);
const open = (path: string) => {
  const database = new (Database as Driver)(path);
  const store = sqliteStore({ database, synchronous: 'normal' });
  return {
    ...bound(store),
    close: async () => {
      await store.close();
      database.close();
    },
  };
};
/** The methods of a store, which has them on its class. */
function bound(store: ReturnType<typeof sqliteStore>): typeof store {
  return {
    kind: store.kind,
    apply: (space, operations) => store.apply(space, operations),
    schedule: (items, delayMs, done) => store.schedule(items, delayMs, done),
    due: (limit, delayMs) => store.due(limit, delayMs),
    listen: (space, listener) => store.listen(space, listener),
    migrate: () => store.migrate(),
    status: () => store.status(),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(Database === undefined)(`a store in SQLite does what the port says${why}`, () => {
  const make = async () => {
    const path = fresh();
    const [store, other] = [open(path), open(path)];
    await Promise.all([store.migrate(), other.migrate()]);
    return [store, other] as const;
  };
  for (const rule of storeConformance(make)) test(rule.name, rule.run);
});

describe.skipIf(Database === undefined)(`the tables of a store in SQLite${why}`, () => {
  test('must be made, which is safe to do again', async () => {
    const store = open(fresh());
    expect(() => store.ping()).toThrow(/Call `await store.migrate\(\)` once/);
    expect(await store.status()).toEqual({ found: 0, needed: 1 });
    await store.migrate();
    await store.migrate();
    store.ping();
    expect(await store.status()).toEqual({ found: 1, needed: 1 });
    await store.close();
  });

  test('of a newer version are refused', async () => {
    const path = fresh();
    const store = open(path);
    await store.migrate();
    const database = new (Database as Driver)(path);
    database.exec("UPDATE host_tools_numbers SET value = 2 WHERE name = 'schema'");
    database.close();
    expect(() => store.ping()).toThrow(/found version 2, which a newer/);
    await expect(store.migrate()).rejects.toThrow(/found version 2/);
    await store.close();
  });

  test('keep what was answered when the file is opened again', async () => {
    const path = fresh();
    const store = open(path);
    await store.migrate();
    await store.apply({ shared: 'a' }, [{ op: 'set', key: 'k', value: 'a\0b' }]);
    await store.close();
    const again = open(path);
    expect(await again.apply({ shared: 'a' }, [{ op: 'get', keys: ['k'] }])).toMatchObject({
      results: [[{ value: 'a\0b' }]],
    });
    await again.close();
  });

  test('are in a file that it opens itself', async () => {
    const store = sqliteStore({ path: fresh() });
    await store.migrate();
    expect(store.ping()).toBeUndefined();
    await store.close();
    expect(() => store.ping()).toThrow(/the store is closed/);
  });
});

describe.skipIf(Database === undefined)(`what is over goes from the tables in SQLite${why}`, () => {
  const tables = ['sessions', 'documents', 'lists', 'logs', 'entries', 'counts', 'sums', 'amounts'];
  const rowsOf = (database: SqliteDatabase): number =>
    tables.reduce((sum, table) => {
      const row = database.prepare(`SELECT count(*) AS rows FROM host_tools_${table}`).get();
      return sum + (row as { rows: number }).rows;
    }, 0);
  /** Removes all that was over at the time, and answers how many rows each step has removed. */
  function removals(database: SqliteDatabase, now: number): number[] {
    const steps: number[] = [];
    for (let more = true; more; ) {
      const before = rowsOf(database);
      database.exec('BEGIN');
      more = expire(preparedSql(database), now);
      database.exec('COMMIT');
      steps.push(before - rowsOf(database));
    }
    return steps;
  }
  async function filled(space: Store.Space, operations: readonly Store.Operation[]) {
    const database = new (Database as Driver)(fresh());
    const store = sqliteStore({ database });
    await store.migrate();
    if ('session' in space)
      await store.apply(space, [{ op: 'open', expiresAt: Date.now() + 60_000 }]);
    expect(await store.apply(space, operations)).toHaveProperty('results');
    return database;
  }
  const times = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index));

  test.each<[string, Store.Space, readonly Store.Operation[]]>([
    [
      'documents in lists',
      { shared: 'a' },
      times(400, (n) => ({ op: 'set', key: `${n}`, value: 'v', ttlMs: 1_000, lists: ['a', 'b'] })),
    ],
    [
      'a session with all that is in it',
      { session: 'a' },
      [
        ...times(400, (n) => ({ op: 'set', key: `${n}`, value: 'v' }) as const),
        ...times(400, () => ({ op: 'append', log: 'l', value: 'v' }) as const),
        ...times(200, (n) => ({ op: 'count', key: `${n}`, limit: 1, windowMs: 3e9 }) as const),
      ],
    ],
    [
      'sums with their amounts',
      { shared: 'a' },
      times(600, (n) => ({ op: 'add', key: `${n}`, amount: 1n, windowMs: 1_000 })),
    ],
  ])('at most 500 rows in one step: %s', async (_, space, operations) => {
    const database = await filled(space, operations);
    expect(removals(database, Date.now())).toEqual([0]);
    const before = rowsOf(database);
    const steps = removals(database, Date.now() + 120_000);
    expect(Math.max(...steps)).toBeLessThanOrEqual(500);
    expect(steps.reduce((sum, rows) => sum + rows, 0)).toBe(before);
    expect(rowsOf(database)).toBe(0);
    database.close();
  });

  test('while there is more, each step removes some', async () => {
    const path = fresh();
    const [store, database] = [open(path), new (Database as Driver)(path)];
    await store.migrate();
    await store.apply(
      { shared: 'a' },
      times(900, (n) => ({ op: 'set', key: `${n}`, value: 'v', ttlMs: 1_000 }) as const),
    );
    const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    try {
      const left: number[] = [];
      for (let step = 0; step < 3; step++) {
        await store.apply({ shared: 'b' }, [{ op: 'get', keys: ['k'] }]);
        left.push(rowsOf(database));
      }
      expect(left).toEqual([408, 0, 0]);
    } finally {
      later.mockRestore();
    }
    database.close();
    await store.close();
  });

  test('a sum of which some amounts are removed stays true of the others', async () => {
    const database = await filled({ shared: 'a' }, [
      { op: 'add', key: 'k', amount: 1n, windowMs: 1_000 },
    ]);
    database.exec(
      `INSERT INTO host_tools_amounts (space, key, since, at, amount)
         SELECT space, key, since, at, '2' FROM host_tools_amounts;
       UPDATE host_tools_sums SET total = '3', buckets = 2`,
    );
    expect(expire(preparedSql(database), Date.now() + 60_000, 1)).toBe(true);
    const sum = database.prepare('SELECT total, buckets FROM host_tools_sums').get();
    expect({ ...(sum as object) }).toEqual({ total: '2', buckets: 1 });
    database.close();
  });
});
