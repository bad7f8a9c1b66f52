/** Shadow rules: matched, counted and reported, and never enforced. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AnyTool,
  allow,
  ask,
  deny,
  type Effect,
  HostToolRegistry,
  type Policy,
  type Rule,
  type ToolSession,
} from '../../../src/index.ts';
import { define, setup } from '../../core/call/define.ts';
import { gate, turns } from '../../core/call/world.ts';

const shadow = (effect: Effect, more: Partial<Rule> = {}): Rule => ({
  id: 'trial',
  effect,
  shadow: true,
  ...more,
});

/** The `policy:shadow` events, without what all events have. */
function trials({ events }: Pick<ReturnType<typeof setup>, 'events'>): unknown[] {
  return events.flatMap((event) => {
    if (event.type !== 'policy:shadow') return [];
    const { toolName, callId: _callId, ruleId, source, wouldBe, was } = event;
    return [{ toolName, ruleId, source, wouldBe, was }];
  });
}

describe('a shadow rule changes nothing', () => {
  test('a deny hides no tool and refuses no call', async () => {
    const { session } = setup([define('t')], { rules: [shadow('deny')] });
    expect(session.effectiveTools().names).toEqual(['t']);
    expect(await session.call('t')).toMatchObject({ success: true });
  });

  test('an ask asks no one, and the bound tool does not require approval', async () => {
    const { session, events } = setup([define('t')], { rules: [shadow('ask')] });
    expect(session.tool('t')?.requiresApproval).toBe(false);
    expect(await session.call('t')).toMatchObject({ success: true });
    expect(events.map(({ type }) => type)).not.toContain('approval:required');
  });

  test('an allow lifts no default, and does not make an asking default uncertain', async () => {
    const refusing = setup([define('t')], { rules: [shadow('allow')] }, { default: 'deny' });
    expect(await refusing.session.call('t')).toMatchObject({
      error: { code: 'policy_denied', reason: 'denied_by_default' },
    });
    const asking = setup([define('t')], { rules: [shadow('allow')] }, { default: 'ask' });
    expect(asking.session.tool('t')?.requiresApproval).toBe(true);
  });

  test('nor when it costs more than shadow rules may take', async () => {
    const text = 'a'.repeat(900_000);
    const costly = (id: string, isShadow: boolean): Rule => ({
      id,
      effect: 'deny',
      shadow: isShadow,
      when: { text: { glob: '*b' } },
    });
    // Together they would be over the budget of rules; the enforced ones alone are not.
    const rules = ['a', 'b', 'c', 'd'].flatMap((id) => [
      costly(`shadow-${id}`, true),
      costly(id, false),
    ]);
    const { session } = setup([define('t')], { rules });
    expect(await session.call('t', { text })).toMatchObject({ success: true });
    const over = [...'abcdefgh'].map((id) => costly(id, true));
    const alone = setup([define('t')], { rules: [...over, shadow('deny', { id: 'last' })] });
    expect(await alone.session.call('t', { text })).toMatchObject({ success: true });
    expect(trials(alone)).toEqual([]);
    expect((await alone.session.explain('t', { text })).steps).toEqual([
      {
        source: 'session',
        ruleId: 'c',
        shadow: true,
        note: 'too large to be checked against the shadow rules from here on',
      },
    ]);
  });
});

