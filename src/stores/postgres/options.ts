/** The options of the store, and how they are read. */
import {
  kind,
  milliseconds,
  readOptions,
  required,
  type TableOf,
  withDefault,
} from '../../values/options/index.ts';
import type { PostgresPool } from './pool.ts';

/** Settings of `postgresStore`. */
export interface PostgresOptions {
  /** The host's pool, which nothing here ends. */
  readonly pool: PostgresPool;
  /**
   * The schema with the tables: 1 to 40 letters, digits and `_`, not beginning with a digit or
   * with `pg_`. Stores with different schemas are separate from each other.
   * @default 'host_tools'
   */
  readonly schema?: string | undefined;
  /**
   * Milliseconds after which an operation counts as failed, counted from the call, with the wait
   * for a connection of the pool. 1 to 2^31-1.
   * @default 5_000
   */
  readonly commandTimeoutMs?: number | undefined;
  /**
   * The pool from which the connection that listens to messages is taken. It must lead to the
   * server itself where `pool` leads to a pooler in transaction mode.
   * @default pool
   */
  readonly listenPool?: PostgresPool | undefined;
}

/** {@link PostgresOptions} with their defaults. */
export interface PostgresSettings {
  readonly pool: PostgresPool;
  readonly schema: string;
  readonly commandTimeoutMs: number;
  readonly listenPool: PostgresPool | undefined;
}

const pool = kind<PostgresPool>(
  'a `Pool` of pg, such as `new Pool({ connectionString })`, and no `Client`',
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    ['connect', 'on', 'removeListener'].every(
      (name) => typeof (value as Record<string, unknown>)[name] === 'function',
    ) &&
    // A client connects once and hands out no connections, so every step would wait for ever.
    !('escapeIdentifier' in value),
);

const postgresTable = {
  pool: required(pool),
  schema: withDefault(
    kind<string>(
      '1 to 40 letters, digits and `_`, not beginning with a digit or with `pg_`',
      (value) =>
        typeof value === 'string' &&
        /^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(value) &&
        !/^pg_/i.test(value),
    ),
    'host_tools',
  ),
  commandTimeoutMs: withDefault(milliseconds(1), 5_000),
  listenPool: pool,
} satisfies TableOf<PostgresOptions>;

/** @throws MisuseError `invalid_option`. */
export function postgresSettings(options: PostgresOptions): PostgresSettings {
  return readOptions('postgresStore', options, postgresTable);
}
