/**
 * What the gates say, in which order, and who is named for the verdict: as `explain` tells it, and
 * as the caller, the approver and the log get it.
 */
import { describe, expect, test, vi } from 'vitest';
import {
  type ApprovalRequest,
  allow,
  ask,
  type Decision,
  deny,
  type JsonObject,
  type Policy,
  type RegistryOptions,
  type SessionOptions,
} from '../../../../src/index.ts';
import { andThen, define, setup } from '../define.ts';

const policy = (id: string, answer: unknown): Policy => ({ id, check: () => answer as Decision });
const checking = (answer: unknown): Record<string, unknown> => ({
  policy: { check: () => answer },
});
const boom = (): never => {
  throw new Error('no');
};

interface Row {
  readonly tool?: Record<string, unknown>;
  readonly session?: Partial<SessionOptions>;
  readonly registry?: RegistryOptions;
}

describe('each gate with an answer is a step, and the deciding one is named', () => {
  test.each<[what: string, row: Row, steps: JsonObject[], rest: JsonObject]>([
    ['nobody speaks', {}, [], { decision: { effect: 'allow' }, source: 'default' }],
    [
      'a rule allows',
      { session: { rules: [{ id: 'r', effect: 'allow' }, { effect: 'allow' }] } },
      [
        { source: 'session', ruleId: 'r', effect: 'allow' },
        { source: 'session', ruleId: 'session#1', effect: 'allow' },
      ],
      { decision: { effect: 'allow' }, source: 'session', ruleId: 'r' },
    ],
    [
      'a rule asks, after one that allows',
      { session: { rules: [{ effect: 'allow' }, { id: 'r', effect: 'ask' }] } },
      [
        { source: 'session', ruleId: 'session#0', effect: 'allow' },
        { source: 'session', ruleId: 'r', effect: 'ask' },
      ],
      { decision: { effect: 'ask', prompt: 'Allow `t` to run?' }, source: 'session', ruleId: 'r' },
    ],
    [
      'a rule denies, and nobody is heard after it',
      {
        registry: { rules: [{ id: 'r', effect: 'deny', reason: 'no_way', when: { n: 1 } }] },
        session: { rules: [{ effect: 'allow' }], policies: [policy('p', allow())] },
      },
      [{ source: 'registry', ruleId: 'r', effect: 'deny' }],
      {
        decision: { effect: 'deny', reason: 'no_way' },
        source: 'registry',
        ruleId: 'r',
        code: 'policy_denied',
      },
    ],
    [
      'policies allow',
      {
        session: { policies: [policy('p', undefined), policy('q', allow()), policy('r', allow())] },
      },
      [
        { source: 'session', ruleId: 'q', effect: 'allow' },
        { source: 'session', ruleId: 'r', effect: 'allow' },
      ],
      { decision: { effect: 'allow' }, source: 'session', ruleId: 'q' },
    ],
    [
      'policies ask',
      { registry: { policies: [policy('p', ask('Sure?')), policy('q', ask('Really?'))] } },
      [
        { source: 'registry', ruleId: 'p', effect: 'ask' },
        { source: 'registry', ruleId: 'q', effect: 'ask' },
      ],
      { decision: { effect: 'ask', prompt: 'Sure?' }, source: 'registry', ruleId: 'p' },
    ],
    [
      'a policy denies',
      { session: { policies: [policy('p', deny('no_way', 'Not so.')), policy('q', allow())] } },
      [{ source: 'session', ruleId: 'p', effect: 'deny', reason: 'no_way' }],
      {
        decision: { effect: 'deny', reason: 'no_way', message: 'Not so.' },
        source: 'session',
        ruleId: 'p',
        code: 'policy_denied',
      },
    ],
    [
      'a policy throws',
      { session: { policies: [{ id: 'p', check: boom }] } },
      [{ source: 'session', effect: 'deny', reason: 'policy_threw' }],
      {
        decision: { effect: 'deny', reason: 'policy_threw' },
        source: 'session',
        ruleId: 'p',
        code: 'policy_error',
      },
    ],
    [
      "the tool's check allows",
      { tool: checking(allow()) },
      [{ source: 'tool', effect: 'allow' }],
      { decision: { effect: 'allow' }, source: 'tool' },
    ],
    [
      "the tool's check denies",
      { tool: checking(deny('no_way')) },
      [{ source: 'tool', effect: 'deny', reason: 'no_way' }],
      { decision: { effect: 'deny', reason: 'no_way' }, source: 'tool', code: 'policy_denied' },
    ],
    [
      'the tool asks',
      { tool: { requiresApproval: true, title: 'Tee' } },
      [{ source: 'tool', effect: 'ask' }],
      { decision: { effect: 'ask', prompt: 'Allow `Tee` to run?' }, source: 'tool' },
    ],
    [
      'the tool does not ask',
      { tool: { requiresApproval: () => false } },
      [],
      { decision: { effect: 'allow' }, source: 'default' },
    ],
    [
      'the default denies',
      { registry: { default: 'deny' } },
      [{ source: 'default', effect: 'deny' }],
      {
        decision: {
          effect: 'deny',
          reason: 'denied_by_default',
          message: 'The call was denied, because no rule allows it and the default is to deny.',
        },
        source: 'default',
        code: 'policy_denied',
      },
    ],
    [
      'the default asks',
      { registry: { default: 'ask' } },
      [{ source: 'default', effect: 'ask' }],
      { decision: { effect: 'ask', prompt: 'Allow `t` to run?' }, source: 'default' },
    ],
    [
      'the default and the tool ask: the tool has the word',
      { registry: { default: 'ask' }, tool: { requiresApproval: () => ({ title: 'Sure?' }) } },
      [
        { source: 'tool', effect: 'ask' },
        { source: 'default', effect: 'ask' },
      ],
      { decision: { effect: 'ask', prompt: 'Sure?' }, source: 'tool' },
    ],
    [
      'a default that would deny does not speak where somebody allows',
      { registry: { default: 'deny' }, session: { policies: [policy('p', allow())] } },
      [{ source: 'session', ruleId: 'p', effect: 'allow' }],
      { decision: { effect: 'allow' }, source: 'session', ruleId: 'p' },
    ],
  ])('%s', async (_, { tool = {}, session = {}, registry = {} }, steps, rest) => {
    const { session: made } = setup([define('t', tool)], session, registry);
    expect(await made.explain('t', { n: 1 })).toStrictEqual({
      visible: true,
      executor: 'inline',
      steps,
      ...rest,
    });
  });

  test("without an input, the tool's code does not run, and a profile still asks", async () => {
    const check = vi.fn(() => deny('no_way'));
    const requiresApproval = vi.fn(() => true);
    const parameters = { type: 'object', required: ['n'] };
    const { session, registry } = setup([
      define('t', { parameters, requiresApproval, policy: { check } }),
    ]);
    const note = { source: 'tool', note: 'no input was given' };
    expect(await session.explain('t')).toMatchObject({
      decision: { effect: 'allow' },
      steps: [{ stage: 'validation' }, note, note],
    });
    registry.defineProfile({ id: 'p', tools: [{ name: 't', requiresApproval: true }] });
    session.setProfile('p');
    const asked = {
      decision: { effect: 'ask', prompt: 'Allow `t` to run?' },
      steps: [{ stage: 'validation' }, note, note, { source: 'tool', effect: 'ask' }],
    };
    expect(await session.explain('t')).toMatchObject(asked);
    expect(check).not.toHaveBeenCalled();
    expect(requiresApproval).not.toHaveBeenCalled();
  });
});

