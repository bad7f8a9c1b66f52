/** Opens the store that a process of a test was told to use. */
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import type { Store } from '../../../src/extend.ts';
import { postgresStore } from '../../../src/stores/postgres/index.ts';
import { redisStore } from '../../../src/stores/redis/index.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';

/** `postgres PORT SCHEMA`, `redis PORT PREFIX` or `sqlite PATH`, as on a command line. */
export function openStore([kind, place, within]: readonly string[]): Store {
  if (kind === 'sqlite') return sqliteStore({ path: place, synchronous: 'normal' });
  if (kind === 'redis') {
    const client = new Redis(Number(place), '127.0.0.1', { autoResendUnfulfilledCommands: false });
    client.on('error', () => {});
    return redisStore({ client, prefix: within, commandTimeoutMs: 60_000 });
  }
  const pool = new Pool({ host: '127.0.0.1', port: Number(place), user: 'postgres', max: 4 });
  pool.on('error', () => {});
  return postgresStore({ pool, schema: within, commandTimeoutMs: 60_000 });
}
