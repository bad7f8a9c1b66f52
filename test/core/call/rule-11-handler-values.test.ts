import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { content, fail, ok, serializeOutput, type ToolContext } from '../../../src/index.ts';
import { outcome, tool, world } from './world.ts';

describe('rule 11: what a handler returns', () => {
  test.each([
    ['undefined', undefined, null],
    ['null', null, null],
    ['0', 0, 0],
    ['minus zero', -0, 0],
    ['false', false, false],
    ['an empty string', '', ''],
    ['nested values', { a: [1, { b: null }] }, { a: [1, { b: null }] }],
    ['undefined inside', { a: undefined, b: [undefined] }, { b: [null] }],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an object with toJSON', { toJSON: () => ({ shown: true }), hidden: true }, { shown: true }],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [
      'what looks like a result',
      { success: false, error: { code: 'x' } },
      { success: false, error: { code: 'x' } },
    ],
    ['what looks like content', { type: 'text', text: 'hi' }, { type: 'text', text: 'hi' }],
  ])('%s succeeds', async (_, value, output) => {
    const w = world();
    for (const handler of [() => value, async () => value, () => ok(value)])
      expect(await w.run(handler)).toMatchObject({
        success: true,
        output,
        metadata: { status: 'succeeded' },
      });
    await w.settle();
  });

  test('ok() adds metadata for the host; over 16 KB it is a handler_error', async () => {
    const w = world();
    expect((await w.run(() => ok('text', { rows: 3 }))).metadata.handler).toEqual({ rows: 3 });
    expect(outcome(await w.run(() => ok('text', { long: 'x'.repeat(20_000) })))).toBe(
      'handler_error',
    );
  });

  test('fail() gives a handler_error with reason, details and retryability', async () => {
    const w = world();
    expect(
      (
        await w.run(() =>
          fail({
            message: 'dirty',
            reason: 'dirty_worktree',
            details: { files: 2 },
            retryable: true,
          }),
        )
      ).error,
    ).toEqual({
      code: 'handler_error',
      message: 'dirty',
      reason: 'dirty_worktree',
      details: { files: 2 },
      retryable: true,
    });
    expect((await w.run(() => fail('plain'))).error).toEqual({
      code: 'handler_error',
      message: 'plain',
      retryable: false,
    });
    expect((await w.run(async () => fail(' '))).error?.message).toMatch(/\S/);
  });

  test(
    'a misspelt member of fail() is a handler_error that says so; an error that is given as it ' +
      'is may hold what it likes',
    async () => {
      const w = world();
      const misspelt = await w.run(() => fail({ message: 'busy', retriable: true } as never));
      expect(misspelt.error?.cause).toMatchObject({
        name: 'MisuseError',
        message: 'fail: unknown field `retriable`; did you mean `retryable`?',
      });
      expect((await w.run(() => fail(null as never))).error?.cause).toMatchObject({
        message: expect.stringMatching(/^fail: expected a message or an object .*got null/),
      });
      const missing = Object.assign(new Error('ENOENT: no such file'), {
        code: 'ENOENT',
        errno: -2,
        syscall: 'open',
        path: '/a',
      });
      expect((await w.run(() => fail(missing))).error).toEqual({
        code: 'handler_error',
        message: 'ENOENT: no such file',
        retryable: false,
      });
    },
  );

  test('what everything inherits is no member of a failure', async () => {
    const w = world();
    Object.defineProperty(Object.prototype, 'retryable', { value: true, configurable: true });
    try {
      expect((await w.run(() => fail({ message: 'no' }))).error?.retryable).toBe(false);
    } finally {
      delete (Object.prototype as { retryable?: unknown }).retryable;
    }
  });

  test.each([
    ['a BigInt', { a: [1n] }, '/a/0'],
    ['a function', { f: () => 1 }, '/f'],
    ['a symbol', { s: Symbol('s') }, '/s'],
    ['NaN', { n: Number.NaN }, '/n'],
    ['a key that a pointer escapes', { 'a/b~c': 1n }, '/a~1b~0c'],
    ['the root', 1n, ''],
  ])('%s is `invalid_output` that names the path', async (_, value, path) => {
    const w = world();
    expect((await w.run(() => value)).error).toMatchObject({
      code: 'invalid_output',
      reason: 'not_json',
      details: { path },
    });
  });

  test('a cycle is `invalid_output`; a value that occurs twice is not', async () => {
    const w = world();
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect((await w.run(() => cycle)).error).toMatchObject({
      code: 'invalid_output',
      reason: 'not_json',
    });
    const shared = { x: 1 };
    expect((await w.run(() => [shared, shared])).output).toEqual([{ x: 1 }, { x: 1 }]);
  });

  test('an output schema is enforced, and its parse is the output', async () => {
    const w = world();
    const outputSchema = z.object({ n: z.number(), unit: z.string().default('ms') });
    expect((await w.run(() => ({ n: 1, extra: true }), { outputSchema })).output).toEqual({
      n: 1,
      unit: 'ms',
    });
    const bad = await w.run(() => ({ n: 'one' }), { outputSchema });
    expect(bad.error).toMatchObject({
      code: 'invalid_output',
      reason: 'output_schema',
      details: [{ path: 'n', message: expect.any(String) }],
    });
    expect(bad.error?.message).not.toContain('one');
  });

  test('a generator yields progress or events, and returns the result', async () => {
    const w = world();
    const result = await w.run(async function* () {
      yield { done: 1, total: 2, message: 'half' };
      yield 'nearly';
      yield { rows: 3 };
      return ok('all', { rows: 3 });
    });
    expect(result).toMatchObject({ output: 'all', metadata: { handler: { rows: 3 } } });
    expect(
      w.of('tool:progress').map(({ done, total, message }) => ({ done, total, message })),
    ).toEqual([
      { done: 1, total: 2, message: 'half' },
      { done: 0, total: undefined, message: 'nearly' },
    ]);
    expect(w.of('tool:event').map(({ name, data }) => ({ name, data }))).toEqual([
      { name: 'yield', data: { rows: 3 } },
    ]);
  });

  test('a generator is closed when its call ends early', async () => {
    const w = world();
    let closed = 0;
    const controller = new AbortController();
    w.add(
      tool(
        async function* () {
          try {
            yield 'on it';
            await new Promise((resolve) => setImmediate(resolve));
            yield 'more';
          } finally {
            closed++;
          }
        },
        { name: 'a' },
      ),
    );
    const called = w.session.call('a', {}, { signal: controller.signal });
    controller.abort();
    expect(outcome(await called)).toBe('cancelled');
    await expect.poll(() => closed).toBe(1);
  });
});

