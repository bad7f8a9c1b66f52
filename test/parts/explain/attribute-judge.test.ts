/** `attributes` of a tool: what only the host knows about values of an input. */
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Attribute } from '../../../src/api/tool-fields.ts';
import { allow, defineTool, deny, HostToolRegistry, type Rule } from '../../../src/index.ts';

const sanctioned: Rule = {
  effect: 'deny',
  when: { 'payee@sanctioned': true },
  reason: 'sanctioned',
};

function world(payee: Attribute, rules: readonly Rule[] = [sanctioned]) {
  const ran = vi.fn();
  const registry = new HostToolRegistry({ rules, policyTimeoutMs: 50 });
  registry.register(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ payee: z.string().trim().optional(), amount: z.number().default(1) }),
      attributes: { payee },
      handler: (input) => {
        ran(input);
        return 'paid';
      },
    }),
  );
  return { registry, ran, session: registry.createSession({ sessionId: 's', principal: 'ann' }) };
}

describe('a rule on an attribute', () => {
  test.each([
    ['at once', () => ({ sanctioned: true })],
    ['later', async () => ({ sanctioned: true })],
  ])('matches what the host answers %s', async (_, payee: Attribute) => {
    const { session, ran } = world(payee);
    const result = await session.call('pay', { payee: 'evil' });
    expect(result.error).toMatchObject({ code: 'policy_denied', reason: 'sanctioned' });
    expect(ran).not.toHaveBeenCalled();
  });

  test('the host is asked about what the handler gets, with the context of the call', async () => {
    const payee = vi.fn<Attribute>(() => ({ sanctioned: false }));
    const { session } = world(payee);
    expect((await session.call('pay', { payee: ' acme ' })).success).toBe(true);
    expect(payee).toHaveBeenCalledTimes(1);
    expect(payee.mock.calls[0]?.[0]).toBe('acme');
    expect(payee.mock.calls[0]?.[1]).toMatchObject({ toolName: 'pay', principal: 'ann' });
  });

  test('a value that is not there is not asked about, and its attribute is absent', async () => {
    const payee = vi.fn<Attribute>(() => ({ sanctioned: true }));
    const { session } = world(payee, [
      sanctioned,
      { effect: 'deny', when: { 'payee@name': { exists: false } }, reason: 'nameless' },
    ]);
    expect((await session.call('pay', {})).error?.reason).toBe('nameless');
    expect(payee).not.toHaveBeenCalled();
  });

  test('no rule and no policy reads it: the host is not asked', async () => {
    const payee = vi.fn<Attribute>(() => ({}));
    const { session } = world(payee, [{ effect: 'deny', when: { payee: 'evil' } }]);
    expect((await session.call('pay', { payee: 'acme' })).success).toBe(true);
    expect(payee).not.toHaveBeenCalled();
  });

  test.each<[string, Attribute]>([
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['never answers', () => new Promise(() => {})],
    ['answers no JSON', () => 1n as never],
  ])('a function that %s denies the call', async (_, payee) => {
    const { session, ran } = world(payee, [{ effect: 'allow', when: { 'payee@ok': true } }]);
    const result = await session.call('pay', { payee: 'acme' });
    expect(result.error?.code).toBe('policy_error');
    expect(ran).not.toHaveBeenCalled();
  });

  test('is asked once if the call waits for nothing, even if it is judged again', async () => {
    const payee = vi.fn<Attribute>(() => ({ sanctioned: false }));
    const { registry } = world(payee);
    let isNew = true;
    const session = registry.createSession({
      sessionId: 'a',
      policies: [
        {
          id: 'adds',
          check: () => {
            if (isNew) registry.addRules([{ effect: 'deny', tools: 'other' }]);
            isNew = false;
          },
        },
      ],
    });
    expect((await session.call('pay', { payee: 'acme' })).success).toBe(true);
    expect(payee).toHaveBeenCalledTimes(1);
  });

  test('is asked again after the call has waited, and the new answer counts', async () => {
    const answers = [{ sanctioned: false }, { sanctioned: true }];
    const payee = vi.fn<Attribute>(() => answers.shift());
    const { registry, ran } = world(payee, [sanctioned, { effect: 'ask', tools: 'pay' }]);
    const session = registry.createSession({ sessionId: 'a', approver: () => 'allow_once' });
    expect((await session.call('pay', { payee: 'acme' })).error?.reason).toBe('sanctioned');
    expect(payee).toHaveBeenCalledTimes(2);
    expect(ran).not.toHaveBeenCalled();
  });

  test('is asked again about an input that a person has edited', async () => {
    const payee = vi.fn<Attribute>((value) => ({ sanctioned: value === 'evil' }));
    const { registry, ran } = world(payee, [sanctioned, { effect: 'ask', tools: 'pay' }]);
    const session = registry.createSession({
      sessionId: 'e',
      approver: () => ({ decision: 'allow_once', input: { payee: 'evil' } }),
    });
    expect((await session.call('pay', { payee: 'acme' })).error?.reason).toBe('sanctioned');
    expect(payee.mock.calls.map(([value]) => value)).toEqual(['acme', 'evil']);
    expect(ran).not.toHaveBeenCalled();
  });
});

