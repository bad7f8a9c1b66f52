import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type ApprovalAnswer,
  defineGate,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type ToolResult,
} from '../../../src/index.ts';

function tool(name: string, more: object = {}) {
  return defineTool({
    name,
    description: `Does ${name}.`,
    parameters: z.object({ a: z.number().default(0) }),
    handler: () => name,
    ...more,
  });
}

function registryOf(options: RegistryOptions = {}, tools = [tool('read'), tool('write')]) {
  const registry = new HostToolRegistry(options);
  registry.registerAll(tools);
  return registry;
}

const reasonOf = ({ error }: ToolResult) => error?.reason ?? error?.code;

describe('what a sub-agent may do', () => {
  test('it may do what its outer session may do', async () => {
    const session = registryOf().createSession({ sessionId: 's', principal: 'ann' });
    const inner = session.delegate({ agent: 'researcher' });
    expect(inner.sessionId).toBe('s/researcher/1');
    expect(inner.tools().map(({ name }) => name)).toEqual(['read', 'write']);
    expect((await inner.call('read', {})).output).toBe('read');
  });

  test('`tools` leaves out all others', async () => {
    const session = registryOf().createSession({ sessionId: 's' });
    const inner = session.delegate({ agent: 'a', tools: ['read'] });
    expect(inner.effectiveTools().names).toEqual(['read']);
    expect(inner.effectiveTools().dropped).toEqual([{ name: 'write', code: 'not_in_profile' }]);
    const left = await inner.call('write', {});
    expect(reasonOf(left)).toBe('not_in_profile');
    expect(left.error?.message).toBe(
      '`write` is not available in this session: it was not delegated to it. Use another tool.',
    );
  });

  test('a tool of its own can use what it leaves out, as with a profile', async () => {
    const report = tool('report', {
      uses: ['read'],
      handler: async (
        _: unknown,
        { tools }: { tools: { call: (n: string, i: object) => unknown } },
      ) => tools.call('read', {}),
    });
    const session = registryOf({}, [tool('read'), report]).createSession({ sessionId: 's' });
    const inner = session.delegate({ agent: 'a', tools: ['report'] });
    expect((await inner.call('report', {})).success).toBe(true);
  });

  test('rules of the outer session and of its profile apply', async () => {
    const registry = registryOf();
    registry.defineProfile({
      id: 'p',
      tools: ['read', 'write'],
      rules: [{ effect: 'deny', tools: 'read', when: { a: { gt: 5 } }, reason: 'too_much' }],
    });
    const session = registry.createSession({
      sessionId: 's',
      profile: 'p',
      rules: [{ effect: 'deny', tools: 'write', reason: 'not_now' }],
    });
    const inner = session.delegate({ agent: 'a', rules: [{ effect: 'allow', tools: '*' }] });
    expect(inner.effectiveTools().names).toEqual(['read']);
    const refused = await inner.call('write', {});
    expect(reasonOf(refused)).toBe('not_delegated');
    expect(refused.error?.message).toContain(': it was not delegated to it.');
    expect(reasonOf(await inner.call('read', { a: 6 }))).toBe('too_much');
    expect((await inner.call('read', { a: 5 })).success).toBe(true);
  });

  test('what allows the outer session also allows it, unless its profile is stricter', async () => {
    const registry = registryOf({ default: 'deny' });
    registry.defineProfile({ id: 'strict', tools: ['read'], default: 'deny' });
    const session = registry.createSession({
      sessionId: 's',
      rules: [{ effect: 'allow', tools: 'read' }],
    });
    expect((await session.delegate({ agent: 'a' }).call('read', {})).success).toBe(true);
    const strict = session.delegate({ agent: 'a', profile: 'strict' });
    expect(reasonOf(await strict.call('read', {}))).toBe('denied_by_default');
  });

  test('a person is asked once, and what was rejected for good stays rejected', async () => {
    const approver = vi.fn(() => 'allow_once' as const);
    const registry = registryOf({ rules: [{ effect: 'ask', tools: 'write' }] });
    const inner = registry.createSession({ sessionId: 's', approver }).delegate({ agent: 'a' });
    expect((await inner.call('write', {})).success).toBe(true);
    expect(approver).toHaveBeenCalledTimes(1);
    const session = registry.createSession({ sessionId: 't', approver: () => 'reject_always' });
    await session.call('write', {});
    const explained = await session.delegate({ agent: 'a' }).explain('write', {});
    expect(explained.code).toBe('policy_denied');
    expect(reasonOf(await session.delegate({ agent: 'a' }).call('write', {}))).toBe(
      'rejected_always',
    );
  });

  test('knobs, timeouts and bounds of outputs are those of the outer session', async () => {
    const seen: unknown[] = [];
    const root = tool('root', {
      policy: { knobs: z.object({ root: z.string().default('/') }) },
      handler: (_: unknown, { knobs }: { knobs: unknown }) => {
        seen.push(knobs);
        return 'x'.repeat(10_000);
      },
    });
    const registry = registryOf({}, [root]);
    registry.defineProfile({
      id: 'p',
      tools: [{ name: 'root', knobs: { root: '/safe' }, maxOutputChars: 2_000 }],
    });
    registry.defineProfile({ id: 'wide', tools: [{ name: 'root', knobs: { root: '/' } }] });
    registry.defineProfile({ id: 'same', tools: [{ name: 'root', knobs: { root: '/safe' } }] });
    const session = registry.createSession({ sessionId: 's', profile: 'p' });
    const result = await session.delegate({ agent: 'a' }).call('root', {});
    expect(seen).toEqual([{ root: '/safe' }]);
    expect(result.metadata.truncated).toBeDefined();
    expect(session.delegate({ agent: 'a', profile: 'same' }).effectiveTools().names).toEqual([
      'root',
    ]);
    const wide = session.delegate({ agent: 'a', profile: 'wide' });
    expect(wide.effectiveTools().dropped).toEqual([{ name: 'root', code: 'not_delegated' }]);
    expect(reasonOf(await wide.call('root', {}))).toBe('not_delegated');
  });

  test('gates and hooks of the outer session apply', async () => {
    const stop = (at: 'judge' | 'start') =>
      defineGate({
        name: `no-${at}`,
        at,
        run: ({ input }) =>
          input.a === (at === 'judge' ? 1 : 2)
            ? { code: 'policy_denied', reason: `at_${at}` }
            : undefined,
      });
    const before = vi.fn();
    const session = registryOf().createSession({
      sessionId: 's',
      gates: [
        stop('judge'),
        stop('start'),
        defineGate({ name: 'out', at: 'output', run: () => ({ output: 'replaced' }) }),
      ],
      hooks: [{ before }],
    });
    const inner = session.delegate({ agent: 'a' });
    expect(reasonOf(await inner.call('read', { a: 1 }))).toBe('at_judge');
    expect(reasonOf(await inner.call('read', { a: 2 }))).toBe('at_start');
    expect((await inner.call('read', { a: 3 })).output).toBe('replaced');
    expect(before).toHaveBeenCalledTimes(3);
    session.use({ before: () => ({ action: 'deny', reason: 'later' }) });
    expect(reasonOf(await inner.call('read', { a: 3 }))).toBe('later');
    const remove = inner.use({ after: () => {} });
    remove();
    expect(reasonOf(await inner.call('read', { a: 3 }))).toBe('later');
  });

  test('policies that answer later count, and are asked again after a wait', async () => {
    let isOpen = true;
    const asked = vi.fn(async () =>
      isOpen ? undefined : { effect: 'deny' as const, reason: 'shut' },
    );
    const policy = { id: 'later', check: asked };
    const approver = async () => {
      isOpen = false;
      return 'allow_once' as const;
    };
    const session = registryOf({ rules: [{ effect: 'ask', tools: 'write' }] }).createSession({
      sessionId: 's',
      policies: [policy],
      approver,
    });
    const inner = session.delegate({ agent: 'a' });
    expect((await inner.call('read', {})).success).toBe(true);
    expect(reasonOf(await inner.call('write', {}))).toBe('shut');
  });

  test('its scopes are at most those of the outer session', async () => {
    const session = registryOf({}, [
      tool('one', { scopes: ['one'] }),
      tool('two', { scopes: ['two'] }),
      tool('three', { scopes: ['three'] }),
    ]).createSession({ sessionId: 's', scopes: ['one', 'two'] });
    const inner = session.delegate({ agent: 'a', scopes: ['two', 'three'] });
    const calls = await Promise.all(['one', 'two', 'three'].map((name) => inner.call(name, {})));
    expect(calls.map(({ success }) => success)).toEqual([false, true, false]);
    session.setFacts({ 'scope.three': true });
    expect((await inner.call('three', {})).success).toBe(true);
    expect((await inner.call('one', {})).success).toBe(false);
    session.setFacts({ 'scope.two': null });
    expect(reasonOf(await inner.call('two', {}))).toBe('scope_missing');
  });

  test('it cannot widen itself', async () => {
    const registry = registryOf({}, [tool('read', { requires: [{ fact: 'open', equals: true }] })]);
    registry.defineProfile({ id: 'all', tools: ['read'] });
    registry.defineProfile({ id: 'none', tools: [] });
    const session = registry.createSession({ sessionId: 's', profile: 'none' });
    const inner = session.delegate({ agent: 'a' });
    expect(() => inner.register(tool('own'))).toThrow('acts for no other');
    inner.setFacts({ open: true });
    inner.setOverrides({ enable: ['read'], force: ['read'] });
    inner.setProfile('all');
    expect(inner.effectiveTools().names).toEqual([]);
    expect((await inner.call('read', {})).success).toBe(false);
    expect((await inner.delegate({ agent: 'b', profile: 'all' }).call('read', {})).success).toBe(
      false,
    );
  });
});

