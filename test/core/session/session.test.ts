import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { stateOf } from '../../../src/core/session/session.ts';
import { HostToolRegistry, type SessionOptions } from '../../../src/index.ts';
import { outcome, tool, world } from '../call/world.ts';

const names = (session: { tools(): readonly { name: string }[] }): string[] =>
  session.tools().map(({ name }) => name);

describe('createSession: options are checked at once, naming the field', () => {
  test.each<[string, object]>([
    ['sessionId', { sessionId: '' }],
    ['sessionId', { sessionId: 'x'.repeat(1_025) }],
    ['sessionId', { sessionId: 7 }],
    ['cwd', { cwd: 7 }],
    ['environment', { environment: { A: 1 } }],
    ['environment', { environment: 'A=1' }],
    ['metadata', { metadata: { f: () => 1 } }],
    ['metadata', { metadata: [1] }],
    ['principal', { principal: 7 }],
    ['profile', { profile: 'nobody' }],
    ['facts', { facts: { at: Number.NaN } }],
    ['overrides', { overrides: { enabled: [] } }],
    ['overrides', { overrides: { disable: ['nobody'] } }],
    ['rules', { rules: {} }],
    ['policies', { policies: [{ id: 'x' }] }],
    ['hook', { hooks: [{}] }],
    ['approver', { approver: true }],
    ['approvalMode', { approvalMode: 'later' }],
    ['approvalTimeoutMs', { approvalTimeoutMs: 0 }],
    ['repair', { repair: true }],
    ['exposeErrors', { exposeErrors: 'no' }],
    ['limits', { limits: { maxQueuedCalls: -1 } }],
    ['limits', { limits: { nope: 1 } }],
    ['idleTimeoutMs', { idleTimeoutMs: -1 }],
    ['idleTimeoutMs', { idleTimeoutMs: 2 ** 31 }],
    ['signal', { signal: 'no' }],
    ['principal', { approvalMode: 'suspend' }],
    ['unknownOption', { unknownOption: 1 }],
  ])('%s', (field, options) => {
    const registry = new HostToolRegistry({
      approvals: { secret: 'a key of thirty-two characters or more' },
    });
    expect(() => registry.createSession({ sessionId: 's', ...options } as SessionOptions)).toThrow(
      expect.objectContaining({
        name: 'MisuseError',
        message: expect.stringMatching(new RegExp(field, 'i')),
      }),
    );
    expect(stateOf(registry.createSession({ sessionId: 's' })).registry.sessions.held.size).toBe(0);
  });

  test('suspend mode without a key throws', () => {
    expect(() =>
      new HostToolRegistry().createSession({
        sessionId: 's',
        principal: 'ann',
        approvalMode: 'suspend',
      }),
    ).toThrow(/secret/);
  });

  test('what was given is copied: later changes of the host change nothing', async () => {
    const registry = new HostToolRegistry();
    registry.register(
      tool(
        (_: never, context: { metadata: unknown; environment: unknown }) => ({
          metadata: context.metadata,
          environment: context.environment,
        }),
        {
          name: 'a',
        },
      ),
    );
    const metadata = { team: { name: 'core' } };
    const environment = { A: '1' };
    const disable: string[] = [];
    const session = registry.createSession({
      sessionId: 's',
      metadata,
      environment,
      overrides: { disable },
    });
    metadata.team.name = 'other';
    environment.A = '2';
    disable.push('a');
    expect((await session.call('a')).output).toEqual({
      metadata: { team: { name: 'core' } },
      environment: { A: '1' },
    });
  });
});

