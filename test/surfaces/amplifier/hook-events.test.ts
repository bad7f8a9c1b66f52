import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { type HookEvent, hookEvents } from '../../../src/surfaces/amplifier/index.ts';
import {
  createTestSession,
  fixedClock,
  mockTool,
  type TestSessionOptions,
} from '../../../src/surfaces/testing/index.ts';

const git = () =>
  defineTool({
    name: 'git',
    description: 'Runs a git action.',
    parameters: z.object({ action: z.string() }),
    policy: {
      check: ({ input, allow, deny }) =>
        input.action === 'push' ? deny('action_not_allowed', 'No pushing here.') : allow(),
    },
    handler: ({ action }) => {
      if (action === 'fail') throw new Error('git failed');
      return action;
    },
  });

const listen = (options: TestSessionOptions = {}) => {
  const session = createTestSession({ tools: [git()], ...options });
  const events: HookEvent[] = [];
  return {
    session,
    events,
    stop: hookEvents(session, (event) => void events.push(event)),
    names: () => events.map(({ name }) => name),
  };
};

describe('the stream of one call', () => {
  test('that succeeds', async () => {
    const clock = fixedClock(Date.UTC(2026, 1, 3, 4, 5, 6, 7));
    const { session, events } = listen({ now: clock.now });
    await session.call('git', { action: 'status' });
    const base = {
      tool: 'git',
      call_id: 'call-1',
      session_id: 'test-session',
      ts: '2026-02-03T04:05:06.007Z',
    };
    expect(events).toEqual([
      { name: 'hook.tool.before', ...base },
      { name: 'hook.policy.before', ...base },
      { name: 'hook.tool.after', ...base, status: 'ok', duration_ms: expect.any(Number) as number },
    ]);
    expect(events.every(Object.isFrozen)).toBe(true);
  });

  test('that is denied: policy.before, the deny, then an end with the same reason', async () => {
    const { session, events, names } = listen();
    await session.call('git', { action: 'push' });
    expect(names()).toEqual([
      'hook.tool.before',
      'hook.policy.before',
      'hook.policy.deny',
      'hook.tool.after',
    ]);
    expect(events[2]).toMatchObject({ reason: 'action_not_allowed' });
    expect(events[3]).toMatchObject({
      status: 'error',
      reason: 'action_not_allowed',
      message: 'No pushing here.',
    });
  });

  test('that a shadow rule would have denied: reported between verdict and end', async () => {
    const { session, events, names } = listen({
      rules: [{ id: 'trial', effect: 'deny', tools: 'git', shadow: true }],
    });
    await session.call('git', { action: 'status' });
    expect(names()).toEqual([
      'hook.tool.before',
      'hook.policy.before',
      'hook.policy.shadow',
      'hook.tool.after',
    ]);
    expect(events[2]).toMatchObject({
      tool: 'git',
      rule_id: 'trial',
      would_be: 'deny',
      was: 'allow',
    });
    expect(events[3]).toMatchObject({ status: 'ok' });
  });

  test('that fails: its reason is its code where it has none of its own', async () => {
    const { session, events, names } = listen();
    await session.call('git', { action: 'fail' });
    expect(names()).toEqual(['hook.tool.before', 'hook.policy.before', 'hook.tool.after']);
    expect(events[2]).toMatchObject({
      status: 'error',
      reason: 'handler_error',
      message: 'git failed',
    });
  });

  test.each<[string, TestSessionOptions]>([
    ['a rule', { rules: [{ effect: 'deny', tools: 'git', when: { action: 'status' } }] }],
    [
      'a default',
      {
        default: 'deny',
        rules: [{ effect: 'ask', tools: 'other' }],
        tools: [mockTool({ name: 'git' })],
      },
    ],
    [
      'a policy that throws',
      {
        policies: [
          {
            id: 'p',
            check: () => {
              throw new Error('no');
            },
          },
        ],
      },
    ],
    [
      'a slow policy',
      {
        policies: [{ id: 'p', check: async () => ({ effect: 'deny', reason: 'later' }) as never }],
      },
    ],
    ['a before hook', { hooks: [{ before: () => ({ action: 'deny', reason: 'not_now' }) }] }],
  ])('that is denied by %s has the same order', async (_, options) => {
    const { session, names } = listen(options);
    await session.call('git', { action: 'status' });
    expect(names()).toEqual([
      'hook.tool.before',
      'hook.policy.before',
      'hook.policy.deny',
      'hook.tool.after',
    ]);
  });

  test.each<[string, string, unknown, string]>([
    ['an unknown tool', 'gti', {}, 'tool_not_found'],
    ['arguments that do not fit', 'git', {}, 'invalid_input'],
  ])('that no policy saw has no policy.before: %s', async (_, tool, input, code) => {
    const { session, events, names } = listen();
    const { error } = await session.call(tool, input);
    expect(error?.code).toBe(code);
    expect(names()).toEqual(['hook.tool.before', 'hook.tool.after']);
    expect(events[1]).toMatchObject({ status: 'error', reason: error?.reason ?? code });
  });

  test('that a person refused is an error without a deny: no policy said no', async () => {
    const { session, names } = listen({
      tools: [mockTool({ name: 'git', requiresApproval: true })],
      approver: () => 'reject_once',
    });
    await session.call('git');
    expect(names()).toEqual(['hook.tool.before', 'hook.policy.before', 'hook.tool.after']);
  });

  test('that is suspended ends as an error; its resumption is a separate stream', async () => {
    const { session, events, names } = listen({
      tools: [mockTool({ name: 'git', requiresApproval: true })],
      approvalMode: 'suspend',
      principal: 'ada',
      approvals: { secret: 'k'.repeat(64) },
    });
    await session.call('git');
    expect(events.at(-1)).toMatchObject({ status: 'error', reason: 'approval_required' });
    const [pending] = await session.approvals.pending();
    await session.approvals.resume(pending?.token ?? '', 'allow_once');
    expect(names().filter((name) => name === 'hook.tool.before')).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({
      name: 'hook.tool.after',
      status: 'ok',
      call_id: events[0]?.call_id,
    });
  });
});

