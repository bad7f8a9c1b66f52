/** The PostgreSQL of tests, which CI must have. */
import { test } from 'vitest';
import { installed, programs } from './start-postgres.ts';

export { type PostgresServer, startPostgres } from './start-postgres.ts';

/** Whether there is a PostgreSQL to start. */
export const postgresAvailable = programs !== undefined;

/** What the name of a suite ends with that cannot run here. */
export const whyNot = postgresAvailable ? '' : ` (skipped: no PostgreSQL in ${installed})`;

/** A suite that needs PostgreSQL begins with this: in CI, its absence is a failure. */
export function demandPostgres(): void {
  if (postgresAvailable || process.env.CI !== 'true') return;
  test('PostgreSQL is installed, since CI=true', () => {
    throw new Error(
      `Expected to find PostgreSQL in ${installed}, since CI=true; install it, such as by ` +
        '`apt-get install postgresql`',
    );
  });
}

/** For stores in tests: a busy machine may take longer than the default for a step. */
export const patient = { commandTimeoutMs: 60_000 } as const;
