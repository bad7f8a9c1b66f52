import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolContext, ToolResult } from '../../../../src/index.ts';
import { gate, outcome, tool, turns, world } from '../world.ts';

describe('a wait for a slot', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('says how many wait already, or how long it lasted, and may be tried again', async () => {
    const w = world({
      limits: { maxConcurrentCalls: 1, maxQueuedCalls: 1, queueTimeoutMs: 1_500 },
    });
    const hold = gate();
    w.add(tool(() => hold.promise, { name: 'a' }));
    const calls = [1, 2, 3].map(() => w.session.call('a'));
    expect((await (calls[2] as Promise<ToolResult>)).error).toMatchObject({
      code: 'rate_limited',
      reason: 'queue_full',
      retryable: true,
      message: 'This session already has 1 calls waiting for a slot. Try again later.',
    });
    await vi.advanceTimersByTimeAsync(1_500);
    expect((await (calls[1] as Promise<ToolResult>)).error).toMatchObject({
      code: 'rate_limited',
      reason: 'queue_timeout',
      retryable: true,
      message: 'No slot became free within 1.5 s. Try again later.',
    });
    hold.open();
    await calls[0];
    await w.settle();
  });

  test('that is over leaves room for another to wait, however it ended', async () => {
    const w = world({
      limits: { maxConcurrentCalls: 1, maxQueuedCalls: 1, queueTimeoutMs: 1_000 },
    });
    const hold = gate();
    w.add(tool(() => hold.promise, { name: 'a' }));
    const first = w.session.call('a');
    const late = w.session.call('a');
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await late).error?.reason).toBe('queue_timeout');
    const controller = new AbortController();
    const left = w.session.call('a', {}, { signal: controller.signal });
    controller.abort();
    expect(outcome(await left)).toBe('cancelled');
    const last = w.session.call('a');
    hold.open();
    expect([await first, await last].map(outcome)).toEqual([null, null]);
    await w.settle();
  });

  test(
    'that timed out has no slot to give back, so that the next in line waits for the one who ' +
      'has it',
    async () => {
      const w = world({ limits: { queueTimeoutMs: 1_000 } });
      const hold = gate();
      let started = 0;
      w.add(
        tool(() => (++started === 1 ? hold.promise : started), {
          name: 'a',
          maxConcurrency: 1,
          timeoutMs: 100_000,
        }),
      );
      const first = w.session.call('a');
      const late = w.session.call('a');
      await vi.advanceTimersByTimeAsync(500);
      const next = w.session.call('a');
      await vi.advanceTimersByTimeAsync(500);
      expect((await late).error?.reason).toBe('queue_timeout');
      expect(started).toBe(1);
      hold.open();
      await first;
      expect(outcome(await next)).toBe(2);
      await w.settle();
    },
  );
});

describe('a resource key', () => {
  const held = () => {
    const w = world();
    const running: string[] = [];
    const clashes: string[] = [];
    const use = (key: string) => async (): Promise<void> => {
      if (running.includes(key)) clashes.push(key);
      running.push(key);
      await turns(3);
      running.splice(running.indexOf(key), 1);
    };
    return { w, clashes, use };
  };

  test(
    'of the caller is taken beside that of the tool, in one order for all, so that neither ' +
      'waits for the other',
    async () => {
      const { w, clashes, use } = held();
      w.add(
        tool(use('x'), { name: 'x', resourceKey: 'x' }),
        tool(use('y'), { name: 'y', resourceKey: 'y' }),
      );
      const results = await Promise.all(
        ['x', 'y', 'x', 'y'].map((name) =>
          w.session.call(name, {}, { resourceKey: name === 'x' ? 'y' : 'x' }),
        ),
      );
      expect(results.map(outcome)).toEqual([null, null, null, null]);
      expect(clashes).toEqual([]);
      await w.settle();
    },
  );

  test(
    'of the caller is kept beside that of the tool, so that two tools with keys of their own ' +
      'take turns at it',
    async () => {
      const { w, clashes, use } = held();
      w.add(
        tool(use('shared'), { name: 'x', resourceKey: 'x' }),
        tool(use('shared'), { name: 'y', resourceKey: 'y' }),
      );
      await Promise.all(
        ['x', 'y', 'x', 'y'].map((name) => w.session.call(name, {}, { resourceKey: 'shared' })),
      );
      expect(clashes).toEqual([]);
      await w.settle();
    },
  );

  test(
    'of the caller keeps calls of a tool without one apart, and is one lock where the tool ' +
      'names it too',
    async () => {
      const { w, clashes, use } = held();
      w.add(tool(use('x'), { name: 'free' }), tool(use('x'), { name: 'keyed', resourceKey: 'x' }));
      const names = ['free', 'keyed', 'free', 'keyed'];
      expect(
        (
          await Promise.all(names.map((name) => w.session.call(name, {}, { resourceKey: 'x' })))
        ).map(outcome),
      ).toEqual([null, null, null, null]);
      expect(clashes).toEqual([]);
      await w.settle();
    },
  );

  test(
    'that each of two callers would have to give to the other never comes free: one is refused ' +
      'at once, for good',
    async () => {
      const w = world();
      const calling =
        (name: string) =>
        async (_: never, { tools }: ToolContext) => {
          await turns();
          return (await (tools.call as (name: string) => Promise<ToolResult>)(name)).error ?? 'ran';
        };
      w.add(
        tool(() => 1, { name: 'inner', resourceKey: 'x' }),
        tool(calling('inner'), { name: 'outer', resourceKey: 'y', uses: ['inner'] }),
        tool(calling('crossed'), { name: 'other', resourceKey: 'x', uses: ['crossed'] }),
        tool(() => 1, { name: 'crossed', resourceKey: 'y' }),
      );
      const results = await Promise.all([w.session.call('outer'), w.session.call('other')]);
      const refused = results
        .map(({ output }) => output)
        .filter((output) => typeof output === 'object' && output !== null);
      expect(refused).toEqual([
        expect.objectContaining({
          code: 'rate_limited',
          reason: 'deadlock',
          retryable: false,
          message:
            'The call would wait for a slot that only its own callers hold. Call the tools one ' +
            'after another.',
        }),
      ]);
      await w.settle();
    },
  );

  test.each<[string, (input: never) => unknown, string]>([
    [
      'answers a promise',
      async () => 'x',
      'Expected `resourceKey` to return a string synchronously, got a promise.',
    ],
    [
      'answers a number',
      () => 7,
      'Expected `resourceKey` to return a string synchronously, got `7` (number).',
    ],
    [
      'throws',
      () => {
        throw new RangeError('mine');
      },
      'mine',
    ],
  ])(
    'that %s keeps the call from running, and the host learns why',
    async (_, resourceKey, message) => {
      const told: object[] = [];
      const w = world({}, { logger: { warn: () => {}, error: (data) => void told.push(data) } });
      const handler = vi.fn();
      const { error } = await w.run(handler, { name: 'a', resourceKey });
      expect(error).toMatchObject({
        code: 'policy_error',
        reason: 'resource_key_failed',
        source: 'tool',
        message: 'The resource key of `a` could not be determined, so the call did not run.',
        cause: expect.objectContaining({ message }),
      });
      expect(told).toMatchObject([{ source: 'resourceKey', err: { message } }]);
      expect(handler).not.toHaveBeenCalled();
      await w.settle();
    },
  );
});
