import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  allow,
  ask,
  type Decision,
  deny,
  type Effect,
  type JsonObject,
  type Policy,
  type PolicyCall,
  type Rule,
  type ToolResult,
} from '../../../src/index.ts';
import { andThen, define, setup } from './define.ts';

type Layer =
  | 'registry rules'
  | 'registry policies'
  | 'profile rules'
  | 'session rules'
  | 'session policies'
  | 'check';
const layers: readonly Layer[] = [
  'registry rules',
  'registry policies',
  'profile rules',
  'session rules',
  'session policies',
  'check',
];
const sources: Record<Layer, string> = {
  'registry rules': 'registry',
  'registry policies': 'registry',
  'profile rules': 'profile:p',
  'session rules': 'session',
  'session policies': 'session',
  check: 'tool',
};

interface Given {
  readonly says?: Partial<Record<Layer, Effect>>;
  readonly registryDefault?: Effect;
  readonly profileDefault?: Effect;
  readonly requiresApproval?: boolean;
}

/** What a call comes to, with an approver that says yes. */
async function verdict({
  says = {},
  registryDefault,
  profileDefault,
  requiresApproval = false,
}: Given): Promise<{ effect: Effect; result: ToolResult }> {
  const rule = (layer: Layer): Rule[] =>
    says[layer] === undefined
      ? []
      : [
          {
            id: layer.replace(' ', '-'),
            effect: says[layer],
            when: { n: 1 },
            ...(says[layer] === 'deny' ? { reason: 'by_rule' } : {}),
          },
        ];
  const decision = (effect: Effect): Decision =>
    effect === 'deny' ? deny('by_policy') : effect === 'ask' ? ask() : allow();
  const policy = (layer: Layer): Policy[] =>
    says[layer] === undefined
      ? []
      : [{ id: layer.replace(' ', '-'), check: () => decision(says[layer] as Effect) }];
  const asked = vi.fn();
  const tool = define('t', {
    requiresApproval,
    ...(says.check === undefined
      ? {}
      : { policy: { check: () => decision(says.check as Effect) } }),
  });
  const { session, registry } = setup(
    [tool],
    {
      rules: rule('session rules'),
      policies: policy('session policies'),
      approver: () => andThen(asked(), 'allow_once'),
    },
    {
      rules: rule('registry rules'),
      policies: policy('registry policies'),
      ...(registryDefault === undefined ? {} : { default: registryDefault }),
    },
  );
  registry.defineProfile({
    id: 'p',
    tools: ['t'],
    rules: rule('profile rules'),
    ...(profileDefault === undefined ? {} : { default: profileDefault }),
  });
  session.setProfile('p');
  const result = await session.call('t', { n: 1 });
  return {
    effect: result.success ? (asked.mock.calls.length > 0 ? 'ask' : 'allow') : 'deny',
    result,
  };
}

const order: readonly Effect[] = ['allow', 'ask', 'deny'];
const strictest = (effects: readonly Effect[]): Effect =>
  order[Math.max(...effects.map((effect) => order.indexOf(effect)))] as Effect;

