/** States: what they are made of, and what `reduce` takes for one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMisuseError, type JsonValue } from '../../../src/index.ts';
import {
  createWorkflow,
  reduce,
  replay,
  serializeState,
  type WorkflowState,
} from '../../../src/surfaces/workflow/index.ts';
import { event, events } from './arbitrary.ts';
import { applied, observe, settle, workflow } from './events.ts';

const stored = (state: WorkflowState) => JSON.parse(serializeState(state));
const waiting = (): WorkflowState =>
  applied(
    workflow(),
    { type: 'run_requested' },
    observe(['c1', 'read'], ['c2', 'exec'], ['c3', 'nothing']),
  ).state;

/** The places in a value that could still be changed. */
function open(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return [
    ...(Object.isFrozen(value) ? [] : [at]),
    ...Object.entries(value).flatMap(([key, item]) => open(item, `${at}/${key}`)),
  ];
}

describe('a state', () => {
  test('is frozen all the way down, and so is what its commands share with it', () => {
    fc.assert(
      fc.property(events, fc.boolean(), (stream, fromJson) => {
        const { state, commands } = replay(fromJson ? stored(workflow()) : workflow(), stream);
        // One that nothing has happened to is still the host's own.
        if (!fromJson || Object.isFrozen(state)) expect(open(state)).toEqual([]);
        for (const command of commands)
          if (command.type === 'llm_generate')
            expect([...open(command.tools), ...open(command.toolNames)]).toEqual([]);
        for (const command of commands)
          if (command.type === 'batch_settled')
            expect(command.results.flatMap(({ result }) => open(result))).toEqual([]);
      }),
    );
  });

  test('stored with its keys as they are lists the same tools, byte for byte', () => {
    const parameters = {
      type: 'object',
      properties: { z: { type: 'string' }, a: { type: 'string' } },
    };
    const made = createWorkflow({
      tools: [{ name: 'look', parameters }],
      profiles: { p: ['look'] },
      profile: 'p',
    });
    const bytes = (state: WorkflowState): string =>
      JSON.stringify(applied(state, { type: 'run_requested' }).commands);
    expect(bytes(JSON.parse(JSON.stringify(made)))).toBe(bytes(made));
  });

  test('from JSON is copied, not frozen in place, and returned unchanged', () => {
    const given = stored(waiting());
    const next = reduce(given, settle('c1'));
    expect(open(next.state)).toEqual([]);
    expect(Object.isFrozen(given) || Object.isFrozen(given.tools)).toBe(false);
    for (const ignored of [settle('c9'), { type: 'run_requested' } as const])
      expect(reduce(given, ignored).state).toBe(given);
  });

  test(
    'an accepted event never makes one that cannot be left, nor one that is refused when it ' +
      'comes back from JSON',
    () => {
      fc.assert(
        fc.property(events, (stream) => {
          const { state } = replay(workflow(), stream);
          const back = stored(state);
          const left = reduce(back, { type: 'run_cancelled' });
          expect(left.error?.code).toBe(state.run === null ? 'run_not_active' : undefined);
          const again = reduce(left.state, { type: 'run_requested' });
          expect(again.error).toBeUndefined();
          expect(again.commands).toMatchObject([{ type: 'llm_generate' }]);
        }),
      );
    },
  );
});

