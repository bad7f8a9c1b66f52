/**
 * The edges of approval: what events hold of it, late and impossible answers, and how calls that
 * are suspended at the same moment count.
 */
import { describe, expect, test, vi } from 'vitest';
import type {
  AnyEvent,
  ApprovalAnswer,
  Approver,
  JsonObject,
  ToolResult,
} from '../../../../src/index.ts';
import { type ApprovalPort, memoryApprovalPort } from '../../../stores/shared/ports.ts';
import { type Bench, bench, deferred, suspending, suspendOne, why } from '../../approval/kit.ts';
import { andThen } from '../define.ts';

const says =
  (answer: unknown): Approver =>
  () =>
    answer as ApprovalAnswer;

/** What an event of this type says of its approval. */
function said(
  events: readonly AnyEvent[],
  type: AnyEvent['type'],
): Record<string, unknown> | undefined {
  const event = events.find((one) => one.type === type) as Record<string, unknown> | undefined;
  if (event === undefined) return undefined;
  const common = ['type', 'sessionId', 'principal', 'actor', 'surface', 'at', 'seq'];
  return Object.fromEntries(Object.entries(event).filter(([name]) => !common.includes(name)));
}

describe('an event of an approval holds what was said, and no member for what was not', () => {
  const approvalId = expect.stringMatching(/^[0-9a-f-]{36}$/);
  test.each<[what: string, answer: unknown, type: AnyEvent['type'], told: JsonObject]>([
    ['a yes', 'allow_once', 'approval:granted', {}],
    ['a yes of somebody', { decision: 'allow_once', by: 'ann' }, 'approval:granted', { by: 'ann' }],
    ['a no', 'reject_once', 'approval:denied', { reason: 'rejected' }],
    [
      'a no of somebody',
      { decision: 'reject_once', by: 'ann' },
      'approval:denied',
      { reason: 'rejected', by: 'ann' },
    ],
    [
      'a no and why',
      { decision: 'reject_once', message: 'No.' },
      'approval:denied',
      { reason: 'rejected', message: 'No.' },
    ],
    [
      'no answer at all',
      'perhaps',
      'approval:denied',
      { reason: 'invalid_answer', message: expect.stringContaining('answered in a wrong form') },
    ],
  ])('%s', async (_, answer, type, told) => {
    const { session, events } = bench({ session: { approver: says(answer) } });
    await session.call('pay', { amount: 5 }, { callId: 'c' });
    expect(said(events, type)).toStrictEqual({ toolName: 'pay', callId: 'c', approvalId, ...told });
  });

  test('a timeout', async () => {
    vi.useFakeTimers();
    const { session, events } = bench({ session: { approver: () => new Promise(() => {}) } });
    const called = session.call('pay', { amount: 5 }, { callId: 'c' });
    await vi.advanceTimersByTimeAsync(300_000);
    expect(await called).toMatchObject({
      error: { message: 'No one answered the approval request for `pay` in time.' },
    });
    expect(said(events, 'approval:denied')).toStrictEqual({
      toolName: 'pay',
      callId: 'c',
      approvalId,
      reason: 'timeout',
    });
  });

  test('a refusal before anybody was asked has an empty id', async () => {
    const store: Partial<ApprovalPort> = {
      put: () => Promise.reject(new Error('no')),
    };
    const { session, events } = suspending({ store });
    await session.call('pay', { amount: 5 }, { callId: 'c' });
    const message = 'Approvals cannot be stored at the moment.';
    expect(said(events, 'approval:denied')).toStrictEqual({
      toolName: 'pay',
      callId: 'c',
      approvalId: '',
      reason: 'store_unavailable',
      message,
    });
  });

  test('a grant is named as the approval that it answers, with its author', async () => {
    for (const [decision, type, reason] of [
      ['allow_always', 'approval:granted', {}],
      ['reject_always', 'approval:denied', { reason: 'rejected_always' }],
    ] as const) {
      const { session, events } = bench({ session: { approver: says({ decision, by: 'ann' }) } });
      await session.call('pay', { amount: 5 });
      const [grant] = session.approvals.grants();
      events.length = 0;
      await session.call('pay', { amount: 5 }, { callId: 'c' });
      expect(said(events, type)).toStrictEqual({
        toolName: 'pay',
        callId: 'c',
        approvalId: grant?.id,
        by: 'ann',
        ...reason,
      });
    }
  });
});

