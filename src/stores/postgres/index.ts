/**
 * Keeps in PostgreSQL what must outlive a process. The host makes the pool with `pg`; this subpath
 * does not load that package.
 */

export type { PostgresFailure } from './failures.ts';
export type { PostgresOptions } from './options.ts';
export type { PostgresConnection, PostgresPool } from './pool.ts';
export { postgresStore } from './postgres-store.ts';
