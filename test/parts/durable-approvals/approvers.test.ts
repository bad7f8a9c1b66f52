/** Who may answer a question, how many have to, and what of them is recorded. */
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/extend.ts';
import {
  type ApprovalAnswer,
  type Approvers,
  defineTool,
  HostToolRegistry,
  type JsonObject,
  memoryStore,
  type NamedAnswer,
  type Profile,
  type RegistryOptions,
  type Rule,
  type SessionOptions,
  type ToolEvents,
} from '../../../src/index.ts';
import { createAuditLog } from '../../../src/surfaces/audit/index.ts';
import { key, why } from '../../core/approval/kit.ts';

const two: Approvers = { any: ['role:manager', 'ann'], count: 2 };
const asking = (approvers: Approvers, more: Partial<Rule> = {}): Rule => ({
  id: 'refunds',
  effect: 'ask',
  tools: 'refund',
  approvers,
  ...more,
});

interface Wish {
  readonly rules?: readonly Rule[];
  readonly registry?: Partial<RegistryOptions>;
  readonly session?: Partial<SessionOptions<never>>;
  readonly store?: Store;
  readonly requiresApproval?: never;
  readonly profile?: Partial<Profile>;
}

function world(wish: Wish = {}) {
  const { rules = [asking(two)], store = memoryStore(), profile } = wish;
  const runs: unknown[] = [];
  const events: (ToolEvents[keyof ToolEvents] & { type: string })[] = [];
  const registry: HostToolRegistry = new HostToolRegistry({
    rules,
    approvals: {
      secret: key,
      store,
      session: ({ sessionId, principal }) => open(sessionId, principal),
    },
    ...wish.registry,
  });
  registry.register(
    defineTool({
      name: 'refund',
      description: 'Pays back.',
      parameters: z.object({ amount: z.number() }),
      ...(wish.requiresApproval === undefined ? {} : { requiresApproval: wish.requiresApproval }),
      handler: ({ amount }) => {
        runs.push(amount);
        return 'paid back';
      },
    }),
  );
  if (profile !== undefined)
    registry.defineProfile({ id: 'desk', tools: ['refund'], ...profile } as Profile);
  const open = (sessionId: string, principal: string) =>
    registry.createSession({
      sessionId,
      principal,
      approvalMode: 'suspend',
      ...(profile === undefined ? {} : { profile: 'desk' }),
      ...wish.session,
    } as SessionOptions<never>);
  for (const type of ['approval:granted', 'approval:denied', 'approval:settled'] as const)
    registry.events.on(type, (event) => events.push({ ...event, type } as never));
  const session = open('chat', 'cleo');
  const ask = async (amount = 1_200) => {
    const result = await session.call('refund', { amount });
    if (result.success) throw new Error('expected a question');
    expect(why(result)).toEqual(['approval_pending', 'approval_required']);
    return result.approval?.id as string;
  };
  const answer = (id: string, by: string, more: object = {}) =>
    registry.approvals.answer(id, { decision: 'allow_once', by, ...more } as NamedAnswer);
  const manager = { roles: ['manager'] };
  return { registry, session, runs, events, ask, answer, manager, store };
}

const waits = ['approval_pending', 'approvers_missing'];
const hidden = ['approval_denied', 'unknown_approval'];

