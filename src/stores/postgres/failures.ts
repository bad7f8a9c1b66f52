/**
 * The error for a failure of PostgreSQL. It says what to do, and contains nothing of the statement
 * or its values, as PostgreSQL's own errors may.
 */
import { raised } from './functions-sql.ts';

/**
 * Every operation on PostgreSQL rejects with this if it was not carried out, or was not answered in
 * time.
 */
export interface PostgresFailure extends Error {
  /**
   * The kind of failure: a SQLSTATE such as `42501`, a code of the system such as `ECONNREFUSED`,
   * `timeout`, `closed` or `failed`.
   */
  readonly reason: string;
}

const brand = Symbol('postgres failure');

const migrateFirst =
  'its tables are missing. Call `await store.migrate()` once before use, with a role that may ' +
  'create tables';
const grantRights =
  'the role lacks a right. Grant it what docs/stores.md lists: USAGE on the schema and the ' +
  'sequence, and SELECT, INSERT, UPDATE and DELETE on the tables; to migrate, CREATE as well';
const later = 'Try again later';

/** By SQLSTATE or by its class: what is wrong, and what to do. */
const advice: Readonly<Record<string, string>> = {
  [raised.version]:
    'the tables have another version than this program needs. If they are older, call `await ' +
    'store.migrate()`; if they are newer, update `host-tools` here',
  [raised.isolation]:
    'expected the isolation level `read committed`. Set `default_transaction_isolation` to it ' +
    'for this role, or in the `options` of the pool',
  timeout: `PostgreSQL did not answer within \`commandTimeoutMs\`. ${later}`,
  closed: 'the store was closed',
  'small pool':
    'listening takes a connection of the pool for itself, which has only one. Raise `max`, or ' +
    'give a `listenPool`',
  encoding: 'expected a database with the encoding UTF8. Create one with `encoding UTF8`',
  'old server': 'expected PostgreSQL 13 or later',
  '42P07': 'the schema has tables of another program. Choose another `schema`',
  '3F000': migrateFirst,
  '42P01': migrateFirst,
  '42883': migrateFirst,
  '42501': grantRights,
  '28': 'PostgreSQL refuses the role or its password. Check the settings of the pool',
  '3D000': 'the database does not exist. Create it, or check the settings of the pool',
  '25006': 'the server is a standby or read only. Connect to the primary',
  '53100': 'the disk of the server is full. Make room',
  '53300': 'the server has too many connections. Use smaller pools or raise `max_connections`',
  '53200': 'the server has no memory left. Raise `max_locks_per_transaction` if its log says so',
  '54': 'the step is larger than PostgreSQL can carry out. Keep less in one document or step',
  '55P03': `another step held a lock for longer than \`commandTimeoutMs\`. ${later}`,
  '57014': `PostgreSQL canceled the statement, such as by \`statement_timeout\`. ${later}`,
};

/** It has no `cause`, because the driver's errors may contain values. */
export function failure(reason: string): PostgresFailure {
  const what =
    advice[reason] ??
    advice[reason.slice(0, 2)] ??
    `PostgreSQL cannot be reached or did not carry it out. ${later}`;
  return Object.assign(new Error(`The store on PostgreSQL failed (${reason}): ${what}.`), {
    [brand]: true,
    reason,
  });
}

/** Converts whatever a pool rejects with. */
export function asFailure(error: unknown): PostgresFailure {
  return error instanceof Error && brand in error
    ? (error as PostgresFailure & typeof error)
    : failure(reasonOf(error));
}

/** PostgreSQL's errors and those of sockets have a code; the driver's own have none. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{2,30}$/.test(code) ? code : 'failed';
}
