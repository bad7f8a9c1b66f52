import { afterEach, describe, expect, test, vi } from 'vitest';
import { content, type Hook, type ToolResult } from '../../../../src/index.ts';
import { expectOneEnd, gate, outcome, tool, turns, world } from '../world.ts';

type After = NonNullable<Hook['after']>;

/** A world with after hooks, which run in the reverse of this order; and what its host was told. */
const withHooks = (...hooks: After[]) => {
  const told: { err?: unknown; source?: unknown }[] = [];
  const w = world(
    { hooks: hooks.map((after) => ({ after })) },
    { logger: { warn: () => {}, error: (data) => void told.push(data) } },
  );
  return { w, told };
};

describe('what an after hook answers', () => {
  test.each<[string, unknown, unknown]>([
    ['nothing', undefined, { n: 1 }],
    ['null', null, { n: 1 }],
    ['text', 'no', { n: 1 }],
    ['an object that says neither', {}, { n: 1 }],
    ['`success` that is no boolean', { success: 1, output: 2 }, { n: 1 }],
    ['an output that it only inherits', Object.create({ success: true, output: 2 }), { n: 1 }],
    ['an output', { success: true, output: { m: 2 } }, { m: 2 }],
    ['no output', { success: true }, null],
  ])('%s, at once or later, leaves this output', async (_, answer, output) => {
    for (const after of [() => answer, async () => answer] as After[]) {
      const { w, told } = withHooks(after);
      expect((await w.run(() => ({ n: 1 }))).output).toEqual(output);
      expect(told).toEqual([]);
      expectOneEnd(w.events);
    }
  });

  test.each<[string, unknown, object]>([
    [
      'an error in full',
      { code: 'policy_denied', message: 'Mine.', reason: 'my_reason' },
      { code: 'policy_denied', message: 'Mine.', reason: 'my_reason' },
    ],
    [
      'no error',
      undefined,
      { code: 'handler_error', message: 'A hook replaced the result with a failure.' },
    ],
    [
      'an unknown code',
      { code: 'mine', message: 'Mine.' },
      { code: 'handler_error', message: 'Mine.' },
    ],
    [
      'a code that every object has',
      { code: 'toString', message: 'Mine.' },
      { code: 'handler_error', message: 'Mine.' },
    ],
    [
      'what is no text',
      { code: 5, message: 5, reason: 5 },
      { code: 'handler_error', message: 'A hook replaced the result with a failure.' },
    ],
    [
      'an empty message',
      { message: '' },
      { code: 'handler_error', message: 'A hook replaced the result with a failure.' },
    ],
  ])('a failure with %s fails the call', async (_, given, error) => {
    const { w } = withHooks((() => ({ success: false, error: given })) as never);
    const result = await w.run(() => 1);
    expect(result).toMatchObject({ success: false, error });
    if (!('reason' in error)) expect(result.error?.reason).toBeUndefined();
  });

  test('is what the hook before it sees, which in turn has the last word', async () => {
    const seen: unknown[] = [];
    const { w } = withHooks(
      (_, result) => {
        seen.push(result.output);
        return { ...result, output: 'first' } as ToolResult;
      },
      async (_, result) => {
        seen.push(result.output);
        return { ...result, output: 'second' } as ToolResult;
      },
      (_, result) => {
        seen.push(result.output);
        return { ...result, output: 'third' } as ToolResult;
      },
    );
    expect((await w.run(() => 'handler')).output).toBe('first');
    expect(seen).toEqual(['handler', 'third', 'second']);
  });

  test('makes a success of a failure', async () => {
    const { w } = withHooks(
      (_, result) => ({ ...result, success: true, output: 'saved' }) as never,
    );
    expect(
      outcome(
        await w.run(() => {
          throw new Error('no');
        }),
      ),
    ).toBe('saved');
  });
});