describe('deny > ask > allow, over all layers', () => {
  test.each(layers)('a deny of the %s is a deny, and says where it came from', async (layer) => {
    const { result } = await verdict({ says: { [layer]: 'deny' } });
    expect(result).toMatchObject({
      error: {
        code: 'policy_denied',
        source: sources[layer],
        reason: layer.endsWith('rules') ? 'by_rule' : 'by_policy',
        ...(layer === 'check' ? {} : { ruleId: layer.replace(' ', '-') }),
      },
    });
  });

  test(
    'the strictest of all layers holds; an allow lifts only a default, never an ask, a deny or ' +
      'requiresApproval',
    async () => {
      const effect = fc.constantFrom<Effect>(...order);
      const says = fc.record(
        Object.fromEntries(layers.map((layer) => [layer, effect])) as Record<Layer, typeof effect>,
        { requiredKeys: [] },
      );
      await fc.assert(
        fc.asyncProperty(
          says,
          fc.option(effect, { nil: undefined }),
          fc.option(effect, { nil: undefined }),
          fc.boolean(),
          async (given, registryDefault, profileDefault, requiresApproval) => {
            const decided = Object.values(given) as Effect[];
            const silent =
              decided.length === 0
                ? strictest([registryDefault ?? 'allow', profileDefault ?? 'allow'])
                : 'allow';
            const expected = strictest([...decided, silent, requiresApproval ? 'ask' : 'allow']);
            const { effect: came } = await verdict({
              says: given as Partial<Record<Layer, Effect>>,
              ...(registryDefault === undefined ? {} : { registryDefault }),
              ...(profileDefault === undefined ? {} : { profileDefault }),
              requiresApproval,
            });
            expect(came).toBe(expected);
          },
        ),
        { numRuns: 400 },
      );
    },
  );

  test('without a rule, a policy or a default the registry allows', async () => {
    expect((await verdict({})).effect).toBe('allow');
  });

  test.each<[Effect | undefined, Effect | undefined, Effect]>([
    ['deny', 'allow', 'deny'],
    ['allow', 'deny', 'deny'],
    ['ask', undefined, 'ask'],
    ['ask', 'deny', 'deny'],
    [undefined, 'ask', 'ask'],
  ])(
    'the strictest default speaks where nobody does: registry %s, profile %s → %s',
    async (registryDefault, profileDefault, expected) => {
      const { effect, result } = await verdict({
        ...(registryDefault === undefined ? {} : { registryDefault }),
        ...(profileDefault === undefined ? {} : { profileDefault }),
      });
      expect(effect).toBe(expected);
      if (expected === 'deny')
        expect(result).toMatchObject({
          error: { code: 'policy_denied', reason: 'denied_by_default', source: 'default' },
        });
    },
  );

  test('after a policy without an opinion, the default applies', async () => {
    const { session } = setup(
      [define('t')],
      {},
      { default: 'deny', policies: [{ id: 'p', check: () => undefined }] },
    );
    expect(await session.call('t')).toMatchObject({ error: { reason: 'denied_by_default' } });
  });

  test('requiresApproval of a profile asks, whatever allows', async () => {
    const approver = vi.fn(() => 'allow_once' as const);
    const { session, registry } = setup([define('t')], { approver, rules: [{ effect: 'allow' }] });
    registry.defineProfile({ id: 'p', tools: [{ name: 't', requiresApproval: true }] });
    expect(session.tool('t')?.requiresApproval).toBe(false);
    session.setProfile('p');
    expect(session.tool('t')?.requiresApproval).toBe(true);
    await session.call('t');
    expect(approver).toHaveBeenCalledTimes(1);
  });

  test('added rules apply at once and end with their remover, which is idempotent', async () => {
    const { session, registry } = setup([define('t')]);
    const remove = registry.addRules([{ effect: 'deny', tools: 't' }]);
    expect(await session.call('t')).toMatchObject({
      error: { code: 'policy_denied', ruleId: 'registry#0', source: 'registry' },
    });
    remove();
    remove();
    expect(await session.call('t')).toMatchObject({ success: true });
  });

  test('a scope’s rules touch its own tools alone', async () => {
    const { session, registry } = setup([define('mine')]);
    const scope = registry.scope('plugin', {
      rules: [{ effect: 'deny', when: { n: 1 }, reason: 'plugin_says_no' }, { effect: 'allow' }],
    });
    scope.register(define('theirs'));
    expect(await session.call('mine', { n: 1 })).toMatchObject({ success: true });
    expect(await session.call('theirs', { n: 1 })).toMatchObject({
      error: { reason: 'plugin_says_no', source: 'scope:plugin' },
    });
    await scope.dispose();
    registry.register(define('theirs'));
    expect(await session.call('theirs', { n: 1 })).toMatchObject({ success: true });
  });
});