describe('what is no state', () => {
  test.each<[string, (state: ReturnType<typeof stored>) => unknown, string]>([
    ['nothing', () => null, 'got null'],
    ['a list', () => [], 'got an array of 0'],
    ['another version', (state) => ({ ...state, version: 2 }), '`state.version`: expected 1'],
    ['a member too few', ({ lastRun: _, ...state }) => state, '`state.lastRun`'],
    ['a tool that is none', (state) => ({ ...state, tools: [null] }), '`state.tools[0]`'],
    [
      'a profile that names no tool',
      (state) => ({ ...state, profiles: { ...state.profiles, all: ['raed'] } }),
      '`raed`',
    ],
    ['a selection that is no profile', (state) => ({ ...state, profile: 'none' }), '`none`'],
    [
      'an override that names no tool',
      (state) => ({ ...state, overrides: { enable: ['raed'] } }),
      '`raed`',
    ],
    [
      'a run that names no profile',
      (state) => ({ ...state, run: { ...state.run, profile: 'none' } }),
      '`none`',
    ],
    ['a fact that is null', (state) => ({ ...state, facts: { a: null } }), '`state.facts.a`'],
    ['a batch without a run', (state) => ({ ...state, run: null }), '`state.batch`'],
    [
      'a batch in which nothing waits',
      (state) => ({ ...state, batch: { ...state.batch, group: 7 } }),
      '`state.batch.group`',
    ],
    [
      'a group that is ahead of one that waits',
      (state) => ({ ...state, batch: { ...state.batch, group: 1 } }),
      '`state.batch.group`',
    ],
    [
      'a field that it does not have',
      (state) => ({ ...state, run: { ...state.run, profil: 'all' } }),
      'unknown field `profil`; did you mean `profile`?',
    ],
    [
      'a group of calls that nobody made',
      (state) => ({ ...state, batch: { ...state.batch, groups: [['c1'], ['c9']] } }),
      '`state.batch.groups`',
    ],
    ['a number that is none', (state) => ({ ...state, runs: -1 }), '`state.runs`'],
    ['a value that is not JSON', (state) => ({ ...state, facts: { a: 1n } }), '/facts/a'],
  ])('%s: a MisuseError that says where', (_, damage, message) => {
    try {
      reduce(damage(stored(waiting())) as WorkflowState, { type: 'run_cancelled' });
      expect.unreachable();
    } catch (error) {
      expect(isMisuseError(error)).toBe(true);
      expect(error).toMatchObject({ code: 'invalid_option' });
      expect((error as Error).message).toContain(message);
    }
  });

  test('is refused in no other way, whatever it contains', () => {
    const paths = (value: JsonValue, at: readonly string[] = []): (readonly string[])[] =>
      typeof value !== 'object' || value === null
        ? [at]
        : [
            at,
            ...Object.entries(value).flatMap(([key, item]) =>
              paths(item as JsonValue, [...at, key]),
            ),
          ];
    const put = (
      value: JsonValue,
      [key, ...rest]: readonly string[],
      item: JsonValue,
    ): JsonValue => {
      if (key === undefined) return item;
      const copy = structuredClone(value) as Record<string, JsonValue>;
      copy[key] = put(copy[key] as JsonValue, rest, item);
      return copy;
    };
    const whole = stored(waiting());
    fc.assert(
      fc.property(
        fc.constantFrom(...paths(whole)),
        fc.jsonValue(),
        fc.boolean(),
        event,
        (path, item, frozen, one) => {
          const damaged = put(whole, path, item as JsonValue) as unknown as WorkflowState;
          if (frozen && typeof damaged === 'object' && damaged !== null) Object.freeze(damaged);
          try {
            reduce(damaged, one);
          } catch (error) {
            expect(isMisuseError(error)).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a spec', () => {
  test('with an unknown block is refused, since it would block nothing', () => {
    expect(() => createWorkflow({ tools: [{ name: 'a', blocked: ['disable' as never] }] })).toThrow(
      'expected one of disabled, denied, not_registered, knobs_missing',
    );
  });

  test('may say `undefined` where it says nothing: the state is the same', () => {
    const tools = [
      {
        name: 'a',
        description: undefined,
        requires: undefined,
        tokens: undefined,
        blocked: undefined,
      },
    ];
    expect(serializeState(createWorkflow({ tools }))).toBe(
      serializeState(createWorkflow({ tools: [{ name: 'a' }] })),
    );
  });
});

describe('many', () => {
  const result = {
    success: true,
    output: null,
    metadata: { callId: 'x', toolName: 'read', status: 'succeeded', attempt: 1, durationMs: 0 },
  } as const;
  const inventory = (count: number) => {
    const tools = Array.from({ length: count }, (_, index) => ({
      name: `tool_${index}`,
      description: 'Does a thing. '.repeat(20),
    }));
    return createWorkflow({
      tools,
      profiles: { all: tools.map(({ name }) => name) },
      profile: 'all',
    });
  };

  test(
    'unknown names in one batch: each is refused, the first 32 with the names that were ' +
      'probably meant',
    () => {
      const calls = Array.from({ length: 100 }, (_, index) => ({
        id: String(index),
        name: 'raed',
      }));
      const { commands } = applied(
        workflow(),
        { type: 'run_requested' },
        { type: 'tool_calls_observed', calls },
      );
      const results = commands[0]?.type === 'batch_settled' ? commands[0].results : [];
      expect(
        results.map(({ result: { error } }) => [error?.code, error?.details !== undefined]),
      ).toEqual(calls.map((_, index) => ['tool_not_found', index < 32]));
    },
  );

  test('turns over one inventory: what did not change stays the same object', () => {
    const first = applied(inventory(10), { type: 'run_requested' }).state;
    const second = applied(first, observe(['c', 'tool_0']), {
      type: 'tool_call_settled',
      callId: 'c',
      result,
    }).state;
    expect(second.run?.turns).toBe(2);
    expect([
      second.run?.tools === first.run?.tools,
      second.run?.effective === first.run?.effective,
    ]).toEqual([true, true]);
  });
});
