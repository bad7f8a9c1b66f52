import { describe, expect, test } from 'vitest';
import { fail } from '../../../src/index.ts';
import { outcome, tool, world } from './world.ts';

const throwing = (value: unknown) => (): never => {
  throw value;
};

describe('rule 10: whatever is thrown becomes `handler_error` with a message', () => {
  test.each([
    ['an error', new Error('disk full'), 'disk full'],
    ['a string', 'disk full', 'disk full'],
    ['an object with a message', { message: 'disk full' }, 'disk full'],
    [
      'an error without a message',
      new Error(''),
      'The tool failed: it threw an error without a message.',
    ],
    ['white space', '  \n', 'The tool failed: it threw a string without a message.'],
    ['undefined', undefined, 'The tool failed: it threw undefined without a message.'],
    ['null', null, 'The tool failed: it threw null without a message.'],
    ['a symbol', Symbol('s'), 'The tool failed: it threw a symbol without a message.'],
    ['an object', {}, 'The tool failed: it threw an object without a message.'],
    [
      'an error with only a code',
      Object.assign(new Error(''), { code: 'SQLITE_BUSY' }),
      'The tool failed: Error [SQLITE_BUSY]',
    ],
    ['an error with only a name', new TypeError(''), 'The tool failed: TypeError'],
    [
      'an error with only inner errors',
      new AggregateError([new Error('connect ECONNREFUSED ::1:5432')]),
      'The tool failed: AggregateError: connect ECONNREFUSED ::1:5432',
    ],
    [
      'an error with only a cause',
      new Error('', { cause: new Error('disk full') }),
      'The tool failed: Error: disk full',
    ],
  ])('%s', async (_, value, message) => {
    const w = world();
    for (const handler of [throwing(value), async () => throwing(value)()]) {
      expect(await w.run(handler)).toMatchObject({
        success: false,
        error: { code: 'handler_error', message, retryable: false },
        metadata: { status: 'failed' },
      });
    }
    await w.settle();
  });

  test('a stack, a cause and other members of an error are not shown', async () => {
    const w = world();
    const result = await w.run(
      throwing(Object.assign(new Error('no', { cause: 'CAUSE' }), { path: 'PATH' })),
    );
    expect(JSON.stringify([result.error, w.events])).not.toMatch(/CAUSE|PATH|\.test\.ts/);
  });

  test('a long message is cut, and the cut one holds no memory of the whole', async () => {
    const w = world();
    const result = await w.run(throwing(new Error('m'.repeat(1_000_000))));
    expect(result.error?.message.length).toBeLessThanOrEqual(8_192);
  });

  test('`exposeErrors: "masked"` hides the message from the model, not from events', async () => {
    const w = world({ exposeErrors: 'masked' });
    const result = await w.run(throwing(new Error('host=10.0.0.7')));
    expect(result.error).toMatchObject({ code: 'handler_error' });
    expect(result.error?.message).not.toContain('10.0.0.7');
    expect(w.of('tool:error')[0]?.error.message).toBe('host=10.0.0.7');
  });

  test('the parts of an error without a message are masked and scrubbed as a message is', async () => {
    const secret = 'correct-horse-battery-7';
    const logged: string[] = [];
    const error = ({ err }: { err: Error }): unknown =>
      logged.push(err.message, String(err.stack), String((err as { code?: unknown }).code));
    const w = world({}, { redact: ['password'], logger: { warn() {}, error } });
    w.add(
      tool(
        ({ password }: { password: string }) => {
          throw Object.assign(new AggregateError([new Error(`no ${password}`)]), {
            code: password,
          });
        },
        { name: 'a' },
      ),
    );
    const shown = await w.session.call('a', { password: secret });
    expect(shown.error?.message).toBe(
      'The tool failed: AggregateError [[redacted]]: no [redacted]',
    );
    expect(JSON.stringify([w.events, logged])).not.toContain(secret);
    const masked = w.registry.createSession({ sessionId: 'm', exposeErrors: 'masked' });
    expect((await masked.call('a', { password: secret })).error?.message).not.toContain(
      'Aggregate',
    );
  });

  test('masking hides what was thrown, not what the handler said by fail()', async () => {
    const w = world({ exposeErrors: 'masked' });
    expect(
      (await w.run(() => fail({ message: 'the tree is dirty', reason: 'dirty_worktree' }))).error,
    ).toMatchObject({
      message: 'the tree is dirty',
      reason: 'dirty_worktree',
    });
  });

  test("the session's `exposeErrors` overrides the surface's, which is the default", async () => {
    const registry = world();
    registry.add(tool(throwing(new Error('inner')), { name: 'a' }));
    const surface = { name: 'x', exposeErrors: 'masked' } as const;
    const open = registry.registry.createSession({ sessionId: 'open', exposeErrors: 'message' });
    expect((await open.call('a', {}, { surface })).error?.message).toBe('inner');
    expect((await registry.session.call('a', {}, { surface })).error?.message).not.toBe('inner');
  });

  test("a handler's own TimeoutError or AbortError is a handler_error", async () => {
    const w = world();
    for (const name of ['TimeoutError', 'AbortError'])
      expect(outcome(await w.run(throwing(new DOMException('mine', name))))).toBe('handler_error');
  });

  test('a `create` that throws is a handler_error, and the next call tries again', async () => {
    const w = world();
    let made = 0;
    w.add(
      tool(undefined as never, {
        name: 'a',
        handler: undefined,
        create: () => {
          if (++made === 1) throw new Error('not yet');
          return { handler: () => 'made' };
        },
      }),
    );
    expect(outcome(await w.session.call('a'))).toBe('handler_error');
    expect(outcome(await w.session.call('a'))).toBe('made');
  });
});
