/** PostgreSQL passes the suite that every store passes. */
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
  let schemas = 0;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const rules = storeConformance(async () => {
    const schema = `suite_${++schemas}`;
    const open = () => postgresStore({ pool: server.pool({ max: 20 }), schema, ...patient });
    const store = open();
    await store.migrate();
    return [store, open()] as const;
  });
  for (const { name, run } of rules) test(name, run);
});
