import { describe, expect, test, vi } from 'vitest';
import { stateOf } from '../../../src/core/session/session.ts';
import type { JsonObject, ToolResult } from '../../../src/index.ts';
import { durableOf } from '../../../src/parts/durable-approvals/durable-state.ts';
import { pendingOf } from '../../../src/parts/durable-approvals/pending-approvals.ts';
import type { TokenSigner } from '../../../src/parts/durable-approvals/token.ts';
import { memoryApprovals } from '../../../src/surfaces/approvals/index.ts';
import { key, suspending, suspendOne } from '../../core/approval/kit.ts';
import { turns } from '../../core/call/world.ts';
import { cpuMs } from '../../runner/cpu-time.ts';
import { type ApprovalPort, memoryApprovalPort } from '../../stores/shared/ports.ts';

/** A store that gives all it has to whoever asks, as `change` makes it. */
const sharing = (change: (record: JsonObject) => JsonObject = (record) => record) => {
  const records: JsonObject[] = [];
  const list = vi.fn(() => records.map(change));
  const store: Partial<ApprovalPort> = {
    put: (record) => void records.push(record),
    take: () => undefined,
    heads: () => [],
    page: list,
  };
  return { store, list };
};

describe('the suspended calls of a session', () => {
  test('hold up no one else for long, with megabytes in each: lists read heads, or in stretches', async () => {
    const store = memoryApprovals({ now: () => 0 });
    const { registry, session } = suspending({ store, silent: true });
    for (let amount = 0; amount < 8; amount++)
      await suspendOne({ session }, { amount, to: 'x'.repeat(1_000_000) });
    for (const list of [() => session.approvals.pending(), () => registry.approvals.pending()]) {
      let others = 0;
      const timer = setInterval(() => others++, 0);
      const start = cpuMs();
      expect(await list()).toHaveLength(8);
      const took = cpuMs() - start;
      clearInterval(timer);
      expect(others > 1 || took < 50).toBe(true);
    }
  });

  test('a session without a principal asks no store', async () => {
    const { store, list } = sharing();
    const { registry } = suspending({ store });
    expect(await registry.createSession({ sessionId: 'conversation' }).approvals.pending()).toEqual(
      [],
    );
    expect(list).not.toHaveBeenCalled();
  });

  test('are those of its own id and principal, whatever the store gives', async () => {
    const { store } = sharing();
    const bench = suspending({ store });
    await suspendOne(bench);
    const others = [
      { sessionId: 'conversation', principal: 'user:bob' },
      { sessionId: 'other', principal: 'user:ann' },
    ];
    for (const other of others)
      expect(await bench.registry.createSession(other).approvals.pending()).toEqual([]);
    expect(await bench.session.approvals.pending()).toHaveLength(1);
  });

  test.each<[string, (record: JsonObject) => unknown]>([
    ['of another principal', (record) => ({ ...record, principal: 'user:bob' })],
    ['without a principal', ({ principal: _principal, ...record }) => record],
    ['that are none', () => ({})],
    ['whose input is another', (record) => ({ ...record, input: { amount: 1 } })],
  ])('are no records %s', async (_, change) => {
    const { store } = sharing(change as never);
    const bench = suspending({ store });
    await suspendOne(bench);
    expect(await bench.session.approvals.pending()).toEqual([]);
  });

  test(
    'are the only ones whose tokens are verified, which costs far more than to see whose they ' +
      'are',
    async () => {
      const { store } = sharing();
      const bench = suspending({ store });
      for (const callId of ['1', '2']) await suspendOne(bench, { amount: 5 }, callId);
      const other = bench.registry.createSession({
        sessionId: 'conversation',
        principal: 'user:bob',
      });
      const verify = vi.spyOn(durableOf(stateOf(other).registry).signer as TokenSigner, 'verify');
      await other.approvals.pending();
      expect(verify).not.toHaveBeenCalled();
      await bench.session.approvals.pending();
      expect(verify).toHaveBeenCalledTimes(2);
      verify.mockRestore();
    },
  );

  test('end with their time, to the millisecond', async () => {
    const { store } = sharing();
    const bench = suspending({ store });
    const { expiresAt } = await suspendOne(bench);
    const left = expiresAt - bench.clock.now();
    bench.clock.advance(left - 1);
    expect(await bench.session.approvals.pending()).toHaveLength(1);
    bench.clock.advance(1);
    expect(await bench.session.approvals.pending()).toEqual([]);
  });

  test('are looked for no further than is asked, and are frozen', async () => {
    const { store } = sharing();
    const bench = suspending({ store });
    for (const callId of ['1', '2', '3']) await suspendOne(bench, { amount: 5 }, callId);
    expect((await pendingOf(stateOf(bench.session), 2)).map(({ callId }) => callId)).toEqual([
      '1',
      '2',
    ]);
    const all = await pendingOf(stateOf(bench.session));
    expect(all).toHaveLength(3);
    expect(Object.isFrozen(all[0]) && Object.isFrozen(all[0]?.input)).toBe(true);
  });

  test('that another secret signed are not genuine', async () => {
    const { store } = sharing();
    await suspendOne(suspending({ store, secret: `another-${key}` }));
    expect(await suspending({ store }).session.approvals.pending()).toEqual([]);
  });
});

