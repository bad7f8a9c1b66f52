/** What a registry keeps, on a real PostgreSQL. */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/api/store.ts';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { approvalsIn } from '../../../src/parts/durable-approvals/approvals-in.ts';
import { idempotencyIn } from '../../../src/parts/idempotency/idempotency-in.ts';
import { offloadIn } from '../../../src/parts/offload/offload-in.ts';
import { quotasIn } from '../../../src/parts/quotas/quotas-in.ts';
import { postgresStore } from '../../../src/stores/postgres/index.ts';
import {
  approvalStoreConformance,
  idempotencyStoreConformance,
  offloadStoreConformance,
  quotaStoreConformance,
} from '../../../src/surfaces/testing/index.ts';
import {
  demandPostgres,
  type PostgresServer,
  patient,
  postgresAvailable,
  startPostgres,
  whyNot,
} from './postgres-server.ts';

demandPostgres();

const approvals = approvalsIn(Date.now);

describe.skipIf(!postgresAvailable)(`the features of a registry on PostgreSQL${whyNot}`, () => {
  let server: PostgresServer;
  let pool: Pool;
  let schemas = 0;

  beforeAll(async () => {
    server = await startPostgres();
    pool = server.pool({ max: 40 });
  });
  afterAll(() => server.stop());

  const open = (schema: string) => postgresStore({ pool, schema, ...patient });
  const make = async (): Promise<Store> => {
    const store = open(`features_${++schemas}`);
    await store.migrate();
    return store;
  };

  for (const rule of approvalStoreConformance(async () => approvals.over(await make())))
    test(`approvals: ${rule.name}`, rule.run);
  for (const rule of quotaStoreConformance(async () => quotasIn.over(await make())))
    test(`quotas: ${rule.name}`, rule.run);
  for (const rule of idempotencyStoreConformance(async () => idempotencyIn.over(await make())))
    test(`idempotency: ${rule.name}`, rule.run);
  for (const rule of offloadStoreConformance(async () => offloadIn.over(await make())))
    test(`offload: ${rule.name}`, rule.run);

  test('a call that one registry suspends is answered, and runs once, at another one', async () => {
    const schema = `features_${++schemas}`;
    await open(schema).migrate();
    const ran: string[] = [];
    const host = (name: string) => {
      const registry: HostToolRegistry = new HostToolRegistry({
        store: open(schema),
        approvals: {
          secret: 'a secret of the host, 32 bytes or more',
          session: ({ sessionId, principal }) =>
            registry.createSession({ sessionId, principal, approvalMode: 'suspend' }),
        },
        idempotency: {},
        quotas: [{ id: 'refunds', tools: 'refund', max: 2, per: 'day', by: 'principal' }],
        rules: [{ tools: 'refund', effect: 'ask', when: { amount: { gt: 100 } } }],
      });
      registry.register(
        defineTool({
          name: 'refund',
          description: 'Refunds an order.',
          parameters: z.object({ amount: z.number() }),
          handler: ({ amount }) => {
            ran.push(`${name} ${amount}`);
            return { refunded: amount };
          },
        }),
      );
      return registry;
    };
    const [one, other] = [host('one'), host('other')];
    const ann = { sessionId: 's', principal: 'ann', approvalMode: 'suspend' } as const;
    const session = one.createSession(ann);
    const elsewhere = other.createSession(ann);

    const asked = await session.call('refund', { amount: 500 });
    expect(asked.error?.code).toBe('approval_pending');
    const [pending] = await other.approvals.pending();
    const answered = await other.approvals.answer(pending?.id ?? '', {
      decision: 'allow_once',
      by: 'bob',
    });
    expect(answered).toMatchObject({ output: { refunded: 500 } });
    expect(ran).toEqual(['other 500']);

    // The same key is the same call, in whichever process.
    const idempotencyKey = randomUUID();
    const calls = await Promise.all(
      [session, elsewhere, session, elsewhere].map((one) =>
        one.call('refund', { amount: 5 }, { idempotencyKey }),
      ),
    );
    expect(calls.map(({ output }) => output)).toEqual(Array(4).fill({ refunded: 5 }));
    expect(ran).toHaveLength(2);

    // Both processes spend from one quota.
    const over = await elsewhere.call('refund', { amount: 6 });
    expect(over.error?.code).toBe('policy_denied');
    expect(ran).toHaveLength(2);
  });
});
