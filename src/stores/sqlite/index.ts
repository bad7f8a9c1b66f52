/**
 * Keeps in a file of SQLite what must outlive a process. It uses `node:sqlite` where Node has it,
 * else the package `better-sqlite3`.
 */

export type { SqliteDatabase, SqliteStatement, SqliteValue } from './database.ts';
export { type SqliteStoreOptions, sqliteStore } from './sqlite-store.ts';