describe('what an after hook is shown', () => {
  test('is a copy: changes to it count only if the hook returns that object', async () => {
    for (const [answers, output] of [
      [false, { n: 1 }],
      [true, { n: 2 }],
    ]) {
      const { w } = withHooks((_, result) => {
        (result.output as { n: number }).n = 2;
        return answers === true ? result : undefined;
      });
      expect((await w.run(() => ({ n: 1 }))).output).toEqual(output);
    }
  });

  test('is a failure as it is, which the same object does not change', async () => {
    const { w } = withHooks((_, result) => result);
    const { error } = await w.run(() => {
      throw new Error('mine');
    });
    expect(error).toMatchObject({ code: 'handler_error' });
  });

  test('is content that stays content', async () => {
    const parts = [content.text('a')];
    const { w } = withHooks((_, result) => result);
    const { output, metadata } = await w.run(() => parts, { maxOutputChars: 1 });
    expect([output, metadata.truncated]).toEqual([parts, undefined]);
    // Data of the same shape would be cut as JSON text.
    expect(
      (await w.run(() => [{ type: 'text', text: 'a' }], { maxOutputChars: 1 })).metadata.truncated,
    ).toMatchObject({ exact: false });
  });

  test('has the canonical input, as a copy, and who is called', async () => {
    const seen: unknown[] = [];
    const { w } = withHooks(
      (call) => void seen.push(call.input, call.callId, call.tool.name, call.sessionId),
      (call) => void Object.assign(call.input, { n: 2 }),
    );
    w.add(tool(() => 1, { name: 'a' }));
    await w.session.call('a', { n: 1 }, { callId: 'mine' });
    expect(seen).toEqual([{ n: 1 }, 'mine', 'a', 'world']);
  });
});

describe('an after hook that fails', () => {
  afterEach(() => void vi.useRealTimers());

  test.each<[string, After]>([
    [
      'throws',
      () => {
        throw new RangeError('mine');
      },
    ],
    ['rejects', () => Promise.reject(new RangeError('mine'))],
    [
      'answers what cannot be read',
      () =>
        Object.defineProperty({}, 'success', {
          enumerable: true,
          get: () => {
            throw new RangeError('mine');
          },
        }) as never,
    ],
    [
      'resolves to what cannot be read',
      async () =>
        Object.defineProperty({}, 'success', {
          enumerable: true,
          get: () => {
            throw new RangeError('mine');
          },
        }) as never,
    ],
  ])('since it %s leaves the result, is told once, and the next hook runs', async (_, after) => {
    const { w, told } = withHooks(
      (_call, result) => ({ ...result, output: `${result.output}, seen` }) as ToolResult,
      after,
    );
    expect((await w.run(() => 'done')).output).toBe('done, seen');
    expect(told).toMatchObject([{ source: 'hook', err: { message: 'mine' } }]);
    expectOneEnd(w.events);
  });

  test('since it hangs does so as well, after the policy timeout', async () => {
    vi.useFakeTimers();
    const { w, told } = withHooks(
      (_call, result) => ({ ...result, output: `${result.output}, seen` }) as ToolResult,
      () => new Promise(() => {}),
    );
    const calling = w.run(() => 'done');
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await calling).output).toBe('done, seen');
    expect(told).toMatchObject([
      { source: 'hook', err: { message: 'The hook took longer than 5000 ms.' } },
    ]);
    expectOneEnd(w.events);
  });
});

test('a call that ends during an after hook runs no further hook', async () => {
  const hold = gate<void>();
  const before = vi.fn();
  for (const wait of [() => hold.promise, () => undefined]) {
    const { w, told } = withHooks(before, () => {
      void w.session.close();
      return wait();
    });
    expect(outcome(await w.run(() => 1))).toBe('session_closed');
    hold.open();
    await turns();
    expect(told).toEqual([]);
    await w.settle();
  }
  expect(before).not.toHaveBeenCalled();
});

test('a hook that is at work when its call ends has not failed', async () => {
  const hold = gate();
  const { w, told } = withHooks(() => hold.promise as never);
  const calling = w.run(() => 1);
  await turns();
  await w.session.close();
  expect(outcome(await calling)).toBe('session_closed');
  await turns();
  expect(told).toEqual([]);
  hold.open();
});