describe('a policy that fails denies: policy_error', () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const failures: [string, () => unknown, string][] = [
    [
      'throws an Error',
      () => {
        throw new Error('CANARY');
      },
      'policy_threw',
    ],
    [
      'throws undefined',
      () => {
        throw undefined;
      },
      'policy_threw',
    ],
    ['rejects', () => Promise.reject(new Error('CANARY')), 'policy_threw'],
    ['answers true', () => true, 'policy_nonsense'],
    ['answers "allow"', () => 'allow', 'policy_nonsense'],
    ['answers null', () => null, 'policy_nonsense'],
    ['answers an empty object', () => ({}), 'policy_nonsense'],
    ['answers an unknown effect', () => ({ effect: 'permit' }), 'policy_nonsense'],
    ['answers a truthy array', () => [allow()], 'policy_nonsense'],
    ['resolves to nonsense', async () => 'yes', 'policy_nonsense'],
    ['answers a revoked proxy', revoked, 'policy_'],
    [
      'answers an effect by a getter that throws',
      () => ({
        get effect() {
          throw new Error('no');
        },
      }),
      'policy_nonsense',
    ],
    ['denies without a reason', () => ({ effect: 'deny' }), 'policy_nonsense'],
    ['denies with a reason in capitals', () => deny('NotAllowed'), 'policy_nonsense'],
    ['denies with a reason of two lines', () => deny('no\nway'), 'policy_nonsense'],
    ['asks with a prompt that is no text', () => ({ effect: 'ask', prompt: 7 }), 'policy_nonsense'],
  ];
  test.each(failures)('one that %s', async (_, check, reason) => {
    const handler = vi.fn();
    const approver = vi.fn(() => 'allow_once' as const);
    for (const place of ['registry', 'session', 'tool'] as const) {
      const policies = [{ id: 'broken', check } as Policy];
      const { session, events } = setup(
        [define('t', { handler, ...(place === 'tool' ? { policy: { check } } : {}) })],
        { approver, rules: [{ effect: 'allow' }], ...(place === 'session' ? { policies } : {}) },
        place === 'registry' ? { policies } : {},
      );
      const result = await session.call('t');
      expect(result).toMatchObject({
        error: {
          code: 'policy_error',
          reason: expect.stringContaining(reason),
          source: place,
          ...(place === 'tool' ? {} : { ruleId: 'broken' }),
        },
        metadata: { status: 'rejected' },
      });
      expect(JSON.stringify([result, events])).not.toContain('CANARY');
    }
    expect(handler).not.toHaveBeenCalled();
    expect(approver).not.toHaveBeenCalled();
  });

  test('`check` must have an opinion, a policy need not', async () => {
    expect(
      await setup([define('t', { policy: { check: () => undefined } })]).session.call('t'),
    ).toMatchObject({
      error: { code: 'policy_error', source: 'tool' },
    });
    expect(
      await setup([define('t')], {
        policies: [{ id: 'p', check: async () => undefined }],
      }).session.call('t'),
    ).toMatchObject({ success: true });
  });

  test.each(['policies', 'check', 'requiresApproval'])(
    'one that takes longer than policyTimeoutMs, 5 s unless set: %s',
    async (place) => {
      vi.useFakeTimers();
      const handler = vi.fn();
      const hang = () => new Promise<never>(() => {});
      const tool = define('t', {
        handler,
        ...(place === 'check'
          ? { policy: { check: hang } }
          : place === 'requiresApproval'
            ? { requiresApproval: hang }
            : {}),
      });
      for (const [options, ms] of [
        [{}, 5_000],
        [{ policyTimeoutMs: 200 }, 200],
      ] as const) {
        const { session } = setup(
          [tool],
          place === 'policies' ? { policies: [{ id: 'slow', check: hang }] } : {},
          options,
        );
        let result: ToolResult | undefined;
        void session.call('t').then((settled) => {
          result = settled;
        });
        await vi.advanceTimersByTimeAsync(ms - 20);
        expect(result).toBeUndefined();
        await vi.advanceTimersByTimeAsync(40);
        expect(result).toMatchObject({ error: { code: 'policy_error', reason: 'policy_timeout' } });
      }
      expect(handler).not.toHaveBeenCalled();
    },
  );

  test('requiresApproval that throws or answers nonsense denies', async () => {
    for (const requiresApproval of [
      () => {
        throw new Error('no');
      },
      () => 'yes',
      () => undefined,
      () => ({ title: '' }),
      async () => 1,
    ]) {
      const approver = vi.fn(() => 'allow_once' as const);
      const { session } = setup([define('t', { requiresApproval })], { approver });
      expect(await session.call('t')).toMatchObject({
        error: { code: 'policy_error', source: 'tool' },
      });
      expect(approver).not.toHaveBeenCalled();
    }
  });
});

