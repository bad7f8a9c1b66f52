/** The journal of programs on each store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { memoryStore } from '../../../src/index.ts';
import {
  demandPostgres,
  type PostgresServer,
  postgresAvailable,
  startPostgres,
  whyNot as whyNoPostgres,
} from '../../stores/postgres/postgres-server.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot as whyNoRedis,
} from '../../stores/redis/redis-server.ts';
import { openStore } from '../../stores/shared/open-store.ts';
import { journalRules } from './journal-rules.ts';

demandRedis();
demandPostgres();

/** The tests of one store share it. @param where Of its server, if it has one. */
function onStore(where: () => Promise<readonly string[]>, stop: () => unknown): void {
  let store: Store;
  beforeAll(async () => {
    store = openStore(await where());
    await store.migrate?.();
  });
  afterAll(async () => {
    await store.close();
    await stop();
  });
  journalRules(() => store);
}

describe('in memory', () => journalRules(() => memoryStore()));

describe('on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'host-tools-journal-'));
  onStore(
    async () => ['sqlite', join(folder, 'state.db')],
    () => rmSync(folder, { recursive: true, force: true }),
  );
});

describe.skipIf(!redisAvailable)(`on Redis${whyNoRedis}`, () => {
  let server: RedisServer;
  onStore(
    async () => {
      server = await startRedis();
      return ['redis', `${server.port}`, 'journal'];
    },
    () => server.stop(),
  );
});

describe.skipIf(!postgresAvailable)(`on PostgreSQL${whyNoPostgres}`, () => {
  let server: PostgresServer;
  onStore(
    async () => {
      server = await startPostgres();
      return ['postgres', `${server.port}`, 'journal'];
    },
    () => server.stop(),
  );
});