describe('of an ask', () => {
  /** What the approver reads. */
  async function question({
    tool = {},
    session = {},
    registry = {},
  }: Row): Promise<Partial<ApprovalRequest> | undefined> {
    let seen: ApprovalRequest | undefined;
    const approver = (request: ApprovalRequest): 'allow_once' => {
      seen = request;
      return 'allow_once';
    };
    await setup([define('t', tool)], { ...session, approver }, registry).session.call('t', {
      n: 1,
    });
    if (seen === undefined) return undefined;
    const { title, message, risk, ruleId, source } = seen;
    return {
      title,
      source,
      ...(message && { message }),
      ...(risk && { risk }),
      ...(ruleId && { ruleId }),
    };
  }
  const words = { requiresApproval: () => ({ title: 'Sure?', risk: 'high' }) };
  const policies = [policy('p', ask('Since it is Friday.'))];

  test.each<[rule: string, row: Row, asked: Partial<ApprovalRequest> | undefined]>([
    [
      'a policy words the title',
      { session: { policies } },
      { title: 'Since it is Friday.', ruleId: 'p', source: 'session' },
    ],
    [
      "the tool's title stands over the policy's words, which become the message",
      { tool: words, session: { policies } },
      {
        title: 'Sure?',
        risk: 'high',
        message: 'Since it is Friday.',
        ruleId: 'p',
        source: 'session',
      },
    ],
    [
      "the tool's own message stands before the policy's words",
      {
        tool: { requiresApproval: () => ({ title: 'Sure?', message: 'It is gone then.' }) },
        session: { policies },
      },
      { title: 'Sure?', message: 'It is gone then.', ruleId: 'p', source: 'session' },
    ],
    [
      'a rule without words adds none',
      { tool: words, session: { rules: [{ id: 'r', effect: 'ask' }] } },
      { title: 'Sure?', risk: 'high', ruleId: 'r', source: 'session' },
    ],
    [
      'a tool that merely asks keeps the words of the policy',
      { tool: { requiresApproval: true }, session: { policies } },
      {
        title: 'Allow `t` to run?',
        message: 'Since it is Friday.',
        ruleId: 'p',
        source: 'session',
      },
    ],
    [
      'a tool that does not ask does not take it back',
      { tool: { requiresApproval: () => false }, session: { policies } },
      { title: 'Since it is Friday.', ruleId: 'p', source: 'session' },
    ],
    [
      'a check may ask as well',
      { tool: checking(ask('Sure?')) },
      { title: 'Sure?', source: 'tool' },
    ],
    ['nobody is asked where nobody asks', { tool: { requiresApproval: () => false } }, undefined],
  ])('%s', async (_, row, asked) => {
    expect(await question(row)).toEqual(asked);
  });

  test('a profile asks in plain words where the tool would not', async () => {
    const titles: string[] = [];
    const approver = ({ title }: ApprovalRequest): 'allow_once' =>
      andThen(titles.push(title), 'allow_once');
    const { session, registry } = setup([define('t', { requiresApproval: () => false })], {
      approver,
    });
    registry.defineProfile({ id: 'p', tools: [{ name: 't', requiresApproval: true }] });
    session.setProfile('p');
    await session.call('t', { n: 1 });
    expect(titles).toEqual(['Allow `t` to run?']);
  });
});

