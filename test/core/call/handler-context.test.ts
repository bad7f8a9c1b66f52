/**
 * What a handler may do to the context that it is given: nothing that another call could notice.
 */
import { describe, expect, test, vi } from 'vitest';
import type { JsonValue, ToolContext } from '../../../src/index.ts';
import { tool, world } from './world.ts';

describe("a handler's context", () => {
  test('is frozen, and so is what it reads from it to call other tools', async () => {
    const w = world();
    const given: ToolContext[] = [];
    const tools: unknown[] = [];
    await w.run((_: never, context: ToolContext) => {
      given.push(context);
      tools.push(context.tools);
    });
    expect(given.map(Object.isFrozen)).toEqual([true]);
    expect(tools.map(Object.isFrozen)).toEqual([true]);
    expect(() => Object.assign(given[0] as object, { extra: 1 })).toThrow(TypeError);
  });

  test('cannot be changed for other calls through its prototype', async () => {
    const w = world();
    const result = await w.run((_: never, context: ToolContext) => {
      Object.defineProperty(Object.getPrototypeOf(context), 'principal', { get: () => 'root' });
    });
    expect(result).toMatchObject({ success: false, error: { code: 'handler_error' } });
    const seen: unknown[] = [];
    await w.run((_: never, context: ToolContext) => {
      seen.push(context.principal, Object.isFrozen(Object.getPrototypeOf(context)));
    });
    expect(seen).toEqual([undefined, true]);
  });
});

/** Runs a handler, and answers what was told of it. */
async function told(handler: (context: ToolContext) => void, more: Record<string, unknown> = {}) {
  const warnings: [data: object, message: string][] = [];
  const w = world(
    {},
    {
      logger: {
        warn: (data: object, message?: string) => void warnings.push([data, message ?? '']),
        error: () => {},
      },
    },
  );
  await w.run((_: never, context: ToolContext) => handler(context), { name: 't', ...more });
  return { events: w.of('tool:event'), progress: w.of('tool:progress'), warnings };
}

describe('an event of a handler', () => {
  test('has its name, and data where there is some; what is no name sends nothing', async () => {
    const { events } = await told(({ emit, log }) => {
      emit('bare');
      emit('null', null);
      emit(5 as never, 1);
      log('info', { a: 1 });
    });
    expect(events.map(({ name, data }) => [name, data])).toEqual([
      ['bare', undefined],
      ['null', null],
      ['log', { level: 'info', data: { a: 1 } }],
    ]);
    expect(events.map((event) => 'data' in event)).toEqual([false, true, true]);
  });

  test('has a name of at most 1 024 characters, of which a warning says 100', async () => {
    const { events, warnings } = await told(({ emit }) => {
      emit('n'.repeat(1_025), 1);
      emit('n'.repeat(1_025));
      emit('n'.repeat(1_025), 'x'.repeat(70_000));
    });
    expect(events.map(({ name }) => name.length)).toEqual([1_024, 1_024]);
    expect(warnings).toEqual([
      [{ tool: 't', event: 'n'.repeat(100), reason: 'over 64 KB' }, 'an event was dropped'],
    ]);
    const undeclared = await told(({ emit }) => emit('n'.repeat(200)), { events: ['other'] });
    expect(undeclared.events).toEqual([]);
    expect(undeclared.warnings).toEqual([
      [
        { tool: 't', event: 'n'.repeat(100) },
        'an event that the definition does not declare was dropped',
      ],
    ]);
  });

  const nested = (levels: number): JsonValue => (levels === 0 ? 1 : [nested(levels - 1)]);
  test.each<[what: string, fits: JsonValue, fails: JsonValue]>([
    ['64 levels', nested(64), nested(65)],
    [
      '10 000 values',
      Array.from({ length: 9_999 }, () => 1),
      Array.from({ length: 10_000 }, () => 1),
    ],
    ['65 536 bytes', 'x'.repeat(65_534), 'x'.repeat(65_535)],
    ['65 536 bytes, of which a character may take several', 'é'.repeat(32_767), 'é'.repeat(32_768)],
    [
      '65 536 bytes, of which an escape takes six',
      '\u0001'.repeat(10_922),
      '\u0001'.repeat(10_923),
    ],
  ])('holds at most %s', async (_what, fits, fails) => {
    const { events, warnings } = await told(({ emit }) => {
      emit('fits', fits);
      emit('fails', fails);
    });
    expect(events.map(({ name }) => name)).toEqual(['fits']);
    expect(warnings.map(([, message]) => message)).toEqual(['an event was dropped']);
  });

  test('is the last of 1 000 without a warning, as long as none is dropped', async () => {
    const { events, warnings } = await told(({ emit }) => {
      for (let count = 0; count < 1_000; count++) emit('tick');
    });
    expect([events.length, warnings]).toEqual([1_000, []]);
  });

  test(
    'is one of at most 1 000 of its call, progress included; the first that is dropped is ' +
      'warned of',
    async () => {
      const { events, progress, warnings } = await told(({ emit, progress: tell }) => {
        tell(1);
        for (let count = 0; count < 1_000; count++) emit('tick');
      });
      expect([events.length, progress.length]).toEqual([999, 1]);
      expect(warnings).toEqual([
        [
          { tool: 't', limit: 1_000 },
          'a call emitted more events than its limit; the rest is dropped',
        ],
      ]);
    },
  );
});

