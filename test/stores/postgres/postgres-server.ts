/**
 * A real PostgreSQL for tests: Debian's programs, with a data folder of their own, on a free port
 * of loopback. It can be restarted as after a crash, with what it had kept.
 */
import { execFile, spawnSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool, type PoolConfig } from 'pg';
import { test } from 'vitest';
import { freePort } from '../redis/redis-server.ts';

const installed = '/usr/lib/postgresql';

/** The programs of the newest version that is installed. */
const programs = existsSync(installed)
  ? readdirSync(installed)
      .sort((one, other) => Number(other) - Number(one))
      .map((version) => join(installed, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;

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

export interface PostgresServer {
  readonly port: number;
  /** A pool of the superuser; it ends with the server. */
  pool(config?: PoolConfig): Pool;
  /** As after a crash: nothing is written that was not written yet. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** For stores in tests: a busy machine may take longer than the default for a step. */
export const patient = { commandTimeoutMs: 60_000 } as const;

const execute = promisify(execFile);

/** PostgreSQL refuses to run as root, and Debian's package has made a user for it. */
function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim());
  return { uid: id('-u'), gid: id('-g') };
}

export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'host-tools-postgres-'));
  const user = unprivileged();
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const port = await freePort();
  const run = async (program: string, ...given: string[]): Promise<void> => {
    await execute(join(programs as string, program), given, { ...user, cwd: folder });
  };
  const options = [
    `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`,
    '-c log_min_messages=panic -c max_connections=120',
    // A process that dies loses nothing that it has written; only the machine could.
    '-c fsync=off',
    ...settings.map((setting) => `-c ${setting}`),
  ].join(' ');
  const control = (...given: string[]): Promise<void> =>
    run('pg_ctl', '-D', data, '-w', '-s', '-l', join(folder, 'log'), ...given);
  await run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync');
  await control('-o', options, 'start');
  const pools: Pool[] = [];
  return {
    port,
    pool(config = {}) {
      const address = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' };
      const pool = new Pool({ ...address, max: 20, ...config });
      pool.on('error', () => {});
      pools.push(pool);
      return pool;
    },
    crash: () => control('-o', options, '-m', 'immediate', 'restart'),
    async stop() {
      await control('-m', 'immediate', 'stop');
      await Promise.all(pools.filter((pool) => !pool.ended).map((pool) => pool.end()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
