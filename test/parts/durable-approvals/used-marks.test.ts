/** An approval is answered once, also where somebody puts its record back into the store. */
import { describe, expect, test } from 'vitest';
import type {
  AnsweredApproval,
  ApprovalRecord,
  ApprovalStore,
  JsonObject,
} from '../../../src/index.ts';
import { memoryApprovalStore } from '../../../src/parts/durable-approvals/memory-store.ts';
import { type FixedClock, fixedClock } from '../../../src/surfaces/testing/fixed-clock.ts';
import { key, suspending, suspendOne, why } from '../../core/approval/kit.ts';

const hour = 3_600_000;

/** Something else that a store keeps. */
const filler = (n: number, expiresAt: number): AnsweredApproval => ({
  id: `filler ${n}`,
  sessionId: 'other',
  principal: 'user:ann',
  used: `call ${n}`,
  expiresAt,
});

/** A store that a host wrote: it only keeps, takes and lists. */
function plainStore(): ApprovalStore & { readonly records: Map<string, ApprovalRecord> } {
  const records = new Map<string, ApprovalRecord>();
  return {
    records,
    put: async (record) => void records.set(record.id, structuredClone(record)),
    async take(id) {
      const record = records.get(id);
      records.delete(id);
      return record;
    },
    list: async (sessionId) =>
      [...records.values()].filter((record) => record.sessionId === sessionId),
  };
}

/**
 * Several processes over one store: each has a registry of its own, and remembers nothing of the
 * others.
 */
const processOn = (store: ApprovalStore, clock: FixedClock = fixedClock()) =>
  suspending({ store, clock });

describe.each<[string, () => ApprovalStore]>([
  ['the store in memory', () => memoryApprovalStore(fixedClock().now)],
  ['a store that only keeps, takes and lists', plainStore],
])('a record that is put back into %s after its answer', (_, make) => {
  test.each(['allow_once', 'reject_once'] as const)(
    'is refused by another process and listed by none (%s)',
    async (answer) => {
      const store = make();
      const [first, second] = [processOn(store), processOn(store)];
      const { token } = await suspendOne(first);
      const [record] = await store.list('conversation');
      await first.session.approvals.resume(token, answer);
      await store.put(structuredClone(record) as ApprovalRecord);
      for (const { session } of [first, second])
        expect(await session.approvals.pending()).toEqual([]);
      for (const { session } of [second, first, second])
        expect(why(await session.approvals.resume(token, 'allow_once'))).toEqual([
          'approval_denied',
          'token_used',
        ]);
      expect([...first.runs, ...second.runs]).toHaveLength(answer === 'allow_once' ? 1 : 0);
    },
  );

  test('takes nothing from the approvals beside it, and counts in no limit', async () => {
    const store = make();
    const bench = suspending({ store, session: { limits: { maxPendingApprovals: 2 } } });
    for (let round = 0; round < 5; round++) {
      const { token } = await suspendOne(bench, { amount: round });
      expect((await bench.session.approvals.resume(token, 'allow_once')).success).toBe(true);
    }
    const open = [await suspendOne(bench, { amount: 10 }), await suspendOne(bench, { amount: 11 })];
    expect((await bench.session.call('pay', { amount: 12 })).error?.code).toBe('rate_limited');
    expect((await processOn(store).session.approvals.pending()).map(({ id }) => id)).toEqual(
      open.map(({ id }) => id),
    );
  });
});

test.each([2, 12])(
  'of %i processes that are given one record at the same time, one runs the call at most',
  async (count) => {
    const inner = memoryApprovalStore(() => 0);
    // Somebody puts the record back at the very moment at which it is taken.
    const store: ApprovalStore = {
      ...inner,
      async take(id) {
        const record = await inner.take(id);
        if (record !== undefined) await inner.put(record as ApprovalRecord);
        return record;
      },
    };
    const processes = Array.from({ length: count }, () => processOn(store));
    const [first] = processes;
    if (first === undefined) return;
    const { token } = await suspendOne(first);
    await Promise.all(
      processes.map(({ session }) => session.approvals.resume(token, 'allow_once')),
    );
    expect(processes.flatMap(({ runs }) => runs).length).toBeLessThanOrEqual(1);
  },
);

test('of two processes that answer one record at once, exactly one runs the call', async () => {
  const store = plainStore();
  const processes = [processOn(store), processOn(store), processOn(store)] as const;
  const { token } = await suspendOne(processes[0]);
  await Promise.all(processes.map(({ session }) => session.approvals.resume(token, 'allow_once')));
  expect(processes.flatMap(({ runs }) => runs)).toHaveLength(1);
});