describe('what is judged again', () => {
  test('an attribute that only a new rule reads is asked then, and the others again', async () => {
    const asked: string[] = [];
    const registry = new HostToolRegistry({
      rules: [{ effect: 'ask' }, { effect: 'deny', when: { 'from@blocked': true } }],
    });
    const attribute = (name: string) => () => {
      asked.push(name);
      return { blocked: name === 'to' };
    };
    registry.register(
      defineTool({
        name: 'move',
        description: 'Moves.',
        parameters: z.object({ from: z.string(), to: z.string() }),
        attributes: { from: attribute('from'), to: attribute('to') },
        handler: () => expect.unreachable(),
      }),
    );
    const session = registry.createSession({
      sessionId: 's',
      approver: () => {
        registry.addRules([{ effect: 'deny', when: { 'to@blocked': true }, reason: 'blocked' }]);
        return 'allow_once';
      },
    });
    const result = await session.call('move', { from: 'a', to: 'b' });
    expect(result.error).toMatchObject({ code: 'policy_denied', reason: 'blocked' });
    expect(asked).toEqual(['from', 'from', 'to']);
  });

  test.each([1, 2])(
    'it is asked again if rules change during wait %i of a policy',
    async (wait) => {
      let isSanctioned = false;
      let waits = 0;
      const { registry, ran } = world(() => ({ sanctioned: isSanctioned }), [sanctioned]);
      // It answers at once as soon as it knows the answer, as a policy with a cache does.
      const check = async () => {
        await undefined;
        if (waits < wait) return undefined;
        isSanctioned = true;
        registry.addRules([{ effect: 'deny', tools: 'other' }]);
        return undefined;
      };
      const session = registry.createSession({
        sessionId: 'cached',
        policies: [{ id: 'cached', check: () => (++waits <= wait ? check() : undefined) }],
      });
      const result = await session.call('pay', { payee: 'acme' });
      expect(result.error?.reason).toBe('sanctioned');
      expect(ran).not.toHaveBeenCalled();
    },
  );
});