describe('a gate that fails', () => {
  test.each<[what: string, row: Row, where: string, message: string]>([
    [
      'a policy without sense',
      { session: { policies: [policy('p', 7)] } },
      'p',
      'Expected `p` to return allow(), ask(), deny(reason) or undefined, got `7` (number).',
    ],
    [
      'a check without sense',
      { tool: checking(7) },
      'check',
      'Expected `check` to return allow(), ask(), deny(reason), got `7` (number).',
    ],
    [
      'a check without an answer',
      { tool: checking(undefined) },
      'check',
      'Expected `check` to return allow(), ask(), deny(reason), got undefined.',
    ],
    [
      'requiresApproval without sense',
      { tool: { requiresApproval: () => 7 } },
      'requiresApproval',
      'Expected `requiresApproval` to return a boolean or { title, message?, risk?, approvers? }, got `7` ' +
        '(number).',
    ],
  ])(
    'is told to the host, by what was expected and what came: %s',
    async (_, { tool = {}, session = {} }, where, message) => {
      const logged: string[] = [];
      const logger = {
        warn: (_data: object, text?: string) => void logged.push(text ?? ''),
        error: (_data: object, text?: string) => void logged.push(text ?? ''),
      };
      const { error } = await setup([define('t', tool)], session, { logger }).session.call('t', {
        n: 1,
      });
      expect(error).toMatchObject({ code: 'policy_error', reason: 'policy_nonsense' });
      expect(error).toHaveProperty('cause.message', message);
      expect(logged).toEqual([
        `\`${where}\` did not return a decision, so the call was refused: ${message}`,
      ]);
    },
  );

  test.each<[where: string, row: Row]>([
    ['p', { session: { policies: [{ id: 'p', check: boom }] } }],
    ['check', { tool: { policy: { check: boom } } }],
    ['requiresApproval', { tool: { requiresApproval: boom } }],
  ])('by throwing is logged by its name: %s', async (where, { tool = {}, session = {} }) => {
    const logged: string[] = [];
    const log = (_data: object, text?: string): void => void logged.push(text ?? '');
    await setup([define('t', tool)], session, { logger: { warn: log, error: log } }).session.call(
      't',
      { n: 1 },
    );
    expect(logged).toEqual([`\`${where}\` threw, so the call was refused`]);
  });

  test('by throwing is the cause of the refusal, and a plain denial has none', async () => {
    const thrown = new Error('no');
    const throwing = setup([define('t')], {
      policies: [{ id: 'p', check: () => Promise.reject(thrown) }],
    });
    expect((await throwing.session.call('t', {})).error).toHaveProperty('cause', thrown);
    const denying = setup([define('t')], { rules: [{ effect: 'deny', when: { n: 1 } }] });
    expect(
      Object.hasOwn((await denying.session.call('t', { n: 1 })).error as object, 'cause'),
    ).toBe(false);
  });
});

