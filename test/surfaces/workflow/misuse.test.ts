/**
 * Bad input to the functions of a workflow: what is refused, and in which words. A misspelt field
 * must never leave a gate open.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry, isMisuseError } from '../../../src/index.ts';
import {
  codingAgentTool,
  computeEffective,
  createWorkflow,
  effectiveOf,
  planBatch,
  reduce,
  replay,
  replayTrace,
  runHostLoop,
  serializeState,
  toolSpecs,
  writeTrace,
} from '../../../src/surfaces/workflow/index.ts';
import { applied, observe, settle, tools, workflow } from './events.ts';

/** What is thrown, which must be a MisuseError. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isMisuseError(error)) return error.message;
    throw error;
  }
  return 'nothing was thrown';
}

const spec = { name: 'rm' };
const gate = { fact: 'f', equals: 1 };

describe('a field that does not exist', () => {
  test.each<[string, () => unknown, string]>([
    [
      'an option of computeEffective',
      () => computeEffective({ tools: [spec], profil: [] } as never),
      'computeEffective: unknown option `profil`; did you mean `profile`?',
    ],
    [
      'a scope of overrides',
      () =>
        computeEffective({ tools: [spec], overrides: { sesion: { disable: ['rm'] } } } as never),
      '`overrides`: unknown field `sesion`; did you mean `session`?',
    ],
    [
      'a list of overrides',
      () => computeEffective({ tools: [spec], overrides: { run: { disabled: ['rm'] } } } as never),
      '`overrides.run`: unknown field `disabled`; did you mean `disable`?',
    ],
    [
      'a limit',
      () => computeEffective({ tools: [spec], budget: { maxTool: 0 } } as never),
      '`budget`: unknown field `maxTool`; did you mean `maxTools`?',
    ],
    [
      'a field of a spec',
      () => computeEffective({ tools: [{ name: 'rm', require: [gate] }] } as never),
      '`tools[0]`: unknown field `require`; did you mean `requires`?',
    ],
    [
      'a field of a rule',
      () =>
        computeEffective({ tools: [{ name: 'rm', requires: [{ ...gate, equal: 2 }] }] } as never),
      '`tools[0].requires[0]`: unknown field `equal`; did you mean `equals`?',
    ],
    [
      'an option of createWorkflow',
      () => createWorkflow({ tools, profil: 'reader' } as never),
      'createWorkflow: unknown option `profil`; did you mean `profile`?',
    ],
    [
      'a spec of a workflow',
      () => createWorkflow({ tools: [{ name: 'rm', require: [gate] }] } as never),
      '`createWorkflow.tools[0]`: unknown field `require`; did you mean `requires`?',
    ],
    [
      'a limit of a workflow',
      () => createWorkflow({ tools, budget: { max_tools: 1 } } as never),
      '`createWorkflow.budget`: unknown field `max_tools`; did you mean `maxTools`?',
    ],
    [
      'a call',
      () => planBatch([{ id: '1', name: 'read', args: {} }] as never, tools),
      'planBatch: `calls[0]`: unknown field `args`; did you mean `arguments`?',
    ],
    [
      'a call with `input`',
      () => planBatch([{ id: '1', name: 'read', input: {} }] as never, tools),
      'planBatch: `calls[0]`: unknown field `input`; did you mean `arguments`?',
    ],
    [
      'a spec of a plan',
      () => planBatch([], [{ name: 'a', resource_key: 'k' }] as never),
      '`tools[0]`: unknown field `resource_key`; did you mean `resourceKey`?',
    ],
  ])('%s is refused, with the one that was probably meant', (_, work, message) => {
    expect(refusal(work)).toBe(message);
  });

  test.each<[string, object, string]>([
    [
      'run_requested',
      { type: 'run_requested', profil: 'reader' },
      '`run_requested`: unknown field `profil`; did you mean `profile`?',
    ],
    [
      'tool_overrides_set',
      { type: 'tool_overrides_set', scope: 'session', disabled: ['read'] },
      '`tool_overrides_set`: unknown field `disabled`; did you mean `disable`?',
    ],
    [
      'tool_registry_set',
      { type: 'tool_registry_set', tools: [{ name: 'a', require: [gate] }] },
      '`tool_registry_set.tools[0]`: unknown field `require`; did you mean `requires`?',
    ],
    [
      'tool_calls_observed',
      { type: 'tool_calls_observed', calls: [{ id: '1', name: 'read', args: {} }] },
      '`tool_calls_observed.calls[0]`: unknown field `args`; did you mean `arguments`?',
    ],
  ])('of the event %s is refused as `invalid_event`', (_, event, message) => {
    const state = workflow();
    expect(reduce(state, event as never)).toEqual({
      state,
      commands: [],
      error: { code: 'invalid_event', message },
    });
  });

  test.each<[string, object, string]>([
    [
      'an option',
      { maxTurn: 1 },
      'runHostLoop: unknown option `maxTurn`; did you mean `maxTurns`?',
    ],
    [
      'an option under the name of another library',
      { abortSignal: AbortSignal.abort() },
      'runHostLoop: unknown option `abortSignal`; did you mean `signal`?',
    ],
    [
      'a member of `run`',
      { run: { profil: 'reader' } },
      'runHostLoop: unknown option `run.profil`; did you mean `profile`?',
    ],
  ])('of runHostLoop is refused at once: %s', (_, more, message) => {
    const session = new HostToolRegistry().createSession({ sessionId: 's' });
    expect(
      refusal(() =>
        runHostLoop({
          workflow: workflow(),
          session,
          generate: () => ({}),
          input: 'x',
          ...more,
        } as never),
      ),
    ).toBe(message);
  });

  test('of a batch in a session is refused, and nothing runs', async () => {
    const ran: unknown[] = [];
    const registry = new HostToolRegistry();
    const path = { type: 'string', default: '.' } as const;
    registry.register(
      defineTool({
        name: 'rm',
        description: 'Removes.',
        parameters: { type: 'object', properties: { path } },
        handler: (input) => ran.push(input),
      }),
    );
    const session = registry.createSession({ sessionId: 's' });
    const calls = [{ id: '1', name: 'rm', input: { path: 'tmp' } }] as never;
    await expect(session.executeBatch(calls)).rejects.toThrow(
      'executeBatch: `calls[0]`: unknown field `input`; did you mean `arguments`?',
    );
    expect(refusal(() => session.plan(calls))).toBe(
      'plan: `calls[0]`: unknown field `input`; did you mean `arguments`?',
    );
    await expect(session.executeBatch([], { stopOnErrors: true } as never)).rejects.toThrow(
      'executeBatch: unknown option `stopOnErrors`; did you mean `stopOnError`?',
    );
    expect(ran).toEqual([]);
  });
});

describe('what is no input at all', () => {
  test.each<[string, () => unknown, string]>([
    [
      'computeEffective()',
      () => computeEffective(undefined as never),
      '`tools`: expected an array, got undefined.',
    ],
    [
      'computeEffective({})',
      () => computeEffective({} as never),
      '`tools`: expected an array, got undefined.',
    ],
    [
      'computeEffective(null)',
      () => computeEffective(null as never),
      'computeEffective: expected an object of options, got null.',
    ],
    [
      'a spec that is none',
      () => computeEffective({ tools: [null] } as never),
      '`tools[0]`: expected an object, got null.',
    ],
    [
      'a spec without a name',
      () => computeEffective({ tools: [{}] } as never),
      '`tools[0].name`: expected a non-empty string, got undefined.',
    ],
    [
      '`requires` as an object',
      () => computeEffective({ tools: [{ name: 'a', requires: gate }] } as never),
      '`tools[0].requires`: expected an array, got an object.',
    ],
    [
      'a rule without a value',
      () => computeEffective({ tools: [{ name: 'a', requires: [{ fact: 'f' }] }] } as never),
      '`tools[0].requires[0]`: expected `equals` or `in` next to `fact`, got an object.',
    ],
    [
      'a profile that is a text',
      () => computeEffective({ tools: [spec], profile: 'rm' } as never),
      '`profile`: expected an array, got `rm` (string).',
    ],
    [
      'facts that are a list',
      () => computeEffective({ tools: [spec], facts: [] } as never),
      '`facts`: expected an object, got an array of 0.',
    ],
    [
      'createWorkflow()',
      () => createWorkflow(undefined as never),
      '`createWorkflow`: expected an object with `tools`, got null.',
    ],
    [
      'replay(workflow, 5)',
      () => replay(workflow(), 5 as never),
      'replay: expected `events` to be an array or another iterable, got `5` ' + '(number).',
    ],
    [
      'writeTrace(workflow)',
      () => writeTrace(workflow(), undefined as never),
      'writeTrace: expected `events` to be an array or another iterable, got ' + 'undefined.',
    ],
    [
      'replayTrace(5)',
      () => replayTrace(5 as never),
      'replayTrace: expected the text of a trace, got `5` (number).',
    ],
    [
      'planBatch()',
      () => planBatch(undefined as never, []),
      'planBatch: expected `calls` to be an array of calls, got undefined.',
    ],
    [
      'planBatch without tools',
      () => planBatch([], undefined as never),
      '`tools`: expected an array, got undefined.',
    ],
    [
      'codingAgentTool()',
      () => codingAgentTool(undefined as never),
      '`name`: expected names of known tools, got `undefined`.',
    ],
  ])('%s is told what was expected', (_, work, message) => {
    expect(refusal(work)).toContain(message);
  });

  test.each([undefined, null, 5, {}, { version: 2 }])(
    '%j is no state, whatever is asked of it',
    (value) => {
      for (const work of [
        () => effectiveOf(value as never),
        () => serializeState(value as never),
        () => reduce(value as never, { type: 'run_requested' }),
        () => replay(value as never, [{ type: 'run_requested' }]),
        () => writeTrace(value as never, []),
      ])
        expect(refusal(work)).toContain('Expected `state` to be a workflow state');
    },
  );

  test('a value that is not a session has no specs', () => {
    expect(refusal(() => toolSpecs({} as never))).toContain('session');
  });
});

describe('members of `Object.prototype`', () => {
  const prototype = Object.prototype as Record<string, unknown>;
  const added: string[] = [];
  const pollute = (members: Record<string, unknown>): void => {
    for (const [key, value] of Object.entries(members)) {
      added.push(key);
      Object.defineProperty(prototype, key, {
        value,
        enumerable: false,
        configurable: true,
        writable: true,
      });
    }
  };
  afterEach(() => {
    for (const key of added.splice(0)) delete prototype[key];
  });

  test('is no field of an input, a spec, a rule, a call or an event', () => {
    const run = () => {
      const gated = [{ name: 'open' }, { name: 'shut', requires: [{ fact: 'f', equals: 1 }] }];
      return {
        effective: computeEffective({
          tools: gated,
          profile: ['open', 'shut'],
          overrides: { session: {} },
          budget: {},
        }),
        plan: planBatch(
          [
            { id: '1', name: 'read' },
            { id: '2', name: 'read' },
            { id: '3', name: 'exec' },
          ],
          tools,
        ).groups,
        state: serializeState(
          applied(
            createWorkflow({
              tools,
              profiles: { all: ['read', 'exec'], reader: ['grep'] },
              profile: 'all',
              budget: {},
            }),
            { type: 'run_requested' },
            observe(['a', 'read'], ['b', 'exec']),
            settle('a'),
            settle('b'),
            { type: 'tool_overrides_set', scope: 'session' },
          ).state,
        ),
      };
    };
    const before = run();
    pollute({
      blocked: ['disabled'],
      requires: [{ fact: 'never', equals: 1 }],
      provides: ['f'],
      parallelSafe: true,
      resourceKey: 'same',
      tokens: 1_000_000,
      in: ['nothing'],
      equals: 1,
      f: 1,
      profile: 'reader',
      profiles: {},
      provider: 'reader',
      runId: 'polluted',
      batchId: 'batch-9',
      enable: ['write'],
      disable: ['read'],
      force: ['write'],
      session: { disable: ['read'] },
      maxTools: 0,
      maxTokens: 0,
      required: ['write'],
      budget: { maxTools: 0 },
      facts: { f: 1 },
      overrides: { session: { disable: ['read'] } },
      arguments: { polluted: true },
    });
    expect(run()).toEqual(before);
  });
});
