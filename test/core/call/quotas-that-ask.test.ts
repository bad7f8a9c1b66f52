/**
 * Quotas with `over: "ask"`: a person is asked before the call has its locks, or once it is over.
 */

import { describe, expect, test } from 'vitest';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  HostToolRegistry,
  memoryQuotas,
  type Quota,
  type RegistryOptions,
  type SessionOptions,
  type ToolResult,
} from '../../../src/index.ts';
import { laterStore } from '../../stores/shared/later-store.ts';
import { memoryQuotaPort, type QuotaPort, quotaStoreOf } from '../../stores/shared/ports.ts';
import { key } from '../approval/kit.ts';
import { gate, tool, turns, type World, world } from './world.ts';

const asking: Quota = {
  id: 'spent',
  tools: 'pay',
  sum: 'amount',
  max: 100,
  per: 'day',
  by: 'session',
  over: 'ask',
};

interface Asked extends World {
  readonly runs: unknown[];
  readonly questions: ApprovalRequest[];
  pay(amount: unknown, more?: object): Promise<ToolResult>;
}

function setup(
  options: {
    quotas?: readonly Quota[];
    answer?: (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>;
    registry?: RegistryOptions;
    session?: Partial<SessionOptions>;
    tool?: object;
  } = {},
): Asked {
  const questions: ApprovalRequest[] = [];
  const runs: unknown[] = [];
  const { answer = () => 'allow_once' as const } = options;
  const w = world(
    {
      approver: (request) => {
        questions.push(request);
        return answer(request);
      },
      ...options.session,
    },
    { quotas: options.quotas ?? [asking], ...options.registry },
  );
  w.add(
    tool(
      (input) => {
        runs.push(input);
        return 'paid';
      },
      { name: 'pay', ...options.tool },
    ),
  );
  return {
    ...w,
    runs,
    questions,
    pay: (amount, more) => w.session.call('pay', { amount, ...more }),
  };
}

const reasonOf = ({ error, output }: ToolResult): unknown =>
  error === undefined ? output : (error.reason ?? error.code);

async function usedOf({ session }: World): Promise<number | undefined> {
  return (await session.explain('pay', { amount: 0 })).quotas?.[0]?.used;
}

describe('before the call is approved', () => {
  test('no one is asked while the call fits', async () => {
    const w = setup();
    expect(reasonOf(await w.pay(100))).toBe('paid');
    expect(w.questions).toEqual([]);
  });

  test('a call that would be over asks, and the question names the quota', async () => {
    const w = setup();
    await w.pay(95);
    expect(reasonOf(await w.pay(10))).toBe('paid');
    expect(w.questions).toMatchObject([
      {
        title: 'Allow `pay` to run beyond the quota `spent`?',
        message: 'The quota `spent` allows 100 per day. 95 is used, and this call needs 10.',
        ruleId: 'spent',
        source: 'registry',
        quotas: [{ quota: 'spent', source: 'registry', max: 100, used: 95, amount: 10 }],
      },
    ]);
    expect(w.of('policy:check').at(-1)).toMatchObject({ effect: 'ask', ruleId: 'spent' });
    expect(w.of('approval:required')[0]?.request).toMatchObject({
      quotas: [{ quota: 'spent', used: 95 }],
    });
    await w.settle();
  });

  test('what was agreed to is counted, whatever the sum is', async () => {
    const w = setup();
    await w.pay(1_000);
    expect(await usedOf(w)).toBe(1_000);
    await w.pay(1);
    expect(w.questions).toHaveLength(2);
    expect(await usedOf(w)).toBe(1_001);
  });

  test('what was refused is not counted', async () => {
    const w = setup({ answer: () => 'reject_once' });
    expect(reasonOf(await w.pay(1_000))).toBe('rejected');
    expect(await usedOf(w)).toBe(0);
    expect(w.runs).toEqual([]);
  });

  test('without an approver it is refused', async () => {
    const w = setup({ session: { approver: undefined } });
    expect(reasonOf(await w.pay(1_000))).toBe('no_approver');
  });

  test('the texts of a tool that asks are kept, and the quota is added', async () => {
    const w = setup({
      tool: { requiresApproval: () => ({ title: 'Pay?', message: 'To Ann.', risk: 'high' }) },
    });
    await w.pay(10);
    await w.pay(100);
    expect(w.questions.map(({ quotas }) => quotas?.length)).toEqual([undefined, 1]);
    expect(w.questions[1]).toMatchObject({
      title: 'Pay?',
      message:
        'To Ann.\nThe quota `spent` allows 100 per day. 10 is used, and this call needs 100.',
      risk: 'high',
      source: 'tool',
    });
  });

  test('one question names all quotas that the call would exceed', async () => {
    const w = setup({ quotas: [asking, { ...asking, id: 'calls', sum: undefined, max: 0 }] });
    expect(reasonOf(await w.pay(500))).toBe('paid');
    expect(w.questions).toHaveLength(1);
    expect(w.questions[0]?.title).toBe('Allow `pay` to run beyond the quotas `spent` and `calls`?');
  });

  test('a deny beats it, and so does a quota that denies', async () => {
    const w = setup({ registry: { rules: [{ effect: 'deny', when: { amount: 500 } }] } });
    expect(reasonOf(await w.pay(500))).toBe('denied_by_rule');
    const strict = setup({ quotas: [asking, { ...asking, id: 'hard', max: 400, over: 'deny' }] });
    expect(reasonOf(await strict.pay(500))).toBe('quota_exceeded');
    expect(strict.runs).toEqual([]);
  });

  test('`default: "deny"` is not lifted by it', async () => {
    const w = setup({ registry: { default: 'deny' } });
    expect(reasonOf(await w.pay(500))).toBe('denied_by_default');
    expect(w.questions).toEqual([]);
  });

  test('amounts that cannot be read are refused unasked', async () => {
    const w = setup();
    expect(reasonOf(await w.pay('many'))).toBe('quota_unreadable');
    expect(w.questions).toEqual([]);
  });

  test.each<[string, Partial<QuotaPort>]>([
    [
      'throws',
      {
        look: () => {
          throw new Error('down');
        },
      },
    ],
    ['rejects', { look: () => Promise.reject(new Error('down')) }],
    ['answers nothing', { look: () => undefined as never }],
    ['answers too little', { look: () => [] }],
  ])('a store that %s when it looks refuses the call unasked', async (_, part) => {
    const w = setup({ registry: { quotaStore: quotaStoreOf({ ...memoryQuotaPort(), ...part }) } });
    expect(reasonOf(await w.pay(1))).toBe('quota_unavailable');
    expect([w.questions, w.runs]).toEqual([[], []]);
    // A wrong answer is described, too.
    expect(w.warnings.map((text) => text.split(': Expected ')[0])).toEqual([
      'the quota store failed, so the call was refused',
    ]);
  });

  test('a store that looks later is waited for', async () => {
    const w = setup({ registry: { quotaStore: laterStore(memoryQuotas()) } });
    expect([reasonOf(await w.pay(90)), reasonOf(await w.pay(90))]).toEqual(['paid', 'paid']);
    expect(w.questions).toHaveLength(1);
    expect(await usedOf(w)).toBe(180);
    await w.settle();
  });
});

describe('who allowed a call always', () => {
  test('has not allowed it beyond a quota: each call that is over asks', async () => {
    const w = setup({ answer: () => 'allow_always', tool: { requiresApproval: true } });
    await w.pay(60);
    expect(w.questions).toHaveLength(1);
    await w.pay(60);
    await w.pay(60);
    expect(w.questions.map(({ quotas }) => quotas?.[0]?.used)).toEqual([undefined, 60, 120]);
    expect((await w.session.explain('pay', { amount: 60 })).steps).not.toContainEqual(
      expect.objectContaining({ stage: 'approval' }),
    );
  });

  test('who refused it always has refused it there too', async () => {
    let choice: ApprovalAnswer = 'reject_always';
    const w = setup({ answer: () => choice, tool: { requiresApproval: true } });
    expect(reasonOf(await w.pay(500))).toBe('rejected');
    choice = 'allow_once';
    expect(reasonOf(await w.pay(500))).toBe('rejected_always');
  });
});

describe('a call that finds itself over only when it reserves', () => {
  test('gives its locks back, asks, and queues again', async () => {
    const held = gate();
    const answers: (() => void)[] = [];
    const w = setup({
      answer: () => new Promise((resolve) => void answers.push(() => resolve('allow_once'))),
      tool: {
        resourceKey: 'account',
        handler: ({ amount }: { amount: number }) => `paid ${amount}`,
      },
    });
    w.add(tool(() => held.promise, { name: 'busy', resourceKey: 'account' }));
    void w.session.call('busy', {});
    const calls = [w.pay(60), w.pay(70), w.pay(30)];
    await turns();
    // Each fitted when it was looked at.
    expect(w.questions).toEqual([]);
    held.open();
    await calls[0];
    await turns();
    expect(w.questions).toMatchObject([{ input: { amount: 70 }, quotas: [{ used: 60 }] }]);
    // No one is asked while locks are held: the third call has passed by.
    expect(reasonOf((await calls[2]) as ToolResult)).toBe('paid 30');
    answers[0]?.();
    expect(reasonOf((await calls[1]) as ToolResult)).toBe('paid 70');
    expect(w.questions).toHaveLength(1);
    expect(await usedOf(w)).toBe(160);
    await w.settle();
  });

  test('an approval for another reason does not count as agreed', async () => {
    const w = setup({
      answer: async ({ quotas }) => (quotas === undefined ? 'allow_once' : 'reject_once'),
      tool: { requiresApproval: true, resourceKey: 'account' },
    });
    const calls = await Promise.all([w.pay(60), w.pay(70)]);
    expect(calls.map(reasonOf)).toEqual(['paid', 'rejected']);
    expect(w.questions.map(({ quotas }) => quotas?.[0]?.used)).toEqual([undefined, undefined, 60]);
    expect(await usedOf(w)).toBe(60);
    await w.settle();
  });

  test('a person who changes the amount has agreed to the named quotas', async () => {
    const w = setup({
      answer: ({ quotas }) => ({
        decision: 'allow_once',
        ...(quotas === undefined ? { input: { amount: 500 } } : {}),
      }),
      tool: { requiresApproval: true },
    });
    expect(reasonOf(await w.pay(1))).toBe('paid');
    expect(w.questions.map(({ quotas }) => quotas?.[0]?.amount)).toEqual([undefined, 500]);
    expect(w.runs).toEqual([{ amount: 500 }]);
    const named = setup({ answer: () => ({ decision: 'allow_once', input: { amount: 900 } }) });
    expect(reasonOf(await named.pay(500))).toBe('paid');
    expect([named.questions.length, await usedOf(named)]).toEqual([1, 900]);
  });

  test('other quotas of the call still hold it back', async () => {
    const w = setup({
      quotas: [asking, { ...asking, id: 'calls', sum: undefined, max: 1, over: 'deny' }],
    });
    expect(reasonOf(await w.pay(500))).toBe('paid');
    expect(reasonOf(await w.pay(500))).toBe('quota_exceeded');
    expect((await w.session.explain('pay', { amount: 0 })).quotas?.map(({ used }) => used)).toEqual(
      [500, 1],
    );
  });
});

describe('a call that is suspended', () => {
  const store = memoryQuotas();
  const approvals = { secret: key };
  function open(more: RegistryOptions, quotas: readonly Quota[] = [asking]): Asked {
    return setup({
      quotas,
      registry: { approvals, ...more },
      session: {
        sessionId: 'conversation',
        principal: 'ann',
        approver: undefined,
        approvalMode: 'suspend',
      },
    });
  }

  test('carries to the process that resumes it what was agreed to', async () => {
    const shared: RegistryOptions = { quotaStore: store };
    const first = open(shared);
    const suspended = await first.pay(500);
    expect(suspended.error?.code).toBe('approval_pending');
    const [pending] = await first.session.approvals.pending();
    expect(pending).toMatchObject({ quotas: [{ quota: 'spent', used: 0, amount: 500 }] });
    expect(await usedOf(first)).toBe(0);
    const result = await first.session.approvals.resume(pending?.token ?? '', 'allow_once');
    expect(reasonOf(result)).toBe('paid');
    expect(await usedOf(first)).toBe(500);
    await first.settle();
  });

  test('is suspended again for a quota that was not named before', async () => {
    const w = setup({
      quotas: [asking],
      registry: { approvals, rules: [{ effect: 'ask', tools: 'pay', when: { amount: 70 } }] },
      session: { principal: 'ann', approver: undefined, approvalMode: 'suspend' },
    });
    expect((await w.pay(70)).error?.code).toBe('approval_pending');
    const [pending] = await w.session.approvals.pending();
    expect(pending?.quotas).toBeUndefined();
    expect(reasonOf(await w.pay(60))).toBe('paid');
    const again = await w.session.approvals.resume(pending?.token ?? '', 'allow_once');
    expect(again.error?.code).toBe('approval_pending');
    expect(await usedOf(w)).toBe(60);
    const [second] = await w.session.approvals.pending();
    expect(second).toMatchObject({ quotas: [{ used: 60, amount: 70 }], input: { amount: 70 } });
    expect(second?.token).not.toBe(pending?.token);
    const last = await w.session.approvals.resume(second?.token ?? '', 'allow_once');
    expect(reasonOf(last)).toBe('paid');
    expect(await usedOf(w)).toBe(130);
    expect(
      (await w.session.approvals.resume(second?.token ?? '', 'allow_once')).error?.reason,
    ).toBe('token_used');
    await w.settle();
  });
});

test('a call that is suspended for one quota after another keeps what was agreed to', async () => {
  const other: Quota = { ...asking, id: 'other' };
  const w = setup({
    quotas: [asking],
    registry: { approvals: { secret: key } },
    session: { principal: 'ann', approver: undefined, approvalMode: 'suspend' },
  });
  const askedOf = (result: ToolResult) => (result.success ? undefined : result.approval);
  const namesOf = (result: ToolResult): unknown =>
    askedOf(result)?.quotas?.map(({ quota }) => quota);
  const first = await w.pay(500);
  expect(namesOf(first)).toEqual(['spent']);
  w.registry.addQuotas([other]);
  const { resume } = w.session.approvals;
  const second = await resume(askedOf(first)?.token ?? '', 'allow_once');
  expect(second.error?.code).toBe('approval_pending');
  expect(namesOf(second)).toEqual(['spent', 'other']);
  expect(reasonOf(await resume(askedOf(second)?.token ?? '', 'allow_once'))).toBe('paid');
  expect(w.runs).toHaveLength(1);
  await w.settle();
});

test('a polluted prototype agrees to nothing', async () => {
  const w = setup({ session: { approver: () => 'allow_once' }, tool: { requiresApproval: true } });
  const polluted = Object.prototype as { quotas?: unknown; agreed?: unknown };
  polluted.quotas = [{ quota: 'spent', source: 'registry' }];
  polluted.agreed = polluted.quotas;
  try {
    const results = await Promise.all([w.pay(60), w.pay(60)]);
    expect(results.map((result) => result.success)).toEqual([true, true]);
  } finally {
    delete polluted.quotas;
    delete polluted.agreed;
  }
  expect(new HostToolRegistry()).toBeDefined();
});
