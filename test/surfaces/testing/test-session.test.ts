import { describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/assembly/full-registry.ts';
import { isMisuseError, mount } from '../../../src/index.ts';
import {
  createTestSession,
  fixedClock,
  mockTool,
  recordEvents,
  sequentialIds,
  TestCoordinator,
} from '../../../src/surfaces/testing/index.ts';

describe('createTestSession', () => {
  test('needs nothing', () => {
    const session = createTestSession();
    expect(session.sessionId).toBe('test-session');
    expect(session.tools()).toEqual([]);
    expect(session.registry).toBeInstanceOf(HostToolRegistry);
  });

  test('registers the tools, in order', () => {
    const session = createTestSession({
      tools: [mockTool({ name: 'b' }), mockTool({ name: 'a' })],
    });
    expect(session.registry.listNames()).toEqual(['b', 'a']);
    expect(session.effectiveTools().names).toEqual(['b', 'a']);
  });

  test('counts call ids from 1, in each session anew', async () => {
    for (let round = 0; round < 2; round++) {
      const session = createTestSession({ tools: [mockTool({ name: 'a' })] });
      const ids = [
        await session.call('a'),
        await session.call('missing'),
        await session.call('a'),
      ].map(({ metadata }) => metadata.callId);
      expect(ids).toEqual(['call-1', 'call-2', 'call-3']);
    }
  });

  test("takes a registry's options and a session's", async () => {
    const clock = fixedClock(1_000);
    const session = createTestSession({
      tools: [mockTool({ name: 'a' })],
      default: 'ask',
      now: clock.now,
      newId: sequentialIds('n'),
      approver: () => 'allow_once',
      sessionId: 'mine',
      cwd: '/work',
      principal: 'ada',
    });
    const log = recordEvents(session);
    expect(await session.call('a')).toMatchObject({ success: true, metadata: { callId: 'n-1' } });
    expect(log.of('approval:required')).toMatchObject([
      { sessionId: 'mine', at: 1_000, request: { principal: 'ada' } },
    ]);
  });

  test('takes options of parts, of a registry and of a session', async () => {
    const quotas = [{ id: 'one', max: 1, per: 'day', by: 'session' } as const];
    const tools = [mockTool({ name: 'a' })];
    const session = createTestSession({ tools, quotas, strictRules: true, idempotency: {} });
    expect((await session.call('a')).success).toBe(true);
    expect((await session.call('a')).error?.code).toBe('policy_denied');
  });

  test('a profile is given by itself, or by the id of one of `profiles`', () => {
    const tools = [mockTool({ name: 'a' }), mockTool({ name: 'b' })];
    expect(
      createTestSession({ tools, profile: { id: 'one', tools: ['b'] } }).effectiveTools().names,
    ).toEqual(['b']);
    const session = createTestSession({
      tools,
      profiles: [
        { id: 'base', tools: ['a'] },
        { id: 'more', extends: 'base', tools: ['b'] },
      ],
      profile: 'more',
    });
    expect(session.effectiveTools().names).toEqual(['a', 'b']);
    session.setProfile('base');
    expect(session.effectiveTools().names).toEqual(['a']);
  });

  test("rules are the session's: another session of the registry has none of them", async () => {
    const session = createTestSession({
      tools: [mockTool({ name: 'a' })],
      rules: [{ effect: 'deny', tools: 'a' }],
    });
    expect(await session.call('a')).toMatchObject({
      error: { code: 'policy_denied', source: 'session' },
    });
    expect(await session.registry.createSession({ sessionId: 'other' }).call('a')).toMatchObject({
      success: true,
    });
  });

  test('is a session: it mounts', async () => {
    const coordinator = new TestCoordinator();
    expect(
      (await mount(createTestSession({ tools: [mockTool({ name: 'a' })] }), coordinator)).mounted,
    ).toEqual(['a']);
  });

  test('an option that is explicitly undefined is its default', async () => {
    const session = createTestSession({
      tools: undefined,
      sessionId: undefined,
      newId: undefined,
      now: undefined,
      profile: undefined,
      approver: undefined,
    });
    expect((await session.call('x')).metadata.callId).toBe('call-1');
  });

  test.each<[string, object]>([
    ['an unknown option', { tool: [] }],
    ['an unknown profile', { profile: 'none' }],
    ['two tools of one name', { tools: [mockTool({ name: 'a' }), mockTool({ name: 'a' })] }],
    ['what is no definition', { tools: [{ name: 'a' }] }],
    ['a bad registry option', { graceMs: 0 }],
    ['no object', null as never],
  ])('refuses %s', (_, options) => {
    expect(() => createTestSession(options as never)).toThrow(expect.toSatisfy(isMisuseError));
  });
});

describe('recordEvents', () => {
  test('keeps the events of a session, in order, with their type', async () => {
    const session = createTestSession({ tools: [mockTool({ name: 'a' })] });
    const { events, of } = recordEvents(session);
    await session.call('a', { n: 1 });
    expect(events.map(({ type }) => type)).toContain('tool:post');
    expect(of('tool:pre')).toMatchObject([{ type: 'tool:pre', toolName: 'a', input: { n: 1 } }]);
    expect(of('tool:error')).toEqual([]);
  });

  test('of a registry hears all its sessions', async () => {
    const { registry } = createTestSession({ tools: [mockTool({ name: 'a' })] });
    const log = recordEvents(registry);
    for (const sessionId of ['x', 'y']) await registry.createSession({ sessionId }).call('a');
    expect(log.of('tool:post').map(({ sessionId }) => sessionId)).toEqual(['x', 'y']);
  });

  test('forgets by `clear`, and records on; ends by `stop`, and keeps', async () => {
    const session = createTestSession({ tools: [mockTool({ name: 'a' })] });
    const log = recordEvents(session);
    await session.call('a');
    log.clear();
    expect(log.events).toEqual([]);
    await session.call('a');
    const kept = log.events.length;
    expect(kept).toBeGreaterThan(0);
    log.stop();
    log.stop();
    await session.call('a');
    expect(log.events).toHaveLength(kept);
  });
});

describe('fixedClock', () => {
  test('stays until it is moved, also backwards', () => {
    const { now, advance } = fixedClock(500);
    expect([now(), now()]).toEqual([500, 500]);
    expect(advance(250)).toBe(750);
    expect(advance(-750)).toBe(0);
    expect(now()).toBe(0);
    expect(new Date(fixedClock().now()).toISOString()).toBe('2026-01-01T00:00:00.000Z');
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, '5' as never, null as never])(
    'refuses %s',
    (value) => {
      expect(() => fixedClock(value)).toThrow(expect.toSatisfy(isMisuseError));
      expect(() => fixedClock().advance(value)).toThrow(expect.toSatisfy(isMisuseError));
    },
  );

  test('lets what expires expire', async () => {
    const clock = fixedClock();
    const session = createTestSession({
      tools: [mockTool({ name: 'a', requiresApproval: true })],
      approvalMode: 'suspend',
      principal: 'ada',
      approvals: { secret: 'k'.repeat(64), ttlMs: 1_000 },
      now: clock.now,
    });
    await session.call('a');
    const [pending] = await session.approvals.pending();
    clock.advance(1_001);
    expect(await session.approvals.resume(pending?.token ?? '', 'allow_once')).toMatchObject({
      error: { code: 'approval_timeout' },
    });
  });
});

test('sequentialIds counts from 1 under its prefix, each one for itself', () => {
  const [calls, runs] = [sequentialIds(), sequentialIds('run')];
  expect([calls(), calls(), runs(), calls()]).toEqual(['call-1', 'call-2', 'run-1', 'call-3']);
});
