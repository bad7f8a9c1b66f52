/** Rule 7: approval is enforced in one place, and nowhere else. */

import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createDefinition } from '../../../src/core/tool/define-tool.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approver,
  defineTool,
  HostToolRegistry,
  isMisuseError,
  type JsonObject,
  serializeOutput,
  type ToolResult,
} from '../../../src/index.ts';
import { type SuspendedCall, sealRecord } from '../../../src/parts/durable-approvals/record.ts';
import { createTokenSigner } from '../../../src/parts/durable-approvals/token.ts';
import { fixedClock } from '../../../src/surfaces/testing/fixed-clock.ts';
import { type ApprovalPort, memoryApprovalPort } from '../../stores/shared/ports.ts';
import { bench, counted, deferred, key, suspending, suspendOne, why } from '../approval/kit.ts';

const says =
  (answer: unknown): Approver =>
  () =>
    answer as ApprovalAnswer;
const never = (): never => {
  throw new Error('no');
};
const types = (events: readonly { readonly type: string }[]): string[] =>
  events.map(({ type }) => type);

describe('ask: a person answers before the call runs', () => {
  test('the approver is awaited, and what it allows runs once', async () => {
    const answer = deferred<ApprovalAnswer>();
    const { session, runs } = bench({ session: { approver: () => answer.promise } });
    const called = session.call('pay', { amount: 5 });
    await Promise.resolve();
    expect(runs).toEqual([]);
    answer.resolve('allow_once');
    expect(await called).toMatchObject({ success: true, output: 'paid' });
    expect(runs).toEqual([{ amount: 5 }]);
  });

  test.each<[what: string, approver: Approver | undefined, reason: string]>([
    ['no approver', undefined, 'no_approver'],
    ['a no', says('reject_once'), 'rejected'],
    ['a no for always', says('reject_always'), 'rejected'],
    [
      'an approver that throws',
      () => {
        throw new Error('gone');
      },
      'approver_failed',
    ],
    [
      'one that throws nothing',
      () => {
        throw undefined;
      },
      'approver_failed',
    ],
    ['one that rejects', () => Promise.reject(new Error('gone')), 'approver_failed'],
    [
      'a thenable that throws',
      () =>
        ({
          // biome-ignore lint/suspicious/noThenProperty: a hostile thenable is what is tried
          then: () => {
            throw new Error('no');
          },
        }) as never,
      'approver_failed',
    ],
    ['yes', says('yes'), 'invalid_answer'],
    ['true', says(true), 'invalid_answer'],
    ['nothing', says(undefined), 'invalid_answer'],
    [
      'an answer that cannot be read',
      says(
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('no');
            },
          },
        ),
      ),
      'invalid_answer',
    ],
    [
      'an edit that is no JSON',
      says({ decision: 'allow_once', input: { amount: 5n } }),
      'invalid_answer',
    ],
    [
      'an edit that holds itself',
      () => {
        const input: Record<string, unknown> = {};
        input.input = input;
        return { decision: 'allow_once', input } as never;
      },
      'invalid_answer',
    ],
  ])('%s rejects', async (_, approver, reason) => {
    const { session, runs } = bench({ session: approver === undefined ? {} : { approver } });
    expect(why(await session.call('pay', { amount: 5 }))).toEqual(['approval_denied', reason]);
    expect(runs).toEqual([]);
  });

  test('members of a polluted Object.prototype answer nothing', async () => {
    const { session, runs } = bench({ session: { approver: says({}) } });
    Object.defineProperty(Object.prototype, 'decision', {
      value: 'allow_once',
      configurable: true,
      enumerable: false,
    });
    try {
      expect(why(await session.call('pay', { amount: 5 }))).toEqual([
        'approval_denied',
        'invalid_answer',
      ]);
    } finally {
      delete (Object.prototype as { decision?: unknown }).decision;
    }
    expect(runs).toEqual([]);
  });

  test(
    'an approver that never answers ends after 300 000 ms, is told so, and is not heard any ' +
      'more',
    async () => {
      vi.useFakeTimers();
      const answer = deferred<ApprovalAnswer>();
      let asked: AbortSignal | undefined;
      const { session, runs, events } = bench({
        session: {
          approver: (_request, { signal }) => {
            asked = signal;
            return answer.promise;
          },
        },
      });
      const called = session.call('pay', { amount: 5 });
      await vi.advanceTimersByTimeAsync(299_999);
      expect(asked?.aborted).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(why(await called)).toEqual(['approval_timeout', 'timeout']);
      expect(asked?.aborted).toBe(true);
      answer.resolve('allow_once');
      await vi.advanceTimersByTimeAsync(10);
      expect(runs).toEqual([]);
      expect(types(events)).toEqual([
        'tool:pre',
        'policy:check',
        'approval:required',
        'approval:denied',
        'approval:settled',
        'tool:error',
      ]);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test('`approvalTimeoutMs` says otherwise', async () => {
    vi.useFakeTimers();
    const { session } = bench({
      session: { approvalTimeoutMs: 50, approver: () => new Promise(() => {}) },
    });
    const called = session.call('pay', { amount: 5 });
    await vi.advanceTimersByTimeAsync(50);
    expect(why(await called)).toEqual(['approval_timeout', 'timeout']);
  });

  test('the first answer wins, from the approver or through `answer`', async () => {
    const answer = deferred<ApprovalAnswer>();
    let asked: AbortSignal | undefined;
    const { session, runs } = bench({
      session: {
        approver: (_request, { signal }) => {
          asked = signal;
          return answer.promise;
        },
      },
    });
    const called = session.call('pay', { amount: 5 });
    const [pending] = await session.approvals.pending();
    expect(session.approvals.answer(pending?.id as string, 'reject_once')).toBe(true);
    // Whoever else was asked learns that the question is closed.
    expect(asked?.aborted).toBe(true);
    expect(session.approvals.answer(pending?.id as string, 'allow_once')).toBe(false);
    answer.resolve('allow_once');
    expect(why(await called)).toEqual(['approval_denied', 'rejected']);
    expect(runs).toEqual([]);
    expect(await session.approvals.pending()).toEqual([]);
  });

  test.each<[what: string, answer: unknown, got: string]>([
    ['a text that is no choice', 'allow', 'got `allow` (string)'],
    ['nothing', undefined, 'got undefined'],
    ['yes', true, 'got `true` (boolean)'],
    ['a list', ['allow_once'], 'got an array of 1'],
    ['an object without a decision', { allowed: true }, 'got `decision`: undefined'],
    ['an unknown decision', { decision: 'allow' }, 'got `decision`: `allow` (string)'],
    [
      'an input that is no object',
      { decision: 'allow_once', input: '{}' },
      'got `input`: `{}` (string)',
    ],
    [
      'an input that is no JSON',
      { decision: 'allow_once', input: { amount: 5n } },
      'got an `input` that is not a JSON object within the limits of an input',
    ],
    [
      'a grant that is none',
      { decision: 'allow_always', grant: { uses: 0 } },
      'got `grant`: an object',
    ],
    [
      'what cannot be read',
      Object.defineProperty({}, 'decision', { enumerable: true, get: never }),
      'got an object that cannot be read',
    ],
  ])('`answer` refuses %s, and the question stays open', async (_, answer, got) => {
    const { session, runs } = bench({ session: { approver: () => new Promise(() => {}) } });
    const called = session.call('pay', { amount: 5 });
    const [pending] = await session.approvals.pending();
    const give = (given: unknown) =>
      session.approvals.answer(pending?.id as string, given as ApprovalAnswer);
    const expected =
      'expected "allow_once", "allow_always", "reject_once", "reject_always" or { decision, ' +
      'by?, roles?, message?, input?, grant?: { match?, uses?, expiresInMs? } }';
    expect(() => give(answer)).toThrow(
      expect.objectContaining({
        name: 'MisuseError',
        code: 'invalid_option',
        message: `approvals.answer: ${expected}, ${got}. The question stays open: answer it again.`,
      }),
    );
    expect(runs).toEqual([]);
    expect((await session.approvals.pending()).map(({ id }) => id)).toEqual([pending?.id]);
    expect(give('allow_once')).toBe(true);
    expect(await called).toMatchObject({ success: true });
  });

  test('a person’s answer holds whatever else it has', async () => {
    const { session } = bench({ session: { approver: () => new Promise(() => {}) } });
    const called = session.call('pay', { amount: 5 });
    const [pending] = await session.approvals.pending();
    expect(
      session.approvals.answer(
        pending?.id as string,
        { decision: 'allow_once', ticket: 7 } as never,
      ),
    ).toBe(true);
    expect(await called).toMatchObject({ success: true });
  });

  test.each<[what: string, answer: unknown]>([
    ['a text that is no choice', 'allow'],
    ['an input that is no JSON', { decision: 'allow_once', input: { amount: 5n } }],
  ])(
    'an approver that answers %s is told of by its mistake: the model does not read that a ' +
      'person refused',
    async (_, answer) => {
      const logged: { readonly err: Error; readonly source: string }[] = [];
      const { session } = bench({
        session: { approver: says(answer) },
        registry: { logger: { warn: () => {}, error: (data) => void logged.push(data as never) } },
      });
      const { error } = await session.call('pay', { amount: 5 });
      expect(error).toMatchObject({
        code: 'approval_denied',
        reason: 'invalid_answer',
        message:
          "The call to `pay` was not approved: the host's approver answered in a wrong form. " +
          'No person refused the call. Do not retry it; say what happened.',
      });
      expect(error?.cause).toMatchObject({
        name: 'MisuseError',
        message: expect.stringMatching(/^Expected the approver to return "allow_once", .*, got /),
      });
      expect(logged).toEqual([expect.objectContaining({ err: error?.cause, source: 'approver' })]);
    },
  );

  test('a listener of `approval:required` may answer at once', async () => {
    const { session, runs } = bench({ session: { approver: () => new Promise(() => {}) } });
    session.events.on(
      'approval:required',
      ({ request }) => void session.approvals.answer(request.id, 'allow_once'),
    );
    expect(await session.call('pay', { amount: 5 })).toMatchObject({ success: true });
    expect(runs).toHaveLength(1);
  });

  test('`answer` knows calls that wait in this session alone', async () => {
    const { registry, session } = bench({ session: { approver: () => new Promise(() => {}) } });
    const twin = registry.createSession({
      sessionId: 'conversation',
      principal: 'user:ann',
      approver: () => new Promise(() => {}),
    });
    const called = session.call('pay', { amount: 5 });
    const [pending] = await session.approvals.pending();
    expect(twin.approvals.answer(pending?.id as string, 'allow_once')).toBe(false);
    expect(await twin.approvals.pending()).toEqual([]);
    await registry.close();
    expect(why(await called)?.[0]).toBe('session_closed');
  });

  test.each<
    [
      what: string,
      end: (session: ReturnType<typeof bench>['session'], controller: AbortController) => void,
      code: string,
    ]
  >([
    ['an abort', (_session, controller) => controller.abort(), 'cancelled'],
    ['closing the session', (session) => void session.close(), 'session_closed'],
  ])(
    '%s while a person thinks ends the call, withdraws the question and leaves no timer',
    async (_, end, code) => {
      vi.useFakeTimers();
      const answer = deferred<ApprovalAnswer>();
      let asked: AbortSignal | undefined;
      const { session, runs } = bench({
        session: {
          approver: (_request, { signal }) => {
            asked = signal;
            return answer.promise;
          },
        },
      });
      const controller = new AbortController();
      const called = session.call('pay', { amount: 5 }, { signal: controller.signal });
      const [pending] = await session.approvals.pending();
      end(session, controller);
      expect(why(await called)?.[0]).toBe(code);
      expect(asked?.aborted).toBe(true);
      expect(session.approvals.answer(pending?.id as string, 'allow_once')).toBe(false);
      answer.resolve('allow_once');
      await vi.advanceTimersByTimeAsync(0);
      expect(runs).toEqual([]);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test('an approver that closes the session, and then allows, allows nothing', async () => {
    vi.useFakeTimers();
    const { session, runs } = bench({
      session: {
        approver: () => {
          void session.close();
          return 'allow_once';
        },
      },
    });
    expect(why(await session.call('pay', { amount: 5 }))?.[0]).toBe('session_closed');
    await vi.advanceTimersByTimeAsync(0);
    expect(runs).toEqual([]);
    expect(await session.approvals.pending()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test(
    "a call that may be approved by nobody but a surface is approved by that; the session's own " +
      'approver stands before it',
    async () => {
      const surface = { name: 'test', approver: says('allow_once') };
      const open = bench();
      expect(await open.session.call('pay', { amount: 5 }, { surface })).toMatchObject({
        success: true,
      });
      const strict = bench({ session: { approver: says('reject_once') } });
      expect(why(await strict.session.call('pay', { amount: 5 }, { surface }))).toEqual([
        'approval_denied',
        'rejected',
      ]);
    },
  );

  test('at most `maxPendingApprovals` (20) wait; the rest is `rate_limited`', async () => {
    const { session, registry } = bench({ session: { approver: () => new Promise(() => {}) } });
    const calls = Array.from({ length: 21 }, () => session.call('pay', { amount: 5 }));
    expect(why(await (calls[20] as Promise<ToolResult>))).toEqual([
      'rate_limited',
      'too_many_approvals',
    ]);
    expect(await session.approvals.pending()).toHaveLength(20);
    await registry.close();
    await Promise.all(calls);
  });

  test('the time a person takes never counts in a timeout', async () => {
    vi.useFakeTimers();
    const answer = deferred<ApprovalAnswer>();
    const { session } = bench({
      session: { approver: () => answer.promise },
      tool: {
        timeoutMs: 100,
        handler: () => new Promise((resolve) => setTimeout(resolve, 80, 'paid')),
      },
    });
    const called = session.call('pay', { amount: 5 });
    await vi.advanceTimersByTimeAsync(200_000);
    answer.resolve('allow_once');
    await vi.advanceTimersByTimeAsync(80);
    expect(await called).toMatchObject({ success: true, output: 'paid' });
  });
});

describe('what is shown is what runs', () => {
  test('the request has the canonical input, after hooks and defaults, frozen', async () => {
    let seen: ApprovalRequest | undefined;
    const { session, runs } = bench({
      tool: {
        parameters: {
          type: 'object',
          properties: { amount: { type: 'number' }, to: { type: 'string', default: 'till' } },
        },
      },
      session: {
        hooks: [{ before: ({ input }) => ({ action: 'modify', input: { ...input, amount: 7 } }) }],
        approver: (request) => {
          seen = request;
          return 'allow_once';
        },
      },
    });
    await session.call('pay', { amount: 5 });
    expect(seen).toMatchObject({
      sessionId: 'conversation',
      principal: 'user:ann',
      tool: { name: 'pay', source: 'host' },
      input: { amount: 7, to: 'till' },
      source: 'tool',
      hiddenFields: [],
    });
    expect(Object.isFrozen(seen)).toBe(true);
    expect(Object.isFrozen(seen?.input)).toBe(true);
    expect(runs).toEqual([{ amount: 7, to: 'till' }]);
  });

  test('the caller that changes its arguments while a person thinks changes nothing', async () => {
    const answer = deferred<ApprovalAnswer>();
    const { session, runs } = bench({ session: { approver: () => answer.promise } });
    const input = { amount: 5 };
    const called = session.call('pay', input);
    input.amount = 500;
    answer.resolve('allow_once');
    await called;
    expect(runs).toEqual([{ amount: 5 }]);
  });

  test('a policy, a check and a prompt cannot change what they are given', async () => {
    const spoil = ({ input }: { input: unknown }): undefined => {
      (input as { amount: number }).amount = 500;
      return undefined;
    };
    let shown: unknown;
    const { session, runs } = bench({
      registry: { policies: [{ id: 'spoiler', check: spoil }] },
      tool: {
        policy: {
          check: (call: { input: unknown; allow(): unknown }) => {
            spoil(call);
            return call.allow();
          },
        },
        requiresApproval: (input: unknown) => {
          spoil({ input });
          return true;
        },
      },
      session: {
        approver: (request) => {
          shown = request.input;
          return 'allow_once';
        },
      },
    });
    await session.call('pay', { amount: 5 });
    expect(shown).toEqual({ amount: 5 });
    expect(runs).toEqual([{ amount: 5 }]);
  });

  test(
    'a field that the tool marks secret is hidden and named; the marks of a tool from outside ' +
      'hide nothing from the approver, but in events',
    async () => {
      const parameters = {
        type: 'object',
        properties: { amount: { type: 'number' }, pin: { type: 'string', 'x-secret': true } },
      };
      const seen: ApprovalRequest[] = [];
      const approver: Approver = (request) => {
        seen.push(request);
        return 'allow_once';
      };
      const own = bench({ tool: { parameters }, session: { approver } });
      await own.session.call('pay', { amount: 5, pin: 'canary-1' });
      expect(seen[0]).toMatchObject({
        input: { amount: 5, pin: '[redacted]' },
        hiddenFields: ['/pin'],
      });

      const outside = bench({ session: { approver } });
      outside.registry.register(
        createDefinition(
          {
            name: 'theirs',
            description: 'From outside.',
            parameters,
            requiresApproval: true,
            handler: () => 1,
          },
          undefined,
          false,
        ) as never,
      );
      await outside.session.call('theirs', { amount: 5, pin: 'canary-1' });
      expect(seen[1]).toMatchObject({ input: { amount: 5, pin: 'canary-1' }, hiddenFields: [] });
      expect(JSON.stringify(outside.events)).not.toContain('canary-1');
    },
  );

  test(
    'a secret that a model chose to match another field hides nothing of that field from the ' +
      'approver',
    async () => {
      let seen: ApprovalRequest | undefined;
      const { session, events } = bench({
        tool: {
          parameters: {
            type: 'object',
            properties: { pin: { type: 'string', 'x-secret': true }, command: { type: 'string' } },
          },
        },
        session: {
          approver: (request) => {
            seen = request;
            return 'reject_once';
          },
        },
      });
      await session.call('pay', { pin: 'rm -rf /', command: 'rm -rf /' });
      expect(seen?.input).toEqual({ pin: '[redacted]', command: 'rm -rf /' });
      expect(JSON.stringify(events)).not.toContain('rm -rf');
    },
  );
});

describe('answers', () => {
  test('a plain `allow_always` grants this definition, input and session object', async () => {
    const approver = vi.fn<Approver>(says('allow_always'));
    const { registry, session } = bench({ session: { approver } });
    await session.call('pay', { amount: 5, to: 'x' });
    await session.call('pay', { to: 'x', amount: 5.0 });
    expect(approver).toHaveBeenCalledTimes(1);
    await session.call('pay', { amount: 6, to: 'x' });
    expect(approver).toHaveBeenCalledTimes(2);
    const twin = registry.createSession({
      sessionId: 'conversation',
      principal: 'user:ann',
      approver,
    });
    await twin.call('pay', { amount: 5, to: 'x' });
    expect(approver).toHaveBeenCalledTimes(3);
    registry.registerOrReplace(counted({ description: 'Pays twice.' }).definition);
    await session.call('pay', { amount: 5, to: 'x' });
    expect(approver).toHaveBeenCalledTimes(4);
  });

  test(
    '`grant` widens it to the tool, for so many uses and so long; the answered call is none of ' +
      'them',
    async () => {
      const answers: ApprovalAnswer[] = [
        {
          decision: 'allow_always',
          by: 'ann',
          grant: { match: 'tool', uses: 2, expiresInMs: 1_000 },
        },
      ];
      const approver = vi.fn<Approver>(() => answers.shift() ?? 'reject_once');
      const { session, clock } = bench({ session: { approver } });
      await session.call('pay', { amount: 1 });
      expect(session.approvals.grants()).toMatchObject([
        { tool: 'pay', effect: 'allow', by: 'ann', usesLeft: 2, expiresAt: clock.now() + 1_000 },
      ]);
      expect(await session.call('pay', { amount: 2 })).toMatchObject({ success: true });
      clock.advance(999);
      expect(await session.call('pay', { amount: 3 })).toMatchObject({ success: true });
      expect(why(await session.call('pay', { amount: 4 }))).toEqual([
        'approval_denied',
        'rejected',
      ]);
      answers.push({ decision: 'allow_always', grant: { match: 'tool', expiresInMs: 1_000 } });
      await session.call('pay', { amount: 5 });
      clock.advance(1_000);
      expect(why(await session.call('pay', { amount: 5 }))).toEqual([
        'approval_denied',
        'rejected',
      ]);
    },
  );

  test('a grant answers an ask and never beats a deny', async () => {
    const { registry, session, runs } = bench({
      session: { approver: says({ decision: 'allow_always', grant: { match: 'tool' } }) },
    });
    await session.call('pay', { amount: 5 });
    registry.addRules([{ effect: 'deny', tools: 'pay', when: { amount: 5 }, reason: 'too_much' }]);
    expect(why(await session.call('pay', { amount: 5 }))).toEqual(['policy_denied', 'too_much']);
    expect(runs).toHaveLength(1);
  });

  test('grants are listed and can be revoked', async () => {
    const approver = vi.fn<Approver>(says('allow_always'));
    const { session } = bench({ session: { approver } });
    await session.call('pay', { amount: 5 });
    const [grant] = session.approvals.grants();
    expect(session.approvals.revoke(grant?.id as string)).toBe(true);
    expect(session.approvals.revoke(grant?.id as string)).toBe(false);
    expect(session.approvals.grants()).toEqual([]);
    await session.call('pay', { amount: 5 });
    expect(approver).toHaveBeenCalledTimes(2);
  });

  test('`reject_always` answers the same question without asking again', async () => {
    const approver = vi.fn<Approver>(says({ decision: 'reject_always', message: 'Never.' }));
    const { session, runs } = bench({ session: { approver } });
    await session.call('pay', { amount: 5 });
    expect(why(await session.call('pay', { amount: 5 }))).toEqual([
      'approval_denied',
      'rejected_always',
    ]);
    expect(approver).toHaveBeenCalledTimes(1);
    expect(runs).toEqual([]);
  });

  test('the message of a rejection reaches the model; the name reaches events', async () => {
    const { session, events } = bench({
      session: {
        approver: says({ decision: 'reject_once', by: 'ann', message: 'Ask again on Monday.' }),
      },
    });
    const result = await session.call('pay', { amount: 5 });
    expect(serializeOutput(result)).toContain('Ask again on Monday.');
    expect(serializeOutput(result)).not.toContain('ann');
    expect(events.find(({ type }) => type === 'approval:denied')).toMatchObject({
      by: 'ann',
      reason: 'rejected',
      message: 'Ask again on Monday.',
    });
  });
});

describe('an edit at approval is validated and judged again', () => {
  const editing = (input: unknown, more: object = {}): Approver =>
    says({ decision: 'allow_once', input, ...more });

  test(
    'and runs when it passes; the ask is met by the same answer, and before hooks do not run ' +
      'twice',
    async () => {
      const approver = vi.fn<Approver>(editing({ amount: 1 }));
      const before = vi.fn();
      const { session, runs } = bench({ session: { approver, hooks: [{ before }] } });
      expect(await session.call('pay', { amount: 5 })).toMatchObject({ success: true });
      expect(runs).toEqual([{ amount: 1 }]);
      expect(approver).toHaveBeenCalledTimes(1);
      expect(before).toHaveBeenCalledTimes(1);
    },
  );

  test('what the schema refuses is invalid_input', async () => {
    const { session, runs } = bench({ session: { approver: editing({ amount: 'all' }) } });
    expect(why(await session.call('pay', { amount: 5 }))?.[0]).toBe('invalid_input');
    expect(runs).toEqual([]);
  });

  test('what a rule denies is policy_denied', async () => {
    const { session, runs } = bench({
      registry: {
        rules: [{ effect: 'deny', tools: 'pay', when: { amount: 50 }, reason: 'too_much' }],
      },
      session: { approver: editing({ amount: 50 }) },
    });
    expect(why(await session.call('pay', { amount: 5 }))).toEqual(['policy_denied', 'too_much']);
    expect(runs).toEqual([]);
  });

  test("a tool's own check sees the edited input", async () => {
    const check = ({
      input,
      allow,
      deny,
    }: {
      input: { amount: number };
      allow(): unknown;
      deny(reason: string): unknown;
    }): unknown => (input.amount > 10 ? deny('too_much') : allow());
    const { session, runs } = bench({
      tool: { policy: { check } },
      session: { approver: editing({ amount: 11 }) },
    });
    expect(why(await session.call('pay', { amount: 5 }))).toEqual(['policy_denied', 'too_much']);
    expect(runs).toEqual([]);
  });

  test('what the person left out is filled in', async () => {
    const { session, runs } = bench({
      tool: {
        parameters: {
          type: 'object',
          properties: { amount: { type: 'number' }, to: { type: 'string', default: 'till' } },
        },
      },
      session: { approver: editing({ amount: 1 }) },
    });
    await session.call('pay', { amount: 5 });
    expect(runs).toEqual([{ amount: 1, to: 'till' }]);
  });

  test(
    'what was filled in before the person saw it may stay, though a default need not match its ' +
      'own schema',
    async () => {
      const tool = {
        parameters: {
          type: 'object',
          properties: { amount: { type: 'number' }, to: { type: 'string', default: 5 } },
        },
      };
      const { session, runs } = bench({
        tool,
        session: { approver: editing({ amount: 1, to: 5 }) },
      });
      await session.call('pay', { amount: 5 });
      expect(runs).toEqual([{ amount: 1, to: 5 }]);
      const other = bench({ tool, session: { approver: editing({ amount: 1, to: 6 }) } });
      expect(why(await other.session.call('pay', { amount: 5 }))?.[0]).toBe('invalid_input');
      expect(other.runs).toEqual([]);
    },
  );

  test('an own __proto__ in it pollutes nothing and is refused', async () => {
    const { session, runs } = bench({
      tool: { parameters: z.object({ amount: z.number() }) },
      session: { approver: editing(JSON.parse('{"amount":1,"__proto__":{"polluted":true}}')) },
    });
    expect(why(await session.call('pay', { amount: 5 }))).toEqual(['invalid_input', 'unsafe_key']);
    expect(runs).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('edits the arguments and never the tool', async () => {
    const { registry, session, runs } = bench({
      session: {
        approver: editing({ amount: 1 }, { tool: 'other', name: 'other', toolName: 'other' }),
      },
    });
    const ran = vi.fn();
    registry.register(
      defineTool({
        name: 'other',
        description: 'Another.',
        parameters: { type: 'object' },
        handler: ran,
      }),
    );
    await session.call('pay', { amount: 5 });
    expect(runs).toHaveLength(1);
    expect(ran).not.toHaveBeenCalled();
  });

  test(
    'an answer whose arguments are misspelt runs nothing: what was shown first is not what the ' +
      'person wanted',
    async () => {
      const { session, runs } = bench({
        session: { approver: () => ({ decision: 'allow_once', inputs: { amount: 1 } }) as never },
      });
      expect(why(await session.call('pay', { amount: 5 }))).toEqual([
        'approval_denied',
        'invalid_answer',
      ]);
      expect(runs).toEqual([]);
    },
  );

  test('a grant given with it is for the edited input, as it was filled in', async () => {
    const answers: ApprovalAnswer[] = [{ decision: 'allow_always', input: { amount: 1 } }];
    const approver = vi.fn<Approver>(() => answers.shift() ?? 'reject_once');
    const { session } = bench({
      tool: {
        parameters: {
          type: 'object',
          properties: { amount: { type: 'number' }, to: { type: 'string', default: 'till' } },
        },
      },
      session: { approver },
    });
    await session.call('pay', { amount: 5 });
    expect(await session.call('pay', { amount: 1 })).toMatchObject({ success: true });
    expect(why(await session.call('pay', { amount: 5 }))).toEqual(['approval_denied', 'rejected']);
  });

  test('a rejection edits and runs nothing', async () => {
    const { session, runs } = bench({
      session: { approver: says({ decision: 'reject_once', input: { amount: 1 } }) },
    });
    expect(why(await session.call('pay', { amount: 5 }))).toEqual(['approval_denied', 'rejected']);
    expect(runs).toEqual([]);
  });
});

describe('suspend: the call ends at once and is resumed later', () => {
  test.each<[what: string, registry: object, session: object]>([
    ['a key', {}, { principal: 'user:ann' }],
    ['a principal', { approvals: { secret: key } }, {}],
  ])('needs %s, else createSession throws', (_, registryOptions, sessionOptions) => {
    const registry = new HostToolRegistry(registryOptions);
    expect(() =>
      registry.createSession({ sessionId: 's', approvalMode: 'suspend', ...sessionOptions }),
    ).toThrow(expect.toSatisfy(isMisuseError));
  });

  test.each<[what: string, approvals: unknown]>([
    ['null', null],
    ['no store', { secret: key, store: { put() {}, take() {} } }],
    ['no key', {}],
    ['a lifetime of nothing', { secret: key, ttlMs: 0 }],
  ])('approvals with %s are refused by the registry', (_, approvals) => {
    expect(() => new HostToolRegistry({ approvals } as never)).toThrow(
      expect.toSatisfy(isMisuseError),
    );
  });

  test('ends as approval_pending; the token reaches the host alone', async () => {
    const { session, events, warnings } = suspending();
    const result = await session.call('pay', { amount: 5 });
    expect(result).toMatchObject({
      success: false,
      error: { code: 'approval_pending' },
      metadata: { status: 'pending', attempt: 1 },
    });
    const { token } = (result.success ? undefined : result.approval) as { token: string };
    expect(Object.keys(result)).not.toContain('approval');
    for (const told of [
      JSON.stringify(result),
      JSON.stringify({ ...result }),
      JSON.stringify(structuredClone(result)),
      serializeOutput(result),
      JSON.stringify(events),
      JSON.stringify(warnings),
      JSON.stringify(session.metrics()),
    ]) {
      expect(told).not.toContain(token.split('.')[1]);
    }
    expect(await session.approvals.pending()).toMatchObject([{ token, input: { amount: 5 } }]);
    expect(types(events)).toEqual(['tool:pre', 'policy:check', 'approval:required', 'tool:error']);
  });

  test(
    'what was filled in before it was suspended is taken again, though a default need not match ' +
      'its own schema',
    async () => {
      const { session, runs } = suspending({
        tool: {
          parameters: {
            type: 'object',
            properties: { amount: { type: 'number' }, to: { type: 'string', default: 5 } },
          },
        },
      });
      const { token } = await suspendOne({ session });
      expect(await session.approvals.resume(token, 'allow_once')).toMatchObject({ success: true });
      expect(runs).toEqual([expect.objectContaining({ to: 5 })]);
    },
  );

  test(
    'resumes under the same call id as a second attempt with its own tool:pre, and keeps the ' +
      'idempotency key',
    async () => {
      const keys: string[] = [];
      const { session, events } = suspending({
        tool: {
          handler: (_input: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
            keys.push(idempotencyKey);
            return 'paid';
          },
        },
      });
      const first = await session.call(
        'pay',
        { amount: 5 },
        { callId: 'call-1', idempotencyKey: 'mine' },
      );
      const { token } = (first.success ? undefined : first.approval) as { token: string };
      expect(await session.approvals.resume(token, 'allow_once')).toMatchObject({
        success: true,
        output: 'paid',
        metadata: { callId: 'call-1', attempt: 2, status: 'succeeded' },
      });
      expect(keys).toEqual(['mine']);
      const later = events.slice(4);
      expect(types(later)).toEqual([
        'tool:pre',
        'policy:check',
        'approval:granted',
        'approval:settled',
        'tool:post',
      ]);
      expect(later[0]).toMatchObject({ callId: 'call-1', attempt: 2 });
    },
  );

  test('a token is answered once, also with a no', async () => {
    const bed = suspending();
    const yes = await suspendOne(bed);
    expect(await bed.session.approvals.resume(yes.token, 'allow_once')).toMatchObject({
      success: true,
    });
    expect(why(await bed.session.approvals.resume(yes.token, 'allow_once'))).toEqual([
      'approval_denied',
      'token_used',
    ]);
    const no = await suspendOne(bed);
    expect(why(await bed.session.approvals.resume(no.token, 'reject_once'))).toEqual([
      'approval_denied',
      'rejected',
    ]);
    expect(why(await bed.session.approvals.resume(no.token, 'allow_once'))).toEqual([
      'approval_denied',
      'token_used',
    ]);
    expect(bed.runs).toHaveLength(1);
  });

  test('a no stays a no when no rule asks any more', async () => {
    const { registry, session, runs } = suspending({ tool: { requiresApproval: false } });
    const remove = registry.addRules([{ effect: 'ask', tools: 'pay' }]);
    const { token } = await suspendOne({ session });
    remove();
    expect(why(await session.approvals.resume(token, 'reject_once'))).toEqual([
      'approval_denied',
      'rejected',
    ]);
    expect(why(await session.approvals.resume(token, 'allow_once'))).toEqual([
      'approval_denied',
      'token_used',
    ]);
    expect(runs).toEqual([]);
  });

  test('an edit counts, also when no rule asks any more', async () => {
    const { registry, session, runs } = suspending({ tool: { requiresApproval: false } });
    const remove = registry.addRules([{ effect: 'ask', tools: 'pay' }]);
    const { token } = await suspendOne({ session });
    remove();
    await session.approvals.resume(token, { decision: 'allow_once', input: { amount: 1 } });
    expect(runs).toEqual([{ amount: 1 }]);
  });

  test.each<[what: string, token: (genuine: string) => unknown]>([
    ['nothing', () => undefined],
    ['a text', () => 'x'],
    ['an object', (genuine) => ({ toString: () => genuine })],
    ['an unsigned body', (genuine) => genuine.split('.')[0]],
  ])('%s is no token: token_invalid', async (_, made) => {
    const bed = suspending();
    const { token } = await suspendOne(bed);
    expect(why(await bed.session.approvals.resume(made(token) as string, 'allow_once'))).toEqual([
      'approval_denied',
      'token_invalid',
    ]);
    expect(bed.runs).toEqual([]);
  });

  test.each<[what: string, options: object]>([
    ['another session', { sessionId: 'other', principal: 'user:ann' }],
    ['another principal', { sessionId: 'conversation', principal: 'user:bob' }],
    ['no principal', { sessionId: 'conversation' }],
  ])('%s finds a token foreign, learns nothing, and uses nothing up', async (_, options) => {
    const bed = suspending();
    const { token } = await suspendOne(bed);
    const other = bed.registry.createSession(options as never);
    const before = bed.events.length;
    expect(why(await other.approvals.resume(token, 'allow_once'))).toEqual([
      'approval_denied',
      'token_foreign',
    ]);
    expect(bed.events).toHaveLength(before);
    expect(await other.approvals.pending()).toEqual([]);
    expect(await bed.session.approvals.resume(token, 'allow_once')).toMatchObject({
      success: true,
    });
  });

  test('an expired token is approval_timeout, to the millisecond', async () => {
    const bed = suspending({ registry: { approvals: { secret: key, ttlMs: 1_000 } } });
    const early = await suspendOne(bed);
    const late = await suspendOne(bed);
    expect(early.expiresAt).toBe(bed.clock.now() + 1_000);
    bed.clock.advance(999);
    expect(await bed.session.approvals.resume(early.token, 'allow_once')).toMatchObject({
      success: true,
    });
    bed.clock.advance(1);
    expect(await bed.session.approvals.pending()).toEqual([]);
    expect(why(await bed.session.approvals.resume(late.token, 'allow_once'))).toEqual([
      'approval_timeout',
      'expired',
    ]);
  });

  test.each<
    [
      what: string,
      change: (bed: ReturnType<typeof suspending>) => void,
      outcome: readonly [string, string],
    ]
  >([
    [
      'a changed definition',
      ({ registry }) =>
        void registry.registerOrReplace(counted({ description: 'Pays twice.' }).definition),
      ['approval_denied', 'definition_changed'],
    ],
    [
      'a changed schema',
      ({ registry }) =>
        void registry.registerOrReplace(counted({ parameters: { type: 'object' } }).definition),
      ['approval_denied', 'definition_changed'],
    ],
    [
      'another source of the same definition',
      ({ registry }) => {
        const { definition } = counted();
        registry.unregister('pay');
        registry.scope('plugin').register(definition);
      },
      ['approval_denied', 'definition_changed'],
    ],
    [
      'a removed tool',
      ({ registry }) => void registry.unregister('pay'),
      ['approval_denied', 'definition_changed'],
    ],
    [
      'a disabled tool',
      ({ session }) => session.setOverrides({ disable: ['pay'] }),
      ['tool_not_available', 'disabled'],
    ],
    [
      'a fact that is gone',
      ({ session }) => session.setFacts({ till: null }),
      ['tool_not_available', 'fact_unmet'],
    ],
    [
      'a tightened rule',
      ({ registry }) =>
        void registry.addRules([{ effect: 'deny', tools: 'pay', reason: 'frozen' }]),
      ['policy_denied', 'frozen'],
    ],
    [
      'a tightened profile',
      ({ registry, session }) => {
        registry.defineProfile({ id: 'strict', tools: [] });
        session.setProfile('strict');
      },
      ['tool_not_available', 'not_in_profile'],
    ],
  ])('%s is found out on resume', async (_, change, outcome) => {
    const bed = suspending({
      tool: { requires: [{ fact: 'till', equals: 'open' }] },
      session: { facts: { till: 'open' } },
    });
    const { token } = await suspendOne(bed);
    change(bed);
    expect(why(await bed.session.approvals.resume(token, 'allow_once'))).toEqual(outcome);
    expect(bed.runs).toEqual([]);
  });

  test('a closed session resumes nothing and uses no token; a new one does', async () => {
    const bed = suspending();
    const { token } = await suspendOne(bed);
    await bed.session.close();
    expect(why(await bed.session.approvals.resume(token, 'allow_once'))?.[0]).toBe(
      'session_closed',
    );
    const again = bed.registry.createSession({
      sessionId: 'conversation',
      principal: 'user:ann',
      approvalMode: 'suspend',
    });
    expect(await again.approvals.pending()).toHaveLength(1);
    expect(await again.approvals.resume(token, 'allow_once')).toMatchObject({ success: true });
  });

  test('with its id in flight it is duplicate_call_id, and the token stays valid', async () => {
    const gate = deferred();
    const bed = suspending();
    bed.registry.register(
      defineTool({
        name: 'slow',
        description: 'Waits.',
        parameters: { type: 'object' },
        handler: () => gate.promise,
      }),
    );
    const { token } = await suspendOne(bed, { amount: 5 }, 'call-1');
    const running = bed.session.call('slow', {}, { callId: 'call-1' });
    expect(why(await bed.session.approvals.resume(token, 'allow_once'))?.[0]).toBe(
      'duplicate_call_id',
    );
    gate.resolve(1);
    await running;
    expect(await bed.session.approvals.resume(token, 'allow_once')).toMatchObject({
      success: true,
    });
  });

  test('a resume does not count as a call per minute; its first attempt did', async () => {
    const bed = suspending({ session: { limits: { callsPerMinute: 1 } } });
    const { token } = await suspendOne(bed);
    expect(await bed.session.approvals.resume(token, 'allow_once')).toMatchObject({
      success: true,
    });
  });

  test(
    'a refused resume is an attempt of its own in events and metrics: it begins, is denied, and ' +
      'ends',
    async () => {
      const bed = suspending();
      const { token } = await suspendOne(bed);
      await bed.session.approvals.resume(token, 'allow_once');
      const before = bed.events.length;
      await bed.session.approvals.resume(token, 'allow_once');
      expect(types(bed.events.slice(before))).toEqual([
        'tool:pre',
        'approval:denied',
        'tool:error',
      ]);
      expect(bed.events.slice(before)).toMatchObject([
        { attempt: 2 },
        { reason: 'token_used' },
        { error: { reason: 'token_used' }, status: 'rejected' },
      ]);
      expect(bed.session.metrics()).toMatchObject({
        calls: 3,
        succeeded: 1,
        pending: 1,
        rejected: 1,
        denied: 1,
        byReason: { token_used: 1 },
      });
    },
  );

  test('an ask of a child call is approval_in_child: approvals are not inherited', async () => {
    const bed = suspending({ tool: { requiresApproval: true } });
    bed.registry.register(
      defineTool({
        name: 'parent',
        description: 'Pays through another.',
        parameters: { type: 'object' },
        uses: ['pay'],
        requiresApproval: true,
        handler: async (_input, { tools }) => {
          const result = await tools.call('pay', { amount: 5 });
          return result.success ? 'paid' : [result.error.code, result.error.reason ?? null];
        },
      }),
    );
    const first = await bed.session.call('parent', {});
    const { token } = (first.success ? undefined : first.approval) as { token: string };
    expect(
      await bed.session.approvals.resume(token, {
        decision: 'allow_always',
        grant: { match: 'tool' },
      }),
    ).toMatchObject({
      success: true,
      output: ['approval_denied', 'approval_in_child'],
    });
    expect(bed.runs).toEqual([]);
  });

  test('at most `maxPendingApprovals` wait, even if calls come at once', async () => {
    const bed = suspending({ session: { limits: { maxPendingApprovals: 3 } } });
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, amount) => bed.session.call('pay', { amount })),
    );
    const codes = results.map((result) => why(result)?.join(' '));
    expect(codes.filter((code) => code === 'approval_pending approval_required')).toHaveLength(3);
    expect(codes.filter((code) => code === 'rate_limited too_many_approvals')).toHaveLength(47);
    const [one] = await bed.session.approvals.pending();
    await bed.session.approvals.resume(one?.token as string, 'reject_once');
    expect(why(await bed.session.call('pay', { amount: 1 }))?.[0]).toBe('approval_pending');
  });

  test('those that wait already, and those on their way, count together', async () => {
    const bed = suspending({ session: { limits: { maxPendingApprovals: 3 } } });
    await suspendOne(bed, { amount: 1 });
    await suspendOne(bed, { amount: 2 });
    const results = await Promise.all(
      [3, 4, 5].map((amount) => bed.session.call('pay', { amount })),
    );
    expect(results.filter((result) => why(result)?.[0] === 'approval_pending')).toHaveLength(1);
    expect(await bed.session.approvals.pending()).toHaveLength(3);
  });
});

describe('a store that fails costs the call and nothing more', () => {
  const now = (): number => 0;
  const memory = (): ApprovalPort => memoryApprovalPort({ now });
  const hang = (): Promise<never> => new Promise(() => {});
  const boom = (): never => {
    throw new Error('the disk is full');
  };

  test.each<[what: string, store: Partial<ApprovalPort>]>([
    ['put throws', { put: boom }],
    ['put rejects', { put: () => Promise.reject(new Error('no')) }],
    ['listing throws', { heads: boom }],
    ['listing answers nonsense', { heads: () => 5 as never }],
  ])('when %s, the call is refused as store_unavailable', async (_, broken) => {
    const bed = suspending({ store: { ...memory(), ...broken } });
    expect(why(await bed.session.call('pay', { amount: 5 }))).toEqual([
      'approval_denied',
      'store_unavailable',
    ]);
    expect(bed.runs).toEqual([]);
  });

  test.each<[what: string, store: Partial<ApprovalPort>]>([
    ['put', { put: hang }],
    ['a list', { heads: hang }],
  ])(
    'when %s never answers, the call waits `policyTimeoutMs` (5 000) and no longer',
    async (_, broken) => {
      vi.useFakeTimers();
      const bed = suspending({ store: { ...memory(), ...broken } });
      const called = bed.session.call('pay', { amount: 5 });
      await vi.advanceTimersByTimeAsync(5_000);
      expect(why(await called)).toEqual(['approval_denied', 'store_unavailable']);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test('a record that arrives after the refusal is removed, so no one can approve it', async () => {
    vi.useFakeTimers();
    const store = memory();
    const bed = suspending({
      store: {
        ...store,
        put: async (record) => {
          await new Promise((resolve) => setTimeout(resolve, 9_000));
          await store.put(record);
        },
      },
    });
    const called = bed.session.call('pay', { amount: 5 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(why(await called)).toEqual(['approval_denied', 'store_unavailable']);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await store.list('conversation')).toEqual([]);
  });

  test('so is one whose call was aborted while the store worked', async () => {
    const store = memory();
    const started = deferred<void>();
    const gate = deferred<void>();
    const taken = vi.fn(store.take);
    const bed = suspending({
      store: {
        ...store,
        take: taken,
        put: async (record) => {
          started.resolve();
          await gate.promise;
          await store.put(record);
        },
      },
    });
    const controller = new AbortController();
    const called = bed.session.call('pay', { amount: 5 }, { signal: controller.signal });
    await started.promise;
    controller.abort();
    expect(why(await called)?.[0]).toBe('cancelled');
    gate.resolve();
    await vi.waitFor(() => expect(taken).toHaveBeenCalledTimes(1));
    expect(await store.list('conversation')).toEqual([]);
    expect(types(bed.events)).not.toContain('approval:required');
  });

  test.each<[what: string, take: ApprovalPort['take']]>([
    ['throws', boom],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])(
    'when take %s, the resume is refused as store_unavailable, and another try may do',
    async (_, take) => {
      const store = memory();
      let healthy = false;
      const bed = suspending({
        store: { ...store, take: (id) => (healthy ? store.take(id) : take(id)) },
      });
      const { token } = await suspendOne(bed);
      expect(why(await bed.session.approvals.resume(token, 'allow_once'))).toEqual([
        'approval_denied',
        'store_unavailable',
      ]);
      healthy = true;
      expect(await bed.session.approvals.resume(token, 'allow_once')).toMatchObject({
        success: true,
      });
    },
  );

  test('when take never answers, the resume waits `policyTimeoutMs` and no longer', async () => {
    vi.useFakeTimers();
    const bed = suspending({ store: { ...memory(), take: hang } });
    const { token } = await suspendOne(bed);
    const resumed = bed.session.approvals.resume(token, 'allow_once');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(why(await resumed)).toEqual(['approval_denied', 'store_unavailable']);
  });

  test.each<[what: string, lie: (record: JsonObject) => unknown]>([
    ['another input', (record) => ({ ...record, input: { amount: 500 } })],
    ['another token', (record) => ({ ...record, token: 'x' })],
    ['a token alone', ({ token = null }) => ({ token })],
  ])('what take answers instead of the record (%s) is token_invalid', async (_, lie) => {
    const store = memory();
    const bed = suspending({
      store: {
        ...store,
        take: async (id) => lie((await store.take(id)) as JsonObject) as JsonObject,
      },
    });
    const { token } = await suspendOne(bed);
    expect(why(await bed.session.approvals.resume(token, 'allow_once'))).toEqual([
      'approval_denied',
      'token_invalid',
    ]);
    expect(bed.runs).toEqual([]);
  });

  test('a genuine record sealed for another token of the same id is token_invalid', async () => {
    const store = memory();
    const bed = suspending({
      store: {
        ...store,
        take: async (id) => {
          const { request, principal, idempotencyKey } = (await store.take(
            id,
          )) as unknown as SuspendedCall;
          return sealRecord(createTokenSigner(key), {
            request,
            principal,
            idempotencyKey,
            input: { amount: 500 },
          }).record;
        },
      },
    });
    const { token } = await suspendOne(bed);
    expect(why(await bed.session.approvals.resume(token, 'allow_once'))).toEqual([
      'approval_denied',
      'token_invalid',
    ]);
    expect(bed.runs).toEqual([]);
  });

  test('a store that gives a record twice makes no call run twice in one process', async () => {
    const kept = new Map<string, JsonObject>();
    const generous: Partial<ApprovalPort> = {
      put: (record) => void kept.set(record.id, record),
      take: (id) => kept.get(id),
    };
    const bed = suspending({ store: generous });
    const { token } = await suspendOne(bed);
    const results = await Promise.all(
      [1, 2, 3].map(() => bed.session.approvals.resume(token, 'allow_once')),
    );
    expect(results.filter((result) => result.success)).toHaveLength(1);
    expect(why(await bed.session.approvals.resume(token, 'allow_once'))).toEqual([
      'approval_denied',
      'token_used',
    ]);
    expect(bed.runs).toHaveLength(1);
  });

  test('a store that lists records of others, or forged ones, reveals nothing', async () => {
    const store = memory();
    const theirs = suspending({ store, session: { principal: 'user:bob' } });
    await suspendOne(theirs);
    const [record] = (await store.list('conversation')) as JsonObject[];
    const bed = suspending({
      store: {
        ...store,
        page: () => [record, { ...record, principal: 'user:ann' }, {}] as never,
      },
    });
    expect(await bed.session.approvals.pending()).toEqual([]);
  });
});

describe('racing resumes behave as this model says', () => {
  test(
    'of each token one resume at most runs, whoever answers what, and in whatever order the ' +
      'store works',
    async () => {
      const resume = fc.record({
        token: fc.nat(2),
        who: fc.constantFrom('ann', 'again', 'bob', 'other'),
        answer: fc.constantFrom<ApprovalAnswer>('allow_once', 'reject_once', 'allow_always', {
          decision: 'allow_once',
          input: { amount: 99 },
        }),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(resume, { minLength: 1, maxLength: 12 }),
          fc.scheduler(),
          async (attempts, scheduler) => {
            const inner = memoryApprovalPort({ now: () => 0 });
            const store: ApprovalPort = {
              ...inner,
              take: async (id) => {
                await scheduler.schedule(Promise.resolve(), `asks for ${id}`);
                const record = await inner.take(id);
                await scheduler.schedule(Promise.resolve(), `gets ${id}`);
                return record;
              },
            };
            const clock = fixedClock(0);
            const bed = suspending({ store, clock });
            const open = (sessionId: string, principal: string): typeof bed.session =>
              bed.registry.createSession({ sessionId, principal, approvalMode: 'suspend' });
            const sessions = {
              ann: bed.session,
              again: open('conversation', 'user:ann'),
              bob: open('conversation', 'user:bob'),
              other: open('other', 'user:ann'),
            };
            const tokens: string[] = [];
            for (const amount of [0, 1, 2]) tokens.push((await suspendOne(bed, { amount })).token);
            const racing = Promise.all(
              attempts.map(({ token, who, answer }) =>
                sessions[who as keyof typeof sessions].approvals.resume(
                  tokens[token] as string,
                  answer,
                ),
              ),
            );
            await scheduler.waitFor(racing);
            const results = await racing;
            for (const token of [0, 1, 2]) {
              const mine = attempts
                .map((attempt, index) => ({ ...attempt, result: results[index] as ToolResult }))
                .filter((one) => one.token === token);
              const rightful = mine.filter(({ who }) => who === 'ann' || who === 'again');
              for (const { who, result } of mine)
                if (who === 'bob' || who === 'other')
                  expect(why(result)).toEqual(['approval_denied', 'token_foreign']);
              const settled = rightful.filter(({ result }) => why(result)?.[1] !== 'token_used');
              expect(settled).toHaveLength(rightful.length === 0 ? 0 : 1);
              for (const { answer, result } of settled)
                expect(result.success).toBe(answer !== 'reject_once');
            }
            expect(bed.runs).toHaveLength(results.filter((result) => result.success).length);
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});

describe('what waited for a person is judged again', () => {
  const changes: readonly (readonly [
    what: string,
    change: (bed: ReturnType<typeof bench>) => void,
    outcome: readonly [string, string | undefined] | undefined,
  ])[] = [
    [
      'a deny that came',
      ({ registry }) =>
        void registry.addRules([{ effect: 'deny', tools: 'pay', reason: 'frozen' }]),
      ['policy_denied', 'frozen'],
    ],
    [
      'a deny for this input that came',
      ({ registry }) =>
        void registry.addRules([
          { effect: 'deny', tools: 'pay', when: { amount: 5 }, reason: 'frozen' },
        ]),
      ['policy_denied', 'frozen'],
    ],
    [
      'a profile without the tool',
      ({ registry, session }) => {
        registry.defineProfile({ id: 'none', tools: [] });
        session.setProfile('none');
      },
      ['tool_not_available', 'not_in_profile'],
    ],
    [
      'a profile that denies',
      ({ registry, session }) => {
        registry.defineProfile({
          id: 'deny',
          tools: ['pay'],
          rules: [{ effect: 'deny', tools: 'pay', reason: 'not_here' }],
        });
        session.setProfile('deny');
      },
      ['policy_denied', 'not_here'],
    ],
    [
      'a fact that was dropped',
      ({ session }) => session.setFacts({ till: null }),
      ['tool_not_available', 'fact_unmet'],
    ],
    [
      'a disabled tool',
      ({ session }) => session.setOverrides({ disable: ['pay'] }),
      ['tool_not_available', 'disabled'],
    ],
    [
      'a tool replaced by its like',
      ({ registry }) => void registry.registerOrReplace(counted().definition),
      ['tool_not_available', 'removed'],
    ],
    [
      'a removed tool',
      ({ registry }) => void registry.unregister('pay'),
      ['tool_not_available', 'removed'],
    ],
    [
      'a further ask is met by the same answer',
      ({ registry }) => void registry.addRules([{ effect: 'ask', tools: 'pay' }]),
      undefined,
    ],
    ['nothing', () => {}, undefined],
  ];
  test.each(changes)('%s', async (_, change, outcome) => {
    const answer = deferred<ApprovalAnswer>();
    const bed = bench({
      tool: { requires: [{ fact: 'till', equals: 'open' }] },
      session: { facts: { till: 'open' }, approver: () => answer.promise },
    });
    const called = bed.session.call('pay', { amount: 5 });
    change(bed);
    answer.resolve('allow_once');
    expect(why(await called)).toEqual(outcome);
    expect(bed.runs).toHaveLength(outcome === undefined ? 1 : 0);
  });

  test(
    'a call that waited for a slot, and is asked about only now, gives the slot back while a ' +
      'person thinks',
    async () => {
      const gate = deferred();
      const answer = deferred<ApprovalAnswer>();
      const bed = bench({
        tool: { requiresApproval: false, maxConcurrency: 1, handler: () => gate.promise },
        session: { approver: () => answer.promise },
      });
      const first = bed.session.call('pay', { amount: 1 });
      const second = bed.session.call('pay', { amount: 2 });
      bed.registry.addRules([{ effect: 'ask', tools: 'pay', when: { amount: 2 } }]);
      gate.resolve('paid');
      await first;
      await vi.waitFor(async () => expect(await bed.session.approvals.pending()).toHaveLength(1));
      expect(await bed.session.call('pay', { amount: 3 })).toMatchObject({ success: true });
      answer.resolve('allow_once');
      expect(await second).toMatchObject({ success: true });
    },
  );
});