describe('a deny carries its reason, its rule and its source', () => {
  test('a rule without a reason denies as denied_by_rule', async () => {
    const { session } = setup([define('t')], { rules: [{ effect: 'deny', when: { n: 1 } }] });
    expect(await session.call('t', { n: 1 })).toMatchObject({
      error: { reason: 'denied_by_rule', ruleId: 'session#0', source: 'session' },
    });
  });

  test('the model gets the message of a policy', async () => {
    const { session } = setup([
      define('t', {
        policy: {
          check: ({ deny: no }: PolicyCall<unknown, unknown, unknown>) =>
            no('dirty_worktree', 'Commit your changes first.'),
        },
      }),
    ]);
    expect(await session.call('t')).toMatchObject({
      error: {
        code: 'policy_denied',
        reason: 'dirty_worktree',
        message: 'Commit your changes first.',
        source: 'tool',
      },
    });
  });

  test('the same in result, events, metrics and explain', async () => {
    const { session, events } = setup([define('t')], {
      rules: [{ id: 'r', effect: 'deny', reason: 'not_now', when: { n: 1 } }],
    });
    const { error } = await session.call('t', { n: 1 });
    const parts = { reason: 'not_now', ruleId: 'r', source: 'session' };
    expect(error).toMatchObject(parts);
    for (const type of ['policy:check', 'policy:violation'])
      expect(events.find((event) => event.type === type)).toMatchObject(parts);
    expect(events.find((event) => event.type === 'tool:error')).toMatchObject({ error: parts });
    expect(session.metrics()).toMatchObject({ denied: 1, denyRate: 1, byReason: { not_now: 1 } });
    expect(await session.explain('t', { n: 1 })).toMatchObject({
      decision: { effect: 'deny', reason: 'not_now' },
      ruleId: 'r',
      source: 'session',
    });
  });

  test('a reason that does not match is refused where rules are given', () => {
    const { registry } = setup([define('t')]);
    const rules = [{ effect: 'deny', reason: 'Not-Now' }] as Rule[];
    expect(() => registry.addRules(rules)).toThrow(/reason/);
    expect(() => registry.createSession({ sessionId: 'x', rules })).toThrow(/reason/);
    expect(() => registry.defineProfile({ id: 'x', tools: ['t'], rules })).toThrow(/reason/);
  });
});