describe('a mark', () => {
  test('says which approval was answered, and holds neither token nor arguments', async () => {
    const store = plainStore();
    const bench = processOn(store);
    const { id, token, expiresAt } = await suspendOne(bench, { amount: 5, to: 'canary-8d1f' });
    await bench.session.approvals.resume(token, 'allow_once');
    const [mark, ...others] = [...store.records.values()];
    expect(others).toEqual([]);
    expect(mark).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      sessionId: 'conversation',
      principal: 'user:ann',
      used: id,
      expiresAt: expiresAt + hour,
    });
    expect(mark?.id).not.toBe(id);
    expect(JSON.stringify(mark)).not.toMatch(/canary|token/);
  });

  test(
    'outlives its token by an hour, since clocks differ, and is then dropped by the store in ' +
      'memory',
    async () => {
      const clock = fixedClock();
      const store = memoryApprovalStore(clock.now);
      const bench = processOn(store, clock);
      const { token, expiresAt } = await suspendOne(bench);
      const [record] = (await store.list('conversation')) as readonly ApprovalRecord[];
      await bench.session.approvals.resume(token, 'allow_once');
      // A process whose clock is late by less than an hour takes the token for a good one.
      clock.advance(expiresAt + hour - 1 - clock.now());
      for (let n = 0; n < 70; n++) await store.put(filler(n, clock.now()));
      await store.put(record as ApprovalRecord);
      const late = processOn(store);
      expect(why(await late.session.approvals.resume(token, 'allow_once'))).toEqual([
        'approval_denied',
        'token_used',
      ]);
      clock.advance(hour + 1);
      for (let n = 0; n < 140; n++) await store.put(filler(n, clock.now()));
      expect(await store.list('conversation')).toEqual([]);
    },
  );

  test.each<[string, Partial<ApprovalStore>]>([
    [
      'written',
      {
        put: async (record: ApprovalRecord) =>
          'used' in record
            ? Promise.reject(new Error(`no room for ${String(record.sessionId)}`))
            : undefined,
      },
    ],
    ['read', { list: async () => Promise.reject(new Error('no room for conversation')) }],
  ])('that cannot be %s keeps the call from running', async (_, broken) => {
    const inner = plainStore();
    const first = processOn(inner);
    const { token } = await suspendOne(first);
    const logged: unknown[] = [];
    const store = { ...inner, ...broken };
    const bench = suspending({
      registry: {
        approvals: { secret: key, store },
        logger: { warn: () => {}, error: (data) => void logged.push(data) },
      },
    });
    const result = await bench.session.approvals.resume(token, 'allow_once');
    expect(why(result)).toEqual(['approval_denied', 'store_unavailable']);
    expect(result.error?.cause).toMatchObject({ message: 'no room for conversation' });
    expect(logged).toEqual([
      {
        err: expect.objectContaining({
          message: 'no room for conversation',
          stack: expect.stringContaining('used-marks.test'),
        }),
        sessionId: 'conversation',
        source: 'approval store',
      },
    ]);
    expect(bench.runs).toEqual([]);
  });
});

test('what a store throws is logged without the token', async () => {
  const inner = plainStore();
  const { token } = await suspendOne(processOn(inner));
  const logged: unknown[] = [];
  const store = {
    ...inner,
    take: async () => Promise.reject(new Error(`row {"token":"${token}"} is broken`)),
  };
  const bench = suspending({
    registry: {
      approvals: { secret: key, store },
      logger: { warn: () => {}, error: (data) => void logged.push(data) },
    },
  });
  expect(why(await bench.session.approvals.resume(token, 'allow_once'))).toEqual([
    'approval_denied',
    'store_unavailable',
  ]);
  expect(logged).toMatchObject([{ err: { message: 'row {"token":"[redacted]"} is broken' } }]);
});

describe('pending approvals', () => {
  /**
   * The same record, which counts how often its token is read: only a record that is verified has
   * its token read.
   */
  const watched = (record: JsonObject, reads: { count: number }): JsonObject => {
    const { token, ...rest } = record;
    return Object.defineProperty({ ...rest }, 'token', {
      enumerable: true,
      get() {
        reads.count++;
        return token;
      },
    }) as JsonObject;
  };

  test('are verified only where they are of the session’s principal', async () => {
    const store = plainStore();
    for (const principal of ['user:eve', 'user:bob'])
      await suspendOne(suspending({ store, session: { principal } }));
    const reads = { count: 0 };
    const foreign = [...store.records.values()].map((record) => watched(record, reads));
    const bench = processOn({ ...store, list: async () => foreign });
    expect(await bench.session.approvals.pending()).toEqual([]);
    expect(reads.count).toBe(0);
  });

  test('are verified up to the limit that a new one must stay below', async () => {
    const store = plainStore();
    const many = suspending({ store, session: { limits: { maxPendingApprovals: 50 } } });
    for (let n = 0; n < 20; n++) await suspendOne(many, { amount: n });
    const reads = { count: 0 };
    const own = [...store.records.values()].map((record) => watched(record, reads));
    const bench = suspending({
      store: { ...store, list: async () => own },
      session: { limits: { maxPendingApprovals: 3 } },
    });
    expect((await bench.session.call('pay', { amount: 1 })).error?.code).toBe('rate_limited');
    expect(reads.count).toBeLessThanOrEqual(6);
  });
});