describe('the text of a refusal for the model', () => {
  test.each<[what: string, answer: unknown, message: string]>([
    [
      'what the person said',
      { decision: 'reject_once', message: 'Ask on Monday.' },
      'The call to `pay` was not approved: Ask on Monday.',
    ],
    [
      'not to repeat the call, where the person said nothing',
      'reject_once',
      'The call to `pay` was not approved. Do not retry it; ask the user how to proceed.',
    ],
  ])('%s', async (_, answer, message) => {
    expect(
      await bench({ session: { approver: says(answer) } }).session.call('pay', { amount: 5 }),
    ).toMatchObject({ error: { message } });
  });
});

describe('the approver', () => {
  test('is not asked if a listener of `approval:required` has answered', async () => {
    const approver = vi.fn(says('reject_once'));
    const { session } = bench({ session: { approver } });
    session.events.on(
      'approval:required',
      ({ request }) => void session.approvals.answer(request.id, 'allow_once'),
    );
    expect(await session.call('pay', { amount: 5 })).toMatchObject({ success: true });
    expect(approver).not.toHaveBeenCalled();
  });

  test.each<[what: string, error: Error, logged: boolean]>([
    ['is logged', new Error('the socket closed'), true],
    [
      'is not, where it only says that it was told to stop',
      new DOMException('stop', 'AbortError'),
      false,
    ],
  ])('what it throws after its time is over %s', async (_, error, logged) => {
    vi.useFakeTimers();
    const answer = deferred<ApprovalAnswer>();
    const { session, warnings } = bench({ session: { approver: () => answer.promise } });
    const called = session.call('pay', { amount: 5 });
    await vi.advanceTimersByTimeAsync(300_000);
    expect(why(await called)).toEqual(['approval_timeout', 'timeout']);
    answer.reject(error);
    await vi.advanceTimersByTimeAsync(1);
    expect(
      JSON.stringify(warnings).includes('an approver threw after its question was closed'),
    ).toBe(logged);
  });

  test(
    'that fails, and one that answers what is no answer, are logged, and the caller finds out ' +
      'why',
    async () => {
      const thrown = new Error('gone');
      const failing = bench({ session: { approver: () => Promise.reject(thrown) } });
      const failed = await failing.session.call('pay', { amount: 5 });
      expect(failed.error).toHaveProperty('cause', thrown);
      expect(JSON.stringify(failing.warnings)).toContain('an approver threw');
      const puzzling = bench({ session: { approver: says('perhaps') } });
      const puzzled = await puzzling.session.call('pay', { amount: 5 });
      expect(puzzled.error).toHaveProperty(
        'cause.message',
        expect.stringMatching(
          /^Expected the approver to return "allow_once", .* got `perhaps` \(string\)\.$/,
        ),
      );
      expect(JSON.stringify(puzzling.warnings)).toContain(
        'an approver returned something that is not an answer',
      );
    },
  );

  test.each<[what: string, answer: () => Promise<unknown>]>([
    ['answered', async () => 'allow_once'],
    ['thrown', () => Promise.reject(new Error('gone'))],
  ])('is not told to stop when it has %s', async (_, answer) => {
    let asked: AbortSignal | undefined;
    const approver = (_request: unknown, { signal }: { signal: AbortSignal }): Promise<never> => {
      asked = signal;
      return answer() as Promise<never>;
    };
    await bench({ session: { approver } }).session.call('pay', { amount: 5 });
    expect(asked?.aborted).toBe(false);
  });

  test('that ends the call by what it answers approves nothing', async () => {
    const controller = new AbortController();
    const input = Object.defineProperty({}, 'amount', {
      enumerable: true,
      get: () => andThen(controller.abort(), 1),
    });
    const { session, runs, events } = bench({
      session: { approver: says({ decision: 'allow_once', input }) },
    });
    expect(why(await session.call('pay', { amount: 5 }, { signal: controller.signal }))?.[0]).toBe(
      'cancelled',
    );
    expect(runs).toEqual([]);
    expect(events.map(({ type }) => type)).not.toContain('approval:granted');
  });

  test('that answers by getters which throw gives no answer', async () => {
    const hostile = Object.defineProperty({}, 'decision', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(
      why(await bench({ session: { approver: says(hostile) } }).session.call('pay', { amount: 5 })),
    ).toEqual(['approval_denied', 'invalid_answer']);
  });
});

describe('an answer is read when it is given, once', () => {
  /** Two calls that wait, and the ids of their questions. */
  async function asked(): Promise<
    Bench & { readonly ids: readonly string[]; readonly called: readonly Promise<ToolResult>[] }
  > {
    const bed = bench({ session: { approver: () => new Promise(() => {}) } });
    const called = [1, 2].map((amount) => bed.session.call('pay', { amount }));
    await vi.waitFor(async () => expect(await bed.session.approvals.pending()).toHaveLength(2));
    return { ...bed, called, ids: (await bed.session.approvals.pending()).map(({ id }) => id) };
  }

  test('the object that it came in may serve for the next question', async () => {
    const { session, ids, called, runs } = await asked();
    const form = { decision: 'reject_once' as 'reject_once' | 'allow_once' };
    session.approvals.answer(ids[0] as string, form);
    form.decision = 'allow_once';
    session.approvals.answer(ids[1] as string, form);
    expect((await Promise.all(called)).map(({ success }) => success)).toEqual([false, true]);
    expect(runs).toEqual([{ amount: 2 }]);
  });

  test('an input in an answer runs unchanged, whatever happens to the object', async () => {
    const { session, ids, called, runs } = await asked();
    const input = { amount: 3, to: 'ann' };
    session.approvals.answer(ids[0] as string, { decision: 'allow_once', input });
    input.to = 'mallory';
    await called[0];
    expect(runs).toEqual([{ amount: 3, to: 'ann' }]);
    await session.close();
  });

  test('so does one that a suspended call is resumed with', async () => {
    const bed = suspending();
    const { token } = await suspendOne(bed);
    const input = { amount: 3, to: 'ann' };
    const resumed = bed.session.approvals.resume(token, { decision: 'allow_once', input });
    input.to = 'mallory';
    await resumed;
    expect(bed.runs).toEqual([{ amount: 3, to: 'ann' }]);
  });

  test('what would settle as a promise does is no promise here', async () => {
    const { session, ids, called, runs } = await asked();
    const form = Object.fromEntries([
      ['decision', 'reject_once'],
      ['then', (settle: (answer: string) => void) => settle('allow_once')],
    ]);
    session.approvals.answer(ids[0] as string, form as never);
    expect(why(await (called[0] as Promise<ToolResult>))).toEqual(['approval_denied', 'rejected']);
    expect(runs).toEqual([]);
    await session.close();
  });

  test('an unreadable answer is refused like an invalid one; the question stays open', async () => {
    const { session, ids } = await asked();
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(() => session.approvals.answer(ids[0] as string, proxy as never)).toThrow(
      expect.objectContaining({ name: 'MisuseError', code: 'invalid_option' }),
    );
    expect(await session.approvals.pending()).toHaveLength(2);
    await session.close();
  });

  test('the first answer wins, even against a host that answers a moment later', async () => {
    const { session, runs } = bench({ session: { approver: says('reject_once') } });
    let id = '';
    session.events.on('approval:required', ({ request }) => {
      id = request.id;
    });
    const called = session.call('pay', { amount: 5 });
    expect(id).not.toBe('');
    // The approver has answered; the call has not gone on yet.
    await Promise.resolve();
    await Promise.resolve();
    const late = session.approvals.answer(id, 'allow_once');
    expect([late, (await called).success, runs.length]).toEqual([false, false, 0]);
  });
});

describe('an edit', () => {
  const edited = (input: unknown, limits: object = {}, decision = 'allow_once'): Bench =>
    bench({ session: { limits, approver: says({ decision, by: 'ann', input }) } });

  test.each<[what: string, input: unknown, limits?: object]>([
    ['that no JSON can hold', { amount: 1, to: () => 'mallory' }],
    ['that is written as a text', new Date(0)],
    ['over 1 048 576 characters', { amount: 1, to: 'x'.repeat(1_048_576) }],
    ['over `maxInputBytes`', { amount: 1, to: 'x'.repeat(100) }, { maxInputBytes: 100 }],
  ])('%s is no answer, and nothing runs', async (_, input, limits) => {
    for (const decision of ['allow_once', 'reject_once']) {
      const { session, runs, events } = edited(input, limits, decision);
      expect(why(await session.call('pay', { amount: 5 }))).toEqual([
        'approval_denied',
        'invalid_answer',
      ]);
      expect(runs).toEqual([]);
      expect(said(events, 'approval:denied')).toMatchObject({
        reason: 'invalid_answer',
        by: 'ann',
      });
    }
  });

  test('may be as large as `maxInputBytes` allows', async () => {
    const { session, runs } = edited(
      { amount: 1, to: 'x'.repeat(2_000_000) },
      { maxInputBytes: 3_000_000 },
    );
    expect(await session.call('pay', { amount: 5 })).toMatchObject({ success: true });
    expect(runs).toHaveLength(1);
  });
});

describe('of calls that are suspended at the same moment', () => {
  interface Listing {
    readonly bed: Bench;
    /**
     * The listings that calls have asked for, in their order; each is answered when the test says
     * so.
     */
    readonly lists: { answer(): void; fail(): void }[];
  }
  /** Two calls may wait. */
  function listing(tool: Record<string, unknown> = {}): Listing {
    const lists: Listing['lists'] = [];
    const memory = memoryApprovalPort({ now: () => 0 });
    const held = (rows: () => unknown): Promise<readonly JsonObject[]> => {
      const { promise, resolve, reject } = deferred<readonly JsonObject[]>();
      lists.push({
        answer: () => resolve(rows() as readonly JsonObject[]),
        fail: () => reject(new Error('no')),
      });
      return promise;
    };
    const heads: ApprovalPort['heads'] = (query) => held(() => memory.heads(query));
    return {
      bed: suspending({
        store: { ...memory, heads },
        tool,
        session: { limits: { maxPendingApprovals: 2 } },
      }),
      lists,
    };
  }

  test('those beyond the limit are refused, and ask the store nothing', async () => {
    const { bed, lists } = listing();
    const [first, second, third] = [1, 2, 3].map((amount) => bed.session.call('pay', { amount }));
    expect(why((await third) as ToolResult)).toEqual(['rate_limited', 'too_many_approvals']);
    await vi.waitFor(() => expect(lists).toHaveLength(2));
    for (const { answer } of lists) answer();
    for (const call of [first, second])
      expect(why((await call) as ToolResult)?.[0]).toBe('approval_pending');
    expect(lists).toHaveLength(2);
  });

  test('a pending one keeps its place, even if the store answers later', async () => {
    const { bed, lists } = listing();
    const before = bed.session.call('pay', { amount: 1 });
    await vi.waitFor(() => expect(lists).toHaveLength(1));
    lists[0]?.answer();
    expect(why(await before)?.[0]).toBe('approval_pending');
    const first = bed.session.call('pay', { amount: 2 });
    const second = bed.session.call('pay', { amount: 3 });
    await vi.waitFor(() => expect(lists).toHaveLength(3));
    lists[2]?.answer();
    expect(why(await second)?.[0]).toBe('rate_limited');
    lists[1]?.answer();
    expect(why(await first)?.[0]).toBe('approval_pending');
  });

  const parameters = {
    type: 'object',
    properties: { to: { type: 'string' }, pin: { type: 'string', 'x-secret': true } },
  };
  const requiresApproval = ({ to }: { to: string }): object => ({ title: `Pay ${to}?` });
  test.each<[what: string, input: JsonObject, answer: 'answer' | 'fail', reason: string]>([
    [
      'for a secret in its question',
      { to: 'hunter2', pin: 'hunter2' },
      'answer',
      'secret_in_prompt',
    ],
    ['for a store that failed', { to: 'ann' }, 'fail', 'store_unavailable'],
  ])('one that was refused %s takes nobody’s place', async (_, input, answer, reason) => {
    const { bed, lists } = listing({ parameters, requiresApproval });
    const before = bed.session.call('pay', { to: 'eve' });
    await vi.waitFor(() => expect(lists).toHaveLength(1));
    lists[0]?.answer();
    expect(why(await before)?.[0]).toBe('approval_pending');
    const refused = bed.session.call('pay', input);
    const after = bed.session.call('pay', { to: 'bob' });
    await vi.waitFor(() => expect(lists).toHaveLength(3));
    lists[1]?.[answer]();
    expect(why(await refused)?.[1]).toBe(reason);
    lists[2]?.answer();
    expect(why(await after)?.[0]).toBe('approval_pending');
  });
});

test.each<[what: string, answer: unknown]>([
  ['a yes', 'allow_once'],
  ['a no', 'reject_once'],
  ['no answer', undefined],
])('an event that nobody listens for takes no number: %s', async (_, answer) => {
  vi.useFakeTimers();
  const { session } = bench({
    session: { approver: answer === undefined ? () => new Promise<never>(() => {}) : says(answer) },
    silent: true,
  });
  const numbers: number[] = [];
  for (const type of ['tool:pre', 'tool:post', 'tool:error'] as const)
    session.events.on(type, ({ seq }) => void numbers.push(seq));
  const called = session.call('pay', { amount: 5 });
  await vi.advanceTimersByTimeAsync(300_000);
  await called;
  expect(numbers).toEqual([1, 2]);
});

test('what was suspended is frozen, as the host gets it', async () => {
  const result = await suspending().session.call('pay', { amount: 5 });
  expect(result.success ? undefined : result.approval).toSatisfy(Object.isFrozen);
});
