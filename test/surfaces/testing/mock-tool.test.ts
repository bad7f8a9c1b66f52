import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  fail,
  HostToolRegistry,
  isMisuseError,
  ok,
  type ToolContext,
} from '../../../src/index.ts';
import { createTestSession, mockTool, recordEvents } from '../../../src/surfaces/testing/index.ts';

describe('a mock is a definition like any other', () => {
  test('with only a name, it has a description, takes any object and succeeds', async () => {
    const mock = mockTool({ name: 'read' });
    expect(mock).toMatchObject({ name: 'read', description: 'Mock tool: read' });
    expect(mock.fingerprint).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(Object.isFrozen(mock)).toBe(true);
    const session = createTestSession({ tools: [mock] });
    for (const input of [undefined, {}, { any: ['thing', 1, null] }])
      expect(await session.call('read', input)).toMatchObject({ success: true, output: 'Success' });
  });

  test('its spies are no part of its identity', () => {
    const plain = defineTool({
      name: 'read',
      description: 'Mock tool: read',
      parameters: { type: 'object' },
      handler: () => 'Success',
    });
    expect(mockTool({ name: 'read' }).fingerprint).toBe(plain.fingerprint);
    expect(Object.keys(mockTool({ name: 'read' }))).toEqual(Object.keys(plain));
  });

  test('it takes what a definition takes, and the gates hold', async () => {
    const mock = mockTool({
      name: 'commit',
      description: 'Commits.',
      tags: ['vcs'],
      requiresApproval: true,
      parameters: z.object({ message: z.string().min(1) }),
    });
    const session = createTestSession({
      tools: [mock],
      approver: ({ input }) => (input.message === 'good' ? 'allow_once' : 'reject_once'),
    });
    expect(mock).toMatchObject({ description: 'Commits.', tags: ['vcs'] });
    expect(await session.call(mock, { message: '' })).toMatchObject({
      error: { code: 'invalid_input' },
    });
    expect(await session.call(mock, { message: 'bad' })).toMatchObject({
      error: { code: 'approval_denied' },
    });
    expect(mock.callCount).toBe(0);
    expect(await session.call(mock, { message: 'good' })).toMatchObject({ success: true });
    expect(mock.callCount).toBe(1);
  });

  test('under another name in a scope, its spies count still', async () => {
    const mock = mockTool({ name: 'read' });
    const session = createTestSession();
    session.registry.scope('plugin', { prefix: 'p_' }).register(mock);
    await session.call('p_read', { a: 1 });
    expect(mock.lastInput).toEqual({ a: 1 });
  });
});

describe('what it answers', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['false', false],
    ['0', 0],
    ['an empty text', ''],
    ['an object', { a: [1] }],
  ])('output %s', async (_, output) => {
    const session = createTestSession({ tools: [mockTool({ name: 'read', output })] });
    expect(await session.call('read')).toMatchObject({ success: true, output });
  });

  test('an error text fails the call', async () => {
    const session = createTestSession({
      tools: [mockTool({ name: 'read', error: 'No such file.' })],
    });
    expect(await session.call('read')).toMatchObject({
      success: false,
      error: { code: 'handler_error', message: 'No such file.' },
    });
  });

  test('an error object fails it with its reason', async () => {
    const session = createTestSession({
      tools: [
        mockTool({
          name: 'read',
          error: { message: 'Dirty.', reason: 'dirty_worktree', retryable: true },
        }),
      ],
    });
    expect(await session.call('read')).toMatchObject({
      error: {
        code: 'handler_error',
        message: 'Dirty.',
        reason: 'dirty_worktree',
        retryable: true,
      },
    });
  });

  test('an Error is thrown', async () => {
    const session = createTestSession({
      tools: [mockTool({ name: 'read', error: new RangeError('too far') })],
      exposeErrors: 'masked',
    });
    const log = recordEvents(session);
    expect((await session.call('read')).error?.message).not.toContain('too far');
    expect(log.of('tool:error')[0]?.error.message).toBe('too far');
  });

  test('a handler computes it, by input and context', async () => {
    const add = mockTool({
      name: 'add',
      parameters: z.object({ a: z.number(), b: z.number().default(1) }),
      handler: ({ a, b }, { sessionId }) =>
        a < 0 ? fail({ message: 'Negative.', reason: 'negative' }) : ok({ sum: a + b, sessionId }),
    });
    const session = createTestSession({ tools: [add] });
    expect(await session.call(add, { a: 1 })).toMatchObject({
      output: { sum: 2, sessionId: 'test-session' },
    });
    expect(await session.call(add, { a: -1 })).toMatchObject({ error: { reason: 'negative' } });
    expect(add.calls.map(({ input }) => input)).toEqual([
      { a: 1, b: 1 },
      { a: -1, b: 1 },
    ]);
  });
});