describe('a question for certain people', () => {
  test('is there for those who are named, by name or by a role, and for nobody else', async () => {
    const { registry, ask, answer, manager } = world();
    const id = await ask();
    const list = async (by: string, roles?: string[]) =>
      (await registry.approvals.list({ by, roles })).length;
    expect(await list('ann')).toBe(1);
    expect(await list('bob', ['manager'])).toBe(1);
    expect(await list('bob')).toBe(0);
    expect(await list('bob', ['clerk'])).toBe(0);
    expect((await registry.approvals.pending({ by: 'bob' })).length).toBe(0);
    expect(await registry.approvals.get(id, { by: 'bob' })).toBeUndefined();
    expect((await registry.approvals.get(id, { by: 'bob', ...manager }))?.approvers).toEqual([two]);
    expect(why(await answer(id, 'bob'))).toEqual(hidden);
    expect(why(await answer(id, 'bob', { decision: 'reject_once' }))).toEqual(hidden);
    // Code of the host that names nobody sees all.
    expect((await registry.approvals.list()).map((one) => one.id)).toEqual([id]);
  });

  test('needs as many different people as it says, and all of them are recorded', async () => {
    const { registry, session, ask, answer, manager, runs, events } = world();
    const lines: unknown[] = [];
    registry.events.on('tool:post', (event) => lines.push(event));
    const id = await ask();
    expect(why(await answer(id, 'bob', manager))).toEqual(waits);
    expect(runs).toEqual([]);
    expect((await registry.approvals.get(id))?.allowedBy).toEqual(['bob']);
    expect(await session.approvals.outcome(id)).toEqual({ status: 'pending' });
    expect((await answer(id, 'ann')).output).toBe('paid back');
    expect(runs).toEqual([1_200]);
    const answers = [
      { by: 'bob', roles: ['manager'], decision: 'allow_once' },
      { by: 'ann', decision: 'allow_once' },
    ];
    expect(events.map(({ type }) => type)).toEqual(['approval:granted', 'approval:settled']);
    for (const event of events) expect(event).toMatchObject({ by: 'ann', answers });
    expect(await session.approvals.outcome(id)).toMatchObject({ status: 'settled', answers });
    expect(why(await answer(id, 'dan', manager))).toEqual(['approval_denied', 'token_used']);
  });

  test('has all of them in the line of the audit log, with the roles in which they answered', async () => {
    const lines: string[] = [];
    const { registry, ask, answer, manager } = world();
    const log = createAuditLog({ sink: (line) => void lines.push(line) });
    log.attach(registry);
    const id = await ask();
    await answer(id, 'bob', manager);
    await answer(id, 'ann');
    await log.close();
    const records = lines.map((line) => JSON.parse(line) as JsonObject);
    expect(records.find(({ status }) => status === 'succeeded')).toMatchObject({
      tool: 'refund',
      approval: {
        id,
        by: 'ann',
        answers: [
          { by: 'bob', roles: ['manager'], decision: 'allow_once' },
          { by: 'ann', decision: 'allow_once' },
        ],
      },
    });
  });

  test('ends with one rejection, also by someone who has allowed it before', async () => {
    const { ask, answer, manager, events, runs } = world();
    const id = await ask();
    await answer(id, 'bob', manager);
    const result = await answer(id, 'bob', { ...manager, decision: 'reject_once', message: 'no' });
    expect(why(result)).toEqual(['approval_denied', 'rejected']);
    expect(events.at(-1)).toMatchObject({
      answers: [{ by: 'bob', roles: ['manager'], decision: 'reject_once' }],
    });
    expect(why(await answer(id, 'ann'))).toEqual(['approval_denied', 'token_used']);
    expect(runs).toEqual([]);
  });

  test('needs each set where several rules name approvers', async () => {
    const rules = [asking(two), asking({ any: ['role:finance'] }, { id: 'money' })];
    const { ask, answer, manager, runs, registry } = world({ rules });
    const id = await ask();
    expect((await registry.approvals.get(id))?.approvers).toEqual([two, { any: ['role:finance'] }]);
    expect(why(await answer(id, 'fay', { roles: ['finance'] }))).toEqual(waits);
    expect(why(await answer(id, 'bob', manager))).toEqual(waits);
    expect((await answer(id, 'ann')).success).toBe(true);
    expect(runs).toEqual([1_200]);
    // One person may belong to both.
    const other = await ask(1_300);
    expect(why(await answer(other, 'fay', { roles: ['finance', 'manager'] }))).toEqual(waits);
    expect((await answer(other, 'ann')).success).toBe(true);
  });

  test('is asked by what `requiresApproval` says, and by the profile for all or for a tool', async () => {
    const approvers: Approvers = { any: ['ann'] };
    const said = { title: 'Pay back?', approvers };
    for (const wish of [
      { rules: [], requiresApproval: said as never },
      { rules: [], requiresApproval: (() => said) as never },
      { rules: [{ effect: 'ask' }] as Rule[], profile: { approvers } },
      { rules: [], profile: { approvers, default: 'ask' } as Partial<Profile> },
      {
        rules: [],
        profile: { tools: [{ name: 'refund', requiresApproval: true, approvers }] } as never,
      },
    ]) {
      const { ask, answer, registry, runs } = world(wish);
      const id = await ask();
      expect((await registry.approvals.get(id))?.approvers).toEqual([approvers]);
      expect(why(await answer(id, 'bob'))).toEqual(hidden);
      expect((await answer(id, 'ann')).success).toBe(true);
      expect(runs).toEqual([1_200]);
    }
  });

  test('is one of each profile that a profile extends, and a child removes none', async () => {
    const { registry } = world({ rules: [] });
    registry.defineProfile({
      id: 'base',
      tools: [{ name: 'refund', requiresApproval: true, approvers: { any: ['role:a'] } }],
      approvers: { any: ['role:b'] },
    });
    registry.defineProfile({
      id: 'child',
      extends: 'base',
      tools: [{ name: 'refund', approvers: { any: ['role:c'] } }],
      approvers: { any: ['role:b'] },
    });
    const session = registry.createSession({ sessionId: 's', principal: 'p', profile: 'child' });
    expect((await session.explain('refund', { amount: 1 })).approvers).toEqual([
      { any: ['role:b'] },
      { any: ['role:a'] },
      { any: ['role:c'] },
    ]);
  });

  test('waits for them, whatever the session does with its other questions', async () => {
    const approver = vi.fn(() => 'allow_once' as const);
    const { ask, answer, manager, runs } = world({ session: { approvalMode: 'ask', approver } });
    const id = await ask();
    await answer(id, 'ann');
    expect((await answer(id, 'bob', manager)).success).toBe(true);
    expect([approver.mock.calls.length, runs]).toEqual([0, [1_200]]);
  });

  test('is refused where the call cannot wait for them', async () => {
    const approver = vi.fn(() => 'allow_once' as const);
    const mode = { approvalMode: 'ask', approver } as const;
    const unreachable = ['approval_denied', 'approvers_unreachable'];
    for (const wish of [
      { session: mode, registry: { approvals: undefined } },
      { session: { ...mode, principal: undefined } },
    ] as Wish[]) {
      const { session } = world(wish);
      expect(why(await session.call('refund', { amount: 2 }))).toEqual(unreachable);
      expect((await session.explain('refund', { amount: 2 })).code).toBe('approval_denied');
    }
    expect(approver).not.toHaveBeenCalled();
  });

  test('is named by `explain`', async () => {
    const { session } = world();
    const { approvers, code } = await session.explain('refund', { amount: 3 });
    expect([approvers, code]).toEqual([[two], undefined]);
  });

  test('is refused in a rule that does not ask, and where it cannot mean what it says', () => {
    const wrong: readonly [object, string][] = [
      [{ any: [] }, 'approvers.any'],
      [{ any: 'ann' }, 'approvers.any'],
      [{ any: ['ann', 'Ａnn'] }, 'approvers.any[1]'],
      [{ any: ['ann', 'аnn'] }, 'approvers.any[1]'],
      [{ any: ['Role:x'] }, 'approvers.any[0]'],
      [{ any: ['role:'] }, 'approvers.any[0]'],
      [{ any: ['rоle:x'] }, 'approvers.any[0]'],
      [{ any: [' ann'] }, 'approvers.any[0]'],
      [{ any: ['\u200b'] }, 'approvers.any[0]'],
      [{ any: ['ann'], count: 0 }, 'approvers.count'],
      [{ any: ['role:a'], count: 21 }, 'approvers.count'],
      [{ any: ['ann', 'bob'], count: 3 }, 'approvers.count'],
      [{ any: ['ann'], notPrincipal: false }, 'approvers.notPrincipal'],
      [{ any: ['ann'], al: 1 }, 'approvers.al'],
    ];
    for (const [approvers, field] of wrong)
      expect(() => world({ rules: [asking(approvers as Approvers)] })).toThrow(`\`${field}\``);
    for (const effect of ['allow', 'deny'] as const)
      expect(() => world({ rules: [asking(two, { effect })] })).toThrow('only a rule that asks');
    expect(() => world({ profile: { approvers: { any: [] } } })).toThrow('approvers.any');
    expect(() =>
      world({ profile: { tools: [{ name: 'refund', approvers: { any: [] } }] } }),
    ).toThrow('tools[0].approvers.any');
    expect(() =>
      world({ requiresApproval: { title: 'a', approvers: { any: [] } } as never }),
    ).toThrow('requiresApproval.approvers.any');
  });

  test('denies the call if `requiresApproval` answers approvers that are none', async () => {
    const wrong = (() => ({ title: 'a', approvers: { any: [] } })) as never;
    const { session } = world({ rules: [], requiresApproval: wrong });
    expect(why(await session.call('refund', { amount: 4 }))).toEqual([
      'policy_error',
      'policy_nonsense',
    ]);
  });
});