describe('rule 11: after hooks', () => {
  test('may replace the result of a call, which is normalised and validated again', async () => {
    const w = world();
    w.session.use({
      after: (_, result) =>
        ({ ...result, success: true, output: { n: 2, at: new Date(0) } }) as never,
    });
    expect((await w.run(() => ({ n: 1 }))).output).toEqual({
      n: 2,
      at: '1970-01-01T00:00:00.000Z',
    });
    const bad = world();
    bad.session.use({
      after: (_, result) => ({ ...result, success: true, output: { n: 1n } }) as never,
    });
    expect(outcome(await bad.run(() => 1))).toBe('invalid_output');
    const schema = world();
    schema.session.use({
      after: (_, result) => ({ ...result, success: true, output: { n: 'no' } }) as never,
    });
    expect(
      outcome(await schema.run(() => ({ n: 1 }), { outputSchema: z.object({ n: z.number() }) })),
    ).toBe('invalid_output');
  });

  test('may turn a failure into a success and back', async () => {
    const w = world();
    w.session.use({
      after: (_, result) =>
        (result.success
          ? {
              ...result,
              success: false,
              output: undefined,
              error: { code: 'handler_error', message: 'no', retryable: false },
            }
          : { ...result, success: true, error: undefined, output: 'yes' }) as never,
    });
    expect(outcome(await w.run(() => 1))).toBe('handler_error');
    expect(
      outcome(
        await w.run(() => {
          throw new Error('x');
        }),
      ),
    ).toBe('yes');
  });

  test('do not run for a call that never ran', async () => {
    const w = world({ rules: [{ effect: 'deny', tools: 'a', when: { x: 1 } }] });
    let ran = 0;
    w.session.use({ after: () => void ran++ });
    w.add(tool(() => 1, { name: 'a' }));
    await w.session.call('a', { x: 1 });
    await w.session.call('nobody');
    expect(ran).toBe(0);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('mine');
      },
    ],
    ['answers nonsense', () => 'nonsense' as never],
    [
      'answers what cannot be read',
      async () =>
        Object.defineProperty({}, 'success', {
          get: () => {
            throw new Error('mine');
          },
        }) as never,
    ],
  ])('one that %s changes nothing', async (_, hook) => {
    const w = world();
    w.session.use({ after: hook });
    expect(outcome(await w.run(() => 'kept'))).toBe('kept');
    await w.settle();
  });

  test('a hook that hangs is left behind after the policy timeout', async () => {
    const { vi } = await import('vitest');
    vi.useFakeTimers();
    const w = world({}, { policyTimeoutMs: 50 });
    w.session.use({ after: () => new Promise(() => {}) });
    const called = w.run(() => 'kept');
    await vi.advanceTimersByTimeAsync(50);
    expect(outcome(await called)).toBe('kept');
    vi.useRealTimers();
  });

  test('its changes to the result count only if it returns the result', async () => {
    const w = world();
    const off = w.session.use({
      after: (_, result) => {
        (result.output as { n: number }).n = 2;
      },
    });
    expect((await w.run(() => ({ n: 1 }))).output).toEqual({ n: 1 });
    off();
    w.session.use({
      after: (_, result) => {
        (result.output as { n: number }).n = 2;
        return result;
      },
    });
    expect((await w.run(() => ({ n: 1 }))).output).toEqual({ n: 2 });
  });

  test('content stays content through a hook and through a child call', async () => {
    const w = world();
    w.session.use({ after: (_, result) => result });
    w.add(tool(() => [content.text('see'), content.image('AAAA', 'image/png')], { name: 'shows' }));
    expect(serializeOutput(await w.session.call('shows'))).toBe('see\n[image: image/png]');
    expect(
      serializeOutput(
        await w.run(
          async (_: never, context: ToolContext) => (await context.tools.call('shows')).output,
          { uses: ['shows'] },
        ),
      ),
    ).toBe('see\n[image: image/png]');
  });
});
