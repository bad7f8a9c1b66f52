/** What a registry keeps, on a real PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { Client, type Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/api/store.ts';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { postgresStore } from '../../../src/stores/postgres/index.ts';
import { featureRules } from '../shared/feature-rules.ts';
import {
  demandPostgres,
  type PostgresServer,
  patient,
  postgresAvailable,
  startPostgres,
  whyNot,
} from './postgres-server.ts';

demandPostgres();

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

  for (const { name, run } of featureRules(make)) test(name, run);

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

  test('a call with a quota and a key costs two exchanges: one before the handler, one after', async () => {
    // A call ends before its last step is kept, so what counts is what was answered.
    const answered: string[] = [];
    class Counting extends Client {
      // biome-ignore lint/suspicious/noExplicitAny: it has many signatures, and all are passed on.
      override query(...given: any[]): any {
        const answer = (super.query as (...all: unknown[]) => unknown)(...given);
        void Promise.resolve(answer).then(() =>
          answered.push(typeof given[0] === 'string' ? given[0] : given[0].text),
        );
        return answer;
      }
    }
    const schema = `features_${++schemas}`;
    const store = postgresStore({ pool: server.pool({ Client: Counting }), schema, ...patient });
    await store.migrate();
    const registry = new HostToolRegistry({
      store,
      idempotency: {},
      quotas: [{ id: 'q', tools: 'pay', sum: 'amount', max: 5, per: 'day', by: 'principal' }],
    });
    registry.register(
      defineTool({
        name: 'pay',
        description: 'Pays.',
        parameters: z.object({ amount: z.number() }),
        handler: () => 'paid',
      }),
    );
    const session = registry.createSession({ sessionId: 's', principal: 'ann' });
    const pay = (amount: number, idempotencyKey: string) =>
      session.call('pay', { amount }, { idempotencyKey });
    await pay(1, 'warm');
    const steps = () => answered.filter((text) => /^select \S+\.apply\(/.test(text));
    await expect.poll(() => steps().length).toBe(2);
    answered.length = 0;
    expect(await pay(1, 'one')).toMatchObject({ output: 'paid' });
    await expect.poll(() => steps().length).toBe(2);
    // A replay counts nothing, and a refusal by the quota leaves no claim.
    expect((await pay(1, 'one')).metadata.replayed).toBe(true);
    expect((await pay(9, 'two')).error?.reason).toBe('quota_exceeded');
    expect(await pay(1, 'two')).toMatchObject({ output: 'paid' });
    await expect.poll(() => steps().length).toBe(6);
    await registry.close();
    await store.close();
  });
});
