/** The stores that the nodes of a relay share, each with what can happen to it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import type { Store } from '../../../../src/extend.ts';
import { postgresStore } from '../../../../src/stores/postgres/index.ts';
import { redisStore } from '../../../../src/stores/redis/index.ts';
import { sqliteStore } from '../../../../src/stores/sqlite/index.ts';
import {
  demandPostgres,
  postgresAvailable,
  startPostgres,
  whyNot as whyNoPostgres,
} from '../../../stores/postgres/postgres-server.ts';
import {
  demandRedis,
  redisAvailable,
  startRedis,
  whyNot as whyNoRedis,
} from '../../../stores/redis/redis-server.ts';

/** Where a node finds its store. */
export interface StorePlace {
  readonly kind: 'Redis' | 'PostgreSQL' | 'SQLite';
  /** The port of a server; 0 for a file. */
  readonly port: number;
  /** The file. */
  readonly path?: string;
}

/** A running server. */
export interface StoreServer extends StorePlace {
  /** Its store, for what a test wants to see. */
  readonly store: Store;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, with what it had kept. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Opens a store. */
export function openStore({ kind, port, path = '' }: StorePlace): Store {
  const host = '127.0.0.1';
  if (kind === 'SQLite') return sqliteStore({ path });
  if (kind === 'PostgreSQL') {
    const pool = new Pool({ host, port, user: 'postgres', max: 10 });
    pool.on('error', () => {});
    return postgresStore({ pool });
  }
  const client = new Redis({
    port,
    host,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => 50,
  });
  client.on('error', () => {});
  return redisStore({ client });
}

async function startOnRedis(): Promise<StoreServer> {
  const server = await startRedis();
  const { port, restart, stop } = server;
  const store = redisStore({ client: server.connect() });
  const kill = (): Promise<void> => server.kill('SIGKILL');
  return { kind: 'Redis', port, store, kill, restart, stop };
}

async function startOnPostgres(): Promise<StoreServer> {
  const server = await startPostgres();
  const { port, kill, restart, stop } = server;
  const store = postgresStore({ pool: server.pool() });
  await store.migrate();
  return { kind: 'PostgreSQL', port, store, kill, restart, stop };
}

/** A file cannot die; those who write it can. */
async function startOnFile(): Promise<StoreServer> {
  const folder = await mkdtemp(join(tmpdir(), 'host-tools-relay-'));
  const path = join(folder, 'relay.db');
  const store = sqliteStore({ path });
  await store.migrate();
  const nothing = async (): Promise<void> => {};
  return {
    kind: 'SQLite',
    port: 0,
    path,
    store,
    kill: nothing,
    restart: nothing,
    async stop() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** A suite that needs them begins with this. */
export function demandServers(): void {
  demandRedis();
  demandPostgres();
}

export const servers = [
  { kind: 'Redis', available: redisAvailable, whyNot: whyNoRedis, start: startOnRedis },
  {
    kind: 'PostgreSQL',
    available: postgresAvailable,
    whyNot: whyNoPostgres,
    start: startOnPostgres,
  },
] as const;

/** With a file of one machine, on which nobody's connection can be lost. */
export const stores = [
  ...servers,
  { kind: 'SQLite', available: true, whyNot: '', start: startOnFile },
] as const;