describe('what gates are given', () => {
  test('a policy: the tool’s summary, the canonical input, who calls, and the knobs', async () => {
    const check = vi.fn<Policy['check']>(() => undefined);
    const { session, registry } = setup(
      [define('t', { tags: ['x'], annotations: { destructive: true } })],
      {
        policies: [{ id: 'p', check }],
        principal: 'ann',
        cwd: '/w',
        services: { db: 1 },
      },
    );
    await session.call('t', { n: 1 }, { callId: 'c1' });
    const subject = check.mock.calls[0]?.[0];
    expect(subject).toMatchObject({
      tool: {
        name: 't',
        source: 'host',
        tags: ['x'],
        annotations: { destructive: true },
        fingerprint: registry.get('t')?.fingerprint,
      },
      input: { n: 1 },
      context: {
        sessionId: 's',
        principal: 'ann',
        cwd: '/w',
        services: { db: 1 },
        callId: 'c1',
        toolName: 't',
      },
      knobs: {},
    });
    expect(Object.isFrozen(subject?.tool) && Object.isFrozen(subject?.context)).toBe(true);
  });

  test('check: the parsed input, the profile’s knobs, and the three answers', async () => {
    const check = vi.fn(
      ({
        input,
        knobs,
        deny: no,
        allow: yes,
      }: PolicyCall<{ path: string }, { roots: string[] }, unknown>) =>
        knobs.roots.some((root) => input.path.startsWith(root)) ? yes() : no('outside_roots'),
    );
    const knobs = {
      type: 'object',
      properties: { roots: { type: 'array', items: { type: 'string' }, default: [] } },
    };
    const { session, registry } = setup([define('t', { policy: { knobs, check } })]);
    registry.defineProfile({
      id: 'p',
      tools: [{ name: 't', knobs: { roots: ['/tmp/'] } as JsonObject }],
    });
    expect(await session.call('t', { path: '/tmp/a' })).toMatchObject({
      error: { reason: 'outside_roots' },
    });
    session.setProfile('p');
    expect(await session.call('t', { path: '/tmp/a' })).toMatchObject({ success: true });
    expect(await session.call('t', { path: '/etc/a' })).toMatchObject({
      error: { reason: 'outside_roots' },
    });
  });
});

