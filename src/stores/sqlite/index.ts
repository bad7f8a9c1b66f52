/** The store in a file of SQLite. */
import type { Store } from '../../api/store.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { checkDue, checkSchedule, checkSpace, checkStep } from '../shared/check-operations.ts';
import { inTransaction, openDatabase, type SqliteDatabase } from './database.ts';
import { expire } from './expiry.ts';
import { type Listener, Listening } from './listening.ts';
import { exists, refusal, runOperation, writeMessages } from './operations.ts';
import { foundVersion, migrateTables, neededVersion, withAdvice, wrongVersion } from './schema.ts';
import { Misfit, preparedSql, type Sql, type Step } from './step.ts';

export type { SqliteDatabase, SqliteStatement, SqliteValue } from './database.ts';

/** Settings of {@link sqliteStore}: one of `path` and `database`. */
export interface SqliteStoreOptions {
  /** The file; it is made if it does not exist, its folder is not. */
  readonly path?: string | undefined;
  /** An open `DatabaseSync` of `node:sqlite` or `Database` of `better-sqlite3`, which you close. */
  readonly database?: SqliteDatabase | undefined;
  /**
   * With `full`, what was answered survives a loss of power. With `normal`, steps are faster, and
   * the last ones may be lost then, but not if the process is killed.
   * @default 'full'
   */
  readonly synchronous?: 'full' | 'normal' | undefined;
}

/** How long a step waits for one of another process. */
const busyMs = 5_000;
const expireEveryMs = 1_000;

const writing: ReadonlySet<Store.Operation['op']> = new Set([
  'extend',
  'set',
  'touch',
  'append',
  'count',
  'add',
]);

/**
 * Keeps everything in a file of SQLite, which several processes of one machine share. It uses
 * `node:sqlite` where Node has it, else the package `better-sqlite3`. Call `migrate()` once at
 * start. It answers at once, except while another process writes: then it waits for up to five
 * seconds, and nothing else in this process runs meanwhile.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs';
 * import { HostToolRegistry } from 'host-tools';
 * import { sqliteStore } from 'host-tools/sqlite';
 *
 * const store = sqliteStore({ path: `${mkdtempSync('host-tools-')}/state.db` });
 * await store.migrate();
 * const registry = new HostToolRegistry({ store, idempotency: {} });
 * ```
 * @throws MisuseError `invalid_option`, `missing_dependency`.
 */
export function sqliteStore(
  options: SqliteStoreOptions,
): Store & Required<Pick<Store, 'migrate' | 'status'>> {
  const { path, database: given, synchronous = 'full' } = options;
  if ((path === undefined) === (given === undefined))
    throw new MisuseError('invalid_option', 'sqliteStore: expected one of `path` and `database`.');
  const database = given ?? openDatabase(path as string);
  database.exec(`PRAGMA busy_timeout = ${busyMs}`);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec(`PRAGMA synchronous = ${synchronous === 'full' ? 'FULL' : 'NORMAL'}`);
  return new SqliteStore(database, given === undefined);
}

class SqliteStore implements Store {
  readonly kind = 'SQLite';
  readonly #database: SqliteDatabase;
  readonly #owns: boolean;
  readonly #sql: Sql;
  readonly #listening: Listening;
  #isReady = false;
  #isClosed = false;
  #expired = 0;

  constructor(database: SqliteDatabase, owns: boolean) {
    this.#database = database;
    this.#owns = owns;
    this.#sql = preparedSql(database);
    this.#listening = new Listening(this.#sql);
  }

