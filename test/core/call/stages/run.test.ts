import { describe, expect, test, vi } from 'vitest';
import { stateOf } from '../../../../src/core/session/session.ts';
import { fail, type ToolContext } from '../../../../src/index.ts';
import { gate, outcome, tool, turns, world } from '../world.ts';

describe('a session-scoped handler', () => {
  const made = (create: () => unknown, more: Record<string, unknown> = {}) =>
    tool(undefined as never, { name: 'a', handler: undefined, create, ...more });

  test('is not called for a call that ended while it was made', async () => {
    const w = world();
    const making = gate();
    const handler = vi.fn(() => 1);
    w.add(made(() => making.promise.then(() => ({ handler }))));
    const controller = new AbortController();
    const calling = w.session.call('a', {}, { signal: controller.signal });
    await turns();
    controller.abort();
    expect(outcome(await calling)).toBe('cancelled');
    making.open();
    await turns();
    expect(handler).not.toHaveBeenCalled();
    expect(w.of('tool:late')).toMatchObject([{ toolName: 'a', settled: 'returned' }]);
    expect(outcome(await w.session.call('a'))).toBe(1);
    await w.settle();
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['an object without a handler', {}, 'an object'],
    ['a function', Object.assign(() => 1, { handler: () => 1 }), 'a function'],
  ])(
    'that cannot be had, since `create` answers %s, fails the call and says so to the host',
    async (_, answer, got) => {
      const told: { err?: { message?: string } }[] = [];
      const w = world({}, { logger: { warn: () => {}, error: (data) => void told.push(data) } });
      w.add(made(() => answer));
      const { error } = await w.session.call('a');
      expect(error?.code).toBe('handler_error');
      expect(error?.cause).toMatchObject({
        message: expect.stringMatching(
          `^Expected \`create\` to return \\{ handler, dispose\\? \\}, got ${got}`,
        ),
      });
      await w.settle();
    },
  );

  test('that failed to be created is created again by the next call', async () => {
    const w = world();
    let tries = 0;
    w.add(
      made(() => {
        if (++tries === 1) throw new RangeError('no connection');
        return { handler: () => tries };
      }),
    );
    const first = await w.session.call('a');
    expect(first.error).toMatchObject({
      code: 'handler_error',
      cause: { message: 'no connection' },
    });
    expect(stateOf(w.session).life.holds).toBe(0);
    expect(outcome(await w.session.call('a'))).toBe(2);
    expect(outcome(await w.session.call('a'))).toBe(2);
    expect(stateOf(w.session).life.holds).toBe(1);
  });

  test('that failed, and whose tool was removed meanwhile, releases its hold once', async () => {
    const w = world();
    const making = gate();
    const dispose = vi.fn();
    w.add(
      made(() => making.promise, { timeoutMs: 10 }),
      made(() => ({ handler: () => 1, dispose }), { name: 'other' }),
    );
    expect(outcome(await w.session.call('other'))).toBe(1);
    const controller = new AbortController();
    const calling = w.session.call('a', {}, { signal: controller.signal });
    await turns();
    expect(stateOf(w.session).life.holds).toBe(2);
    controller.abort();
    await calling;
    w.registry.unregister('a');
    await turns();
    making.fail(new Error('no connection'));
    await turns();
    expect(stateOf(w.session).life.holds).toBe(1);
    await w.registry.close();
    expect(dispose).toHaveBeenCalledTimes(1);
  });
});