describe('what it remembers', () => {
  test('each run, with input and context, until it is reset', async () => {
    const mock = mockTool({ name: 'read' });
    const session = createTestSession({ tools: [mock] });
    expect([mock.calls, mock.callCount, mock.lastInput]).toEqual([[], 0, undefined]);
    await session.call('read', { n: 1 });
    const first = mock.calls;
    await session.call('read', { n: 2 }, { callId: 'mine' });
    expect(first).toHaveLength(1);
    expect(mock.calls.map(({ input, context }) => [input, context.callId])).toEqual([
      [{ n: 1 }, 'call-1'],
      [{ n: 2 }, 'mine'],
    ]);
    expect(mock.lastInput).toEqual({ n: 2 });
    const { reset } = mock;
    reset();
    expect([mock.calls, mock.callCount, mock.lastInput]).toEqual([[], 0, undefined]);
  });

  test('a run that fails, too', async () => {
    const mock = mockTool({ name: 'read', error: 'no' });
    await createTestSession({ tools: [mock] }).call('read');
    expect(mock.callCount).toBe(1);
  });

  test('over all sessions that it serves', async () => {
    const mock = mockTool({ name: 'read' });
    const registry = new HostToolRegistry();
    registry.register(mock);
    for (const sessionId of ['a', 'b']) await registry.createSession({ sessionId }).call('read');
    expect(mock.calls.map(({ context }) => context.sessionId)).toEqual(['a', 'b']);
  });
});

describe('a delay', () => {
  test('runs on timers that can be faked', async () => {
    vi.useFakeTimers();
    const session = createTestSession({
      tools: [mockTool({ name: 'slow', delayMs: 1_000, output: 'late' })],
    });
    let settled = false;
    const call = session.call('slow').finally(() => {
      settled = true;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(settled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await call).toMatchObject({ output: 'late' });
  });

  test('longer than the timeout ends with it, and leaves no timer', async () => {
    vi.useFakeTimers();
    const slow = mockTool({ name: 'slow', delayMs: 60_000, timeoutMs: 100 });
    const session = createTestSession({ tools: [slow] });
    const call = session.call('slow');
    await vi.advanceTimersByTimeAsync(100);
    expect(await call).toMatchObject({ error: { code: 'timeout' } });
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(slow.callCount).toBe(1);
  });

  test('ends when the call is cancelled, and the outcome is never computed', async () => {
    const handler = vi.fn(() => 'done');
    const session = createTestSession({
      tools: [mockTool({ name: 'slow', delayMs: 60_000, handler })],
    });
    const controller = new AbortController();
    const call = session.call('slow', {}, { signal: controller.signal });
    controller.abort();
    expect(await call).toMatchObject({ error: { code: 'cancelled' } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(handler).not.toHaveBeenCalled();
  });

  test('ends when the session closes', async () => {
    const session = createTestSession({ tools: [mockTool({ name: 'slow', delayMs: 60_000 })] });
    const call = session.call('slow');
    await session.close();
    expect(await call).toMatchObject({ error: { code: 'session_closed' } });
  });

  test('delays failures and generators alike', async () => {
    vi.useFakeTimers();
    const session = createTestSession({
      tools: [
        mockTool({ name: 'fails', delayMs: 10, error: 'no' }),
        mockTool({
          name: 'steps',
          delayMs: 10,
          handler: async function* () {
            yield { done: 1, total: 2 };
            return 'all';
          },
        }),
      ],
    });
    const log = recordEvents(session);
    const calls = [session.call('fails'), session.call('steps')];
    await vi.advanceTimersByTimeAsync(10);
    expect(await Promise.all(calls)).toMatchObject([
      { error: { message: 'no' } },
      { output: 'all' },
    ]);
    expect(log.of('tool:progress')).toMatchObject([{ done: 1, total: 2 }]);
  });
});

describe("a test's mistake throws at once", () => {
  test.each<[string, object, string]>([
    ['no name', {}, 'name'],
    ['two outcomes', { name: 'read', output: 1, error: 'no' }, '`output` and `error`'],
    ['a handler that is none', { name: 'read', handler: 'x' }, '`handler`'],
    ['an error that is none', { name: 'read', error: 7 }, '`error`'],
    ['a negative delay', { name: 'read', delayMs: -1 }, '`delayMs`'],
    ['a delay that overflows timers', { name: 'read', delayMs: 2 ** 31 }, '`delayMs`'],
    ['an unknown field', { name: 'read', outptu: 1 }, 'outptu'],
    ['a session-scoped maker', { name: 'read', create: () => ({ handler: () => 1 }) }, 'create'],
  ])('%s', (_, config, named) => {
    expect(() => mockTool(config as never)).toThrow(named);
    try {
      mockTool(config as never);
    } catch (error) {
      expect(isMisuseError(error)).toBe(true);
    }
  });
});

test('types follow the configuration', () => {
  const typed = mockTool({
    name: 'sum',
    parameters: z.object({ a: z.number(), b: z.number().default(1) }),
    output: { sum: 1 },
  });
  expectTypeOf(typed.name).toEqualTypeOf<'sum'>();
  expectTypeOf(typed.lastInput).toEqualTypeOf<{ a: number; b: number } | undefined>();
  const session = createTestSession({ tools: [typed] });
  expectTypeOf(session.call(typed, { a: 1 })).resolves.toExtend<{
    success: boolean;
    output?: { sum: number } | undefined;
  }>();
  // @ts-expect-error `a` is missing.
  void session.call(typed, {});
  const withServices = mockTool({
    name: 'query',
    handler: (_input, context: ToolContext<{ db: string }, unknown>) => context.services.db,
  });
  expectTypeOf(
    createTestSession({ tools: [withServices], services: { db: 'x' } }).sessionId,
  ).toBeString();
  expectTypeOf(
    createTestSession({ tools: [typed, withServices], services: { db: 'x' } }).registry,
  ).toEqualTypeOf<HostToolRegistry<{ db: string }>>();
  // @ts-expect-error The tools need services.
  createTestSession({ tools: [withServices] });
});
