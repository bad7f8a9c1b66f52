/** What the operations of a step share. All run within one transaction. */
import type { Store } from '../../api/store.ts';
import type { SqliteDatabase, Statement, Value } from './database.ts';

/** What operations need: the statements, the time and the space. */
export interface Step {
  readonly sql: Sql;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The name of the space in the tables. */
  readonly space: string;
  readonly session: string | undefined;
}

/** Runs statements, each of which is prepared once. */
export interface Sql {
  get<T>(sql: string, ...values: readonly Value[]): T | undefined;
  all<T>(sql: string, ...values: readonly Value[]): T[];
  /** @returns how many rows it has changed */
  run(sql: string, ...values: readonly Value[]): number;
}

export function preparedSql(database: SqliteDatabase): Sql {
  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    const known = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    get: <T>(sql: string, ...values: readonly Value[]) =>
      (prepared(sql).get(...values) ?? undefined) as T | undefined,
    all: <T>(sql: string, ...values: readonly Value[]) => prepared(sql).all(...values) as T[],
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
  };
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
