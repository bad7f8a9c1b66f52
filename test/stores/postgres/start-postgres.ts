/**
 * Starts a real PostgreSQL: Debian's programs, with a data folder of their own, on a free port of
 * loopback. It can be restarted as after a crash, with what it had kept.
 */
import { execFile, spawnSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool, type PoolConfig } from 'pg';
import { freePort } from '../free-port.ts';

export const installed = '/usr/lib/postgresql';

/** The programs of the newest version that is installed. */
export const programs = existsSync(installed)
  ? readdirSync(installed)
      .sort((one, other) => Number(other) - Number(one))
      .map((version) => join(installed, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;

export interface PostgresServer {
  readonly port: number;
  /** A pool of the superuser; it ends with the server. */
  pool(config?: PoolConfig): Pool;
  /** As after a crash: nothing is written that was not written yet. */
  crash(): Promise<void>;
  /** The first half of a crash. */
  kill(): Promise<void>;
  /** The second half. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

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
    kill: () => control('-m', 'immediate', 'stop'),
    restart: () => control('-o', options, 'start'),
    async stop() {
      await control('-m', 'immediate', 'stop');
      await Promise.all(pools.filter((pool) => !pool.ended).map((pool) => pool.end()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