describe('an answer counts only', () => {
  test('with a name and roles that code of the host vouches for', async () => {
    const { session, ask, runs } = world({ rules: [asking({ any: ['ann', 'role:manager'] })] });
    const id = await ask();
    const [question] = await session.approvals.pending();
    const token = question?.token as string;
    const denied = ['approval_denied', 'not_an_approver'];
    for (const answer of [
      'allow_once',
      'reject_once',
      'nonsense',
      { decision: 'allow_once' },
      { decision: 'allow_once', roles: ['manager'] },
      { decision: 'allow_once', by: 'role:manager' },
      { decision: 'allow_once', by: 'bob', roles: ['managers'] },
    ] as ApprovalAnswer[])
      expect(why(await session.approvals.resume(token, answer))).toEqual(denied);
    expect((await session.approvals.pending()).map((one) => one.id)).toEqual([id]);
    const named = { decision: 'allow_once', by: 'ann' } as const;
    expect((await session.approvals.resume(token, named)).success).toBe(true);
    expect(runs).toEqual([1_200]);
  });

  test('if it is for this call: a grant stands for nobody, and none is given', async () => {
    const plain: Rule = { effect: 'ask', tools: 'refund' };
    const { registry, session, ask, answer, manager } = world({ rules: [plain] });
    const id = await ask(5);
    await answer(id, 'ann', { decision: 'allow_always', grant: { match: 'tool' } });
    expect((await session.call('refund', { amount: 6 })).success).toBe(true);
    registry.addRules([asking(two)]);
    const other = await ask(7);
    expect(why(await answer(other, 'bob', { ...manager, decision: 'allow_always' }))).toEqual([
      'approval_denied',
      'standing_answer',
    ]);
    expect(why(await answer(other, 'bob', manager))).toEqual(waits);
  });

  test('once for a person, in whatever spelling', async () => {
    const { ask, answer, manager, runs } = world({
      rules: [asking({ any: ['role:manager'], count: 2 })],
    });
    const id = await ask();
    for (const by of ['bob', 'Bob', ' bob ', 'b\u200bob', 'ｂｏｂ', 'bоb', 'BΟB'])
      expect(why(await answer(id, by, manager))).toEqual(waits);
    expect(runs).toEqual([]);
    expect((await answer(id, 'bobby', manager)).success).toBe(true);
  });

  test('of whoever the rule names: a name that only looks like one of them is not', async () => {
    const { registry, ask, answer } = world({ rules: [asking({ any: ['ann'] })] });
    const id = await ask();
    for (const by of ['аnn', 'anп', 'role:ann']) {
      expect(await registry.approvals.get(id, { by })).toBeUndefined();
      expect(why(await answer(id, by))).toEqual(hidden);
    }
    expect((await answer(id, 'ANN')).success).toBe(true);
  });

  test('of someone else than the principal, in whatever spelling, with `notPrincipal`', async () => {
    const rules = [asking({ any: ['role:manager'], notPrincipal: true })];
    const { registry, ask, answer, manager } = world({ rules });
    const id = await ask();
    for (const by of ['cleo', 'Cleo', 'cl\u00adeo', 'ｃleo', 'clео']) {
      expect(await registry.approvals.get(id, { by, ...manager })).toBeUndefined();
      expect(why(await answer(id, by, manager))).toEqual(hidden);
    }
    expect((await answer(id, 'bob', manager)).success).toBe(true);
    // Without it, someone who is named may ask and answer.
    const own = world({ rules: [asking({ any: ['role:manager'] })] });
    expect((await own.answer(await own.ask(), 'cleo', own.manager)).success).toBe(true);
  });

  test('with the roles that the person has at that time', async () => {
    const { ask, answer, manager, runs } = world();
    const id = await ask();
    // Bob is a manager when he allows it, and none when Ann does.
    expect(why(await answer(id, 'bob', manager))).toEqual(waits);
    expect(why(await answer(id, 'bob'))).toEqual(hidden);
    expect((await answer(id, 'ann')).success).toBe(true);
    expect(runs).toEqual([1_200]);
  });

  test('for the input that was shown: an edit voids what others have allowed', async () => {
    const { registry, session, ask, answer, manager, runs, events } = world();
    const id = await ask();
    expect(why(await answer(id, 'bob', manager))).toEqual(waits);
    const edited = await answer(id, 'ann', { input: { amount: 900 } });
    expect(why(edited)).toEqual(['approval_pending', 'approval_required']);
    const [next] = await registry.approvals.pending();
    expect(next).toMatchObject({ input: { amount: 900 }, approvers: [two], allowedBy: ['ann'] });
    expect(next?.id).not.toBe(id);
    const other = next?.id as string;
    expect(why(await answer(other, 'ann'))).toEqual(waits);
    expect((await answer(other, 'bob', manager)).success).toBe(true);
    expect(runs).toEqual([900]);
    expect(events.at(-1)).toMatchObject({
      answers: [
        { by: 'ann', decision: 'allow_once' },
        { by: 'bob', roles: ['manager'], decision: 'allow_once' },
      ],
    });
    expect(await session.approvals.pending()).toEqual([]);
  });

  test('for what the rules ask when the call runs', async () => {
    const { registry, ask, answer, manager, runs } = world({ rules: [] });
    const remove = registry.addRules([asking({ any: ['bob'] })]);
    const id = await ask();
    registry.addRules([asking(two, { id: 'stricter' })]);
    remove();
    const asked = await answer(id, 'bob', manager);
    expect(why(asked)).toEqual(['approval_pending', 'approval_required']);
    const [next] = await registry.approvals.pending();
    expect(next).toMatchObject({ approvers: [two], allowedBy: ['bob'] });
    expect((await answer(next?.id as string, 'bob', manager)).success).toBe(false);
    expect(runs).toEqual([]);
  });

  test('if the record is the one that was signed', async () => {
    const store = memoryStore();
    const { registry, ask, answer, runs } = world({ store });
    const id = await ask();
    await answer(id, 'ann');
    const space = { shared: 'approvals' } as const;
    const list = { op: 'list', list: 'all', after: undefined, limit: 1, bytes: undefined } as const;
    const write = async (change: (record: JsonObject) => object) => {
      const { results } = await store.apply(space, [list]);
      const [kept] = results?.[0] ?? [];
      if (kept === undefined) throw new Error('expected a record');
      const { key: at, expiresAt } = kept;
      const record = JSON.parse(kept.value) as JsonObject;
      const value = JSON.stringify({ ...record, ...change(record) });
      const set = {
        op: 'set',
        key: at,
        value,
        ttlMs: undefined,
        expiresAt: expiresAt ?? undefined,
        lists: ['all'],
      } as const;
      await store.apply(space, [set]);
    };
    // People who have not allowed it.
    const bob = { by: 'bob', roles: ['manager'], decision: 'allow_once' };
    await write(({ counted }) => ({ counted: { ...(counted as object), answers: [bob] } }));
    expect((await registry.approvals.get(id))?.allowedBy).toBeUndefined();
    expect(why(await answer(id, 'ann'))).toEqual(waits);
    // Fewer who have to.
    await write(({ request }) => ({
      request: { ...(request as object), approvers: [{ any: ['ann'] }] },
    }));
    expect(await registry.approvals.get(id)).toBeUndefined();
    expect(why(await answer(id, 'ann'))).toEqual(['approval_denied', 'token_invalid']);
    expect(runs).toEqual([]);
  });
});