describe('`policy:shadow`', () => {
  test('reports the other outcome, right after `policy:check`', async () => {
    const one = setup([define('t')], {}, { rules: [shadow('deny', { when: { to: 'x' } })] });
    await one.session.call('t', { to: 'x' });
    await one.session.call('t', { to: 'y' });
    expect(one.told()).toEqual([
      ...['tool:pre', 'policy:check', 'policy:shadow', 'tool:post'],
      ...['tool:pre', 'policy:check', 'tool:post'],
    ]);
    const [, check, told] = one.events;
    expect(told).toEqual({
      type: 'policy:shadow',
      sessionId: 's',
      principal: '',
      actor: { principal: '', chain: [] },
      surface: '',
      at: expect.any(Number),
      seq: ((check as { seq: number }).seq ?? 0) + 1,
      toolName: 't',
      callId: (check as { callId: string }).callId,
      ruleId: 'trial',
      source: 'registry',
      wouldBe: 'deny',
      was: 'allow',
    });
  });

  test.each<[what: string, rules: Rule[], fallback: Effect, expected: unknown[]]>([
    ['an ask where nothing spoke', [shadow('ask')], 'allow', ['ask', 'allow']],
    ['an allow under a default that denies', [shadow('allow')], 'deny', ['allow', 'deny']],
    ['an ask under a default that denies', [shadow('ask')], 'deny', ['ask', 'deny']],
    ['an allow under a default that asks', [shadow('allow')], 'ask', ['allow', 'ask']],
    ['a deny where a rule asks', [shadow('deny'), { effect: 'ask' }], 'allow', ['deny', 'ask']],
    ['an ask where a rule allows', [shadow('ask'), { effect: 'allow' }], 'deny', ['ask', 'allow']],
  ])('%s', async (_, rules, fallback, [wouldBe, was]) => {
    const one = setup(
      [define('t')],
      { rules, approver: () => 'allow_once' },
      { default: fallback },
    );
    await one.session.call('t');
    expect(trials(one)).toEqual([
      { toolName: 't', ruleId: 'trial', source: 'session', wouldBe, was },
    ]);
    expect(one.session.metrics().byRule.trial).toEqual({ matched: 1, shadow: 1 });
  });

  test.each<[what: string, rules: Rule[], fallback: Effect]>([
    ['an allow where all is allowed', [shadow('allow')], 'allow'],
    ['an allow where a rule denies', [shadow('allow'), { effect: 'deny' }], 'allow'],
    ['an allow where a rule asks', [shadow('allow'), { effect: 'ask' }], 'deny'],
    ['a deny where another denies', [{ effect: 'deny' }, shadow('deny')], 'allow'],
    ['a deny under a default that denies', [shadow('deny')], 'deny'],
    ['an ask under a default that asks', [shadow('ask')], 'ask'],
  ])('is not sent for %s', async (_, rules, fallback) => {
    const one = setup([define('t')], { rules }, { default: fallback });
    await one.session.call('t');
    expect(trials(one)).toEqual([]);
    expect(one.session.metrics().byRule.trial).toEqual({ matched: 1, shadow: 0 });
  });

  test('compares with what policies and the tool itself decided', async () => {
    const policies: Policy[] = [{ id: 'p', check: () => deny('no') }];
    const denied = setup([define('t')], {}, { rules: [shadow('deny')], policies });
    await denied.session.call('t');
    expect(trials(denied)).toEqual([]);
    const asking = define('t', { requiresApproval: true });
    // The tool's own approval is no opinion that lifts the default, but any rule is one.
    const lifted = setup([asking], { rules: [shadow('allow')] }, { default: 'deny' });
    await lifted.session.call('t');
    expect(trials(lifted)).toMatchObject([{ wouldBe: 'ask', was: 'deny' }]);
  });

  test('is sent for each rule on its own', async () => {
    const one = setup([define('t')], {
      rules: [shadow('deny', { id: 'a' }), shadow('ask', { id: 'b' })],
    });
    await one.session.call('t');
    expect(trials(one)).toMatchObject([
      { ruleId: 'a', wouldBe: 'deny', was: 'allow' },
      { ruleId: 'b', wouldBe: 'ask', was: 'allow' },
    ]);
  });

  test('comes before the end of a call that is denied', async () => {
    const one = setup([define('t')], {}, { rules: [shadow('allow')], default: 'deny' });
    await one.session.call('t');
    expect(one.told()).toEqual([
      'tool:pre',
      'policy:check',
      'policy:shadow',
      'policy:violation',
      'tool:error policy_denied',
    ]);
  });

  test('is not sent of a call that a listener ended, but counts', async () => {
    const { registry, session, events, told } = setup([define('t')], {
      rules: [shadow('deny', { id: 'a' }), shadow('deny', { id: 'b' })],
    });
    registry.events.on('policy:shadow', () => void session.close());
    expect(await session.call('t')).toMatchObject({ error: { code: 'session_closed' } });
    expect(told()).toEqual([
      'tool:pre',
      'policy:check',
      'policy:shadow',
      'tool:error session_closed',
      'session:end',
    ]);
    expect(trials({ events })).toHaveLength(1);
    expect(session.metrics().byRule).toEqual({
      a: { matched: 1, shadow: 1 },
      b: { matched: 1, shadow: 1 },
    });
  });

  test('is sent once for a call that is judged again, however the verdict changes', async () => {
    const answer = gate<'allow_once'>();
    const one = setup(
      [define('t')],
      { approver: () => answer.promise },
      { rules: [shadow('deny'), { id: 'asks', effect: 'ask' }] },
    );
    const called = one.session.call('t');
    await turns();
    const remove = one.registry.addRules([{ id: 'late', effect: 'ask' }]);
    answer.open('allow_once');
    expect(await called).toMatchObject({ success: true });
    remove();
    expect(trials(one)).toHaveLength(1);
    expect(one.session.metrics().byRule).toEqual({
      trial: { matched: 1, shadow: 1 },
      asks: { matched: 1, shadow: 0 },
      late: { matched: 1, shadow: 0 },
    });
  });

  test('is sent when only the second judgement finds a difference', async () => {
    const answer = gate<'allow_once'>();
    const one = setup(
      [define('t')],
      { approver: () => answer.promise },
      { rules: [{ effect: 'ask' }] },
    );
    const called = one.session.call('t');
    await turns();
    one.registry.addRules([shadow('deny')]);
    answer.open('allow_once');
    await called;
    expect(trials(one)).toMatchObject([{ wouldBe: 'deny', was: 'ask' }]);
    expect(one.told().slice(-3)).toEqual(['policy:shadow', 'approval:settled', 'tool:post']);
  });

  test('of a rule that another of the same id replaced meanwhile is sent once', async () => {
    const answer = gate<'allow_once'>();
    const registry = new HostToolRegistry();
    registry.register(define('t', { requiresApproval: true }));
    const profile = { id: 'p', tools: ['t'], rules: [shadow('deny')] };
    registry.defineProfile(profile);
    const heard: string[] = [];
    registry.events.on('policy:shadow', ({ ruleId }) => void heard.push(ruleId));
    const session = registry.createSession({
      sessionId: 's',
      profile: 'p',
      approver: () => answer.promise,
    });
    const called = session.call('t');
    await turns();
    registry.defineProfile(profile);
    answer.open('allow_once');
    expect(await called).toMatchObject({ success: true });
    expect(heard).toEqual(['trial']);
    expect(registry.metrics().byRule).toEqual({ trial: { matched: 1, shadow: 1 } });
  });
});

