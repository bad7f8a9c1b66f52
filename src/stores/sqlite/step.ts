/** What the operations of a step share. All run within one transaction. */
import type { Store } from '../../api/store.ts';
import { decodeText, encodeText } from '../shared/escaped-text.ts';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './database.ts';

/** What operations need: the statements, the time and the space. */
export interface Step {
  readonly sql: Sql;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The name of the space in the tables. */
  readonly space: string;
  readonly session: string | undefined;
}

/**
 * Runs statements, each of which is prepared once. Texts are kept without NUL, at which the SQLite
 * of Node 22 cuts them.
 */
export interface Sql {
  get<T>(sql: string, ...values: readonly SqliteValue[]): T | undefined;
  all<T>(sql: string, ...values: readonly SqliteValue[]): T[];
  /** @returns how many rows it has changed */
  run(sql: string, ...values: readonly SqliteValue[]): number;
}

export function preparedSql(database: SqliteDatabase): Sql {
  const statements = new Map<string, SqliteStatement>();
  const prepared = (sql: string): SqliteStatement => {
    const known = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    get: <T>(sql: string, ...values: readonly SqliteValue[]) =>
      decoded(prepared(sql).get(...values.map(encoded))) as T | undefined,
    all: <T>(sql: string, ...values: readonly SqliteValue[]) =>
      prepared(sql)
        .all(...values.map(encoded))
        .map(decoded) as T[],
    run: (sql, ...values) => Number(prepared(sql).run(...values.map(encoded)).changes),
  };
}

function encoded(value: SqliteValue): SqliteValue {
  return typeof value === 'string' ? encodeText(value) : value;
}

/** A row with the texts that were given. Both drivers make a new object for each row. */
function decoded(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return undefined;
  const columns = row as Record<string, unknown>;
  for (const name in columns) {
    const value = columns[name];
    if (typeof value === 'string') columns[name] = decodeText(value);
  }
  return columns;
}

/** Why an operation does not fit. */
export class Misfit {
  readonly retryAfterMs: number;
  readonly found: Store.Document | undefined;
  constructor(retryAfterMs = 0, found?: Store.Document) {
    this.retryAfterMs = retryAfterMs;
    this.found = found;
  }
}
