/** The inbox over all sessions of a registry: what waits, who may answer, and what came of it. */
import { describe, expect, test } from 'vitest';
import { memoryApprovalStore } from '../../src/approval/memory-store.ts';
import type { ApprovalAnswer, ApprovalStore, HostToolRegistry } from '../../src/index.ts';
import { bench, key, suspending, suspendOne, why } from '../approval/kit.ts';

const yes = { decision: 'allow_once', by: 'user:bob' } as const;
const reopening = (store: ApprovalStore, more: object = {}) => {
  const made: unknown[] = [];
  const one: { registry?: HostToolRegistry } = {};
  const opened = bench({
    registry: {
      approvals: {
        secret: key,
        store,
        session: (record) => {
          made.push(record);
          const { sessionId, principal } = record;
          return (one.registry as HostToolRegistry).createSession({
            sessionId,
            principal,
            approvalMode: 'suspend',
          });
        },
        ...more,
      },
    },
  });
  one.registry = opened.registry;
  return { ...opened, made };
};

describe('an answer to a suspended call', () => {
  test('is given in another process, which makes the session again; the asker learns of it', async () => {
    const store = memoryApprovalStore(() => 0);
    const first = suspending({ store, session: { facts: { till: 'open' } } });
    const { id } = await suspendOne(first);
    expect(await first.session.approvals.outcome(id)).toEqual({ status: 'pending' });
    const second = reopening(store);
    const listed = await second.registry.approvals.pending();
    expect(listed.map((one) => one.id)).toEqual([id]);
    expect(JSON.stringify(listed)).not.toContain('token');
    expect((await second.registry.approvals.answer(id, yes)).output).toBe('paid');
    expect(second.made).toMatchObject([{ sessionId: 'conversation', facts: { till: 'open' } }]);
    expect(JSON.stringify(second.made)).not.toContain('"token"');
    expect(await first.session.approvals.outcome(id)).toMatchObject({
      status: 'settled',
      decision: 'allow_once',
      by: 'user:bob',
      result: { success: true, output: 'paid' },
    });
    expect(await second.registry.approvals.pending()).toEqual([]);
    expect(why(await first.registry.approvals.answer(id, yes))).toEqual([
      'approval_denied',
      'token_used',
    ]);
    expect(second.events.at(-2)).toMatchObject({ type: 'approval:settled', id, by: 'user:bob' });
  });

  test('counts once, however many processes answer at the same time', async () => {
    const store = memoryApprovalStore(() => 0);
    const { id } = await suspendOne(suspending({ store }));
    const processes = [reopening(store), reopening(store), reopening(store)];
    const results = await Promise.all(
      processes.map(({ registry }) => registry.approvals.answer(id, yes)),
    );
    expect(results.filter(({ success }) => success)).toHaveLength(1);
    expect(processes.flatMap(({ runs }) => runs)).toHaveLength(1);
  });

  test('is refused where the session is not open and cannot be made; the record stays', async () => {
    const store = memoryApprovalStore(() => 0);
    const { id } = await suspendOne(suspending({ store }));
    const other = bench({ store });
    expect(why(await other.registry.approvals.answer(id, yes))).toEqual([
      'approval_denied',
      'session_unavailable',
    ]);
    expect(await other.registry.approvals.pending()).toHaveLength(1);
    expect(why(await other.registry.approvals.answer('no such', yes))).toEqual([
      'approval_denied',
      'unknown_approval',
    ]);
  });

  test('needs a name', async () => {
    const { registry } = bench();
    await expect(
      registry.approvals.answer('x', { decision: 'allow_once' } as never),
    ).rejects.toThrow('approvals.answer: expected `by` to name who answers.');
  });
});

test('a call that waits on an approver here is listed and answered too', async () => {
  const { registry, session } = bench({ session: { approver: () => new Promise(() => {}) } });
  const call = session.call('pay', { amount: 1 });
  const [question] = await registry.approvals.pending();
  expect(await registry.approvals.get(question?.id ?? '')).toBe(question);
  const answered = await registry.approvals.answer(question?.id ?? '', yes);
  expect(answered).toBe(await call);
  expect(await registry.approvals.pending()).toEqual([]);
});

describe('under four eyes', () => {
  const fourEyes = (store: ApprovalStore) =>
    suspending({ registry: { approvals: { secret: key, store, fourEyes: true } } });

  test.each<ApprovalAnswer>([
    'allow_once',
    { decision: 'allow_once', by: 'user:ann' },
    { decision: 'reject_once', by: ' USER:Ann ' },
  ])('the principal cannot resume with %j; the record stays', async (answer) => {
    const one = fourEyes(memoryApprovalStore(() => 0));
    const { id, token } = await suspendOne(one);
    const refused = ['approval_denied', 'four_eyes'];
    expect(why(await one.session.approvals.resume(token, answer))).toEqual(refused);
    if (typeof answer !== 'string')
      expect(why(await one.registry.approvals.answer(id, answer as typeof yes))).toEqual(refused);
    expect(one.runs).toEqual([]);
    expect((await one.registry.approvals.answer(id, yes)).success).toBe(true);
  });

  test('the approver of the session must name someone else', async () => {
    const approvals = { secret: key, fourEyes: true };
    const own = bench({ registry: { approvals }, session: { approver: () => 'allow_once' } });
    expect(why(await own.session.call('pay', { amount: 1 }))).toEqual([
      'approval_denied',
      'four_eyes',
    ]);
    const other = bench({ registry: { approvals }, session: { approver: () => yes } });
    expect((await other.session.call('pay', { amount: 1 })).success).toBe(true);
  });
});

test('a store that only keeps, takes and lists cannot serve an inbox, and says what to add', async () => {
  const store: ApprovalStore = { put: () => {}, take: () => undefined, list: () => [] };
  const { registry } = bench({ store });
  await expect(registry.approvals.pending()).rejects.toThrow(
    'expected `approvals.store` to have the methods `settle`, `read` and `page`',
  );
  expect(() => bench({ store: { ...store, read: () => undefined } })).toThrow(
    'expected `approvals.store` to be an object with all of the methods `settle`, `read` and `page`',
  );
});