describe('listing', () => {
  test('is stable, in insertion order; a replacement keeps its place; a profile orders', () => {
    const registry = new HostToolRegistry();
    registry.registerAll(['c', 'a', 'b'].map((name) => tool(() => 1, { name })));
    const session = registry.createSession({ sessionId: 's' });
    expect(names(session)).toEqual(['c', 'a', 'b']);
    registry.registerOrReplace(tool(() => 2, { name: 'a' }));
    expect(names(session)).toEqual(['c', 'a', 'b']);
    registry.defineProfile({ id: 'p', tools: ['b', 'c'] });
    expect(names(registry.createSession({ sessionId: 't', profile: 'p' }))).toEqual(['b', 'c']);
  });

  test(
    'the same listing is the same frozen array until something changes, and its hash follows ' +
      'the content alone',
    () => {
      const registry = new HostToolRegistry();
      registry.registerAll(['a', 'b'].map((name) => tool(() => 1, { name })));
      const session = registry.createSession({ sessionId: 's' });
      const { hash } = session.effectiveTools();
      expect(session.tools()).toBe(session.tools());
      expect(Object.isFrozen(session.tools())).toBe(true);
      expect(registry.createSession({ sessionId: 't' }).effectiveTools().hash).toBe(hash);
      registry.unregister('b');
      expect(session.effectiveTools().hash).not.toBe(hash);
      registry.register(tool(() => 1, { name: 'b' }));
      expect(session.effectiveTools().hash).toBe(hash);
    },
  );

  test(
    '`tool()` gives what is effective, by name or definition; another definition of the same ' +
      'name is not it',
    () => {
      const registry = new HostToolRegistry();
      const a = tool(() => 1, { name: 'a' });
      registry.register(a);
      const session = registry.createSession({ sessionId: 's' });
      expect(session.tool('a')?.name).toBe('a');
      expect(session.tool(a)).toBe(session.tool('a'));
      expect(session.tool(tool(() => 1, { name: 'a' }))).toBeUndefined();
      session.setOverrides({ disable: ['a'] });
      expect(session.tool('a')).toBeUndefined();
    },
  );

  test('createSessionTools is the short form, and throws as createSession does', async () => {
    const registry = new HostToolRegistry();
    registry.register(tool(() => 'ran', { name: 'a' }));
    const [first] = registry.createSessionTools('s', { cwd: '/work' });
    expect(outcome(await (first as NonNullable<typeof first>).execute({}))).toBe('ran');
    expect(() => registry.createSessionTools('', {})).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
    await registry.close();
    expect(outcome(await (first as NonNullable<typeof first>).execute({}))).toBe('session_closed');
  });
});