describe('changes of the outer session', () => {
  test('they reach open sub-agents at once', async () => {
    const registry = registryOf({}, [
      tool('read', { requires: [{ fact: 'open', equals: true }] }),
      tool('write'),
    ]);
    const session = registry.createSession({ sessionId: 's' });
    const inner = session.delegate({ agent: 'a' });
    const deep = inner.delegate({ agent: 'b' });
    const changes: unknown[] = [];
    deep.events.on('tools:changed', ({ added, removed }) => changes.push([added, removed]));
    expect(deep.effectiveTools().names).toEqual(['write']);
    session.setFacts({ open: true });
    expect(deep.effectiveTools().names).toEqual(['write', 'read'].sort());
    session.setOverrides({ disable: ['write'] });
    expect(deep.effectiveTools().names).toEqual(['read']);
    const own = session.register(tool('own'));
    expect((await deep.call('own', {})).output).toBe('own');
    own.unregister();
    expect((await deep.call('own', {})).error?.code).toBe('tool_not_available');
    const drop = registry.addRules([{ effect: 'deny', tools: 'read', reason: 'gone' }]);
    expect(reasonOf(await deep.call('read', {}))).toMatch(/gone|not_delegated/);
    drop();
    expect(changes).toEqual([
      [['read'], []],
      [[], ['write']],
      [['own'], []],
      [[], ['own']],
      [[], ['read']],
      [['read'], []],
    ]);
  });

  test('a tool of the session is disposed once, by the session', async () => {
    const dispose = vi.fn();
    const session = registryOf().createSession({ sessionId: 's' });
    session.register(
      defineTool({
        name: 'remote',
        description: 'Runs elsewhere.',
        parameters: z.object({}),
        executor: { execute: async () => 1, dispose },
      }),
    );
    const inner = session.delegate({ agent: 'a' });
    await inner.call('remote', {});
    await inner.close();
    expect(dispose).not.toHaveBeenCalled();
    expect((await session.call('remote', {})).success).toBe(true);
    await session.close();
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  test('it ends with the outer session, with its calls', async () => {
    const wait = tool('wait', { handler: () => new Promise(() => {}) });
    const session = registryOf({}, [wait]).createSession({ sessionId: 's' });
    const inner = session.delegate({ agent: 'a' }).delegate({ agent: 'b' });
    const running = inner.call('wait', {});
    await session.close();
    expect((await running).error?.code).toBe('session_closed');
    expect((await inner.call('wait', {})).error?.code).toBe('session_closed');
    expect(() => inner.delegate({ agent: 'c' })).toThrow('closed');
  });

  test('it ends when it expires, even if its timer is late', async () => {
    let now = 1_000;
    const session = registryOf({ now: () => now }).createSession({ sessionId: 's' });
    const inner = session.delegate({ agent: 'a', expiresAt: 2_000 });
    expect((await inner.call('read', {})).success).toBe(true);
    now = 2_000;
    expect((await inner.call('read', {})).error?.code).toBe('session_closed');
    expect((await session.call('read', {})).success).toBe(true);
    expect(() => session.delegate({ agent: 'a', expiresAt: 2_000 })).toThrow('yet to come');
  });

  test('a call that waited for a person beyond the end does not run', async () => {
    let now = 1_000;
    const session = registryOf({
      now: () => now,
      rules: [{ effect: 'ask', tools: 'write' }],
    }).createSession({
      sessionId: 's',
      approver: async (): Promise<ApprovalAnswer> => {
        now = 3_000;
        return 'allow_once';
      },
    });
    const inner = session.delegate({ agent: 'a', expiresAt: 2_000 });
    expect((await inner.call('write', {})).error?.code).toBe('session_closed');
  });
});

describe('limits', () => {
  test('the limits per minute of the outer session count its calls', async () => {
    const session = registryOf().createSession({ sessionId: 's', limits: { callsPerMinute: 3 } });
    const inner = session.delegate({ agent: 'a' });
    await session.call('read', {});
    await inner.call('read', {});
    await session.delegate({ agent: 'b' }).call('read', {});
    expect(reasonOf(await inner.call('read', {}))).toBe('calls_per_minute');
    expect(reasonOf(await session.call('read', {}))).toBe('calls_per_minute');
    expect((await inner.explain('read', {})).code).toBe('rate_limited');
  });

  test('its slots are those of the outer session', async () => {
    let release = () => {};
    const wait = tool('wait', {
      handler: () =>
        new Promise((resolve) => {
          release = () => resolve(1);
        }),
    });
    const session = registryOf({}, [wait, tool('read')]).createSession({
      sessionId: 's',
      limits: { maxConcurrentCalls: 1, maxQueuedCalls: 1 },
    });
    const inner = session.delegate({ agent: 'a' });
    const first = session.call('wait', {});
    const second = inner.call('read', {});
    expect(reasonOf(await session.call('read', {}))).toBe('queue_full');
    expect(reasonOf(await session.delegate({ agent: 'b' }).call('read', {}))).toBe('queue_full');
    release();
    expect((await first).success).toBe(true);
    expect((await second).success).toBe(true);
  });

  test('quotas of the outer session count its calls, those per session included', async () => {
    const registry = registryOf({
      quotas: [
        { id: 'mine', max: 2, per: 'session', by: 'session' },
        { id: 'ours', max: 5, per: 'hour', by: 'registry' },
      ],
    });
    const session = registry.createSession({ sessionId: 's' });
    const inner = session.delegate({ agent: 'a' });
    await session.call('read', {});
    expect((await inner.call('read', {})).success).toBe(true);
    expect((await inner.call('read', {})).error?.details).toMatchObject({ quota: 'mine' });
    expect((await session.call('read', {})).error?.details).toMatchObject({ quota: 'mine' });
    const other = registry.createSession({
      sessionId: 'o',
      quotas: [{ id: 'one', max: 1, per: 'session', by: 'session' }],
    });
    expect((await other.delegate({ agent: 'a' }).call('read', {})).success).toBe(true);
    expect((await other.delegate({ agent: 'b' }).call('read', {})).error?.details).toMatchObject({
      quota: 'one',
    });
    const third = registry.createSession({ sessionId: 't' });
    await third.delegate({ agent: 'a' }).call('read', {});
    const explained = await third.delegate({ agent: 'b' }).explain('read', {});
    expect(explained.quotas?.map(({ quota, used }) => [quota, used])).toEqual([
      ['mine', 0],
      ['mine', 1],
      ['ours', 4],
    ]);
  });

  test('a quota of the outer session may ask', async () => {
    const messages: (string | undefined)[] = [];
    const session = registryOf({
      quotas: [{ id: 'one', max: 1, per: 'session', by: 'session', over: 'ask' }],
    }).createSession({
      sessionId: 's',
      approver: ({ message }) => {
        messages.push(message);
        return 'allow_once';
      },
    });
    await session.call('read', {});
    expect((await session.delegate({ agent: 'a' }).call('read', {})).success).toBe(true);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain('one');
  });

  test('a chain has at most as many agents as the registry allows', () => {
    const session = registryOf({ maxDelegationDepth: 2 }).createSession({ sessionId: 's' });
    const inner = session.delegate({ agent: 'a' }).delegate({ agent: 'b' });
    expect(() => inner.delegate({ agent: 'c' })).toThrow('at most 2 agents');
  });
});

describe('rules about the actor', () => {
  test.each([
    [{ agent: 'writer' }, [true, true, false]],
    [{ agent: { glob: 'w*' } }, [true, true, false]],
    [{ agent: { exists: true } }, [true, false, false]],
    [{ depth: { gte: 1 } }, [true, false, false]],
    [{ depth: 2 }, [true, true, false]],
    [{ depth: 0 }, [false, false, false]],
    [{ agent: 'editor', depth: 1 }, [true, false, false]],
  ])('%j', async (actor, expected) => {
    const session = registryOf({ rules: [{ effect: 'deny', actor }] }).createSession({
      sessionId: 's',
    });
    const editor = session.delegate({ agent: 'editor' });
    const writer = editor.delegate({ agent: 'writer' });
    const results = [session, editor, writer].map((one) => one.call('read', {}));
    expect((await Promise.all(results)).map(({ success }) => success)).toEqual(expected);
  });

  test.each([
    {},
    { who: 'a' },
    'a',
    { agent: [] },
    // Nobody ever has these, so the rule would hold for nobody.
    { depth: 'x' },
    { depth: -1 },
    { depth: 1.5 },
    { depth: null },
    { agent: 7 },
    { agent: null },
  ])('%j is refused', (actor) => {
    expect(() => registryOf({ rules: [{ effect: 'deny', actor: actor as object }] })).toThrow(
      'actor',
    );
  });

  test('an agent that looks like a pattern is refused, with the test that is meant', () => {
    expect(() => registryOf({ rules: [{ effect: 'deny', actor: { agent: 'w*' } }] })).toThrow(
      'For a pattern: `{ glob: "w*" }`',
    );
  });
});

test.each([
  [{ agent: '' }, 'agent'],
  [{ agent: 'a', tools: ['nothing'] }, 'nothing'],
  [{ agent: 'a', profile: 'nothing' }, 'delegate: expected `profile`'],
  [{ agent: 'a', other: 1 }, 'other'],
  [{ agent: 'a', expiresAt: 0.5 }, 'expiresAt'],
  [{ agent: 'a'.repeat(256), sessionId: '' }, 'sessionId'],
])('delegate(%j) is refused', (options, named) => {
  const session = registryOf().createSession({ sessionId: 's' });
  expect(() => session.delegate(options as { agent: string })).toThrow(named);
});
