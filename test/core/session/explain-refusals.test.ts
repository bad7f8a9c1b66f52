/**
 * `explain` says the code with which the call would end before its handler runs. Every reason that
 * the library knows is either tried here, or listed with why a dry run cannot know it.
 */

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/extend.ts';
import {
  type AnyTool,
  memoryStore,
  type Policy,
  type Quota,
  type RegistryOptions,
  type Rule,
  type SessionOptions,
} from '../../../src/index.ts';
import { createAuditLog } from '../../../src/surfaces/audit/index.ts';
import { reasons } from '../../docs/errors-page.ts';
import { andThen, define, type Setup, setup } from '../call/define.ts';
import { gate, turns } from '../call/world.ts';

/** A world in which a call to `t` is refused. */
interface Case {
  readonly tool?: Record<string, unknown>;
  readonly session?: Partial<SessionOptions>;
  readonly registry?: RegistryOptions;
  readonly input?: unknown;
  /** Runs before. What it returns is kept until the end. */
  readonly before?: (world: Setup) => unknown;
}

const ask: Rule = { id: 'ask', effect: 'ask', tools: 't' };
const long = 'a'.repeat(900_000);
const never = (): Promise<never> => new Promise(() => {});
const policy = (check: unknown): Partial<SessionOptions> => ({
  policies: [{ id: 'p', check } as Policy],
});
const quota = (more: Partial<Quota>): RegistryOptions => ({
  quotas: [{ id: 'q', max: 1, per: 'day', by: 'session', ...more } as Quota],
});
const other = (name: string, more: Record<string, unknown> = {}): AnyTool<unknown> =>
  define(name, more);