test('no gate is asked any more about a call that has ended', async () => {
  const controller = new AbortController();
  const second = vi.fn();
  const first = async (): Promise<undefined> => {
    controller.abort();
    await Promise.resolve();
    return undefined;
  };
  const policies = [
    { id: 'p', check: first },
    { id: 'q', check: second },
  ];
  const { session } = setup([define('t')], { policies });
  expect(await session.call('t', {}, { signal: controller.signal })).toMatchObject({
    error: { code: 'cancelled' },
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(second).not.toHaveBeenCalled();
});

describe('the event of a verdict', () => {
  test.each<[what: string, row: Row, told: JsonObject]>([
    ['an allowance by default', {}, { effect: 'allow', source: 'default' }],
    [
      'an allowance by a rule',
      { session: { rules: [{ id: 'r', effect: 'allow' }] } },
      { effect: 'allow', source: 'session', ruleId: 'r' },
    ],
    [
      'a denial by a check',
      { tool: checking(deny('no_way')) },
      { effect: 'deny', source: 'tool', reason: 'no_way' },
    ],
    [
      'a denial by a policy',
      { session: { policies: [policy('p', deny('no_way'))] } },
      { effect: 'deny', source: 'session', ruleId: 'p', reason: 'no_way' },
    ],
  ])(
    'says what was said, and has no member for what was not: %s',
    async (_, { tool = {}, session = {} }, told) => {
      const { session: made, events } = setup([define('t', tool)], session);
      await made.call('t', { n: 1 }, { callId: 'c' });
      const event = events.find(({ type }) => type === 'policy:check');
      const who = {
        sessionId: 's',
        principal: '',
        actor: { principal: '', chain: [] },
        surface: '',
      };
      const rest = { at: expect.any(Number), seq: 2, toolName: 't', callId: 'c' };
      expect(event).toStrictEqual({ type: 'policy:check', ...who, ...rest, ...told });
    },
  );

  test("has the time of the call's arrival, or of the verdict if that took long", async () => {
    const policies = (check: Policy['check']): Policy[] => [{ id: 'p', check }];
    for (const [check, later] of [
      [() => undefined, false],
      [async () => undefined, true],
    ] as const) {
      let now = 0;
      const { session, events } = setup(
        [define('t')],
        { policies: policies(check) },
        { now: () => ++now },
      );
      await session.call('t', {});
      const [pre, verdict] = ['tool:pre', 'policy:check'].map(
        (type) => events.find((event) => event.type === type)?.at ?? 0,
      );
      expect((verdict as number) > (pre as number)).toBe(later);
    }
  });
});