test('a call is not suspended if what waits already is too much to count', async () => {
  const store = memoryApprovalPort({ now: () => 0 });
  const row = { id: 'x', sessionId: 'other', principal: 'user:ann', expiresAt: 1 };
  const heads = vi.fn(() => Array.from({ length: 1_000 }, () => row));
  const { session } = suspending({ store: { ...store, heads }, silent: true });
  const result = await session.call('pay', { amount: 1 });
  expect(result.error).toMatchObject({ code: 'rate_limited', reason: 'too_many_approvals' });
  expect(heads).toHaveBeenCalledTimes(20);
});

describe('a call that ends during the announcement of its suspension leaves no question', () => {
  const ended = async (cancel: (run: () => void) => void) => {
    const records = new Map<unknown, JsonObject>();
    const take = (id: string): JsonObject | undefined => {
      const record = records.get(id);
      records.delete(id);
      return record;
    };
    const store: Partial<ApprovalPort> = {
      put: (record) => void records.set(record.id, record),
      take,
    };
    const bench = suspending({ store });
    const controller = new AbortController();
    bench.session.events.on('approval:required', () => cancel(() => controller.abort()));
    const result = await bench.session.call('pay', { amount: 5 }, { signal: controller.signal });
    await turns();
    return { result, left: records.size };
  };

  test.each<[string, (run: () => void) => void]>([
    ['by a listener', (run) => run()],
    ['a turn later', (run) => queueMicrotask(run)],
  ])('%s', async (_, cancel) => {
    const { result, left } = await ended(cancel);
    expect(result.error?.code).toBe('cancelled');
    expect(Object.hasOwn(result, 'approval')).toBe(false);
    expect(left).toBe(0);
  });

  test('but not one that ends as suspended', async () => {
    const { result, left } = await ended(() => {});
    expect(result.error?.code).toBe('approval_pending');
    expect(left).toBe(1);
  });
});

test(
  'a call that was suspended since another set out counts for that one, though the list that it ' +
    'was given is older',
  async () => {
    const records: JsonObject[] = [];
    const answers: (() => void)[] = [];
    const list = (): Promise<readonly JsonObject[]> => {
      const then = [...records];
      return new Promise((resolve) => answers.push(() => resolve(then)));
    };
    const { session } = suspending({
      store: { put: (record) => void records.push(record), take: () => undefined, heads: list },
      session: { limits: { maxPendingApprovals: 2 } },
    });
    const answered = async (
      call: Promise<ToolResult>,
      index: number,
    ): Promise<string | undefined> => {
      await vi.waitFor(() => expect(answers.length).toBeGreaterThan(index));
      answers[index]?.();
      return (await call).error?.code;
    };
    expect(await answered(session.call('pay', { amount: 1 }), 0)).toBe('approval_pending');
    const [first, second] = [
      session.call('pay', { amount: 2 }),
      session.call('pay', { amount: 3 }),
    ];
    await vi.waitFor(() => expect(answers).toHaveLength(3));
    expect(await answered(first, 1)).toBe('approval_pending');
    expect(await answered(second, 2)).toBe('rate_limited');
  },
);