describe('over many calls', () => {
  test('each before has exactly one after, whatever happened', async () => {
    const { session, events } = listen({
      tools: [git(), mockTool({ name: 'slow', delayMs: 60_000 })],
    });
    const controller = new AbortController();
    const calls = [
      ...['status', 'push', 'fail', 'log'].map((action) => session.call('git', { action })),
      session.call('gti'),
      session.call('slow', {}, { signal: controller.signal }),
      session.call('slow', {}, { timeoutMs: 5 }),
      session.call('slow'),
    ];
    controller.abort();
    await Promise.all(calls.slice(0, -1));
    await session.close();
    await Promise.all(calls);
    const ids = (name: string): string[] =>
      events.filter((event) => event.name === name).map(({ call_id }) => call_id);
    expect(ids('hook.tool.before').sort()).toEqual(ids('hook.tool.after').sort());
    expect(new Set(ids('hook.tool.after')).size).toBe(calls.length);
  });

  test('a registry reports all its sessions, even with equal ids', async () => {
    const registry = new HostToolRegistry();
    registry.register(
      mockTool({
        name: 'slow',
        handler: () => new Promise((resolve) => setImmediate(resolve, 'x')),
      }),
    );
    const events: HookEvent[] = [];
    hookEvents(registry, (event) => void events.push(event));
    const sessions = ['a', 'a', 'b'].map((sessionId) => registry.createSession({ sessionId }));
    await Promise.all(sessions.map((session) => session.call('slow', {}, { callId: 'same' })));
    expect(events.filter(({ name }) => name === 'hook.tool.before')).toHaveLength(3);
    expect(
      events
        .filter(({ name }) => name === 'hook.tool.after')
        .map(({ session_id }) => session_id)
        .sort(),
    ).toEqual(['a', 'a', 'b']);
  });

  test('a call that had begun before is left out', async () => {
    const session = createTestSession({
      tools: [
        mockTool({
          name: 'slow',
          handler: () => new Promise((resolve) => setImmediate(resolve, 'x')),
        }),
      ],
    });
    const events: HookEvent[] = [];
    const early = session.call('slow');
    hookEvents(session, (event) => void events.push(event));
    await early;
    await session.call('slow');
    expect(new Set(events.map(({ call_id }) => call_id))).toEqual(new Set(['call-2']));
  });

  test('a listener that throws or rejects still gets every event, and harms no call', async () => {
    const session = createTestSession({ tools: [git()] });
    const names: string[] = [];
    hookEvents(session, ({ name }) => {
      names.push(name);
      throw new Error('sink is full');
    });
    hookEvents(session, () => Promise.reject(new Error('sink is full')));
    expect(await session.call('git', { action: 'push' })).toMatchObject({
      error: { code: 'policy_denied' },
    });
    expect(names).toEqual([
      'hook.tool.before',
      'hook.policy.before',
      'hook.policy.deny',
      'hook.tool.after',
    ]);
  });

  test('stops when it is asked to', async () => {
    const { session, events, stop } = listen();
    stop();
    stop();
    await session.call('git', { action: 'status' });
    expect(events).toEqual([]);
  });
});

test('what has no events, and what is no listener, is refused by name', () => {
  const refusal = (message: string) =>
    expect.objectContaining({
      name: 'MisuseError',
      code: 'invalid_option',
      message: expect.stringContaining(message),
    });
  for (const source of [undefined, null, {}, { events: {} }])
    expect(() => hookEvents(source as never, () => {})).toThrow(
      refusal('hookEvents: expected a session or a registry'),
    );
  expect(() => hookEvents(createTestSession({ tools: [] }), undefined as never)).toThrow(
    refusal('`listener` to be a function'),
  );
});
