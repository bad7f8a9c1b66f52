/** The one shape of a SQLite database, for `node:sqlite` and for `better-sqlite3`. */
import { MisuseError, messageOf } from '../../values/errors/index.ts';
import { packageFault, requirePackage } from '../../values/packages/missing-package.ts';

/** A prepared statement. Numbers that may be large come back as text. */
export interface Statement {
  get(...values: readonly Value[]): unknown;
  all(...values: readonly Value[]): unknown[];
  run(...values: readonly Value[]): { readonly changes: number | bigint };
}

export type Value = string | number | null;

/** A `DatabaseSync` of `node:sqlite`, or a `Database` of `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

type Opener = new (path: string) => SqliteDatabase;

/** Opens a file with what this Node has. */
export function openDatabase(path: string): SqliteDatabase {
  const Database = opener();
  try {
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
      '@12, or use Node 22.13 or later',
    );
  }
}