describe('`explain`', () => {
  test('shows each shadow rule that matches, with what it would make of the call', async () => {
    const { session, registry, events } = setup(
      [define('t')],
      { rules: [shadow('deny', { id: 'mine' })] },
      { rules: [shadow('ask', { id: 'ours' }), { id: 'ok', effect: 'allow' }] },
    );
    expect(await session.explain('t', {})).toMatchObject({
      decision: { effect: 'allow' },
      ruleId: 'ok',
      steps: [
        { source: 'registry', ruleId: 'ok', effect: 'allow' },
        { source: 'registry', ruleId: 'ours', effect: 'ask', shadow: true, wouldBe: 'ask' },
        { source: 'session', ruleId: 'mine', effect: 'deny', shadow: true, wouldBe: 'deny' },
      ],
    });
    expect(events).toEqual([]);
    expect(session.metrics().byRule).toEqual({});
    expect(registry.metrics().byRule).toEqual({});
    expect(registry.unusedRules().map(({ id }) => id)).toEqual(['ours', 'ok']);
  });

  test('shows them after a denial too, and no other rule there', async () => {
    const { session } = setup(
      [define('t')],
      { rules: [shadow('allow', { id: 'mine' }), { effect: 'ask' }] },
      { rules: [{ id: 'no', effect: 'deny', when: { a: 1 } }, { effect: 'allow' }] },
    );
    expect((await session.explain('t', { a: 1 })).steps).toEqual([
      { source: 'registry', ruleId: 'no', effect: 'deny' },
      { source: 'session', ruleId: 'mine', effect: 'allow', shadow: true, wouldBe: 'deny' },
    ]);
  });
});

test('a `shadow` that is no boolean is refused where the rule is added', () => {
  expect(
    () => new HostToolRegistry({ rules: [{ effect: 'deny', shadow: 'yes' as never }] }),
  ).toThrow('registry rule 0: Expected `shadow` to be a boolean, got `yes` (string)');
});

// ---------- laws

interface Drawn {
  readonly layer: 'registry' | 'profile' | 'session';
  readonly rule: Rule;
}

const drawnRule = fc.record({
  layer: fc.constantFrom('registry', 'profile', 'session'),
  effect: fc.constantFrom('allow', 'ask', 'deny'),
  shadow: fc.boolean(),
  tools: fc.constantFrom(undefined, 't', 'other'),
  when: fc.constantFrom(undefined, { a: 1 }, { a: 2 }, { b: { glob: 'x*' } }),
});

