import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolContext } from '../../../src/index.ts';
import { gate, outcome, tool, turns, world } from './world.ts';

const withReason = ({
  error,
}: {
  error?: { code: string; reason?: string } | undefined;
}): unknown => [error?.code, error?.reason];

describe('rule 14: limits', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a tool's `maxConcurrency` holds for all sessions, which take turns", async () => {
    const w = world();
    const order: string[] = [];
    let running = 0;
    let most = 0;
    w.add(
      tool(
        async (_: never, { sessionId }: ToolContext) => {
          order.push(sessionId);
          most = Math.max(most, ++running);
          await null;
          running--;
        },
        { name: 'a', maxConcurrency: 1 },
      ),
    );
    const [greedy, modest] = ['greedy', 'modest'].map((sessionId) =>
      w.registry.createSession({ sessionId }),
    );
    const calls = [
      ...Array.from({ length: 50 }, () => greedy?.call('a')),
      modest?.call('a'),
      modest?.call('a'),
    ];
    await Promise.all(calls);
    expect(most).toBe(1);
    expect(order.lastIndexOf('modest')).toBeLessThanOrEqual(5);
    await w.settle();
  });

  test('`maxConcurrentCalls` holds over one session alone', async () => {
    const w = world({ limits: { maxConcurrentCalls: 2 } });
    const hold = gate();
    let running = 0;
    w.add(
      tool(
        async () => {
          running++;
          await hold.promise;
        },
        { name: 'a' },
      ),
    );
    const other = w.registry.createSession({ sessionId: 'other' });
    const calls = [1, 2, 3, 4].map(() => w.session.call('a'));
    await turns();
    expect(running).toBe(2);
    const theirs = other.call('a');
    expect(running).toBe(3);
    hold.open();
    await Promise.all([...calls, theirs]);
    await w.settle();
  });

  test('a full queue is `rate_limited`, reason `queue_full`', async () => {
    const w = world({ limits: { maxConcurrentCalls: 1, maxQueuedCalls: 1 } });
    const hold = gate();
    w.add(tool(() => hold.promise, { name: 'a' }));
    const calls = [w.session.call('a'), w.session.call('a'), w.session.call('a')];
    expect(withReason(await (calls[2] as Promise<never>))).toEqual(['rate_limited', 'queue_full']);
    hold.open();
    await Promise.all(calls);
    await w.settle();
  });

  test('1 000 wait unless set, and a flood of one session never starves another', async () => {
    const w = world();
    const hold = gate();
    w.add(tool(() => hold.promise, { name: 'a', maxConcurrency: 1 }));
    const flood = Array.from({ length: 1_500 }, () => w.session.call('a'));
    await turns();
    const other = w.registry.createSession({ sessionId: 'other' });
    const theirs = other.call('a');
    hold.open();
    expect((await theirs).success).toBe(true);
    const results = await Promise.all(flood);
    expect(results.filter(({ success }) => success)).toHaveLength(1_001);
    expect(
      new Set(results.filter(({ success }) => !success).map(({ error }) => error?.reason)),
    ).toEqual(new Set(['queue_full']));
    await w.settle();
  });

  test(
    'a wait for a slot ends after 30 s, or `queueTimeoutMs`: `rate_limited`, reason ' +
      '`queue_timeout`; it never counts in the timeout',
    async () => {
      for (const [limits, ms] of [
        [{}, 30_000],
        [{ queueTimeoutMs: 50 }, 50],
      ] as const) {
        const w = world({ limits });
        const hold = gate();
        w.add(tool(() => hold.promise, { name: 'a', maxConcurrency: 1, timeoutMs: 100_000 }));
        const first = w.session.call('a');
        const second = w.session.call('a');
        await vi.advanceTimersByTimeAsync(ms);
        expect(withReason(await second)).toEqual(['rate_limited', 'queue_timeout']);
        hold.open();
        await first;
        await w.settle();
      }
      const w = world();
      const hold = gate();
      let started = 0;
      w.add(
        tool(
          async () => {
            if (++started === 1) await hold.promise;
            return 'ran';
          },
          { name: 'a', maxConcurrency: 1, timeoutMs: 500 },
        ),
      );
      const first = w.session.call('a', {});
      const second = w.session.call('a');
      await vi.advanceTimersByTimeAsync(400);
      hold.open();
      await first;
      expect(outcome(await second)).toBe('ran');
      await w.settle();
    },
  );

  test(
    '20 approvals may wait in one session, unless set: `rate_limited`, reason ' +
      '`too_many_approvals`',
    async () => {
      const w = world({ approver: () => new Promise(() => {}) });
      w.add(tool(() => 1, { name: 'a', requiresApproval: true }));
      const calls = Array.from({ length: 21 }, () => w.session.call('a'));
      expect(withReason(await (calls[20] as Promise<never>))).toEqual([
        'rate_limited',
        'too_many_approvals',
      ]);
      const other = w.registry.createSession({ sessionId: 'other', approver: () => 'allow_once' });
      expect((await other.call('a')).success).toBe(true);
      for (const { id } of await w.session.approvals.pending())
        w.session.approvals.answer(id, 'reject_once');
      await Promise.all(calls);
      await w.settle();
    },
  );

  test('calls per minute: unlimited by default; refused calls do not count', async () => {
    const w = world({ limits: { callsPerMinute: 2 } });
    w.add(tool(() => 1, { name: 'a' }));
    for (const _ of [1, 2]) expect((await w.session.call('a')).success).toBe(true);
    for (const _ of [1, 2, 3])
      expect(await w.session.call('a')).toMatchObject({
        error: {
          code: 'rate_limited',
          reason: 'calls_per_minute',
          retryable: true,
          details: { retryAfterMs: expect.any(Number) },
        },
        metadata: { status: 'rejected' },
      });
    await vi.advanceTimersByTimeAsync(60_001);
    expect((await w.session.call('a')).success).toBe(true);
    const other = w.registry.createSession({ sessionId: 'other' });
    for (let call = 0; call < 200; call++) expect((await other.call('a')).success).toBe(true);
  });

  test(
    '`loopGuard: n` allows n identical calls in a row: then `loop_detected`; another call ' +
      'between starts anew',
    async () => {
      const w = world({ limits: { loopGuard: 2 } });
      w.add(tool(() => 1, { name: 'a' }));
      const codes: unknown[] = [];
      for (const input of [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
        { x: 1, y: 2 },
        { x: 2 },
        { x: 1, y: 2 },
        { x: 1, y: 2 },
      ])
        codes.push(outcome(await w.session.call('a', input)));
      expect(codes).toEqual([1, 1, 'loop_detected', 1, 1, 1]);
      const free = world({ limits: { loopGuard: false } });
      for (let call = 0; call < 50; call++)
        expect((await free.session.call('still_alive')).success).toBe(true);
    },
  );

  test('events hold 64 KB each and 1 000 a call; what is over is dropped and logged', async () => {
    const w = world();
    await w.run((_: never, context: ToolContext) => {
      context.emit('long', 'x'.repeat(70_000));
      context.emit('long', 'é'.repeat(40_000));
      for (let count = 0; count < 1_500; count++) context.emit('tick', count);
      context.progress(1);
    });
    expect(
      w
        .of('tool:event')
        .map(({ name }) => name)
        .filter((name) => name === 'long'),
    ).toEqual([]);
    expect(w.of('tool:event').length).toBeLessThanOrEqual(1_000);
    expect(w.of('tool:event').length).toBeGreaterThan(990);
    expect(w.of('tool:progress')).toEqual([]);
    expect(w.warnings).toEqual([
      'an event was dropped',
      'an event was dropped',
      'a call emitted more events than its limit; the rest is dropped',
    ]);
  });

  test('an event that the definition does not declare is dropped and logged', async () => {
    const w = world();
    await w.run(
      (_: never, context: ToolContext) => {
        context.emit('declared', 1);
        context.emit('other', 2);
      },
      { events: ['declared'] },
    );
    expect(w.of('tool:event').map(({ name, data }) => [name, data])).toEqual([['declared', 1]]);
    expect(w.warnings).toHaveLength(1);
  });

  test('a timed-out handler keeps its slot until it settles', async () => {
    const w = world();
    const hold = gate();
    let started = 0;
    w.add(
      tool(() => (++started === 1 ? hold.promise : 'second'), {
        name: 'a',
        maxConcurrency: 1,
        timeoutMs: 100,
      }),
    );
    const first = w.session.call('a');
    await vi.advanceTimersByTimeAsync(100);
    expect(outcome(await first)).toBe('timeout');
    const second = w.session.call('a');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(started).toBe(1);
    hold.open();
    expect(outcome(await second)).toBe('second');
    await w.settle();
  });

  test('or until `graceMs` has passed', async () => {
    const w = world({}, { graceMs: 500 });
    let started = 0;
    w.add(
      tool(() => (++started === 1 ? new Promise(() => {}) : 'second'), {
        name: 'a',
        maxConcurrency: 1,
        timeoutMs: 100,
      }),
    );
    const first = w.session.call('a');
    await vi.advanceTimersByTimeAsync(100);
    await first;
    const second = w.session.call('a');
    await vi.advanceTimersByTimeAsync(499);
    expect(started).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(outcome(await second)).toBe('second');
    await w.settle();
  });

  test('a call id in flight twice is `duplicate_call_id`, for each session by itself', async () => {
    const w = world();
    const hold = gate();
    const handler = vi.fn(() => hold.promise);
    w.add(tool(handler, { name: 'a' }));
    const first = w.session.call('a', {}, { callId: 'x' });
    expect(await w.session.call('a', {}, { callId: 'x' })).toMatchObject({
      error: { code: 'duplicate_call_id' },
      metadata: { callId: 'x', status: 'rejected' },
    });
    const other = w.registry.createSession({ sessionId: 'world' });
    const theirs = other.call('a', {}, { callId: 'x' });
    hold.open();
    expect([(await first).success, (await theirs).success]).toEqual([true, true]);
    expect(handler).toHaveBeenCalledTimes(2);
    for (const callId of ['', 'x'.repeat(1_025), 7 as never])
      expect(outcome(await w.session.call('a', {}, { callId }))).toBe('invalid_input');
  });

  test('one lock at a time a resource key; other keys run beside it', async () => {
    const w = world();
    const running = new Set<string>();
    const clashes: string[] = [];
    w.add(
      tool(
        async ({ file }: { file: string }) => {
          if (running.has(file)) clashes.push(file);
          running.add(file);
          await turns(3);
          running.delete(file);
        },
        { name: 'a', resourceKey: ({ file }: { file: string }) => file },
      ),
    );
    const before = await Promise.all(
      ['x', 'x', 'y', 'x', 'y'].map((file) => w.session.call('a', { file })),
    );
    expect(before.every(({ success }) => success)).toBe(true);
    expect(clashes).toEqual([]);
    await w.settle();
  });

  test('a resource key that cannot be worked out refuses the call', async () => {
    const w = world();
    const handler = vi.fn();
    for (const resourceKey of [
      () => {
        throw new Error('no');
      },
      () => 7 as never,
    ])
      expect(withReason(await w.run(handler, { resourceKey }))).toEqual([
        'policy_error',
        'resource_key_failed',
      ]);
    expect(handler).not.toHaveBeenCalled();
  });

  test(
    'property: whatever order calls start, end and are aborted in, no bound is exceeded and ' +
      'every slot comes back',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.integer({ min: 1, max: 3 }),
          fc.integer({ min: 1, max: 3 }),
          fc.integer({ min: 1, max: 10 }),
          async (scheduler, perTool, perSession, count) => {
            const w = world({ limits: { maxConcurrentCalls: perSession } });
            let running = 0;
            let most = 0;
            w.add(
              tool(
                async () => {
                  most = Math.max(most, ++running);
                  await scheduler.schedule(Promise.resolve());
                  running--;
                },
                { name: 'a', maxConcurrency: perTool },
              ),
            );
            const controllers = Array.from({ length: count }, () => new AbortController());
            const calls = controllers.map(({ signal }) => w.session.call('a', {}, { signal }));
            controllers.forEach((controller, index) => {
              if (index % 3 === 1)
                void scheduler.schedule(Promise.resolve()).then(() => controller.abort());
            });
            const all = Promise.all(calls);
            await scheduler.waitFor(all);
            await scheduler.waitAll();
            for (const result of await all) expect([null, 'cancelled']).toContain(outcome(result));
            expect(most).toBeLessThanOrEqual(Math.min(perTool, perSession));
            await turns();
            await w.settle();
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});