/** By `code reason`. */
const cases: Readonly<Record<string, Case>> = {
  'tool_not_available fact_unmet': { tool: { requires: [{ fact: 'ready', equals: true }] } },
  'tool_not_available disabled': { session: { overrides: { disable: ['t'] } } },
  'tool_not_available not_in_profile': {
    before: ({ registry, session }) => {
      registry.defineProfile({ id: 'p', tools: ['other'] });
      session.setProfile('p');
    },
  },
  'tool_not_available knobs_missing': {
    tool: {
      policy: { knobs: z.object({ limit: z.number() }), check: ({ allow }: never) => allow },
    },
  },
  'tool_not_available removed': { before: ({ registry }) => registry.unregister('t') },
  'invalid_input not_json': { input: { a: 1n } },
  'invalid_input not_an_object': { input: [1] },
  'invalid_input too_large': { input: { a: 'x'.repeat(2_000_000) } },
  'invalid_input too_deep': { input: JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`) },
  'invalid_input unsafe_key': {
    tool: { parameters: z.object({}) },
    input: JSON.parse('{"__proto__":{"a":1}}'),
  },
  'policy_denied denied_by_rule': { registry: { rules: [{ effect: 'deny', tools: 't' }] } },
  'policy_denied denied_by_default': { registry: { default: 'deny' } },
  'policy_denied scope_missing': { tool: { scopes: ['orders:write'] } },
  'policy_denied quota_exceeded': { registry: quota({ max: 0 }) },
  'policy_denied quota_unreadable': { registry: quota({ sum: 'n' }), input: { n: -1 } },
  'policy_denied quota_unavailable': {
    registry: {
      ...quota({}),
      quotaStore: awayStore(),
    },
  },
  'policy_error audit_unavailable': {
    before: async ({ registry }) => {
      const log = createAuditLog({ required: true, sink: () => {} });
      log.attach(registry);
      await log.close();
    },
  },
  'policy_error policy_threw': {
    session: policy(() => {
      throw new Error('no');
    }),
  },
  'policy_error policy_timeout': { session: policy(never), registry: { policyTimeoutMs: 5 } },
  'policy_error policy_nonsense': { session: policy(() => 'yes') },
  'policy_error resource_key_failed': {
    tool: {
      resourceKey: () => {
        throw new Error('no');
      },
    },
  },
  'policy_error rules_over_budget': {
    session: {
      rules: Array.from({ length: 8 }, () => ({ effect: 'deny', when: { a: { glob: '*b' } } })),
    },
    input: { a: long },
  },
  'approval_denied rejected_always': {
    registry: { rules: [ask] },
    session: { approver: () => 'reject_always' },
    before: ({ session }) => session.call('t', {}),
  },
  'approval_denied approvers_unreachable': {
    registry: { rules: [{ ...ask, approvers: { any: ['ann'] } }] },
    session: { approver: () => 'allow_once' },
  },
  'approval_denied secret_in_prompt': {
    tool: { requiresApproval: { title: 'Run it with hunter2-secret?' } },
    registry: { redact: ['password'] },
    session: { approver: () => 'allow_once' },
    input: { password: 'hunter2-secret' },
  },
  'approval_denied input_not_shown': {
    tool: { requiresApproval: true },
    registry: { redact: ['password'] },
    session: { approver: () => 'allow_once' },
    input: nested(50, Array(9_000).fill({ password: 'x' })),
  },
  'approval_denied store_unavailable': {
    registry: {
      rules: [ask],
      approvals: {
        secret: 'x'.repeat(32),
        store: awayStore(),
      },
    },
    session: { approvalMode: 'suspend', principal: 'ann' },
  },
  'rate_limited calls_per_minute': {
    session: { limits: { callsPerMinute: 1 } },
    before: ({ session }) => session.call('other', {}),
  },
  'rate_limited queue_full': {
    tool: { resourceKey: 'r' },
    session: { limits: { maxQueuedCalls: 0 } },
    before: async ({ session }) => {
      void session.call('holder', {});
      await turns();
    },
  },
  'rate_limited too_many_approvals': {
    registry: { rules: [ask] },
    session: { limits: { maxPendingApprovals: 1 }, approver: never },
    before: async ({ session }) => {
      void session.call('t', { n: 1 });
      await turns();
    },
  },
  'loop_detected identical_calls': {
    session: { limits: { loopGuard: 1 } },
    before: ({ session }) => session.call('t', {}),
  },
};

/** What `explain` cannot foresee, with the reason why. */
const unforeseen: Readonly<Record<string, readonly string[]>> = {
  'comes with the call, and `explain` has none of it': [
    'invalid_input invalid_option',
    'invalid_input invalid_call_id',
    'invalid_input idempotency_conflict',
    'timeout idempotency_in_progress',
    'policy_error idempotency_unavailable',
    'executor_lost holder_lost',
    'approval_denied no_approver',
    'approval_denied unasked',
    'policy_denied approval_not_asked',
  ],
  'is about calls that a handler makes': [
    'tool_not_available not_declared',
    'approval_denied approval_in_child',
    'cancelled parent_ended',
    'tool_cycle cycle',
    'tool_cycle too_deep',
    'rate_limited deadlock',
  ],
  'is found out by waiting': [
    'rate_limited queue_timeout',
    'policy_error rules_unstable',
    'approval_timeout timeout',
    'approval_timeout expired',
    'timeout timeout',
    'timeout idle_timeout',
  ],
  'is the answer of a person, or comes with it': [
    'approval_pending approval_required',
    'approval_denied rejected',
    'approval_denied unknown_approval',
    'approval_denied approver_failed',
    'approval_denied invalid_answer',
    'approval_denied token_invalid',
    'approval_denied token_used',
    'approval_denied token_foreign',
    'approval_denied four_eyes',
    'approval_denied not_an_approver',
    'approval_denied standing_answer',
    'approval_pending approvers_missing',
    'approval_denied definition_changed',
    'invalid_input invalid_edit',
  ],
  'comes from a hook, which is not run': ['policy_error hook_failed'],
  'comes from a policy or an attribute, as those that are tried': [
    'policy_denied cedar_forbidden',
    'policy_denied cedar_not_permitted',
    'policy_denied opa_denied',
    'policy_denied opa_undefined',
    'policy_error cedar_error',
    'policy_error opa_error',
    'policy_error command_unreadable',
  ],
  'comes from what gives credentials, which is not asked': [
    'policy_error credentials_unavailable',
    'tool_not_available authorization_required',
    'approval_pending authorization_required',
  ],
  'is known once a program runs': [
    'invalid_input code_syntax',
    'timeout code_timeout',
    'timeout code_cpu',
    'rate_limited code_busy',
    'rate_limited code_running',
    'rate_limited max_calls',
  ],
  'is about a call that is to be taken back, which only `revert` names': [
    'invalid_input unknown_call',
    'invalid_input still_running',
    'invalid_input already_reverted',
    'invalid_input revert_ran',
    'invalid_input revert_changed',
    'policy_error undo_unavailable',
  ],
  'is about the call of an app, which the call itself names': [
    'tool_not_available model_only',
    'tool_not_available other_app',
  ],
  'is about an outer session, which `test/parts/delegation` asks': [
    'policy_denied rejected_always',
  ],
  'is about definitions of other servers, which lookup checks as for a call': [
    'tool_not_available definition_changed',
    'tool_not_available not_listed',
  ],
};

/** What ends a call when its handler has begun, or was to begin somewhere else. */
const afterwards = [
  'invalid_output',
  'handler_error',
  'executor_lost',
  'sandbox_unavailable',
  'tool_not_available module_failed',
  'tool_not_available handler_missing',
  'tool_not_available read_only_today',
];

test.each(Object.keys(cases))('%s: `explain` and the call say the same', async (name) => {
  const { tool, session, registry, input = {}, before } = cases[name] as Case;
  const held = gate();
  const world = setup(
    [
      define('t', tool),
      other('other'),
      other('holder', { resourceKey: 'r', handler: () => held.promise }),
    ],
    session,
    { logger: { warn: () => {}, error: () => {} }, ...registry },
  );
  await before?.(world);
  const counted = JSON.stringify(world.session.metrics());
  const told = world.events.length;
  const explained = await world.session.explain('t', input);
  const again = await world.session.explain('t', input);
  expect([JSON.stringify(world.session.metrics()), world.events.length]).toEqual([counted, told]);
  const { error } = await world.session.call('t', input);
  expect(`${error?.code} ${error?.reason}`).toBe(name);
  expect([explained.code, again.code]).toEqual([error?.code, error?.code]);
  held.open();
});

describe('a reason that the library knows', () => {
  const known = new Set([...Object.keys(cases), ...Object.values(unforeseen).flat()]);
  const names = reasons.map(({ code, reason }) => `${code} ${reason}`);
  const isAfter = (name: string): boolean =>
    afterwards.some((one) => name === one || name.startsWith(`${one} `));

  test('is tried, or it is said why `explain` cannot know it', () => {
    expect(names.filter((name) => !known.has(name) && !isAfter(name))).toEqual([]);
  });

  test('and no other is listed here', () => {
    expect([...known].filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe('what would be waited for', () => {
  test('is no refusal: a person, a slot with room in its queue, a limit that is not reached', async () => {
    const held = gate();
    const { session, registry } = setup(
      [
        define('t', { resourceKey: 'r' }),
        other('holder', { resourceKey: 'r', handler: () => held.promise }),
      ],
      { limits: { callsPerMinute: 9, loopGuard: 2, maxQueuedCalls: 1 }, approver: never },
    );
    void session.call('holder', {});
    await turns();
    expect((await session.explain('t', {})).code).toBeUndefined();
    registry.addRules([ask]);
    const { code, decision } = await session.explain('t', {});
    expect([code, decision?.effect]).toEqual([undefined, 'ask']);
    held.open();
  });

  test('is not looked at without an input, as far as it depends on one', async () => {
    const { session } = setup(
      [define('t', { resourceKey: () => andThen(undefined, never() as never) })],
      {
        limits: { loopGuard: 1 },
      },
    );
    await session.call('other', {});
    expect((await session.explain('t')).code).toBeUndefined();
  });

  test('a required log that has failed is known to fail, and one that has recovered is not', async () => {
    let fails = true;
    const { session, registry } = setup([define('t')]);
    const log = createAuditLog({
      required: true,
      sink: () => {
        if (fails) throw new Error('full');
      },
    });
    log.attach(registry);
    expect((await session.explain('t', {})).code).toBeUndefined();
    expect((await session.call('t', {})).error?.reason).toBe('audit_unavailable');
    expect((await session.explain('t', {})).code).toBe('policy_error');
    fails = false;
    expect((await session.call('t', {})).success).toBe(true);
    expect((await session.explain('t', {})).code).toBeUndefined();
    await log.close();
  });
});

function nested(levels: number, value: unknown): object {
  let nest: unknown = value;
  for (let level = 0; level < levels; level++) nest = { a: nest };
  return nest as object;
}

function awayStore(): Store {
  return { ...memoryStore(), apply: () => Promise.reject(new Error('down')) };
}
