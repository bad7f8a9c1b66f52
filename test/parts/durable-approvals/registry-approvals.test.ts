/** The inbox over all sessions of a registry: what waits, who may answer, and what came of it. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/extend.ts';
import type { ApprovalAnswer, HostToolRegistry } from '../../../src/index.ts';
import { memoryStore } from '../../../src/index.ts';
import { bench, deferred, key, suspending, suspendOne, why } from '../../core/approval/kit.ts';

const yes = { decision: 'allow_once', by: 'user:bob' } as const;
const reopening = (store: Store, more: object = {}) => {
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
  test('is given in another process, which restores the session', async () => {
    const store = memoryStore({ now: () => 0 });
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
    const store = memoryStore({ now: () => 0 });
    const { id } = await suspendOne(suspending({ store }));
    const processes = [reopening(store), reopening(store), reopening(store)];
    const results = await Promise.all(
      processes.map(({ registry }) => registry.approvals.answer(id, yes)),
    );
    expect(results.filter(({ success }) => success)).toHaveLength(1);
    expect(processes.flatMap(({ runs }) => runs)).toHaveLength(1);
  });

  test('is refused if the session cannot be restored; the record stays', async () => {
    const store = memoryStore({ now: () => 0 });
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

  test('does not wait for a session that never comes', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const store = memoryStore({ now: () => 0 });
    const { id } = await suspendOne(suspending({ store }));
    const other = reopening(store, { session: () => new Promise<never>(() => {}) });
    const answering = other.registry.approvals.answer(id, yes);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(why(await answering)).toEqual(['approval_denied', 'session_unavailable']);
    expect(await other.registry.approvals.pending()).toHaveLength(1);
  });

  test('needs the id before the answer', async () => {
    const { registry } = bench();
    await expect(
      registry.approvals.answer({ id: 'x', ...yes } as never, undefined as never),
    ).rejects.toThrow('approvals.answer: expected `id` to be');
  });

  test('needs a name', async () => {
    const { registry } = bench();
    await expect(
      registry.approvals.answer('x', { decision: 'allow_once' } as never),
    ).rejects.toThrow('approvals.answer: expected `by` to name who answers.');
    await expect(
      registry.approvals.answer('x', { decision: 'allow_once', by: ' \u200b' }),
    ).rejects.toThrow('approvals.answer: expected `by` to name who answers.');
  });
});

test('an answer is what it was when it was given, also if its object is used again', async () => {
  const one = suspending();
  const [no, other] = [await suspendOne(one, { amount: 1 }), await suspendOne(one, { amount: 2 })];
  const answer: { decision: 'allow_once' | 'reject_once'; by: string; input?: object } = {
    decision: 'reject_once',
    by: 'user:bob',
  };
  const first = one.registry.approvals.answer(no.id, answer as typeof yes);
  answer.decision = 'allow_once';
  const second = one.registry.approvals.answer(other.id, answer as typeof yes);
  answer.by = 'user:eve';
  answer.input = { amount: 9 };
  expect(why(await first)).toEqual(['approval_denied', 'rejected']);
  expect((await second).success).toBe(true);
  expect(one.runs).toEqual([{ amount: 2 }]);
  expect(await one.session.approvals.outcome(other.id)).toMatchObject({ by: 'user:bob' });
});

describe('an answer with a larger input than the session takes leaves the question open', () => {
  const large = { ...yes, input: { amount: 1, to: 'x'.repeat(200) } };
  const limits = { maxInputBytes: 100 };

  test('of a suspended call', async () => {
    const one = suspending({ session: { limits } });
    const { id } = await suspendOne(one);
    await expect(one.registry.approvals.answer(id, large)).rejects.toThrow(
      'The question stays open',
    );
    expect((await one.registry.approvals.answer(id, yes)).success).toBe(true);
  });

  test('of a call that waits here', async () => {
    const { registry, session, runs } = bench({
      session: { approver: () => new Promise(() => {}), limits },
    });
    const call = session.call('pay', { amount: 1 });
    const [question] = await registry.approvals.pending();
    const id = question?.id ?? '';
    await expect(registry.approvals.answer(id, large)).rejects.toThrow('The question stays open');
    await registry.approvals.answer(id, yes);
    expect((await call).success).toBe(true);
    expect(runs).toEqual([{ amount: 1 }]);
  });
});

describe('an edit that the schema refuses leaves the question open', () => {
  const wrong = { ...yes, input: { amount: 'all' } };
  const right = { ...yes, input: { amount: 3 } };
  const refused = {
    success: false,
    error: {
      code: 'invalid_input',
      reason: 'invalid_edit',
      message: expect.stringMatching(
        /^Not answered: the changed input does not fit the tool\. Correct it and answer again\.\namount: /,
      ),
    },
  };

  test('of a suspended call', async () => {
    const one = suspending();
    const { id } = await suspendOne(one);
    expect(await one.registry.approvals.answer(id, wrong)).toMatchObject(refused);
    expect(await one.session.approvals.outcome(id)).toEqual({ status: 'pending' });
    expect((await one.registry.approvals.answer(id, right)).success).toBe(true);
    expect(one.runs).toEqual([{ amount: 3 }]);
  });

  test('of a call that waits here', async () => {
    const { registry, session, runs } = bench({
      session: { approver: () => new Promise(() => {}) },
    });
    const call = session.call('pay', { amount: 1 });
    const [question] = await registry.approvals.pending();
    const id = question?.id ?? '';
    expect(await registry.approvals.answer(id, wrong)).toMatchObject(refused);
    expect((await registry.approvals.answer(id, right)).success).toBe(true);
    expect((await call).success).toBe(true);
    expect(runs).toEqual([{ amount: 3 }]);
  });

  test('also where the schema takes its time; who answers meanwhile is first', async () => {
    const checked = deferred<void>();
    const parameters = z.object({ amount: z.number() }).refine(async ({ amount }) => {
      if (amount === 3) await checked.promise;
      return true;
    });
    const { registry, session, runs } = bench({
      tool: { parameters },
      session: { approver: () => new Promise(() => {}) },
    });
    const call = session.call('pay', { amount: 1 });
    await vi.waitFor(async () => expect(await registry.approvals.pending()).toHaveLength(1));
    const id = (await registry.approvals.pending())[0]?.id ?? '';
    const slow = registry.approvals.answer(id, right);
    expect((await registry.approvals.answer(id, yes)).success).toBe(true);
    checked.resolve();
    expect(why(await slow)).toEqual(['approval_denied', 'unknown_approval']);
    await call;
    expect(runs).toEqual([{ amount: 1 }]);
  });

  test('and what it says shows no secret of the edit', async () => {
    const pin = 'pin-987654';
    const parameters = z
      .object({ amount: z.number(), pin: z.string().meta({ secret: true }).optional() })
      .refine(({ amount }) => amount < 10, { error: ({ input }) => JSON.stringify(input) });
    const one = suspending({ tool: { parameters } });
    const { id } = await suspendOne(one);
    const result = await one.registry.approvals.answer(id, {
      ...yes,
      input: { amount: 99, pin },
    });
    expect(why(result)).toEqual(['invalid_input', 'invalid_edit']);
    expect(JSON.stringify(result)).not.toContain(pin);
  });

  test('a rejection is not held up by an input that it brings', async () => {
    const one = suspending();
    const { id } = await suspendOne(one);
    const answer = { ...wrong, decision: 'reject_once' } as const;
    expect(why(await one.registry.approvals.answer(id, answer))).toEqual([
      'approval_denied',
      'rejected',
    ]);
  });
});

describe('an input that was copied from the question does not run with hidden values', () => {
  const tool = {
    parameters: {
      type: 'object',
      properties: { amount: { type: 'number' }, pin: { type: 'string', 'x-secret': true } },
    },
  };
  const given = { amount: 1, pin: 'secret-pin' };
  const edited = (input: object) => ({ ...yes, input: { ...input, amount: 2 } }) as typeof yes;
  const message =
    'approvals.answer: expected an `input` with values for the hidden fields /pin, got the text ' +
    '`[redacted]`. Give their values, or leave out `input` to run the input that was sent. The ' +
    'question stays open.';

  test('of a suspended call', async () => {
    const { registry, session, runs } = suspending({ tool });
    const { id, input } = await suspendOne({ session }, given);
    await expect(registry.approvals.answer(id, edited(input))).rejects.toThrow(message);
    expect((await registry.approvals.answer(id, edited(given))).success).toBe(true);
    expect(runs).toEqual([{ amount: 2, pin: 'secret-pin' }]);
  });

  test('of a call that waits here', async () => {
    const { registry, session, runs } = bench({
      tool,
      session: { approver: () => new Promise(() => {}) },
    });
    const call = session.call('pay', given);
    const [question] = await registry.approvals.pending();
    const { id = '', input = {} } = question ?? {};
    await expect(registry.approvals.answer(id, edited(input))).rejects.toThrow(message);
    await registry.approvals.answer(id, yes);
    await call;
    expect(runs).toEqual([given]);
  });
});

test('pages continue if a clock has fractions of milliseconds', async () => {
  const one = suspending({
    registry: { now: () => 1_700_000_000_000.5, approvals: { secret: key } },
  });
  for (let amount = 0; amount < 3; amount++) await suspendOne(one, { amount });
  const ids: string[] = [];
  for (let page = await one.registry.approvals.pending({ limit: 1 }); page.length > 0; ) {
    ids.push(...page.map(({ id }) => id));
    page = await one.registry.approvals.pending({ limit: 1, after: page[0] as never });
  }
  expect(new Set(ids).size).toBe(3);
  expect(ids).toHaveLength(3);
});

describe('a list continues behind the id of an approval', () => {
  test('of one that still waits, and of one that was answered', async () => {
    const one = suspending();
    for (let amount = 0; amount < 3; amount++) await suspendOne(one, { amount });
    const [first, ...others] = await one.registry.approvals.pending();
    const id = first?.id ?? '';
    expect(await one.registry.approvals.pending({ after: id })).toEqual(others);
    await one.registry.approvals.answer(id, yes);
    expect(await one.registry.approvals.pending({ after: id })).toEqual(others);
  });

  test('of a call that waits on an approver here', async () => {
    const { registry, session } = bench({ session: { approver: () => new Promise(() => {}) } });
    void session.call('pay', { amount: 1 });
    void session.call('pay', { amount: 2 });
    const [first, second] = await registry.approvals.pending();
    expect(await registry.approvals.pending({ after: first?.id ?? '' })).toEqual([second]);
  });

  test('but not after an unknown one', async () => {
    const { registry } = bench();
    await expect(registry.approvals.pending({ after: 'no such' })).rejects.toThrow(
      'approvals.pending: expected `after` to be an approval of the page before, or its id, got ' +
        '`no such`',
    );
    await expect(registry.approvals.list({ after: 'no such' })).rejects.toThrow(
      'approvals.list: expected `after` to be an approval of the page before',
    );
    await expect(registry.approvals.pending({ after: 5 as never })).rejects.toThrow(
      'expected `after` to be an approval of the page before, or its id, got `5` (number).',
    );
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
  const fourEyes = (store: Store) =>
    suspending({ registry: { approvals: { secret: key, store, fourEyes: true } } });

  test.each<ApprovalAnswer>([
    'allow_once',
    { decision: 'allow_once', by: 'user:ann' },
    { decision: 'reject_once', by: ' USER:Ann ' },
  ])('the principal cannot resume with %j; the record stays', async (answer) => {
    const one = fourEyes(memoryStore({ now: () => 0 }));
    const { id, token } = await suspendOne(one);
    const refused = ['approval_denied', 'four_eyes'];
    expect(why(await one.session.approvals.resume(token, answer))).toEqual(refused);
    if (typeof answer !== 'string')
      expect(why(await one.registry.approvals.answer(id, answer as typeof yes))).toEqual(refused);
    expect(one.runs).toEqual([]);
    expect((await one.registry.approvals.answer(id, yes)).success).toBe(true);
  });

  test.each([
    'user:ann\u200b',
    'us\u00ader:ann',
    '\u202euser:ann',
    'user:ann\u0000',
    'user: ann',
    'ｕser:ann',
    '\u200b',
  ])('%j is no one else', async (by) => {
    const one = fourEyes(memoryStore({ now: () => 0 }));
    const { token } = await suspendOne(one);
    const answer = { decision: 'allow_once', by } as const;
    expect(why(await one.session.approvals.resume(token, answer))).toEqual([
      'approval_denied',
      'four_eyes',
    ]);
  });

  test('an answer without a name counts as the principal’s own, in the inbox too', async () => {
    const one = fourEyes(memoryStore({ now: () => 0 }));
    const { id } = await suspendOne(one);
    const refused = ['approval_denied', 'four_eyes'];
    const nameless = { decision: 'allow_once' } as never;
    expect(why(await one.registry.approvals.answer(id, nameless))).toEqual(refused);
    const waiting = bench({
      registry: { approvals: { secret: key, fourEyes: true } },
      session: { approver: () => new Promise(() => {}) },
    });
    void waiting.session.call('pay', { amount: 1 });
    const [question] = await waiting.registry.approvals.pending();
    expect(why(await waiting.registry.approvals.answer(question?.id ?? '', nameless))).toEqual(
      refused,
    );
    expect(await waiting.registry.approvals.pending()).toHaveLength(1);
  });

  test('STRASSE is no one else than straße', async () => {
    const one = suspending({
      registry: { approvals: { secret: key, fourEyes: true } },
      session: { principal: 'straße' },
    });
    const { id } = await suspendOne(one);
    const answer = { decision: 'allow_once', by: 'STRASSE' } as const;
    expect(why(await one.registry.approvals.answer(id, answer))?.[1]).toBe('four_eyes');
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