describe('rule 14: limits survive what a host changes meanwhile', () => {
  test('the calls of the last minute count, whatever the limit was when they came', async () => {
    vi.useFakeTimers();
    const w = world({ limits: { callsPerMinute: 4 } });
    w.add(tool(() => 1, { name: 'a' }));
    w.registry.defineProfile({ id: 'three', tools: ['a'], limits: { callsPerMinute: 3 } });
    w.registry.defineProfile({ id: 'two', tools: ['a'], limits: { callsPerMinute: 2 } });
    let ran = 0;
    for (let round = 0; round < 5; round++) {
      for (const profile of ['three', 'two']) {
        w.session.setProfile(profile);
        for (let call = 0; call < 3; call++) if ((await w.session.call('a')).success) ran++;
      }
    }
    expect(ran).toBe(3);
    w.session.setProfile('two');
    // Two of the three must be gone before the smaller limit has room.
    const { error } = await w.session.call('a');
    expect(error).toMatchObject({ code: 'rate_limited', details: { retryAfterMs: 60_000 } });
    await vi.advanceTimersByTimeAsync(60_001);
    expect(await w.session.call('a')).toMatchObject({ success: true });
  });

  test('calls made while a profile had no limit count once there is one again', async () => {
    vi.useFakeTimers();
    const w = world();
    w.add(tool(() => 1, { name: 'a' }));
    w.registry.defineProfile({ id: 'bound', tools: ['a'], limits: { callsPerMinute: 3 } });
    w.registry.defineProfile({ id: 'free', tools: ['a'] });
    w.session.setProfile('free');
    for (let call = 0; call < 5; call++) expect((await w.session.call('a')).success).toBe(true);
    w.session.setProfile('bound');
    expect((await w.session.call('a')).error?.code).toBe('rate_limited');
  });

  describe('`maxConcurrentCalls` that comes while calls run', () => {
    /**
     * A session without a limit, profiles with one and with none, and handlers that run until they
     * are let go, in turn.
     */
    function held() {
      const w = world();
      const started: string[] = [];
      const open: (() => void)[] = [];
      const handler = (_: never, { callId }: { callId: string }): Promise<void> => {
        started.push(callId);
        return new Promise((resolve) => void open.push(resolve));
      };
      w.add(
        tool(handler as never, { name: 'a' }),
        tool(handler as never, { name: 'locked', resourceKey: 'k' }),
      );
      const parent = async (
        _: never,
        { tools }: { tools: { call(name: string): Promise<unknown> } },
      ): Promise<void> => {
        await new Promise<void>((resolve) => void open.push(resolve));
        await tools.call('a');
      };
      w.add(tool(parent as never, { name: 'parent', uses: ['a'] }));
      const tools = ['a', 'locked', 'parent', 'still_alive'];
      w.registry.defineProfile({ id: 'one', tools, limits: { maxConcurrentCalls: 1 } });
      w.registry.defineProfile({ id: 'free', tools });
      const begin = (callId: string, name = 'a') => w.session.call(name, {}, { callId });
      const next = async (): Promise<void> => {
        open.shift()?.();
        await turns();
      };
      return { ...w, started, begin, next };
    }

    test('counts those that run', async () => {
      const { session, started, begin, next, settle } = held();
      const calls = [begin('1'), begin('2')];
      await turns();
      session.setProfile('one');
      calls.push(begin('3'));
      await turns();
      expect(started).toEqual(['1', '2']);
      await next();
      expect(started).toEqual(['1', '2']);
      await next();
      expect(started).toEqual(['1', '2', '3']);
      await next();
      await Promise.all(calls);
      await settle();
    });

    test('by a profile that is defined anew counts those that run', async () => {
      const { registry, session, started, begin, next, settle } = held();
      session.setProfile('free');
      const calls = [begin('1')];
      await turns();
      registry.defineProfile({
        id: 'free',
        tools: ['a', 'still_alive'],
        limits: { maxConcurrentCalls: 1 },
      });
      calls.push(begin('2'));
      await turns();
      expect(started).toEqual(['1']);
      await next();
      expect(started).toEqual(['1', '2']);
      await next();
      await Promise.all(calls);
      await settle();
    });

    test('lets the children of a call that runs pass on its slot', async () => {
      const { session, started, begin, next, settle } = held();
      const call = begin('p', 'parent');
      await turns();
      session.setProfile('one');
      await next();
      expect(started).toEqual(['p/1']);
      await next();
      expect(await call).toMatchObject({ success: true });
      await settle();
    });

    test('holds for a call that waits for a lock', async () => {
      const { session, started, begin, next, settle } = held();
      const calls = [begin('1', 'locked'), begin('2', 'locked'), begin('3')];
      await turns();
      expect(started).toEqual(['1', '3']);
      session.setProfile('one');
      await next();
      // The lock is free; the slot is not.
      expect(started).toEqual(['1', '3']);
      await next();
      expect(started).toEqual(['1', '3', '2']);
      await next();
      await Promise.all(calls);
      await settle();
    });

    test('is waited for without the lock that another waits for', async () => {
      const { session, started, begin, next, settle } = held();
      const calls = [begin('1', 'locked'), begin('2', 'locked')];
      await turns();
      session.setProfile('one');
      calls.push(begin('3', 'locked'));
      for (let step = 0; step < 3; step++) await next();
      expect([...started].sort()).toEqual(['1', '2', '3']);
      expect((await Promise.all(calls)).map(outcome)).toEqual([null, null, null]);
      await settle();
    });

    test('and goes, lets those go that waited; they count when it comes again', async () => {
      const { session, started, begin, next, settle } = held();
      session.setProfile('one');
      const calls = [begin('1'), begin('2')];
      await turns();
      expect(started).toEqual(['1']);
      session.setProfile('free');
      await turns();
      expect(started).toEqual(['1', '2']);
      calls.push(begin('3'));
      await turns();
      expect(started).toEqual(['1', '2', '3']);
      session.setProfile('one');
      calls.push(begin('4'));
      await next();
      await next();
      expect(started).toEqual(['1', '2', '3']);
      await next();
      expect(started).toEqual(['1', '2', '3', '4']);
      await next();
      await Promise.all(calls);
      await settle();
    });
  });

  test(
    'the loop guard counts the model’s calls, whatever tools those call; a tool may poll ' +
      'another',
    async () => {
      const w = world({ limits: { loopGuard: 2 } });
      w.add(
        tool(() => 1, { name: 'inner' }),
        tool(
          ((
            _: never,
            { tools }: { tools: { call(name: string, input: object): Promise<unknown> } },
          ) => tools.call('inner', {}).then(() => 1)) as never,
          {
            name: 'outer',
            uses: ['inner'],
          },
        ),
        tool(
          (async (
            _: never,
            {
              tools,
            }: { tools: { call(name: string, input: object): Promise<{ success: boolean }> } },
          ) => {
            const answers: boolean[] = [];
            for (let poll = 0; poll < 4; poll++)
              answers.push((await tools.call('inner', {})).success);
            return answers;
          }) as never,
          { name: 'poll', uses: ['inner'] },
        ),
      );
      const codes: (string | undefined)[] = [];
      for (let call = 0; call < 4; call++)
        codes.push((await w.session.call('outer', { same: 1 })).error?.code);
      expect(codes).toEqual([undefined, undefined, 'loop_detected', 'loop_detected']);
      expect((await w.session.call('poll')).output).toEqual([true, true, true, true]);
    },
  );
});
