import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolContext, ToolResult } from '../../../src/index.ts';
import { gate, outcome, tool, turns, world } from './world.ts';

const never = (): Promise<never> => new Promise(() => {});

describe('a call that is stopped says why', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each<[string, Record<string, unknown>, string, string]>([
    [
      'a deadline',
      { timeoutMs: 1_500 },
      'timeout',
      '`a` timed out after 1.5s. It may have run; check before you call it again.',
    ],
    [
      'an idle deadline',
      { timeoutMs: 9_000, idleTimeoutMs: 1_500 },
      'idle_timeout',
      '`a` timed out after 1.5s without progress. It may have run; check before you call it again.',
    ],
  ])('%s', async (_, more, reason, message) => {
    const w = world();
    let signal: AbortSignal | undefined;
    const calling = w.run(
      (_input: never, context: ToolContext) => {
        signal = context.signal;
        return never();
      },
      { name: 'a', ...more },
    );
    await vi.advanceTimersByTimeAsync(1_500);
    expect((await calling).error).toMatchObject({ code: 'timeout', reason, message });
    expect(signal?.reason).toMatchObject({ name: 'TimeoutError', message });
    await w.settle();
  });

  test('a signal, before the handler starts and after', async () => {
    const w = world({ approver: never });
    w.add(tool(never, { name: 'asks', requiresApproval: true }), tool(never, { name: 'runs' }));
    for (const [name, message] of [
      ['asks', 'The call was cancelled before it started.'],
      ['runs', 'The call was cancelled. The tool may have run.'],
    ] as const) {
      const controller = new AbortController();
      const calling = w.session.call(name, {}, { signal: controller.signal });
      await turns();
      controller.abort();
      expect((await calling).error).toMatchObject({ code: 'cancelled', message });
    }
    await w.settle();
  });

  test('closing, to the handler as an abort', async () => {
    const w = world();
    let signal: AbortSignal | undefined;
    const calling = w.run((_input: never, context: ToolContext) => {
      signal = context.signal;
      return never();
    });
    await w.session.close();
    expect((await calling).error).toMatchObject({
      code: 'session_closed',
      message: 'The session was closed before the call ended.',
    });
    expect(signal?.reason).toMatchObject({
      name: 'AbortError',
      message: 'The session was closed.',
    });
  });
});

test('a call that was stopped twice has the reason and the moment of the first', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const w = world();
  const hold = gate();
  let context: ToolContext | undefined;
  w.add(
    tool(never, { name: 'first' }),
    tool(
      (_: never, given: ToolContext) => {
        context = given;
        return hold.promise;
      },
      { name: 'second' },
    ),
    tool(
      (_: never, { tools }: ToolContext) =>
        Promise.all(
          ['first', 'second'].map((name) =>
            (tools.call as (name: string) => Promise<ToolResult>)(name),
          ),
        ),
      {
        name: 'outer',
        uses: ['first', 'second'],
      },
    ),
  );
  // The parent's end stops its children one by one; that of the first closes the session, which
  // stops the second before its turn comes.
  w.session.events.on('tool:error', ({ toolName }) => {
    if (toolName !== 'first') return;
    now = 1_000;
    void w.session.close();
    now = 3_000;
  });
  const controller = new AbortController();
  const calling = w.session.call('outer', {}, { signal: controller.signal });
  await turns();
  controller.abort();
  expect(outcome(await calling)).toBe('cancelled');
  expect(w.of('tool:error').map(({ toolName, error }) => [toolName, error.code])).toContainEqual([
    'second',
    'session_closed',
  ]);
  expect(context?.signal.reason).toMatchObject({ message: 'The session was closed.' });
  vi.restoreAllMocks();
  hold.open();
  await turns();
});
