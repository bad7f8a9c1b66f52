/** Makes the tables and functions, or upgrades them. */
import type { Store } from '../../api/store.ts';
import { applySql } from './apply-sql.ts';
import type { PostgresCommands, Send } from './connection.ts';
import { expireSql } from './expire-sql.ts';
import { failure } from './failures.ts';
import { locksSql, raised } from './functions-sql.ts';
import { readSql } from './read-sql.ts';
import { neededVersion, tablesSql } from './tables-sql.ts';

/** How long making tables may take, with the wait for other processes that make them. */
const migrationMs = 600_000;

/** The oldest server whose functions and plans are what these need. */
const oldestServer = 130_000;

export function postgresMigration(
  schema: string,
  { session }: PostgresCommands,
  commandTimeoutMs: number,
): Required<Pick<Store, 'migrate' | 'status'>> {
  const quoted = `"${schema}"`;
  const versionOf = async (send: Send): Promise<number> => {
    const [there] = await send('select to_regclass($1) is not null', [`${quoted}.meta`]);
    if (there?.[0] !== 't') return 0;
    const [row] = await send(`select version from ${quoted}.meta`);
    return Number(row?.[0] ?? 0);
  };
  const make = async (send: Send): Promise<void> => {
    const [server] = await send(
      "select current_setting('server_encoding'), current_setting('server_version_num')",
    );
    if (server?.[0] !== 'UTF8') throw failure('encoding');
    if (Number(server[1]) < oldestServer) throw failure('old server');
    const [there] = await send('select to_regnamespace($1) is not null', [quoted]);
    if (there?.[0] !== 't') await send(`create schema ${quoted}`);
    for (const sql of [tablesSql, locksSql, readSql, applySql, expireSql]) await send(sql(quoted));
  };
  return {
    migrate: () =>
      session(migrationMs, async (send) => {
        await send('begin isolation level read committed');
        // Whoever comes meanwhile waits here, and then finds what it needs.
        await send("select pg_advisory_xact_lock(hashtextextended('host-tools migrate', 0))");
        const found = await versionOf(send);
        if (found > neededVersion) throw failure(raised.version);
        if (found < neededVersion) await make(send);
        await send('commit');
      }),
    status: () =>
      session(commandTimeoutMs, async (send) => ({
        found: await versionOf(send),
        needed: neededVersion,
      })),
  };
}