describe('while it lives', () => {
  const gated = () => {
    const registry = new HostToolRegistry();
    registry.registerAll([
      tool(() => 1, { name: 'open', provides: ['ready'] }),
      tool(() => 1, { name: 'work', requires: [{ fact: 'ready', equals: true }] }),
      tool(() => 1, { name: 'extra' }),
    ]);
    registry.defineProfile({ id: 'p', tools: ['open', 'work'] });
    registry.defineProfile({ id: 'q', tools: ['extra'] });
    const session = registry.createSession({ sessionId: 's', profile: 'p' });
    const seen: object[] = [];
    session.events.on(
      'tools:changed',
      ({ added, removed, modified }) => void seen.push({ added, removed, modified }),
    );
    return { registry, session, seen };
  };

  test('facts merge by key, null deletes; listings, calls and `tools:changed` follow', async () => {
    const { session, seen } = gated();
    expect(session.effectiveTools()).toMatchObject({
      names: ['open'],
      dropped: [
        { name: 'work', code: 'fact_unmet:ready' },
        { name: 'extra', code: 'not_in_profile' },
      ],
      prerequisites: [{ tool: 'open', fact: 'ready', unlocks: ['work'] }],
    });
    expect((await session.call('work')).error).toMatchObject({
      code: 'tool_not_available',
      reason: 'fact_unmet',
      details: { fact: 'ready' },
    });
    session.setFacts({ ready: true, other: 1 });
    session.setFacts({ other: 2 });
    expect(outcome(await session.call('work'))).toBe(1);
    session.setFacts({ ready: null });
    expect(outcome(await session.call('work'))).toBe('tool_not_available');
    expect(seen).toEqual([
      { added: ['work'], removed: [], modified: [] },
      { added: [], removed: ['work'], modified: [] },
    ]);
  });

  test('a profile can be switched and redefined; an unknown one changes nothing', async () => {
    const { registry, session, seen } = gated();
    expect(() => session.setProfile('nobody')).toThrow(
      expect.objectContaining({
        code: 'unknown_profile',
        message: expect.stringMatching(/^setProfile: expected the id to be one of .*`q`.*, got /),
      }),
    );
    session.setProfile('q');
    expect(names(session)).toEqual(['extra']);
    registry.defineProfile({ id: 'q', tools: ['open', 'extra'] });
    expect(names(session)).toEqual(['open', 'extra']);
    expect(seen).toEqual([
      { added: ['extra'], removed: ['open'], modified: [] },
      { added: ['open'], removed: [], modified: [] },
    ]);
  });

  test("overrides replace the session's three lists; an unknown name changes nothing", () => {
    const { session } = gated();
    session.setOverrides({ enable: ['extra'] });
    expect(names(session)).toEqual(['open', 'extra']);
    expect(() => session.setOverrides({ disable: ['open', 'nobody'] })).toThrow(
      expect.objectContaining({ code: 'unknown_tool' }),
    );
    expect(names(session)).toEqual(['open', 'extra']);
    session.setOverrides({ disable: ['open'] });
    expect(names(session)).toEqual([]);
    session.setOverrides({});
    expect(names(session)).toEqual(['open']);
  });

  test("a session's own tools are its alone, also beside a session of the same id", async () => {
    const registry = new HostToolRegistry();
    const one = registry.createSession({ sessionId: 's' });
    const two = registry.createSession({ sessionId: 's' });
    const registration = one.register(tool(() => 'mine', { name: 'own' }));
    expect(names(one)).toEqual(['own']);
    expect(names(two)).toEqual([]);
    expect(outcome(await one.call('own'))).toBe('mine');
    const foreign = await two.call('own');
    expect(foreign.error).toMatchObject({ code: 'tool_not_found' });
    expect(JSON.stringify((await two.call('ow')).error)).not.toContain('own');
    registration.update({ description: 'Newer.' });
    expect(one.tool('own')?.description).toBe('Newer.');
    registration.disable();
    expect(one.effectiveTools().dropped).toEqual([{ name: 'own', code: 'disabled' }]);
    registration.enable();
    expect(registration.unregister()).toBe(true);
    expect(outcome(await one.call('own'))).toBe('tool_not_available');
    expect(outcome(await two.call('own')), 'elsewhere it never was').toBe('tool_not_found');
    expect(registry.count).toBe(0);
  });

  test('facts, overrides and hooks of one session never show in another', async () => {
    const { registry, session } = gated();
    const other = registry.createSession({ sessionId: 's', profile: 'p' });
    session.setFacts({ ready: true });
    session.setOverrides({ disable: ['open'] });
    session.use({ before: () => ({ action: 'deny', reason: 'mine' }) });
    expect(names(other)).toEqual(['open']);
    expect(outcome(await other.call('open'))).toBe(1);
  });
});

describe('explain', () => {
  test('explains a call without running it: which rule, why hidden, what unlocks', async () => {
    const w = world({
      rules: [
        { id: 'no-prod', effect: 'deny', tools: 'deploy', when: { env: 'prod' }, reason: 'frozen' },
        { id: 'ask-stage', effect: 'ask', tools: 'deploy', when: { env: 'stage' } },
      ],
    });
    const handler = vi.fn();
    w.add(
      tool(handler, { name: 'deploy', parameters: z.object({ env: z.string() }) }),
      tool(handler, { name: 'open', provides: ['ready'] }),
      tool(handler, { name: 'work', requires: [{ fact: 'ready', equals: true }] }),
    );
    expect(await w.session.explain('deploy', { env: 'prod' })).toMatchObject({
      visible: true,
      decision: { effect: 'deny', reason: 'frozen' },
      ruleId: 'no-prod',
      source: 'session',
      code: 'policy_denied',
    });
    expect(await w.session.explain('deploy', { env: 'stage' })).toMatchObject({
      decision: { effect: 'ask' },
      ruleId: 'ask-stage',
    });
    expect((await w.session.explain('deploy', { env: 'dev' })).decision).toEqual({
      effect: 'allow',
    });
    expect(await w.session.explain('deploy', { env: 3 })).toMatchObject({ code: 'invalid_input' });
    expect(await w.session.explain('work')).toMatchObject({
      visible: false,
      hiddenBy: 'fact_unmet:ready',
      unlockedBy: ['open'],
      code: 'tool_not_available',
    });
    expect(await w.session.explain('nobody')).toMatchObject({
      visible: false,
      code: 'tool_not_found',
    });
    expect(handler).not.toHaveBeenCalled();
    expect(w.events.filter(({ type }) => type !== 'tools:changed')).toEqual([]);
    expect(w.session.metrics()).toMatchObject({ calls: 0 });
    await w.settle();
  });
});