  apply<const T extends readonly Store.Operation[]>(
    space: Store.Space,
    operations: T,
  ): Store.Outcome<T> {
    checkStep(space, operations);
    const answer = this.#transaction(() => this.#step(space, operations));
    if (operations.some(({ op }) => op === 'publish'))
      queueMicrotask(() => this.#listening.look(true));
    return answer as Store.Outcome<T>;
  }

  #step(space: Store.Space, operations: readonly Store.Operation[]): Store.Outcome {
    const { session } = space as { readonly session?: string };
    const step: Step = { sql: this.#sql, now: Date.now(), space: nameOf(space), session };
    this.#expire(step.now);
    this.#database.exec('SAVEPOINT step');
    const results: unknown[] = [];
    for (let refused = 0; refused < operations.length; refused++) {
      const operation = operations[refused] as Store.Operation;
      const gone = session !== undefined && operation.op !== 'open' && !exists(step);
      const result =
        gone && writing.has(operation.op)
          ? new Misfit()
          : // What is left of a session that is over is not there.
            runOperation(gone ? { ...step, space: '' } : step, operation);
      if (result instanceof Misfit) {
        this.#database.exec('ROLLBACK TO step');
        return refusal(step, operations, refused, gone, result);
      }
      results.push(result);
    }
    writeMessages(step, operations, results);
    const all: unknown = results;
    return { results: all as Store.Applied['results'] };
  }

  schedule(items: readonly Store.Item[], delayMs: number, done: readonly Store.Item[] = []): void {
    checkSchedule(items, delayMs, done);
    this.#transaction(() => {
      for (const { owner, key } of done)
        this.#sql.run('DELETE FROM host_tools_items WHERE owner = ? AND key = ?', owner, key);
      this.#place(items, Date.now() + delayMs);
    });
  }

  #place(items: readonly Store.Item[], due: number): void {
    for (const { owner, key } of items)
      this.#sql.run(
        `INSERT INTO host_tools_items VALUES
         (?, ?, ?, (SELECT coalesce(max(placed), 0) + 1 FROM host_tools_items WHERE due = ?))
         ON CONFLICT DO UPDATE SET due = excluded.due, placed = excluded.placed`,
        owner,
        key,
        due,
        due,
      );
  }

  due(limit: number, delayMs: number): readonly Store.Item[] {
    checkDue(limit, delayMs);
    return this.#transaction(() => {
      const now = Date.now();
      const items = this.#sql
        .all<Store.Item>(
          'SELECT owner, key FROM host_tools_items WHERE due <= ? ORDER BY due, placed LIMIT ?',
          now,
          limit,
        )
        .map(({ owner, key }) => ({ owner, key }));
      this.#place(items, now + delayMs);
      return items;
    });
  }

  async listen(space: Store.Space, listener: Listener): Promise<() => void> {
    checkSpace(space);
    this.#ready();
    return this.#listening.add(nameOf(space), listener);
  }

  async migrate(): Promise<void> {
    migrateTables(this.#database);
  }

  async status(): Promise<Store.Status> {
    return { found: foundVersion(this.#database), needed: neededVersion };
  }

  ping(): void {
    this.#ready();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listening.close();
    if (this.#owns) this.#database.close();
  }

  #ready(): void {
    if (this.#isClosed) throw new Error('sqliteStore: the store is closed. Make another one.');
    if (this.#isReady) return;
    const found = foundVersion(this.#database);
    if (found !== neededVersion) throw wrongVersion({ found, needed: neededVersion });
    this.#isReady = true;
  }

  #transaction<T>(body: () => T): T {
    this.#ready();
    try {
      return inTransaction(this.#database, () => {
        // Another program may have upgraded the tables meanwhile.
        const { found } = this.#sql.get<Pick<Store.Status, 'found'>>(
          "SELECT value AS found FROM host_tools_numbers WHERE name = 'schema'",
        ) ?? { found: 0 };
        if (found !== neededVersion) throw wrongVersion({ found, needed: neededVersion });
        return body();
      });
    } catch (error) {
      throw withAdvice(error);
    }
  }

  /** Removes some of what is over: once a second, and at each step while there is more. */
  #expire(now: number): void {
    if (now - this.#expired < expireEveryMs && now >= this.#expired) return;
    this.#expired = expire(this.#sql, now) ? 0 : now;
  }
}

/** The name of a space in the tables. */
function nameOf(space: Store.Space): string {
  const { shared, session } = space as { readonly shared?: string; readonly session?: string };
  return shared === undefined ? `session ${session}` : `shared ${shared}`;
}
