/** Ledgers of approvals, quotas and idempotency keys on each durable store, with what dies. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  demandPostgres,
  type PostgresServer,
  postgresAvailable,
  startPostgres,
  whyNot as whyNoPostgres,
} from '../postgres/postgres-server.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot as whyNoRedis,
} from '../redis/redis-server.ts';
import { featureLedger } from './feature-ledger.ts';
import { openStore } from './open-store.ts';

demandRedis();
demandPostgres();

let places = 0;
const openAt = async (where: readonly string[]) => {
  const store = openStore(where);
  await store.migrate?.();
  return { store, where };
};

describe('on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'host-tools-ledger-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  featureLedger(() => openAt(['sqlite', join(folder, `${++places}.db`)]));
});

describe.skipIf(!redisAvailable)(`on Redis${whyNoRedis}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  featureLedger(() => openAt(['redis', `${server.port}`, `ledger-${++places}`]));
});

describe.skipIf(!postgresAvailable)(`on PostgreSQL${whyNoPostgres}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  featureLedger(async () => ({
    ...(await openAt(['postgres', `${server.port}`, `ledger_${++places}`])),
    crash: () => server.crash(),
  }));
});
