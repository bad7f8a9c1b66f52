import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { stateOf } from '../../../src/core/session/session.ts';
import { HostToolRegistry, type ToolContext } from '../../../src/index.ts';
import { gate, outcome, tool, turns, world } from './world.ts';

const never = (): Promise<never> => new Promise(() => {});

describe('rule 9: abort by the caller', () => {
  test('before the start it ends as `cancelled`, and the handler is never called', async () => {
    const w = world();
    const handler = vi.fn();
    w.add(tool(handler, { name: 'a' }));
    const result = await w.session.call('a', {}, { signal: AbortSignal.abort('why') });
    expect(result).toMatchObject({
      success: false,
      error: { code: 'cancelled', retryable: true },
      metadata: { status: 'cancelled' },
    });
    expect(handler).not.toHaveBeenCalled();
    expect(w.of('tool:pre')).toHaveLength(1);
    await w.settle();
  });

  test(
    'during the handler it ends at once, aborts `context.signal` with the same reason, and says ' +
      'that the tool may have run',
    async () => {
      const w = world();
      let signal: AbortSignal | undefined;
      w.add(
        tool(
          (_: never, context: ToolContext) => {
            signal = context.signal;
            return never();
          },
          { name: 'a' },
        ),
      );
      const controller = new AbortController();
      const called = w.session.call('a', {}, { signal: controller.signal });
      const reason = new Error('enough');
      controller.abort(reason);
      const result = await called;
      expect(result.error?.message).toContain('may have run');
      expect(signal?.reason).toBe(reason);
      await w.settle();
    },
  );

  test('a signal that the handler first reads after the abort is aborted', async () => {
    const w = world();
    const hold = gate();
    let late: ToolContext | undefined;
    w.add(
      tool(
        async (_: never, context: ToolContext) => {
          late = context;
          await hold.promise;
        },
        { name: 'a' },
      ),
    );
    const controller = new AbortController();
    const called = w.session.call('a', {}, { signal: controller.signal });
    controller.abort('enough');
    await called;
    expect(late?.signal).toMatchObject({ aborted: true, reason: 'enough' });
    hold.open();
  });

  test(
    'a call that fails after its handler has returned aborts the signal that the handler was ' +
      'given',
    async () => {
      const w = world();
      let signal: AbortSignal | undefined;
      const result = await w.run((_: never, context: ToolContext) => {
        signal = context.signal;
        return 1n;
      });
      expect([outcome(result), signal?.aborted]).toEqual(['invalid_output', true]);
      await w.settle();
    },
  );

  test('a call that succeeds leaves its signal alone, and nothing on the caller', async () => {
    const w = world();
    let signal: AbortSignal | undefined;
    w.add(
      tool(
        (_: never, context: ToolContext) => {
          signal = context.signal;
          return 1;
        },
        { name: 'a' },
      ),
    );
    const controller = new AbortController();
    await w.session.call('a', {}, { signal: controller.signal });
    // Before the abort, which takes its listener away itself.
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller.abort();
    expect(signal?.aborted).toBe(false);
  });

  test('while it waits for a slot it leaves the queue, and the next in line runs', async () => {
    const w = world();
    const hold = gate();
    w.add(tool(() => hold.promise, { name: 'a', maxConcurrency: 1 }));
    const first = w.session.call('a');
    const controller = new AbortController();
    const second = w.session.call('a', {}, { signal: controller.signal });
    const third = w.session.call('a');
    controller.abort();
    expect(outcome(await second)).toBe('cancelled');
    hold.open();
    expect((await first).success).toBe(true);
    expect((await third).success).toBe(true);
    await w.settle();
  });

  test('what is no signal is a failed call, not a thrown one', async () => {
    const w = world();
    const result = await w.session.call('still_alive', {}, { signal: 'no signal' as never });
    expect(result.success).toBe(false);
    await w.settle();
  });
});

describe('rule 9: closing', () => {
  test(
    'ends what is in flight as `session_closed`, aborts it, and disposes session-scoped ' +
      'handlers once',
    async () => {
      const w = world();
      let signal: AbortSignal | undefined;
      const dispose = vi.fn();
      const tools = [
        tool(undefined as never, {
          name: 'a',
          handler: undefined,
          create: () => ({
            handler: (_: never, context: ToolContext) => {
              signal = context.signal;
              return never();
            },
            dispose,
          }),
        }),
      ];
      w.add(...tools);
      const called = w.session.call('a');
      await turns();
      const closing = w.session.close();
      expect(outcome(await called)).toBe('session_closed');
      expect((await called).metadata.status).toBe('cancelled');
      expect(signal?.aborted).toBe(true);
      await Promise.all([closing, w.session.close(), w.session[Symbol.asyncDispose]()]);
      expect(dispose).toHaveBeenCalledTimes(1);
      await w.settle();
    },
  );

  test('later calls end as `session_closed` and run nothing; later changes throw', async () => {
    const w = world();
    const handler = vi.fn();
    w.add(tool(handler, { name: 'a' }));
    await w.session.close();
    expect(outcome(await w.session.call('a'))).toBe('session_closed');
    expect(outcome(await w.session.call('nobody'))).toBe('session_closed');
    expect(handler).not.toHaveBeenCalled();
    for (const change of [
      () => w.session.setFacts({}),
      () => w.session.setOverrides({}),
      () => w.session.setProfile('p'),
      () => w.session.use({ before: () => undefined }),
      () => w.session.register(tool(() => 1)),
    ]) {
      expect(change).toThrow(expect.objectContaining({ code: 'closed' }));
    }
  });

  test("an abort of the session's signal closes it", async () => {
    const controller = new AbortController();
    const w = world({ signal: controller.signal });
    w.add(tool(never, { name: 'a' }));
    const called = w.session.call('a');
    controller.abort();
    expect(outcome(await called)).toBe('session_closed');
    expect(stateOf(w.session).closed).toBe(true);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('a signal that has aborted already gives a closed session', async () => {
    const w = world({ signal: AbortSignal.abort() });
    expect(outcome(await w.session.call('still_alive'))).toBe('session_closed');
  });

  test(
    "closing the registry closes its sessions: their calls end, and their callers' signals and " +
      'timers are given back',
    async () => {
      vi.useFakeTimers();
      const registry = new HostToolRegistry();
      registry.register(tool(never, { name: 'a' }));
      const controller = new AbortController();
      const session = registry.createSession({
        sessionId: 's',
        signal: controller.signal,
        idleTimeoutMs: 60_000,
      });
      const other = registry.createSession({ sessionId: 't', signal: controller.signal });
      const called = session.call('a');
      await Promise.all([registry.close(), registry.close()]);
      expect(outcome(await called)).toBe('session_closed');
      expect(outcome(await other.call('a'))).toBe('session_closed');
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      // The timer of deadlines outlives the last of them by at most this.
      vi.advanceTimersByTime(20);
      expect(vi.getTimerCount()).toBe(0);
      expect(() => registry.createSession({ sessionId: 'u' })).toThrow(
        expect.objectContaining({ code: 'closed' }),
      );
    },
  );

  test('a disposal that throws or rejects is logged and holds nothing', async () => {
    for (const dispose of [
      () => {
        throw new Error('no');
      },
      async () => {
        throw new Error('no');
      },
    ]) {
      const w = world();
      w.add(
        tool(undefined as never, {
          name: 'a',
          handler: undefined,
          create: () => ({ handler: () => 1, dispose }),
        }),
      );
      await w.session.call('a');
      await w.session.close();
      expect(w.warnings).toContain('disposing a session-scoped handler failed');
    }
  });
});