describe('progress of a handler', () => {
  test('reports numbers and texts only, and nothing without a finite number', async () => {
    const { progress } = await told(({ progress: tell }) => {
      tell(1, 2, 'half');
      tell(1);
      tell(1, Number.NaN, 5 as never);
      tell(1, '2' as never);
      tell(Number.POSITIVE_INFINITY);
      tell('1' as never);
    });
    expect(
      progress.map(({ done, ...rest }) => [
        done,
        'total' in rest && rest.total,
        'message' in rest && rest.message,
      ]),
    ).toEqual([
      [1, 2, 'half'],
      [1, false, false],
      [1, false, false],
      [1, false, false],
    ]);
  });

  test('has a message of at most 65 536 characters', async () => {
    const { progress } = await told(({ progress: tell }) => {
      tell(1, 1, 'm'.repeat(65_536));
      tell(1, 1, 'm'.repeat(70_000));
    });
    expect(progress.map(({ message }) => message?.length)).toEqual([65_536, 65_536]);
  });
});

describe('the deadline that a handler reads', () => {
  test("is its own call's, or its parent's if that comes first", async () => {
    vi.useFakeTimers();
    const w = world({}, { now: () => 1_000_000 });
    const seen: number[] = [];
    const read = (_: never, { deadline }: ToolContext): void => void seen.push(deadline as number);
    w.add(
      tool(read, { name: 'short', timeoutMs: 100 }),
      tool(read, { name: 'long', timeoutMs: 900 }),
      tool(
        async (_: never, { tools }: ToolContext) => {
          await tools.call('short');
          await tools.call('long');
        },
        { name: 'middle', timeoutMs: 500, uses: ['short', 'long'] },
      ),
    );
    await w.session.call('long');
    await w.session.call('middle');
    expect(seen).toEqual([1_000_900, 1_000_100, 1_000_500]);
  });
});

test('a deadline that has passed is read as the moment at which it is read', async () => {
  vi.useFakeTimers();
  let context: ToolContext | undefined;
  const w = world({}, { now: () => 1_000_000 });
  const calling = w.run(
    (_: never, given: ToolContext) => {
      context = given;
      return new Promise(() => {});
    },
    { timeoutMs: 100 },
  );
  await vi.advanceTimersByTimeAsync(500);
  expect((await calling).error?.code).toBe('timeout');
  expect(context?.deadline).toBe(1_000_000);
});
