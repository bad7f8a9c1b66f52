/** Suspended calls in Redis: the contract of every such store, and what is Redis' own. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApprovalRecord, InboxStore } from '../../../src/index.ts';
import { redisApprovals } from '../../../src/stores/redis/index.ts';
import { approvalStoreConformance } from '../../../src/surfaces/testing/index.ts';
import { type Bench, suspending, suspendOne, why } from '../../core/approval/kit.ts';
import {
  demandRedis,
  patient,
  type RedisServer,
  redisAvailable,
  soon,
  startRedis,
  whyNot,
} from './redis-server.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`approvals on Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: ReturnType<RedisServer['connect']>;
  let stores = 0;
  const fresh = (): InboxStore =>
    redisApprovals({ client, prefix: `test-${++stores}`, ...patient });
  const record = (id: string, expiresAt = Date.now() + 60_000): ApprovalRecord =>
    ({
      id,
      sessionId: 's',
      principal: 'p',
      expiresAt,
      token: 'a secret',
    }) as unknown as ApprovalRecord;
  const keys = async (): Promise<string[]> => (await client.keys(`test-${stores}:*`)).toSorted();

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
  });
  afterAll(() => server.stop());

  describe('keep the contract', () => {
    for (const rule of approvalStoreConformance(fresh)) test(rule.name, rule.run);
  });

  test('are taken once, however many processes ask', async () => {
    const prefix = `test-${++stores}`;
    const processes = Array.from({ length: 4 }, () =>
      redisApprovals({ client: server.connect(), prefix }),
    );
    for (let round = 0; round < 20; round++) {
      const kept = record(`r${round}`);
      await processes[0]?.put(kept);
      const taken = await Promise.all(
        Array.from({ length: 40 }, (_, index) => processes[index % 4]?.take(kept.id)),
      );
      expect(taken.filter((each) => each !== undefined)).toEqual([kept]);
    }
  });

  test('of which lists read only the beginning', async () => {
    const store = fresh();
    const made = suspending({ store, registry: { now: () => Date.now() } });
    const long = 'x'.repeat(900_000);
    for (let amount = 0; amount < 60; amount++)
      await suspendOne(
        {
          session: made.registry.createSession({
            sessionId: `s${amount}`,
            principal: 'user:ann',
            approvalMode: 'suspend',
          }),
        },
        amount < 55 ? { amount } : { amount, to: long },
      );
    const listed = await made.registry.approvals.list({ limit: 1_000 });
    const pending = await made.registry.approvals.pending({ limit: 1_000 });
    expect(listed.map(({ id }) => id)).toEqual(pending.map(({ id }) => id));
    expect(listed.filter(({ leftOut }) => leftOut.length > 0)).toHaveLength(5);
    const [{ id } = { id: '' }] = listed.filter(({ leftOut }) => leftOut.length > 0);
    await client.setrange(`test-${stores}:approval:{${id}}`, 20_000, 'not what was signed');
    expect(await made.registry.approvals.list({ limit: 1_000 })).toHaveLength(60);
    expect(await made.registry.approvals.get(id)).toBeUndefined();
    await store.take(id);
    expect(await made.registry.approvals.list({ limit: 1_000 })).toHaveLength(59);
    expect(await store.heads?.({ limit: 1, principal: 'user:bob' })).toEqual([]);
  });

  test('are gone at their time, and every key with them', async () => {
    const expiresAt = Date.now() + 600_000;
    await fresh().put(record('long', expiresAt));
    expect(await keys()).toEqual(
      ['approval:{long}', 'approvals', 'approvals:{s}'].map((rest) => `test-${stores}:${rest}`),
    );
    for (const key of await keys()) expect(await client.pexpiretime(key)).toBe(expiresAt);

    const store = fresh();
    await store.put(record('short', Date.now() + 20));
    await soon(() => store.list('s')).toEqual([]);
    expect(await store.take('short')).toBeUndefined();
    expect(await keys()).toEqual([]);
  });

  test(
    'keep their session for as long as the last of them, and forget the ids of those that ' +
      'expired',
    async () => {
      const store = fresh();
      const last = record('last');
      await store.put(last);
      await store.put(record('short', Date.now() + 20));
      expect(await client.pexpiretime(`test-${stores}:approvals:{s}`)).toBe(last.expiresAt);
      await soon(() => client.exists(`test-${stores}:approval:{short}`)).toBe(0);
      await store.put(record('other'));
      expect(await client.zrange(`test-${stores}:approvals:{s}`, '0', '-1')).toEqual([
        'last',
        'other',
      ]);
      expect(await store.list('s')).toHaveLength(2);
    },
  );

  test(
    'are answered once, also where the record is put back into Redis and another process takes ' +
      'it',
    async () => {
      const prefix = `test-${++stores}`;
      const open = (): Bench =>
        suspending({
          store: redisApprovals({ client: server.connect(), prefix }),
          registry: { now: Date.now },
        });
      const [first, second] = [open(), open()];
      const { id, token } = await suspendOne(first);
      const key = `${prefix}:approval:{${id}}`;
      const copy = (await client.get(key)) as string;
      const index = await client.zrange(
        `${prefix}:approvals:{conversation}`,
        '0',
        '-1',
        'WITHSCORES',
      );
      expect((await first.session.approvals.resume(token, 'allow_once')).success).toBe(true);
      await client.set(key, copy);
      await client.zadd(`${prefix}:approvals:{conversation}`, index[1] as string, id);
      expect(await second.session.approvals.pending()).toEqual([]);
      expect(why(await second.session.approvals.resume(token, 'allow_once'))).toEqual([
        'approval_denied',
        'token_used',
      ]);
      expect([...first.runs, ...second.runs]).toHaveLength(1);
    },
  );

  test('are remembered for an hour after they expire once taken, without token', async () => {
    const store = fresh();
    const kept = record('one');
    await store.put(kept);
    await store.take('one');
    const key = `test-${stores}:approval:{one}:taken`;
    await soon(keys).toEqual([key]);
    expect(await client.pexpiretime(key)).toBe(kept.expiresAt + 3_600_000);
    const { id, sessionId, principal, expiresAt } = kept;
    expect(JSON.parse((await client.get(key)) as string)).toEqual({
      id,
      sessionId,
      principal,
      expiresAt,
    });
    await store.settle({ id, sessionId, principal, expiresAt, settled: true, seal: 'x' });
    expect(await client.pexpiretime(key)).toBe(expiresAt + 3_600_000);
    expect(await store.read('one')).toMatchObject({ settled: true });
  });

  test('are answered by another process over the inbox; the asker learns by whom', async () => {
    const prefix = `test-${++stores}`;
    const open = (): Bench =>
      suspending({
        store: redisApprovals({ client: server.connect(), prefix }),
        registry: { now: Date.now },
      });
    const [asking, one, two] = [open(), open(), open()];
    const { id } = await suspendOne(asking);
    expect((await one.registry.approvals.pending()).map((each) => each.id)).toEqual([id]);
    const results = await Promise.all(
      [one, two].map(({ registry }, index) =>
        registry.approvals.answer(id, { decision: 'allow_once', by: `user:${index}` }),
      ),
    );
    expect(results.filter(({ success }) => success)).toHaveLength(1);
    expect([...asking.runs, ...one.runs, ...two.runs]).toHaveLength(1);
    expect(await asking.session.approvals.outcome(id)).toMatchObject({
      status: 'settled',
      by: results[0]?.success ? 'user:0' : 'user:1',
      result: { output: 'paid' },
    });
    expect(await two.registry.approvals.pending()).toEqual([]);
  });

  test('are paged in order, however many expire together or have left', async () => {
    const store = fresh();
    const at = Date.now() + 60_000;
    const name = (index: number): string => String(index).padStart(4, '0');
    // 450 expire together, which is more than are looked at in one step; then 50 one by one.
    await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        store.put(record(name(index), at + Math.max(0, index - 449))),
      ),
    );
    for (const gone of [0, 7, 199, 200, 449]) await store.take(name(gone));
    const left = Array.from({ length: 500 }, (_, index) => name(index)).filter(
      (id) => !['0000', '0007', '0199', '0200', '0449'].includes(id),
    );
    for (const limit of [3, 60, 200, 1_000]) {
      const ids: string[] = [];
      let after: { id: string; expiresAt: number } | undefined;
      for (;;) {
        const page = (await store.page({ limit, after })) as unknown as ApprovalRecord[];
        ids.push(...page.map(({ id }) => id));
        after = page.at(-1);
        if (page.length < limit) break;
      }
      expect(ids).toEqual(left);
    }
    expect(await store.page({ limit: 5, principal: 'other' })).toEqual([]);
    expect(await store.page({ limit: 5, after: { id: '0007', expiresAt: at } })).toMatchObject([
      { id: '0008' },
      { id: '0009' },
      { id: '0010' },
      { id: '0011' },
      { id: '0012' },
    ]);
  });

  test('do not answer with what is no record', async () => {
    const store = fresh();
    await store.put(record('one'));
    await client.set(`test-${stores}:approval:{one}`, '{"id":"one","sess');
    expect(await store.list('s')).toEqual([]);
    expect(await store.take('one')).toBeUndefined();
  });

  test('reject while Redis is down, and survive a SIGKILL', async () => {
    const own = await startRedis();
    try {
      const client = own.connect();
      const store = redisApprovals({ client });
      await store.put(record('one'));
      await own.kill('SIGKILL');
      await soon(() => client.status).toBe('reconnecting');
      for (const operation of [
        () => store.put(record('two')),
        () => store.take('one'),
        () => store.list('s'),
        () => store.read('one'),
        () => store.page({ limit: 1 }),
        () =>
          store.settle({
            id: 'one',
            sessionId: 's',
            principal: 'p',
            expiresAt: Date.now(),
            settled: true,
            seal: 'x',
          }),
      ])
        await expect(operation()).rejects.toThrow(
          /^The store cannot be reached: Redis did not execute the command \(\w+\)\. Try again later\.$/,
        );
      await own.restart();
      await soon(() => client.status).toBe('ready');
      expect((await store.list('s')).map(({ id }) => id)).toEqual(['one']);
      expect(await store.take('one')).toMatchObject({ token: 'a secret' });
    } finally {
      await own.stop();
    }
  });
});