describe('globs and when cannot be dodged', () => {
  const deny_ = (rule: Partial<Rule>): Rule => ({ effect: 'deny', reason: 'caught', ...rule });
  const input = { type: 'object' };

  test.each<[string, string | string[], string[], string[]]>([
    [
      'a star is any run of any characters',
      '*shell',
      ['.shell', 'host/shell', 'a.b/c-shell', 'shell', 'a b shell'],
      ['shells', 'Shell_'],
    ],
    ['a glob is anchored and case-sensitive', 'exec', ['exec'], ['exec2', 'host.exec', 'Exec']],
    [
      'slashes and dots are ordinary',
      'host*exec',
      ['host/exec', 'host.exec', 'host//x/exec', 'hostexec'],
      ['host/exec/2'],
    ],
    ['a question mark is one character', 'rm?', ['rm1', 'rm😀', 'rm.'], ['rm', 'rm12']],
    ['brackets are ordinary', 'a[bc]', ['a[bc]'], ['ab', 'ac']],
  ])('tools: %s', async (_, tools, caught, free) => {
    const { session, registry } = setup([], { rules: [deny_({ tools, when: { n: 1 } })] });
    for (const name of [...caught, ...free]) {
      const registration = registry.register(define(name, { parameters: input }));
      const { error } = await session.call(name, { n: 1 });
      expect(error?.reason, name).toBe(caught.includes(name) ? 'caught' : undefined);
      registration.unregister();
    }
  });

  test.each<[string, Rule['when'], unknown]>([
    ['a value with a line break', { cmd: { glob: '*rm*' } }, { cmd: 'a\nrm -rf b' }],
    ['a value moved into an array', { cmd: 'rm' }, { cmd: ['rm'] }],
    ['a value moved deeper into arrays', { 'args.*': 'rm' }, { args: [['ok'], [['rm']]] }],
    ['a value moved out of its array', { 'args.*': 'rm' }, { args: 'rm' }],
    ['an object wrapped in an array', { 'options.force': true }, { options: [{ force: true }] }],
    ['a key that holds the dot', { 'options.force': true }, { 'options.force': true }],
    ['a number as text', { port: 22 }, { port: '22' }],
    ['text as a number', { port: '22' }, { port: 22 }],
    ['a number that a pattern names', { port: { matches: '^22$' } }, { port: 22 }],
    [
      'one bad element among good ones',
      { 'files.*': { glob: '/etc/*' } },
      { files: ['/tmp/a', '/etc/passwd'] },
    ],
    [
      'a key with dots, by the list form',
      [{ path: ['a.b', 'c'], equals: 'x' }],
      { 'a.b': { c: 'x' } },
    ],
    ['a pattern is unanchored', { cmd: { matches: 'rm' } }, { cmd: 'sudo rm' }],
    ['an index', { 'args.0': 'push' }, { args: ['push', 'x'] }],
  ])('when: %s', async (_, when, given) => {
    const handler = vi.fn();
    const { session } = setup([define('t', { handler, parameters: input })], {
      rules: [deny_({ when })],
    });
    expect(await session.call('t', given)).toMatchObject({
      error: { code: 'policy_denied', reason: 'caught' },
    });
    expect(await session.tool('t')?.execute(JSON.stringify(given) as never)).toMatchObject({
      error: { reason: 'caught' },
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test('an absent path is looked up in the defaults; without one, no rule matches', async () => {
    const parameters = {
      type: 'object',
      properties: { force: { type: 'boolean', default: true } },
    };
    const { session } = setup([define('t', { parameters })], {
      rules: [deny_({ when: { force: true } }), deny_({ when: { other: { in: [null, true] } } })],
    });
    expect(await session.call('t', {})).toMatchObject({ error: { reason: 'caught' } });
    expect(await session.call('t', { force: false })).toMatchObject({ success: true });
  });

  test('an allow takes the narrowest reading: all elements, exact types, no gaps', async () => {
    const { session } = setup(
      [define('t', { parameters: input })],
      {
        rules: [
          { effect: 'allow', when: { 'files.*': { glob: '/tmp/*' } } },
          { effect: 'allow', when: { port: 80 } },
        ],
      },
      { default: 'deny' },
    );
    for (const given of [
      { files: ['/tmp/a', '/etc/b'] },
      { files: [] },
      { files: [['/tmp/a'], 5] },
      {},
      { port: '80' },
      { port: [80, 81] },
    ])
      expect(await session.call('t', given), JSON.stringify(given)).toMatchObject({
        error: { reason: 'denied_by_default' },
      });
    for (const given of [{ files: ['/tmp/a', '/tmp/b'] }, { port: 80 }, { port: [80] }])
      expect(await session.call('t', given), JSON.stringify(given)).toMatchObject({
        success: true,
      });
  });

  test('a rule by tags, annotations or source cannot be dodged by a name', async () => {
    const { session, registry } = setup(
      [define('a', { tags: ['net'] }), define('b', { annotations: { destructive: true } })],
      {
        rules: [
          deny_({ tags: 'net', when: { n: 1 } }),
          deny_({ annotations: { destructive: true }, when: { n: 1 } }),
          deny_({ source: 'plug*', when: { n: 1 } }),
        ],
      },
    );
    registry.scope('plugin').register(define('c'));
    for (const name of ['a', 'b', 'c'])
      expect(await session.call(name, { n: 1 }), name).toMatchObject({
        error: { reason: 'caught' },
      });
  });
});

describe('of several that say the same, the first is named', () => {
  test('a deny, in its own words and not in those of a later one', async () => {
    const { session } = setup([define('t')], {
      rules: [
        { id: 'first', effect: 'deny', reason: 'one' },
        { id: 'second', effect: 'deny', reason: 'two' },
      ],
    });
    expect(await session.call('t', {})).toMatchObject({
      error: {
        reason: 'one',
        message: 'The call was denied by rule `first`: one. Do not retry it unchanged.',
      },
    });
  });

  test('an ask', async () => {
    const asked: unknown[] = [];
    const { session } = setup([define('t')], {
      approver: ({ ruleId }) => andThen(asked.push(ruleId), 'allow_once'),
      rules: [
        { id: 'first', effect: 'ask' },
        { id: 'second', effect: 'ask' },
      ],
    });
    expect(await session.call('t', {})).toMatchObject({ success: true });
    expect(asked).toEqual(['first']);
  });
});
