import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { HostToolRegistry, type RegistryOptions, type ToolResult } from '../../../src/index.ts';
import { outcome, tool, world } from '../call/world.ts';

type Loose = { execute(input?: unknown, options?: object): Promise<ToolResult> };
const bind = (more: Record<string, unknown> = {}) => {
  const w = world();
  const handler = vi.fn((input: unknown) => input);
  w.add(tool(handler as never, { name: 'a', ...more }));
  return {
    w,
    handler,
    host: w.session.tool('a') as NonNullable<ReturnType<typeof w.session.tool>>,
  };
};

describe('a host tool', () => {
  test('shows what its definition is', () => {
    const { host } = bind({
      title: 'A tool',
      version: '1.2.0',
      tags: ['x'],
      annotations: { readOnly: true },
      parameters: z.object({ n: z.number() }),
      outputSchema: z.object({ n: z.number() }),
    });
    expect(host).toMatchObject({
      name: 'a',
      title: 'A tool',
      version: '1.2.0',
      tags: ['x'],
      annotations: { readOnly: true },
      source: 'host',
      requiresApproval: false,
      fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(host.inputSchema).toMatchObject({
      type: 'object',
      properties: { n: { type: 'number' } },
    });
    expect(host.parameters).toBe(host.inputSchema);
    expect(host.getSchema()).toBe(host.inputSchema);
    expect(host.outputSchema).toMatchObject({ type: 'object' });
  });

  test('is deeply frozen, plain, not callable, and holds no handler', () => {
    const { host, handler } = bind({ parameters: z.object({ n: z.object({ m: z.number() }) }) });
    const walk = (value: unknown, seen = new Set<unknown>()): void => {
      if (
        (typeof value !== 'object' && typeof value !== 'function') ||
        value === null ||
        seen.has(value)
      )
        return;
      seen.add(value);
      expect(value).not.toBe(handler);
      expect(Object.isFrozen(value)).toBe(true);
      for (const key of Reflect.ownKeys(value))
        walk((value as Record<PropertyKey, unknown>)[key], seen);
    };
    walk(host);
    expect(typeof host).toBe('object');
    expect(Object.getPrototypeOf(host)).toBe(Object.prototype);
    expect(() => Object.assign(host, { execute: () => 1 })).toThrow(TypeError);
    expect(() => Object.assign(host.inputSchema, { type: 'string' })).toThrow(TypeError);
  });

  test.each([
    ['an object', { n: 1 }, { n: 1 }],
    ['a JSON string', '{"n":1}', { n: 1 }],
    ['nothing', undefined, {}],
    ['`_tool_call_id` beside the arguments', { n: 1, _tool_call_id: 'x' }, { n: 1 }],
    ['`_tool_call_id` in a JSON string', '{"n":1,"_tool_call_id":"x"}', { n: 1 }],
  ])('execute takes %s', async (_, input, expected) => {
    const { host } = bind();
    expect(outcome(await (host as Loose).execute(input))).toEqual(expected);
  });

  test('a `_tool_call_id` that the schema declares is an argument', async () => {
    const { host } = bind({
      parameters: { type: 'object', properties: { _tool_call_id: { type: 'string' } } },
    });
    expect(outcome(await (host as Loose).execute({ _tool_call_id: 'x' }))).toEqual({
      _tool_call_id: 'x',
    });
  });

  test('execute never throws and never rejects, whatever it is given', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const input of [
      null,
      3,
      [],
      '',
      'x',
      '[',
      proxy,
      () => 1,
      Symbol('s'),
      1n,
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
      new Map(),
      '{"a":'.repeat(10_000),
    ]) {
      const { host, handler } = bind();
      expect(outcome(await (host as Loose).execute(input))).toBe('invalid_input');
      expect(handler).not.toHaveBeenCalled();
    }
  });

  test('every gate holds for it as for a call by name', async () => {
    const registry = new HostToolRegistry({
      rules: [{ effect: 'deny', tools: 'a', when: { n: 1 }, reason: 'no' }],
    });
    registry.register(tool(() => 'ran', { name: 'a' }));
    const session = registry.createSession({ sessionId: 's' });
    const host = session.tool('a') as Loose;
    expect(outcome(await host.execute({ n: 1 }))).toBe('policy_denied');
    session.setOverrides({ disable: ['a'] });
    expect(outcome(await host.execute({ n: 2 }))).toBe('tool_not_available');
    await session.close();
    expect(outcome(await host.execute({ n: 2 }))).toBe('session_closed');
  });

  test('`requiresApproval` is true also where it depends on the input, or on the profile', () => {
    const registry = new HostToolRegistry();
    registry.registerAll([
      tool(() => 1, { name: 'a', requiresApproval: () => false }),
      tool(() => 1, { name: 'b' }),
      tool(() => 1, { name: 'c', requiresApproval: { title: 'Sure?' } }),
    ]);
    registry.defineProfile({ id: 'p', tools: ['a', { name: 'b', requiresApproval: true }, 'c'] });
    const flags = (options: object): unknown =>
      registry
        .createSession({ sessionId: 's', ...options })
        .tools()
        .map(({ requiresApproval }) => requiresApproval);
    expect(flags({})).toEqual([true, false, true]);
    expect(flags({ profile: 'p' })).toEqual([true, true, true]);
  });

  const ask = { effect: 'ask' } as const;
  test.each<[string, boolean, { registry?: RegistryOptions; profile?: object; session?: object }]>([
    [
      'a rule of the registry asks for the tool',
      true,
      { registry: { rules: [{ ...ask, tools: 'a' }] } },
    ],
    ['a rule of the registry asks for every tool', true, { registry: { rules: [ask] } }],
    ['a rule asks for another tool', false, { registry: { rules: [{ ...ask, tools: 'b' }] } }],
    ['a rule with `when` asks', false, { registry: { rules: [{ ...ask, when: { n: 1 } }] } }],
    [
      'a rule asks for the tag of the tool',
      true,
      { registry: { rules: [{ ...ask, tags: 'paid' }] } },
    ],
    [
      'a rule asks, and another one allows',
      true,
      { registry: { rules: [ask, { effect: 'allow' }] } },
    ],
    ['a rule of the profile asks', true, { profile: { rules: [ask] } }],
    [
      'a rule with `when` of the profile asks',
      false,
      { profile: { rules: [{ ...ask, when: { n: 1 } }] } },
    ],
    ['a rule of the session asks', true, { session: { rules: [ask] } }],
    [
      'a rule with `when` of the session asks',
      false,
      { session: { rules: [{ ...ask, when: { n: 1 } }] } },
    ],
    ['the default of the registry asks', true, { registry: { default: 'ask' } }],
    ['the default of the profile asks', true, { profile: { default: 'ask' } }],
    [
      'the default asks, and a rule allows the tool',
      false,
      { registry: { default: 'ask', rules: [{ effect: 'allow', tools: 'a' }] } },
    ],
    [
      'the default asks, and a policy may allow the call',
      false,
      { registry: { default: 'ask', policies: [{ id: 'p', check: () => ({ effect: 'allow' }) }] } },
    ],
    [
      'the default asks, and a policy of the session may allow the call',
      false,
      {
        registry: { default: 'ask' },
        session: { policies: [{ id: 'p', check: () => ({ effect: 'allow' }) }] },
      },
    ],
  ])('when %s, `requiresApproval` is %s', async (_, expected, { registry, profile, session }) => {
    const tools = new HostToolRegistry(registry);
    tools.register(tool(() => 1, { name: 'a', tags: ['paid'] }));
    if (profile !== undefined) tools.defineProfile({ id: 'p', tools: ['a'], ...profile });
    const bound = tools.createSession({
      sessionId: 's',
      ...(profile === undefined ? {} : { profile: 'p' }),
      ...session,
    });
    expect(bound.tool('a')?.requiresApproval).toBe(expected);
    // The flag says what a call would meet; the input matches no `when` here.
    const { decision } = await bound.explain('a', { n: 2 });
    expect(decision?.effect).toBe(expected ? 'ask' : 'allow');
  });

  test('`requiresApproval` follows a change of the profile', () => {
    const registry = new HostToolRegistry();
    registry.register(tool(() => 1, { name: 'a' }));
    registry.defineProfile({ id: 'open', tools: ['a'] });
    registry.defineProfile({ id: 'careful', tools: ['a'], rules: [ask] });
    const session = registry.createSession({ sessionId: 's', profile: 'open' });
    expect(session.tool('a')?.requiresApproval).toBe(false);
    session.setProfile('careful');
    expect(session.tool('a')?.requiresApproval).toBe(true);
  });
});
