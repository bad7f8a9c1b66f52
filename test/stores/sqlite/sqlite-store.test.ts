/** The store in SQLite: what the port says, its tables and its file. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import type { SqliteDatabase } from '../../../src/stores/sqlite/database.ts';
import { expire } from '../../../src/stores/sqlite/expiry.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { preparedSql } from '../../../src/stores/sqlite/step.ts';
import { storeConformance } from '../../../src/surfaces/testing/conformance/store-conformance.ts';
import { featureRules } from '../shared/feature-rules.ts';
import { expectWhole, stepWriters } from '../shared/step-ledger.ts';

type Driver = new (path: string) => SqliteDatabase;

const load = createRequire(import.meta.url);

/** `node:sqlite` where this Node has it, as the store does, else the package. */
function driver(): Driver {
  try {
    return (load('node:sqlite') as { DatabaseSync: Driver }).DatabaseSync;
  } catch {
    return load('better-sqlite3') as Driver;
  }
}

const Database = driver();
const folder = mkdtempSync(join(tmpdir(), 'host-tools-sqlite-'));
let files = 0;
const fresh = (): string => join(folder, `${++files}.db`);
const open = (path: string) => sqliteStore({ path, synchronous: 'normal' });

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a store in SQLite does what the port says', () => {
  const make = async () => {
    const path = fresh();
    const [store, other] = [open(path), open(path)];
    await Promise.all([store.migrate(), other.migrate()]);
    return [store, other] as const;
  };
  for (const rule of storeConformance(make)) test(rule.name, rule.run);
  for (const rule of featureRules(async () => (await make())[0])) test(rule.name, rule.run);
});