describe('a quota whose `when` reads an attribute', () => {
  const risky = { id: 'risky', max: 0, per: 'day', by: 'session' } as const;

  test.each([
    ['deny', 'quota_exceeded'],
    ['ask', 'no_approver'],
  ] as const)('counts by what the host answers (over: %s)', async (over, reason) => {
    const payee = vi.fn<Attribute>((value) => ({ risky: value === 'evil' }));
    const { registry, ran } = world(payee, []);
    const quotas = [{ ...risky, over, when: { 'payee@risky': true } }];
    const session = registry.createSession({ sessionId: 'q', quotas });
    expect((await session.call('pay', { payee: 'acme' })).success).toBe(true);
    expect((await session.call('pay', { payee: 'evil' })).error?.reason).toBe(reason);
    expect(payee).toHaveBeenCalledTimes(2);
    expect(ran).toHaveBeenCalledTimes(1);
  });

  test('without an answer, the call is denied', async () => {
    const { registry, ran } = world(() => Promise.reject(new Error('down')), []);
    const quotas = [{ ...risky, max: 9, when: { 'payee@risky': true } }];
    const session = registry.createSession({ sessionId: 'q', quotas });
    expect((await session.call('pay', { payee: 'x' })).error?.code).toBe('policy_error');
    expect(ran).not.toHaveBeenCalled();
  });
});

describe('an attribute that only a shadow rule reads', () => {
  const tried: Rule = { ...sanctioned, id: 'tried', shadow: true };

  test.each<[string, Attribute]>([
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['never answers', () => new Promise(() => {})],
    ['answers no JSON', () => 1n as never],
  ])('changes no outcome if it %s: the rule is not tried', async (_, answer) => {
    const payee = vi.fn(answer);
    const { session, registry } = world(payee, [
      tried,
      { ...tried, id: 'absent', when: { 'payee@sanctioned': { exists: false } } },
    ]);
    expect((await session.call('pay', { payee: 'evil' })).success).toBe(true);
    expect(payee).toHaveBeenCalledTimes(1);
    expect(registry.metrics().byRule).toEqual({});
    expect((await session.explain('pay', { payee: 'evil' })).steps).toContainEqual({
      source: 'registry',
      ruleId: 'tried',
      shadow: true,
      note: 'its attributes are not known',
    });
  });

  test('is reported where it fails', async () => {
    const error = vi.fn();
    const registry = new HostToolRegistry({ rules: [tried], logger: { warn() {}, error } });
    registry.register(
      defineTool({
        name: 'pay',
        description: 'Pays.',
        parameters: z.object({ payee: z.string() }),
        attributes: {
          payee: () => {
            throw new Error('down');
          },
        },
        handler: () => 'paid',
      }),
    );
    await registry.createSession({ sessionId: 's' }).call('pay', { payee: 'x' });
    expect(error.mock.calls.map(([, message]) => message)).toEqual([
      '`attributes` threw, so the shadow rules that read it were not tried',
    ]);
  });

  test('is tried where the host answers', async () => {
    const { session, registry } = world(async () => ({ sanctioned: true }), [tried]);
    expect((await session.call('pay', { payee: 'evil' })).success).toBe(true);
    expect(registry.metrics().byRule).toEqual({ tried: { matched: 1, shadow: 1 } });
  });

  test('that an enforced rule reads too denies as any other', async () => {
    const { session } = world(() => Promise.reject(new Error('down')), [tried, sanctioned]);
    expect((await session.call('pay', { payee: 'x' })).error?.code).toBe('policy_error');
  });
});

describe('a value that is wrapped differently is asked about too', () => {
  test.each<[path: string, to: unknown, asked: unknown]>([
    ['to.*', 'evil', ['evil']],
    ['to.*', [['evil']], [['evil']]],
    ['to.*.name', { name: 'evil' }, ['evil']],
    ['to.*.name', [{ name: 'evil' }, {}, [{ name: 'eve' }]], ['evil', ['eve']]],
    ['to.name', [{ name: 'evil' }], ['evil']],
    ['to.0', 'evil', 'evil'],
    ['to.0.name', { name: 'evil' }, 'evil'],
    ['to.0', ['evil', 'ok'], 'evil'],
    ['to.*', [], []],
    ['to.name', [], undefined],
    ['to.name', [{}], undefined],
    ['to.*.name', {}, undefined],
    ['to.__proto__', {}, undefined],
    ['to.length', ['x'], undefined],
  ])('%s in %j', async (path, to, asked) => {
    const ask = vi.fn((_value: unknown) => ({ bad: true }));
    const registry = new HostToolRegistry({
      rules: [{ effect: 'deny', when: { [`${path}@bad`]: true } }],
    });
    registry.register(
      defineTool({
        name: 'mail',
        description: 'Mails.',
        parameters: z.object({ to: z.unknown() }),
        attributes: { [path]: ask },
        handler: () => 'sent',
      }),
    );
    const result = await registry.createSession({ sessionId: 's' }).call('mail', { to });
    expect(ask.mock.calls.map(([value]) => value)).toEqual(asked === undefined ? [] : [asked]);
    expect(result.success).toBe(asked === undefined);
  });
});

