/** `attributes` of a tool: what only the host knows about values of an input. */
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { allow, defineTool, deny, HostToolRegistry, type Rule } from '../../src/index.ts';
import type { Attribute } from '../../src/tool/attributes.ts';

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

  test('is asked once, even if the call is judged again', async () => {
    const payee = vi.fn<Attribute>(() => ({ sanctioned: false }));
    const { registry, session } = world(payee, [sanctioned, { effect: 'ask', tools: 'pay' }]);
    const asking = registry.createSession({
      sessionId: 'a',
      approver: () => {
        registry.addRules([{ effect: 'deny', tools: 'other' }]);
        return 'allow_once';
      },
    });
    expect((await asking.call('pay', { payee: 'acme' })).success).toBe(true);
    expect(payee).toHaveBeenCalledTimes(1);
    await session.close();
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

test('one function rejects and the next throws: the call is denied, and no rejection is lost', async () => {
  const registry = new HostToolRegistry({
    rules: [{ effect: 'deny', when: { 'a@x': 1, 'b@x': 1 } }],
  });
  registry.register(
    defineTool({
      name: 'both',
      description: 'Has two attributes.',
      parameters: z.object({ a: z.string(), b: z.string() }),
      attributes: {
        a: () => Promise.reject(new Error('a')),
        b: () => {
          throw new Error('b');
        },
      },
      handler: () => 1,
    }),
  );
  const result = await registry.createSession({ sessionId: 's' }).call('both', { a: '', b: '' });
  expect(result.error?.reason).toBe('policy_threw');
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
