/**
 * Keeps in PostgreSQL what must outlive a process. The host makes the pool with `pg`; this subpath
 * does not load that package.
 */
import type { Store } from '../../api/store.ts';
import { checkSpace, checkStep } from '../shared/check-operations.ts';
import { postgresCommands } from './connection.ts';
import { postgresExpiry } from './expiry.ts';
import { failure } from './failures.ts';
import { postgresItems } from './items.ts';
import { Listening } from './listening.ts';
import { postgresMigration } from './migration.ts';
import { type PostgresOptions, postgresSettings } from './options.ts';
import { outcomeOf } from './outcome.ts';
import { hold, release } from './pool.ts';
import { locksOf, maxMessageChars, onlyReads, operationsJson, partsOf, spaceName } from './step.ts';
import { neededVersion } from './tables-sql.ts';

export type { PostgresFailure } from './failures.ts';
export type { PostgresOptions } from './options.ts';
export type { PostgresConnection, PostgresPool } from './pool.ts';

/**
 * A store in PostgreSQL 13 or later, over a pool of `pg` that the host makes and ends. Each step is
 * one exchange: a prepared statement that calls one function, in one transaction. Steps on
 * different keys do not wait for each other.
 *
 * Call `migrate()` once before use, such as when a program starts; it makes the tables, and is safe
 * from many processes at once. What has been answered survives a crash of the server, unless
 * `synchronous_commit` is off. What is over is removed by those who use the store, in steps of at
 * most 500 rows.
 *
 * While somebody listens to messages, the store holds one connection of the pool.
 *
 * An operation rejects if PostgreSQL refuses it, does not answer within `commandTimeoutMs`, or
 * cannot be reached. The error says what to do and contains nothing of the operation. A step that
 * failed in this way may still take place.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { postgresStore } from 'host-tools/postgres';
 * import { Pool } from 'pg';
 *
 * const store = postgresStore({ pool: new Pool({ connectionString: 'postgres://…' }) });
 * await store.migrate();
 * ```
 */
export function postgresStore(
  options: PostgresOptions,
): Store & Required<Pick<Store, 'migrate' | 'status'>> {
  const settings = postgresSettings(options);
  const { pool, listenPool, schema, commandTimeoutMs } = settings;
  const commands = postgresCommands(settings);
  const expiry = postgresExpiry(commands, () => performance.now());
  const listening = new Listening(settings);
  const waitMs = Math.ceil(commandTimeoutMs);
  let isClosed = false;
  const pools = [...new Set([pool, listenPool ?? pool])];
  for (const one of pools) hold(one);
  const run: typeof commands.run = async (name, values) => {
    if (isClosed) throw failure('closed');
    const answer = await commands.run(name, [neededVersion, ...values]);
    expiry.used();
    return answer;
  };
  const apply = async (
    space: Store.Space,
    operations: readonly Store.Operation[],
  ): Promise<Store.Outcome> => {
    checkStep(space, operations);
    const { isSession } = partsOf(space);
    const name = spaceName(space);
    const json = operationsJson(operations, schema, space);
    if (onlyReads(operations))
      return outcomeOf(operations, await run('read', [isSession, name, json]));
    const { alone, locks } = locksOf(operations);
    const values = [isSession, name, alone, locks, waitMs, json];
    return outcomeOf(operations, await run('apply', values));
  };
  return {
    kind: 'PostgreSQL',
    maxMessageChars,
    apply: apply as Store['apply'],
    ...postgresItems(run, waitMs),
    async listen(space, listener) {
      checkSpace(space);
      return listening.listen(space, listener);
    },
    ...postgresMigration(schema, commands, commandTimeoutMs),
    async ping() {
      await commands.session(commandTimeoutMs, (send) => send('select 1'));
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      listening.close();
      await expiry.close();
      for (const one of pools) release(one);
    },
  };
}