test('with `*` in its path, a function gets the list of all elements', async () => {
  const known = vi.fn((value: unknown) =>
    (value as string[]).map((name) => ({ known: name === 'ann' })),
  );
  const registry = new HostToolRegistry({
    rules: [{ effect: 'deny', when: { 'to.*.name@known': false } }],
  });
  registry.register(
    defineTool({
      name: 'mail',
      description: 'Mails.',
      parameters: z.object({ to: z.array(z.object({ name: z.string() })) }),
      attributes: { 'to.*.name': known },
      handler: () => 'sent',
    }),
  );
  const session = registry.createSession({ sessionId: 's' });
  expect((await session.call('mail', { to: [{ name: 'ann' }] })).success).toBe(true);
  expect((await session.call('mail', { to: [{ name: 'ann' }, { name: 'x' }] })).success).toBe(
    false,
  );
  expect(known.mock.calls[1]?.[0]).toEqual(['ann', 'x']);
});

test.each<[string, Attribute, Attribute]>([
  [
    'one rejects and the next throws',
    () => Promise.reject(new Error('a')),
    () => {
      throw new Error('b');
    },
  ],
  ['both reject', () => Promise.reject(new Error('a')), () => Promise.reject(new Error('b'))],
])('%s: the call is denied, and the host learns of both', async (_, a, b) => {
  const error = vi.fn();
  const registry = new HostToolRegistry({
    rules: [{ effect: 'deny', when: { 'a@x': 1, 'b@x': 1 } }],
    logger: { warn() {}, error },
  });
  registry.register(
    defineTool({
      name: 'both',
      description: 'Has two attributes.',
      parameters: z.object({ a: z.string(), b: z.string() }),
      attributes: { a, b },
      handler: () => 1,
    }),
  );
  const result = await registry.createSession({ sessionId: 's' }).call('both', { a: '', b: '' });
  expect(result.error?.reason).toBe('policy_threw');
  await vi.waitFor(() => expect(error).toHaveBeenCalledTimes(2));
  expect(error.mock.calls.map(([{ err }]) => err.message).sort()).toEqual(['a', 'b']);
});

test('policies get the answers, the facts and the surface', async () => {
  const seen = vi.fn();
  const registry = new HostToolRegistry({
    policies: [
      {
        id: 'p',
        check: ({ attributes, facts, surface }) => {
          seen({ attributes, facts, surface });
          return attributes.payee === 'ok' ? allow() : deny('unknown_payee');
        },
      },
    ],
  });
  registry.register(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ payee: z.string() }),
      attributes: { payee: () => 'ok' },
      handler: () => 'paid',
    }),
  );
  const session = registry.createSession({ sessionId: 's', facts: { open: true } });
  expect((await session.call('pay', { payee: 'a' })).success).toBe(true);
  expect(seen).toHaveBeenCalledWith({
    attributes: { payee: 'ok' },
    facts: { open: true },
    surface: '',
  });
});

test.each([
  [{ 'a..b': () => 1 }, /attributes\["a..b"\]/],
  [{ 'a@b': () => 1 }, /attributes\["a@b"\]/],
  [{ a: true }, /attributes\["a"\].*function/],
])('%o is refused where it is written', (attributes, message) => {
  expect(() =>
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({}),
      attributes: attributes as never,
      handler: () => 1,
    }),
  ).toThrow(message);
});
