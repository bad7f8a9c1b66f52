/** PostgreSQL passes the suite that every store passes. */
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { postgresStore } from '../../../src/stores/postgres/index.ts';
import { storeConformance } from '../../../src/surfaces/testing/index.ts';
import {
  demandPostgres,
  type PostgresServer,
  patient,
  postgresAvailable,
  startPostgres,
  whyNot,
} from './postgres-server.ts';

demandPostgres();

describe.skipIf(!postgresAvailable)(`the suite of stores on PostgreSQL${whyNot}`, () => {
  let server: PostgresServer;
  let pools: readonly [Pool, Pool];
  let schemas = 0;

  beforeAll(async () => {
    server = await startPostgres();
    pools = [server.pool({ max: 20 }), server.pool({ max: 20 })];
  });
  afterAll(() => server.stop());

  const rules = storeConformance(async () => {
    const schema = `suite_${++schemas}`;
    const [store, other] = pools.map((pool) => postgresStore({ pool, schema, ...patient }));
    if (store === undefined || other === undefined) throw new Error('There are two pools');
    await store.migrate();
    return [store, other] as const;
  });
  for (const { name, run } of rules) test(name, run);
});