const drawn = fc.record({
  rules: fc.array(drawnRule, { maxLength: 8 }).map((list) =>
    list.map(({ layer, effect, shadow: isShadow, tools, when }, index): Drawn => {
      const rule: Rule = { id: `r${index}`, effect, shadow: isShadow, tools, when };
      return { layer, rule: JSON.parse(JSON.stringify(rule)) as Rule };
    }),
  ),
  fallback: fc.constantFrom<Effect>('allow', 'ask', 'deny'),
  policy: fc.constantFrom<Effect | undefined>(undefined, undefined, 'allow', 'ask', 'deny'),
  requiresApproval: fc.boolean(),
  check: fc.constantFrom<Effect | undefined>(undefined, undefined, 'allow', 'ask', 'deny'),
  input: fc.constantFrom({}, { a: 1 }, { a: 2 }, { a: 1, b: 'xy' }, { b: ['z', 'x'] }),
  answer: fc.constantFrom('allow_once', 'reject_once'),
});
type Case = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

const decide = { allow: () => allow(), ask: () => ask(), deny: () => deny('no') } as const;

function sessionOf(one: Case, rules: readonly Drawn[]): [ToolSession, HostToolRegistry] {
  const of = (layer: Drawn['layer']): Rule[] =>
    rules.filter((drawnOne) => drawnOne.layer === layer).map(({ rule }) => rule);
  const policies: Policy[] =
    one.policy === undefined ? [] : [{ id: 'p', check: decide[one.policy] }];
  const registry = new HostToolRegistry({
    rules: of('registry'),
    policies,
    default: one.fallback,
    newId: () => 'id',
  });
  registry.register(
    define('t', {
      requiresApproval: one.requiresApproval,
      ...(one.check === undefined ? {} : { policy: { check: decide[one.check] } }),
    }) as AnyTool<unknown>,
  );
  registry.defineProfile({ id: 'profile', tools: ['t'], rules: of('profile') });
  const session = registry.createSession({
    sessionId: 's',
    profile: 'profile',
    rules: of('session'),
    approver: () => one.answer as 'allow_once',
  });
  return [session, registry];
}

/** Whether a rule matches a call to `t`, by what the generator above can make. */
function matchesCall({ effect, tools, when }: Rule, input: Record<string, unknown>): boolean {
  if (tools === 'other') return false;
  const [[path, wanted] = []] = Object.entries((when ?? {}) as Record<string, unknown>);
  if (path === undefined) return true;
  const values = [input[path]].flat();
  const passes = (value: unknown): boolean =>
    path === 'a' ? value === wanted : typeof value === 'string' && value.startsWith('x');
  return effect === 'allow' ? values.every(passes) : values.some(passes);
}

test('rule sets have the same outcome with and without their shadow rules', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async (one) => {
      const enforced = one.rules.filter(({ rule }) => rule.shadow !== true);
      const [session, registry] = sessionOf(one, one.rules);
      const [plain] = sessionOf(one, enforced);
      const heard = new Map<string, [wouldBe: Effect, was: Effect]>();
      registry.events.on('policy:shadow', ({ ruleId, wouldBe, was }) => {
        expect(heard.has(ruleId)).toBe(false);
        heard.set(ruleId, [wouldBe, was]);
      });

      expect(session.effectiveTools()).toMatchObject({
        names: plain.effectiveTools().names,
        dropped: plain.effectiveTools().dropped,
      });
      expect(session.tool('t')?.requiresApproval).toBe(plain.tool('t')?.requiresApproval);
      const [told, toldPlain] = [
        await session.explain('t', one.input),
        await plain.explain('t', one.input),
      ];
      expect({ ...told, steps: told.steps.filter((step) => step.shadow !== true) }).toEqual(
        toldPlain,
      );
      const [result, without] = [
        await session.call('t', one.input),
        await plain.call('t', one.input),
      ];
      expect({ ...result, metadata: result.metadata.status }).toEqual({
        ...without,
        metadata: without.metadata.status,
      });

      const was = toldPlain.decision?.effect;
      for (const drawnOne of one.rules) {
        const { rule } = drawnOne;
        const id = rule.id as string;
        const count = session.metrics().byRule[id];
        expect(count?.matched ?? 0).toBe(matchesCall(rule, one.input) ? 1 : 0);
        if (rule.shadow !== true) continue;
        const added = one.rules
          .filter((other) => other === drawnOne || other.rule.shadow !== true)
          .map((other) => ({ ...other, rule: { ...other.rule, shadow: false } }));
        const [adding] = sessionOf(one, added);
        const wouldBe = (await adding.explain('t', one.input)).decision?.effect;
        expect(heard.get(id)).toEqual(wouldBe === was ? undefined : [wouldBe, was]);
        expect(count?.shadow ?? 0).toBe(wouldBe === was ? 0 : 1);
      }
    }),
    { numRuns: 400 },
  );
});