describe('metrics', () => {
  test('count each call once, by status, tool and reason', async () => {
    const w = world({ rules: [{ effect: 'deny', tools: 'a', when: { x: 1 }, reason: 'not_one' }] });
    w.add(
      tool(
        ({ x }: { x: number }) => {
          if (x === 2) throw new Error('x');
        },
        { name: 'a' },
      ),
    );
    for (const x of [0, 1, 2]) await w.session.call('a', { x });
    await w.session.call('nobody');
    await w.session.call('a', {}, { signal: AbortSignal.abort() });
    expect(w.session.metrics()).toEqual({
      calls: 5,
      succeeded: 1,
      failed: 1,
      rejected: 2,
      cancelled: 1,
      pending: 0,
      denied: 1,
      denyRate: 0.2,
      lateSettles: 0,
      byTool: { a: expect.objectContaining({ calls: 3, succeeded: 1, failed: 1, rejected: 1 }) },
      byExecutor: {
        inline: expect.objectContaining({ calls: 3, succeeded: 1, failed: 1, rejected: 1 }),
      },
      byReason: expect.objectContaining({
        not_one: 1,
        handler_error: 1,
        tool_not_found: 1,
        cancelled: 1,
      }),
      byRule: { 'session#0': { matched: 1, shadow: 0 } },
    });
  });
});

describe('closing by time', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('`idleTimeoutMs` closes a session that had no call for that long', async () => {
    const registry = new HostToolRegistry();
    registry.register(
      tool(() => new Promise((resolve) => setTimeout(resolve, 500)), { name: 'slow' }),
    );
    const session = registry.createSession({ sessionId: 's', idleTimeoutMs: 100 });
    const closed = (): boolean => stateOf(session).closed;
    await vi.advanceTimersByTimeAsync(90);
    const called = session.call('slow');
    await vi.advanceTimersByTimeAsync(500);
    expect((await called).success).toBe(true);
    expect(closed()).toBe(false);
    await vi.advanceTimersByTimeAsync(99);
    expect(closed()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(closed()).toBe(true);
    expect(outcome(await session.call('slow'))).toBe('session_closed');
  });

  test('off unless set', async () => {
    const session = new HostToolRegistry().createSession({ sessionId: 's' });
    await vi.advanceTimersByTimeAsync(10_000_000);
    expect(stateOf(session).closed).toBe(false);
  });
});

describe('events', () => {
  test('a session announces its start and end once, to the registry and to itself', async () => {
    const registry = new HostToolRegistry();
    const seen: string[] = [];
    registry.events.on('*', ({ type }) => void seen.push(type));
    const session = registry.createSession({ sessionId: 's' });
    session.events.on('session:end', ({ sessionId }) => void seen.push(`own ${sessionId}`));
    await session.close();
    await session.close();
    expect(seen).toEqual(['session:start', 'own s', 'session:end']);
  });

  test('`await using` closes', async () => {
    const session = new HostToolRegistry().createSession({ sessionId: 's' });
    await session[Symbol.asyncDispose]();
    expect(stateOf(session).closed).toBe(true);
  });

  test('`call` can be taken out of its session', async () => {
    const { call } = world().session;
    expect(outcome(await call('still_alive'))).toBe('alive');
  });
});

describe('many sessions', () => {
  test('50 000 sessions, a call each, leave nothing on the registry', async () => {
    const registry = new HostToolRegistry();
    registry.register(tool(() => 1, { name: 'a' }));
    for (let count = 0; count < 50_000; count++) {
      const session = registry.createSession({ sessionId: `s${count}` });
      if (count % 10 === 0) await session.call('a');
    }
    const { registry: state } = stateOf(registry.createSession({ sessionId: 'last' }));
    expect([
      state.sessions.held.size,
      state.sessions.watchers.size,
      state.waiting.deadlines.size,
      state.calls,
    ]).toEqual([0, 0, 0, undefined]);
  });
});