describe('what a handler answers', () => {
  test('after its call has ended, as a failure, too, ends nothing a second time', async () => {
    const w = world();
    const hold = gate();
    w.add(tool(() => hold.promise.then(() => fail('no')), { name: 'a' }));
    const controller = new AbortController();
    const calling = w.session.call('a', {}, { signal: controller.signal });
    await turns();
    controller.abort();
    expect(outcome(await calling)).toBe('cancelled');
    hold.open();
    await turns();
    expect(w.events.map(({ type }) => type).filter((type) => type.startsWith('tool:'))).toEqual([
      'tool:pre',
      'tool:error',
      'tool:late',
    ]);
    expect(w.session.metrics()).toMatchObject({
      calls: 1,
      cancelled: 1,
      failed: 0,
      lateSettles: 1,
    });
    await w.settle();
  });

  test('as a generator after the end of its call is closed without a step', async () => {
    const w = world();
    const closed = vi.fn(async () => ({ done: true as const, value: undefined }));
    const next = vi.fn(async () => ({ done: true as const, value: 1 }));
    const generator = {
      next,
      return: closed,
      throw: closed,
      [Symbol.asyncIterator]: () => generator,
    };
    const controller = new AbortController();
    w.add(
      tool(
        () => {
          controller.abort();
          return generator;
        },
        { name: 'a' },
      ),
    );
    expect(outcome(await w.session.call('a', {}, { signal: controller.signal }))).toBe('cancelled');
    await turns();
    expect([next.mock.calls.length, closed.mock.calls.length]).toEqual([0, 1]);
    await w.settle();
  });

  test(
    'as a generator tells what it yields: text and numbers as progress, the rest as an event, ' +
      'nothing as a sign of life',
    async () => {
      const w = world();
      const { output } = await w.run(async function* () {
        yield 'on its way';
        yield { done: 2, total: 5, message: 'two' };
        yield { done: 3 };
        yield { done: 'no number' };
        yield null;
        yield undefined;
        return 'end';
      } as never);
      expect(output).toBe('end');
      expect(
        w.of('tool:progress').map(({ done, total, message }) => [done, total, message]),
      ).toEqual([
        [0, undefined, 'on its way'],
        [2, 5, 'two'],
        [3, undefined, undefined],
      ]);
      expect(w.of('tool:event').map(({ name, data }) => [name, data])).toEqual([
        ['yield', { done: 'no number' }],
        ['yield', null],
      ]);
      await w.settle();
    },
  );
});

describe('a surface that is informed of the start', () => {
  test(
    'hears it once, before the handler; what it throws is the host’s to know, and changes ' +
      'nothing',
    async () => {
      const told: object[] = [];
      const order: string[] = [];
      const w = world({}, { logger: { warn: () => {}, error: (data) => void told.push(data) } });
      w.add(tool(() => void order.push('handler'), { name: 'a' }));
      const surface = {
        name: 'mine',
        started: () => {
          order.push('started');
          throw new RangeError('mine');
        },
      };
      expect(outcome(await w.session.call('a', {}, { surface }))).toBe(null);
      expect(order).toEqual(['started', 'handler']);
      expect(told).toMatchObject([{ source: 'surface', err: { message: 'mine' } }]);
      expect(w.of('tool:pre')[0]).toMatchObject({ surface: 'mine' });
      await w.settle();
    },
  );

  test('and that ends the call keeps the handler from running', async () => {
    const w = world();
    const handler = vi.fn();
    w.add(tool(handler, { name: 'a' }));
    const controller = new AbortController();
    const surface = { name: 'mine', started: () => controller.abort() };
    expect(outcome(await w.session.call('a', {}, { signal: controller.signal, surface }))).toBe(
      'cancelled',
    );
    expect(handler).not.toHaveBeenCalled();
    await w.settle();
  });
});

test('a caller may shorten the time that a handler has, and never lengthens it', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const now = 1_000;
  const w = world({}, { now: () => now });
  const left: number[] = [];
  w.add(
    tool((_: never, { deadline = 0 }: ToolContext) => void left.push(deadline - now), {
      name: 'a',
      timeoutMs: 500,
    }),
  );
  for (const options of [{ timeoutMs: 100 }, { timeoutMs: 500 }, { timeoutMs: 900 }, {}])
    await w.session.call('a', {}, options);
  vi.restoreAllMocks();
  expect(left).toEqual([100, 500, 500, 500]);
});

test.each([
  [5, [true, true, true, true]],
  [3, [false, true, false, true]],
])(
  'a generator that never waits lets others have their turn once five milliseconds are over, ' +
    'of %i a step: %j',
  async (each, expected) => {
    let now = 0;
    let others = 0;
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const next = (): void => void setImmediate(() => ++others > 0 && next());
    const had: boolean[] = [];
    const result = await world().run(async function* () {
      next();
      for (let step = 0; step < 4; step++) {
        const before = others;
        now += each;
        yield;
        had.push(others > before);
      }
      others = -1_000;
    });
    spy.mockRestore();
    expect(result.success).toBe(true);
    expect(had).toEqual(expected);
  },
);