describe('the tables of a store in SQLite', () => {
  test('must be made, which is safe to do again', async () => {
    const store = open(fresh());
    expect(() => store.ping()).toThrow(/Call `await store.migrate\(\)` once/);
    expect(await store.status()).toEqual({ found: 0, needed: 1 });
    await store.migrate();
    await store.migrate();
    await store.ping();
    expect(await store.status()).toEqual({ found: 1, needed: 1 });
    await store.close();
  });

  test('of a newer version are refused', async () => {
    const path = fresh();
    const store = open(path);
    await store.migrate();
    const database = new Database(path);
    database.exec("UPDATE host_tools_numbers SET value = 2 WHERE name = 'schema'");
    database.close();
    expect(() => store.ping()).toThrow(/found version 2, which a newer/);
    await expect(store.migrate()).rejects.toThrow(/found version 2/);
    await store.close();
  });

  test('that another program upgrades are refused from then on', async () => {
    const path = fresh();
    const store = open(path);
    await store.migrate();
    const step = [{ op: 'set', key: 'k', value: 'v' }] as const;
    await store.apply({ shared: 'a' }, step);
    const database = new Database(path);
    database.exec("UPDATE host_tools_numbers SET value = 2 WHERE name = 'schema'");
    database.close();
    expect(() => store.apply({ shared: 'a' }, step)).toThrow(/found version 2, which a newer/);
    expect(() => store.due(1, 0)).toThrow(/found version 2, which a newer/);
    await store.close();
  });

  test('that something has removed are named, with what to do', async () => {
    const path = fresh();
    const store = open(path);
    await store.migrate();
    const step = [{ op: 'set', key: 'k', value: 'v' }] as const;
    await store.apply({ shared: 'a' }, step);
    const database = new Database(path);
    database.exec('DROP TABLE host_tools_documents');
    expect(() => store.apply({ shared: 'a' }, step)).toThrow(
      /the table `host_tools_documents` is gone.*Restore a backup of the file/,
    );
    database.exec('DROP TABLE host_tools_numbers');
    database.close();
    expect(() => store.due(1, 0)).toThrow(/the table `host_tools_numbers` is gone/);
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

  test('are in a backup by `VACUUM INTO`, made while the store is used', async () => {
    const [path, backup] = [fresh(), fresh()];
    const store = open(path);
    await store.migrate();
    await store.apply({ shared: 'a' }, [{ op: 'set', key: 'k', value: 'a\0b' }]);
    const database = new Database(path);
    database.exec(`VACUUM INTO '${backup}'`);
    database.close();
    await store.close();
    const restored = open(backup);
    expect(await restored.apply({ shared: 'a' }, [{ op: 'get', keys: ['k'] }])).toMatchObject({
      results: [[{ value: 'a\0b' }]],
    });
    await restored.close();
  });

  test('have no NUL, so that a file is read on each version of Node', async () => {
    const path = fresh();
    const store = open(path);
    await store.migrate();
    const texts = ['a\0b', '\0', '\x01\0\x01\x01', '\x01\x02'];
    await store.apply(
      { shared: '\0' },
      texts.map((key) => ({ op: 'set', key, value: key, lists: ['\0l'] }) as const),
    );
    const { results } = await store.apply({ shared: '\0' }, [
      { op: 'list', list: '\0l', limit: 9 },
      { op: 'list', list: '\0l', limit: 9, bytes: 2 },
    ]);
    expect(results?.[0].map(({ value }) => value)).toEqual([...texts].sort());
    expect(results?.[1].map(({ value }) => value.slice(0, 2))).toEqual(
      texts.map((text) => text.slice(0, 2)).sort(),
    );
    await store.close();
    const database = new Database(path);
    const rows = database.prepare(
      'SELECT hex(space || key || value) AS hex FROM host_tools_documents',
    );
    for (const row of rows.all()) expect((row as { hex: string }).hex).not.toMatch(/^(..)*00/);
    database.close();
  });

  test('are in a file that only its owner may read', async () => {
    const path = fresh();
    const store = sqliteStore({ path });
    await store.migrate();
    for (const end of ['', '-wal', '-shm']) expect(statSync(path + end).mode & 0o777).toBe(0o600);
    await store.close();
    expect(() => store.ping()).toThrow(/the store is closed/);
  });

  test('are in a database of the host, which stays open', async () => {
    const database = new Database(fresh());
    const store = sqliteStore({ database });
    await store.migrate();
    await store.close();
    expect(database.prepare('SELECT 1 AS one').get()).toMatchObject({ one: 1 });
    database.close();
  });

  test.each([
    [{}, /one of `path` and `database`/],
    [{ path: join(folder, 'none', 'a.db') }, /Make its folder/],
  ])('cannot be in %o', (options, message) => {
    expect(() => sqliteStore(options)).toThrow(message);
  });
});

describe('what is over goes from the tables in SQLite', () => {
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
    const database = new Database(fresh());
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
    const [store, database] = [open(path), new Database(path)];
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

describe('several processes share a file of SQLite', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('a listener that was too slow for some messages is told that they are lost', async () => {
    const path = fresh();
    const [store, other] = [open(path), open(path)];
    await store.migrate();
    const heard: unknown[] = [];
    const space = { shared: 'a' };
    const say = (message: string): void => void other.apply(space, [{ op: 'publish', message }]);
    await store.listen(space, (message) => heard.push(message));
    // All within one turn: the listener cannot look meanwhile.
    say('missed');
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000);
    say('late');
    await expect.poll(() => heard).toEqual(['late', undefined]);
    say('next');
    await expect.poll(() => heard).toEqual(['late', undefined, 'next']);
    await Promise.all([store.close(), other.close()]);
  });

  test('a listener is told if the messages cannot be read', async () => {
    const database = new Database(fresh());
    const store = sqliteStore({ database });
    await store.migrate();
    const heard: unknown[] = [];
    await store.listen({ shared: 'a' }, (message) => heard.push(message));
    database.close();
    await expect.poll(() => heard).toEqual([undefined]);
    await store.close();
  });

  test('what was answered is there, once, after kills', async () => {
    const path = fresh();
    const store = open(path);
    await store.migrate();
    const writers = stepWriters(['sqlite', path]);
    try {
      const one = writers.start('one');
      writers.start('two');
      await writers.more(100);
      await one.kill();
      await writers.more(100);
      writers.start('three');
      await writers.more(100);
    } finally {
      await writers.end();
    }
    expect(await expectWhole(store, writers.answered)).toBeGreaterThan(300);
    await store.close();
  });
});
