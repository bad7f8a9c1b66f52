/** The tables of the store in SQLite. Times are epoch milliseconds. */
import type { Store } from '../../api/store.ts';
import { messageOf } from '../../values/errors/index.ts';
import { inTransaction, type SqliteDatabase } from './database.ts';

/** The version of the tables below. */
export const neededVersion = 1;

const tables = `
CREATE TABLE host_tools_sessions (
  name TEXT PRIMARY KEY, ends INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX host_tools_sessions_ends ON host_tools_sessions (ends);
CREATE TABLE host_tools_documents (
  space TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, version INTEGER NOT NULL,
  ends INTEGER, PRIMARY KEY (space, key));
CREATE INDEX host_tools_documents_ends ON host_tools_documents (ends) WHERE ends IS NOT NULL;
CREATE TABLE host_tools_lists (
  space TEXT NOT NULL, list TEXT NOT NULL, ends INTEGER NOT NULL, key TEXT NOT NULL,
  PRIMARY KEY (space, list, ends, key)) WITHOUT ROWID;
CREATE INDEX host_tools_lists_key ON host_tools_lists (space, key);
CREATE TABLE host_tools_logs (
  space TEXT NOT NULL, log TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY (space, log)) WITHOUT ROWID;
CREATE TABLE host_tools_entries (
  space TEXT NOT NULL, log TEXT NOT NULL, id INTEGER NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (space, log, id));
CREATE TABLE host_tools_counts (
  space TEXT NOT NULL, key TEXT NOT NULL, used INTEGER NOT NULL, ends INTEGER NOT NULL,
  PRIMARY KEY (space, key)) WITHOUT ROWID;
CREATE INDEX host_tools_counts_ends ON host_tools_counts (ends);
CREATE TABLE host_tools_sums (
  space TEXT NOT NULL, key TEXT NOT NULL, total TEXT NOT NULL, buckets INTEGER NOT NULL,
  latest INTEGER NOT NULL, ends INTEGER NOT NULL, PRIMARY KEY (space, key)) WITHOUT ROWID;
CREATE INDEX host_tools_sums_ends ON host_tools_sums (ends);
CREATE TABLE host_tools_amounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, space TEXT NOT NULL, key TEXT NOT NULL,
  since INTEGER NOT NULL, at INTEGER NOT NULL, amount TEXT NOT NULL);
CREATE INDEX host_tools_amounts_key ON host_tools_amounts (space, key, id);
CREATE TABLE host_tools_items (
  owner TEXT NOT NULL, key TEXT NOT NULL, due INTEGER NOT NULL, placed INTEGER NOT NULL,
  PRIMARY KEY (owner, key)) WITHOUT ROWID;
CREATE INDEX host_tools_items_due ON host_tools_items (due, placed);
CREATE TABLE host_tools_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, space TEXT NOT NULL, message TEXT NOT NULL,
  ends INTEGER NOT NULL);
CREATE INDEX host_tools_messages_ends ON host_tools_messages (ends);
CREATE TABLE host_tools_numbers (
  name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO host_tools_numbers VALUES ('schema', ${neededVersion}), ('version', 0);`;

/** The version of the tables that are there; 0 for none. */
export function foundVersion(database: SqliteDatabase): number {
  const table = database
    .prepare(`SELECT 1 FROM sqlite_master WHERE name = 'host_tools_numbers'`)
    .get();
  if (table === undefined) return 0;
  const row = database.prepare(`SELECT value FROM host_tools_numbers WHERE name = 'schema'`).get();
  return (row as { readonly value: number }).value;
}

/** Makes the tables unless another process has made them. */
export function migrateTables(database: SqliteDatabase): void {
  inTransaction(database, () => {
    const found = foundVersion(database);
    if (found > neededVersion) throw wrongVersion({ found, needed: neededVersion });
    if (found === 0) database.exec(tables);
  });
}

/** Why tables of another version cannot be used. */
export function wrongVersion({ found, needed }: Store.Status): Error {
  return new Error(
    found === 0
      ? 'sqliteStore: expected tables, found none. Call `await store.migrate()` once at start.'
      : `sqliteStore: expected tables of version ${needed}, found version ${found}, which a ` +
          'newer version of host-tools has made. Update this program.',
  );
}

/** SQLite names the table that it has not found, but not what can be done. */
export function withAdvice(error: unknown): unknown {
  const table = /^no such table: (\w+)$/.exec(messageOf(error))?.[1];
  if (table === undefined) return error;
  return new Error(
    `sqliteStore: the table \`${table}\` is gone. Something other than host-tools has removed it ` +
      'or replaced the file. Restore a backup of the file, or begin another one.',
    { cause: error },
  );
}
