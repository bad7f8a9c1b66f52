/** The one shape of a SQLite database, for `node:sqlite` and for `better-sqlite3`. */
import { closeSync, openSync } from 'node:fs';
import { MisuseError, messageOf } from '../../values/errors/index.ts';
import { packageFault, requirePackage } from '../../values/packages/missing-package.ts';

/** A prepared statement. Numbers that may be large come back as text. */
export interface SqliteStatement {
  /** Returns the first row. */
  get(...values: readonly SqliteValue[]): unknown;
  /** Returns all rows. */
  all(...values: readonly SqliteValue[]): unknown[];
  /** Returns how many rows were changed. */
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint };
}

/** What a column holds. */
export type SqliteValue = string | number | null;

/** A `DatabaseSync` of `node:sqlite`, or a `Database` of `better-sqlite3`. */
export interface SqliteDatabase {
  /** Runs one or more statements. */
  exec(sql: string): unknown;
  /** Prepares one statement. */
  prepare(sql: string): SqliteStatement;
  /** Closes the database; only a store that has opened it does so. */
  close(): unknown;
}

type Opener = new (path: string) => SqliteDatabase;

/** Opens a file with what this Node has. */
export function openDatabase(path: string): SqliteDatabase {
  const Database = opener();
  try {
    // Nobody else may read what is kept. SQLite gives its other files the same rights.
    if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
    return new Database(path);
  } catch (error) {
    throw new MisuseError(
      'invalid_option',
      `sqliteStore: expected \`path\` to be a file that this process can open and write, got ` +
        `\`${path}\`: ${messageOf(error)}. Make its folder, and grant this user to write in it.`,
      { cause: error },
    );
  }
}

function opener(): Opener {
  try {
    // Node 22.13 and later have it.
    return (requirePackage('node:sqlite') as { DatabaseSync: Opener }).DatabaseSync;
  } catch {
    // The package is tried instead.
  }
  try {
    return requirePackage('better-sqlite3') as Opener;
  } catch (error) {
    throw packageFault(
      'better-sqlite3',
      'sqliteStore needs where Node has no `node:sqlite`',
      error,
      ', or use Node 22.13 or later',
    );
  }
}

/** Runs the body alone: all of it takes place, or nothing. */
export function inTransaction<T>(database: SqliteDatabase, body: () => T): T {
  begin(database);
  try {
    const answer = body();
    database.exec('COMMIT');
    return answer;
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled it back, such as when the disk is full.
    }
    throw error;
  }
}

function begin(database: SqliteDatabase): void {
  try {
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    // `node:sqlite` and `better-sqlite3` name it differently.
    const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
    if (code !== 'SQLITE_BUSY' && errcode !== sqliteBusy) throw error;
    throw new Error(
      'sqliteStore: another process kept the database busy for longer than a step waits, which ' +
        'is 5 s. Try again later, or use a store on a server for so many writers.',
      { cause: error },
    );
  }
}

/** SQLite's own number. */
const sqliteBusy = 5;
