import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type {
  AnyEvent,
  CallOptions,
  SessionOptions,
  ToolContext,
  ToolResult,
} from '../../../src/index.ts';
import { define, setup } from './define.ts';
import { gate, turns, world } from './world.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const forever = () => new Promise<never>(() => {});

/** A call whose end can be looked at. */
function calling(
  more: Record<string, unknown>,
  sessionOptions: Partial<SessionOptions> = {},
  options: CallOptions = {},
  registryOptions = {},
) {
  const made = setup([define('t', more)], sessionOptions, registryOptions);
  const state: { result?: ToolResult } = {};
  const ended = made.session.call('t', {}, options).then((result) => {
    state.result = result;
  });
  return { ...made, state, ended };
}

describe('a timeout is a hard race and an abort of context.signal with the same reason', () => {
  test.each<[string, () => unknown]>([
    ['never settles', forever],
    ['answers a thenable that never calls back', () => Object.fromEntries([['then', () => {}]])],
    [
      'is a generator that hangs',
      async function* () {
        yield 'started';
        await forever();
      },
    ],
  ])('a handler that %s ends as timeout at its limit', async (_, handler) => {
    const { state } = calling({ handler, timeoutMs: 100 });
    await vi.advanceTimersByTimeAsync(95);
    expect(state.result).toBeUndefined();
    await vi.advanceTimersByTimeAsync(30);
    expect(state.result).toMatchObject({
      success: false,
      error: {
        code: 'timeout',
        reason: 'timeout',
        retryable: true,
        message: expect.stringContaining('timed out after 0.1s'),
      },
      metadata: { status: 'failed' },
    });
    expect(state.result?.error?.message).toContain('may have run');
  });

  test('the signal aborts with a TimeoutError whose message is the result’s', async () => {
    let signal: AbortSignal | undefined;
    const { state } = calling({
      timeoutMs: 100,
      handler: (_: unknown, context: ToolContext) => {
        signal = context.signal;
        return forever();
      },
    });
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(130);
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({
      name: 'TimeoutError',
      message: state.result?.error?.message,
    });
  });

  test('a signal that is first read after the timeout is aborted already', async () => {
    let context: ToolContext | undefined;
    calling({
      timeoutMs: 50,
      handler: (_: unknown, given: ToolContext) => {
        context = given;
        return forever();
      },
    });
    await vi.advanceTimersByTimeAsync(80);
    expect(context?.signal.aborted).toBe(true);
    expect(context?.signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('a handler that ends by that abort changes nothing', async () => {
    const { state, events } = calling({
      timeoutMs: 50,
      handler: (_: unknown, { signal }: ToolContext) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        ),
    });
    await vi.advanceTimersByTimeAsync(80);
    expect(state.result).toMatchObject({ error: { code: 'timeout' } });
    expect(events.filter(({ type }) => type === 'tool:error')).toHaveLength(1);
  });

  test('a handler that is in time leaves its signal alone', async () => {
    let signal: AbortSignal | undefined;
    const { state } = calling({
      timeoutMs: 50,
      handler: (_: unknown, context: ToolContext) => {
        signal = context.signal;
        return 'done';
      },
    });
    await vi.advanceTimersByTimeAsync(200);
    expect(state.result).toMatchObject({ success: true });
    expect(signal?.aborted).toBe(false);
  });

  test('a handler’s own TimeoutError is a handler_error', async () => {
    for (const thrown of [
      new DOMException('mine timed out', 'TimeoutError'),
      Object.assign(new Error('timed out after 3s'), { name: 'TimeoutError', code: 'timeout' }),
    ]) {
      const { state } = calling({ handler: () => Promise.reject(thrown) });
      await vi.advanceTimersByTimeAsync(1);
      expect(state.result).toMatchObject({
        error: { code: 'handler_error', message: thrown.message },
      });
    }
  });
});

describe('which limit holds', () => {
  test.each<[string, Record<string, unknown>, CallOptions, object, number]>([
    ['120 s unless set', {}, {}, {}, 120_000],
    ['the registry’s default', {}, {}, { defaultTimeoutMs: 700 }, 700],
    ['the tool’s own', { timeoutMs: 300 }, {}, { defaultTimeoutMs: 700 }, 300],
    ['a call can shorten it', { timeoutMs: 300 }, { timeoutMs: 100 }, {}, 100],
    ['a call cannot lengthen it', { timeoutMs: 300 }, { timeoutMs: 5_000 }, {}, 300],
  ])('%s', async (_, more, options, registryOptions, ms) => {
    const { state } = calling({ handler: forever, ...more }, {}, options, registryOptions);
    await vi.advanceTimersByTimeAsync(ms - 5);
    expect(state.result).toBeUndefined();
    await vi.advanceTimersByTimeAsync(30);
    expect(state.result).toMatchObject({
      error: { code: 'timeout', message: expect.stringContaining(`timed out after ${ms / 1000}s`) },
    });
  });

  test('a profile’s', async () => {
    const { session, registry } = setup([define('t', { handler: forever, timeoutMs: 5_000 })]);
    registry.defineProfile({ id: 'p', tools: [{ name: 't', timeoutMs: 100 }] });
    session.setProfile('p');
    let result: ToolResult | undefined;
    void session.call('t').then((settled) => (result = settled));
    await vi.advanceTimersByTimeAsync(130);
    expect(result).toMatchObject({ error: { code: 'timeout' } });
  });

  test('progress restarts idleTimeoutMs, but does not lengthen the timeout', async () => {
    let context: ToolContext | undefined;
    const { state } = calling({
      idleTimeoutMs: 100,
      timeoutMs: 300,
      handler: (_: unknown, given: ToolContext) => {
        context = given;
        return forever();
      },
    });
    for (let step = 0; step < 2; step++) {
      await vi.advanceTimersByTimeAsync(80);
      context?.progress(step);
    }
    await vi.advanceTimersByTimeAsync(80);
    expect(state.result).toBeUndefined();
    await vi.advanceTimersByTimeAsync(40);
    expect(state.result).toMatchObject({
      error: {
        code: 'timeout',
        reason: 'idle_timeout',
        message: expect.stringContaining('timed out after 0.1s without progress'),
      },
    });
  });
});

describe('the clock starts with the handler', () => {
  const slow = <T>(answer: T) =>
    new Promise<T>((resolve) => setTimeout(() => resolve(answer), 500));
  test.each<[string, Record<string, unknown>, Partial<SessionOptions>]>([
    ['a person', { requiresApproval: true }, { approver: () => slow('allow_once' as const) }],
    ['an asynchronous policy', {}, { policies: [{ id: 'p', check: () => slow(undefined) }] }],
    ['an asynchronous hook', {}, { hooks: [{ before: () => slow(undefined) }] }],
    ['an asynchronous schema', { parameters: z.object({}).refine(() => slow(true)) }, {}],
    ['an asynchronous check', { policy: { check: () => slow({ effect: 'allow' }) } }, {}],
  ])('the time of %s does not count', async (_, more, options) => {
    let deadline: number | undefined;
    let startedAt = 0;
    const { state } = calling(
      {
        timeoutMs: 100,
        handler: (_input: unknown, context: ToolContext) => {
          deadline = context.deadline;
          startedAt = Date.now();
          return new Promise((resolve) => setTimeout(() => resolve('in time'), 80));
        },
        ...more,
      },
      options,
    );
    await vi.advanceTimersByTimeAsync(3_000);
    expect(state.result).toMatchObject({ success: true, output: 'in time' });
    expect(Math.abs((deadline ?? 0) - startedAt - 100)).toBeLessThanOrEqual(2);
  });

  test('nor does the time in a queue', async () => {
    const { session } = setup([
      define('t', {
        maxConcurrency: 1,
        timeoutMs: 100,
        handler: () => new Promise((resolve) => setTimeout(() => resolve('in time'), 80)),
      }),
    ]);
    const calls = [session.call('t'), session.call('t'), session.call('t')];
    await vi.advanceTimersByTimeAsync(1_000);
    for (const call of calls) expect(await call).toMatchObject({ success: true });
  });

  test('after hooks have a limit of their own', async () => {
    const { state } = calling(
      { timeoutMs: 100, handler: () => 'ran' },
      { hooks: [{ after: () => slow(undefined) }] },
    );
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state.result).toMatchObject({ success: true });
  });
});

describe('an outcome after the timeout is dropped, counted and reported as tool:late', () => {
  const late = (events: readonly AnyEvent[]) =>
    events.filter((event) => event.type === 'tool:late');
  test.each<[string, (going: ReturnType<typeof gate<unknown>>) => void, 'returned' | 'threw']>([
    ['a result', (going) => going.open('too late'), 'returned'],
    ['a rejection', (going) => going.fail(new Error('too late')), 'threw'],
    ['a rejection with nothing', (going) => going.fail(undefined), 'threw'],
  ])('%s', async (_, settle, settled) => {
    const going = gate<unknown>();
    const { state, session, events } = calling({ timeoutMs: 100, handler: () => going.promise });
    await vi.advanceTimersByTimeAsync(130);
    const before = structuredClone(state.result);
    await vi.advanceTimersByTimeAsync(400);
    settle(going);
    await turns();
    expect(late(events)).toMatchObject([{ toolName: 't', settled }]);
    expect((late(events)[0] as { afterMs: number }).afterMs).toBe(430);
    expect(session.metrics()).toMatchObject({ lateSettles: 1, calls: 1, failed: 1, succeeded: 0 });
    expect(state.result).toEqual(before);
  });

  test('a generator is closed, and its clean-up may hang', async () => {
    const closed = vi.fn();
    const next = gate();
    const { state, session, events } = calling({
      timeoutMs: 100,
      handler: async function* () {
        try {
          yield 'one';
          await next.promise;
          yield 'two';
        } finally {
          closed();
          await forever();
        }
      },
    });
    await vi.advanceTimersByTimeAsync(130);
    expect(state.result).toMatchObject({ error: { code: 'timeout' } });
    next.open();
    await turns();
    expect(closed).toHaveBeenCalledTimes(1);
    expect(session.metrics()).toMatchObject({ lateSettles: 1 });
    expect(late(events)).toHaveLength(1);
  });

  test('a handler that never settles is not late', async () => {
    const { session, events } = calling({ timeoutMs: 100, handler: forever });
    await vi.advanceTimersByTimeAsync(200_000);
    expect(late(events)).toEqual([]);
    expect(session.metrics()).toMatchObject({ lateSettles: 0 });
  });
});

describe('deadlines run on a monotonic clock; `now` is for timestamps', () => {
  test('a wall clock that jumps by an hour ends nothing and delays nothing', async () => {
    for (const jump of [3_600_000, -3_600_000]) {
      let now = 1_000_000_000;
      const { state, events } = calling(
        { timeoutMs: 100, handler: forever },
        {},
        {},
        { now: () => now },
      );
      now += jump;
      await vi.advanceTimersByTimeAsync(90);
      expect(state.result).toBeUndefined();
      await vi.advanceTimersByTimeAsync(40);
      expect(state.result).toMatchObject({ error: { code: 'timeout' } });
      expect(state.result?.metadata.durationMs).toBeLessThan(200);
      expect(events.map((event) => event.at).at(-1)).toBe(1_000_000_000 + jump);
    }
  });

  test('context.deadline is epoch milliseconds by `now`', () => {
    let deadline: number | undefined;
    calling(
      {
        timeoutMs: 100,
        handler: (_: unknown, context: ToolContext) => {
          deadline = context.deadline;
        },
      },
      {},
      {},
      { now: () => 5_000 },
    );
    expect(deadline).toBeGreaterThan(5_090);
    expect(deadline).toBeLessThanOrEqual(5_100);
  });

  test('many calls with different limits end each at its own, and no timer is left', async () => {
    const limits = [500, 20, 300, 20, 1_000, 40];
    const { session } = setup(
      limits.map((timeoutMs, index) => define(`t${index}`, { timeoutMs, handler: forever })),
    );
    const ends: [number, number][] = [];
    const start = Date.now();
    limits.forEach(
      (limit, index) =>
        void session.call(`t${index}`).then(() => ends.push([limit, Date.now() - start])),
    );
    await vi.advanceTimersByTimeAsync(1_100);
    expect(ends).toHaveLength(limits.length);
    for (const [limit, at] of ends) {
      expect(at).toBeGreaterThanOrEqual(limit);
      expect(at).toBeLessThanOrEqual(limit + 25);
    }
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('rule 8: a generator that never waits', () => {
  test('lets timers fire, so that its deadline ends it', async () => {
    vi.useRealTimers();
    const w = world();
    const result = await w.run(
      async function* () {
        for (;;) yield 'still here';
      } as never,
      { timeoutMs: 30 },
    );
    expect(result).toMatchObject({ success: false, error: { code: 'timeout' } });
    await w.settle();
  });
});
