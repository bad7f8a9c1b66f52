import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../../../src/index.ts';
import {
  createWorkflow,
  effectiveOf,
  reduce,
  serializeState,
  type WorkflowEvent,
  type WorkflowState,
} from '../../../src/surfaces/workflow/index.ts';
import { applied, listed, observe, settle, succeeded, tools, workflow } from './events.ts';

const running = (): WorkflowState => applied(workflow(), { type: 'run_requested' }).state;
const waiting = (): WorkflowState =>
  applied(running(), observe(['c1', 'read'], ['c2', 'exec'])).state;

describe('createWorkflow', () => {
  test.each([
    [
      'a profile that names no tool',
      { tools, profiles: { p: ['raed'] } },
      'unknown_tool',
      '`profiles.p`: expected names of known tools, got `raed`. Did you mean `read`?',
    ],
    [
      'a selection that is no profile',
      { tools, profiles: { reader: [] }, profile: 'raeder' },
      'unknown_profile',
      'Did you mean `reader`?',
    ],
    [
      'a selection where there is none',
      { tools, profile: 'constructor' },
      'unknown_profile',
      'None is defined yet: send `tool_registry_set` with `profiles` first.',
    ],
    [
      'two tools of one name',
      { tools: [{ name: 'a' }, { name: 'a' }] },
      'duplicate_name',
      'got `a` twice',
    ],
    [
      'a tool without a name',
      { tools: [{}] },
      'invalid_option',
      '`createWorkflow.tools[0]`: Expected tool `name` to be a string',
    ],
    [
      'a function as resource key',
      { tools: [{ name: 'a', resourceKey: () => 'x' }] },
      'invalid_option',
      '/tools/0/resourceKey',
    ],
    [
      'a required tool that is unknown',
      { tools, budget: { required: ['nothing'] } },
      'unknown_tool',
      'budget.required',
    ],
    [
      'a profile that names a tool twice',
      { tools, profiles: { p: ['read', 'read'] } },
      'invalid_option',
      'every name once',
    ],
    ['no tools', {}, 'invalid_option', '`createWorkflow.tools`: expected an array'],
    ['nothing', undefined, 'invalid_option', 'expected an object'],
  ])('refuses %s', (_, options, code, message) => {
    try {
      createWorkflow(options as never);
      expect.unreachable();
    } catch (error) {
      expect(isMisuseError(error)).toBe(true);
      expect(error).toMatchObject({ code });
      expect((error as Error).message).toContain(message);
    }
  });

  test('without a profile nothing is effective, without facts nothing holds', () => {
    expect(effectiveOf(createWorkflow({ tools })).names).toEqual([]);
  });

  test('takes a copy: what is changed afterwards is not in it', () => {
    const mine = [{ name: 'read', parameters: { type: 'object' } as Record<string, string> }];
    const made = createWorkflow({ tools: mine, profiles: { p: ['read'] }, profile: 'p' });
    (mine[0] as { parameters: Record<string, string> }).parameters.type = 'string';
    mine.push({ name: 'late', parameters: {} });
    expect(made.tools).toEqual([{ name: 'read', parameters: { type: 'object' } }]);
    expect(Object.isFrozen(made.tools[0])).toBe(true);
  });

  test('a budget holds for every run', () => {
    const state = createWorkflow({
      tools,
      profiles: { all: ['read', 'grep', 'exec'] },
      profile: 'all',
      budget: { maxTools: 2, required: ['exec'] },
    });
    expect(listed(applied(state, { type: 'run_requested' }))).toEqual(['read', 'exec']);
  });
});

describe('inventory, profiles, overrides, facts', () => {
  test('a new inventory keeps the profiles that it does not replace', () => {
    const { state } = applied(workflow(), {
      type: 'tool_registry_set',
      tools: [...tools, { name: 'extra' }],
    });
    expect(state.profiles).toEqual(workflow().profiles);
    expect(listed(applied(state, { type: 'run_requested' }))).not.toContain('extra');
  });

  test('deny beats enable and force, and force beats no gate', () => {
    const { state } = applied(
      workflow(),
      { type: 'tool_profile_selected', profile: 'reader' },
      {
        type: 'tool_overrides_set',
        scope: 'session',
        enable: ['write', 'exec'],
        disable: ['exec'],
        force: ['deploy', 'exec'],
      },
    );
    expect(listed(applied(state, { type: 'run_requested' }))).toEqual(['grep', 'read', 'write']);
    expect(effectiveOf(state).dropped).toContainEqual({
      name: 'deploy',
      code: 'fact_unmet:network',
    });
    expect(effectiveOf(state).dropped).toContainEqual({ name: 'exec', code: 'disabled' });
  });

  test('setting overrides replaces the three lists of that scope alone', () => {
    const first = applied(
      running(),
      { type: 'tool_overrides_set', scope: 'session', disable: ['read'] },
      { type: 'tool_overrides_set', scope: 'run', disable: ['grep'] },
    );
    const second = applied(first.state, {
      type: 'tool_overrides_set',
      scope: 'session',
      force: ['read'],
    });
    expect(effectiveOf(second.state).dropped).toEqual([
      { name: 'grep', code: 'disabled' },
      { name: 'deploy', code: 'fact_unmet:network' },
    ]);
  });

  test("a run's overrides end with the run", () => {
    const { state } = applied(
      running(),
      { type: 'tool_overrides_set', scope: 'run', disable: ['read'] },
      { type: 'run_completed' },
    );
    expect(listed(applied(state, { type: 'run_requested' }))).toContain('read');
  });

  test('a host session update replaces id and status, and null clears both', () => {
    const open = applied(
      workflow(),
      { type: 'facts_updated', facts: { network: true } },
      { type: 'host_session_updated', hostSessionId: 'h', status: 'ready' },
    );
    expect(open.state.facts).toEqual({
      network: true,
      'hostSession.id': 'h',
      'hostSession.status': 'ready',
    });
    expect(
      applied(open.state, { type: 'host_session_updated', hostSessionId: null, status: 'closed' })
        .state.facts,
    ).toEqual({
      network: true,
      'hostSession.status': 'closed',
    });
    expect(
      applied(open.state, { type: 'host_session_updated', hostSessionId: null, status: null }).state
        .facts,
    ).toEqual({ network: true });
  });

  test('facts merge by key; null deletes; names such as __proto__ are facts like others', () => {
    const facts = JSON.parse('{"__proto__": 1, "a": 1, "b": 2}');
    const { state } = applied(
      workflow(),
      { type: 'facts_updated', facts },
      { type: 'facts_updated', facts: { a: null } },
    );
    expect(serializeState(state)).toContain('"facts":{"__proto__":1,"b":2}');
    expect(({} as { b?: unknown }).b).toBeUndefined();
  });
});

describe('runs', () => {
  test('ids are given or counted, and the count continues', () => {
    const first = applied(workflow(), { type: 'run_requested', runId: 'mine' });
    expect(first.state.run?.id).toBe('mine');
    expect(
      applied(first.state, { type: 'run_completed' }, { type: 'run_requested' }).commands,
    ).toMatchObject([{ runId: 'run-2' }]);
  });

  test(
    "a run's profile stands for the run alone; a provider without a profile of its name changes " +
      'nothing',
    () => {
      const reader = applied(workflow(), { type: 'run_requested', profile: 'reader' });
      expect(listed(reader)).toEqual(['grep', 'read']);
      expect(
        listed(
          applied(
            reader.state,
            { type: 'run_completed' },
            { type: 'run_requested', provider: 'nobody' },
          ),
        ),
      ).toContain('exec');
    },
  );

  test('the tools that a model saw stay until it is asked again', () => {
    const changed = applied(
      running(),
      { type: 'tool_overrides_set', scope: 'session', disable: ['read'] },
      { type: 'facts_updated', facts: { network: true } },
    );
    const observed = applied(changed.state, observe(['c1', 'read'], ['c2', 'deploy']));
    expect(observed.state.batch?.calls).toMatchObject([
      { accepted: true },
      { accepted: false, result: { error: { code: 'tool_not_available' } } },
    ]);
    expect(listed(applied(observed.state, settle('c1')))).toEqual([
      'grep',
      'write',
      'edit',
      'exec',
      'deploy',
    ]);
  });

  test('the specs of the listed tools stay if the inventory is replaced during a run', () => {
    const replaced = applied(running(), {
      type: 'tool_registry_set',
      tools: [{ name: 'new' }, { name: 'read' }],
      profiles: { all: ['new', 'read'] },
      profile: 'all',
    });
    const observed = applied(
      replaced.state,
      observe(['c1', 'read'], ['c2', 'grep'], ['c3', 'new']),
    );
    expect(observed.state.batch?.groups).toEqual([['c1', 'c2']]);
    expect(observed.state.batch?.calls[2]?.result?.error).toMatchObject({
      code: 'tool_not_available',
      reason: 'not_listed',
    });
    expect(listed(applied(observed.state, settle('c1'), settle('c2')))).toEqual(['new', 'read']);
  });

  test('completing and cancelling are remembered', () => {
    expect(applied(running(), { type: 'run_completed' }).state).toMatchObject({
      run: null,
      lastRun: { id: 'run-1', ended: 'completed' },
    });
    expect(applied(running(), { type: 'run_cancelled' }).state).toMatchObject({
      run: null,
      lastRun: { id: 'run-1', ended: 'cancelled' },
    });
  });
});

describe('batches', () => {
  test('groups run one after another, and a failure stops none', () => {
    const failed: WorkflowEvent = {
      type: 'tool_call_settled',
      callId: 'c1',
      result: {
        success: false,
        error: { code: 'handler_error', message: 'no', retryable: false },
        metadata: succeeded('c1').metadata,
      },
    };
    expect(applied(waiting(), failed).commands).toMatchObject([
      { type: 'execute_calls', batchId: 'batch-1', calls: [{ id: 'c2' }] },
    ]);
  });

  test('results are in observed order, whatever order the calls ended in', () => {
    const state = applied(
      running(),
      observe(['a', 'read'], ['b', 'nothing'], ['c', 'grep'], ['d', 'read']),
    ).state;
    const { commands } = applied(state, settle('d'), settle('a'), settle('c'));
    expect(commands[0]).toMatchObject({
      type: 'batch_settled',
      results: [{ callId: 'a' }, { callId: 'b' }, { callId: 'c' }, { callId: 'd' }],
    });
  });

  test('every observed call gets exactly one result: a repeated id is planned once', () => {
    const state = applied(running(), observe(['a', 'read'], ['a', 'grep'])).state;
    const { commands } = applied(state, settle('a'));
    expect(commands[0]).toMatchObject({
      results: [
        { callId: 'a', toolName: 'read', result: { success: true } },
        { callId: 'a', toolName: 'grep', result: { error: { code: 'duplicate_call_id' } } },
      ],
    });
  });

  test('an unknown tool is answered with the name that was probably meant', () => {
    const { commands } = applied(running(), observe(['a', 'raed']));
    expect(commands[0]).toMatchObject({
      results: [
        { result: { error: { code: 'tool_not_found', details: { didYouMean: ['read'] } } } },
      ],
    });
  });

  test('a batch in which nothing runs is settled at once, and the model is asked again', () => {
    expect(
      applied(running(), observe(['a', 'nothing'], ['b', 'deploy'])).commands.map(
        ({ type }) => type,
      ),
    ).toEqual(['batch_settled', 'llm_generate']);
    expect(applied(running(), observe()).commands.map(({ type }) => type)).toEqual([
      'batch_settled',
      'llm_generate',
    ]);
  });

  test('late, duplicate and unknown settlements change nothing', () => {
    const open = applied(waiting(), settle('c1')).state;
    for (const event of [
      settle('c1'),
      settle('nothing'),
      settle('c2', 'batch-0'),
      settle('c2', 'batch-2'),
    ]) {
      const reduction = reduce(open, event);
      expect(reduction).toEqual({ state: open, commands: [] });
      expect(reduction.state).toBe(open);
    }
    const closed = applied(open, settle('c2')).state;
    expect(reduce(closed, settle('c2'))).toEqual({ state: closed, commands: [] });
    expect(reduce(workflow(), settle('c2')).error).toBeUndefined();
  });

  test('a call that is settled ahead of its group is not asked for again', () => {
    const { commands } = applied(waiting(), settle('c2'), settle('c1'));
    expect(commands.map(({ type }) => type)).toEqual(['batch_settled', 'llm_generate']);
  });

  test(
    'cancelling the run settles the open batch: open calls as cancelled, the others as they ' +
      'ended',
    () => {
      const { state, commands } = applied(waiting(), settle('c1'), { type: 'run_cancelled' });
      expect(commands).toMatchObject([
        {
          type: 'batch_settled',
          results: [
            { callId: 'c1', result: { success: true } },
            {
              callId: 'c2',
              result: {
                error: {
                  code: 'cancelled',
                  message: 'The run was cancelled before the call ended. It may have run.',
                },
                metadata: { status: 'cancelled' },
              },
            },
          ],
        },
      ]);
      expect(state).toMatchObject({ run: null, batch: null });
      expect(reduce(state, settle('c2'))).toEqual({ state, commands: [] });
    },
  );

  test('a call of a group that was not handed out cannot have run, and its result says so', () => {
    const { commands } = applied(waiting(), { type: 'run_cancelled' });
    const results = commands[0]?.type === 'batch_settled' ? commands[0].results : [];
    expect(results.map(({ result }) => result.error?.message)).toEqual([
      'The run was cancelled before the call ended. It may have run.',
      'The run was cancelled before the call started.',
    ]);
  });

  test('batch ids count on over runs', () => {
    const { state } = applied(
      waiting(),
      { type: 'run_cancelled' },
      { type: 'run_requested' },
      observe(['c1', 'read']),
    );
    expect(state.batch?.id).toBe('batch-2');
  });

  test("a call's own resource key beats its tool's", () => {
    const calls = [
      { id: 'a', name: 'write', resourceKey: 'x' },
      { id: 'b', name: 'edit', resourceKey: 'y' },
      { id: 'c', name: 'edit', resourceKey: 'x' },
    ];
    const observed = applied(running(), { type: 'tool_calls_observed', calls });
    expect(observed.state.batch?.groups).toEqual([['a', 'b'], ['c']]);
    expect(observed.commands).toMatchObject([{ calls: calls.slice(0, 2) }]);
  });
});

describe('refused events', () => {
  test.each<
    [title: string, state: () => WorkflowState, event: unknown, code: string, message: string]
  >([
    [
      'calls without a run',
      workflow,
      observe(['c', 'read']),
      'run_not_active',
      'Send `run_requested` first',
    ],
    [
      'completing without a run',
      workflow,
      { type: 'run_completed' },
      'run_not_active',
      'active run',
    ],
    [
      'cancelling without a run',
      workflow,
      { type: 'run_cancelled' },
      'run_not_active',
      'active run',
    ],
    [
      "a run's overrides without a run",
      workflow,
      { type: 'tool_overrides_set', scope: 'run' },
      'run_not_active',
      'active run',
    ],
    ['a second run', running, { type: 'run_requested' }, 'run_already_active', '`run-1`'],
    ['a second batch', waiting, observe(['c3', 'read']), 'batch_already_active', '`batch-1`'],
    [
      'completing with an open batch',
      waiting,
      { type: 'run_completed' },
      'batch_already_active',
      '`batch-1`',
    ],
    [
      'an unknown profile',
      workflow,
      { type: 'tool_profile_selected', profile: 'raeder' },
      'unknown_profile',
      'Did you mean `reader`?',
    ],
    [
      'an unknown profile of a run',
      workflow,
      { type: 'run_requested', profile: '__proto__' },
      'unknown_profile',
      'expected the id to be one of `all`, `reader`',
    ],
    [
      'an unknown tool to enable',
      workflow,
      { type: 'tool_overrides_set', scope: 'session', enable: ['raed'] },
      'unknown_tool',
      'Did you mean `read`?',
    ],
    [
      'an unknown tool to disable',
      running,
      { type: 'tool_overrides_set', scope: 'run', disable: ['toString'] },
      'unknown_tool',
      'overrides.run.disable',
    ],
    [
      'an inventory that a profile does not fit',
      workflow,
      { type: 'tool_registry_set', tools: [{ name: 'a' }] },
      'unknown_tool',
      'profiles.all',
    ],
    [
      'an inventory without the selected profile',
      workflow,
      { type: 'tool_registry_set', tools: [{ name: 'a' }], profiles: { p: ['a'] } },
      'unknown_profile',
      '`all`',
    ],
    [
      'an inventory with twins',
      workflow,
      { type: 'tool_registry_set', tools: [{ name: 'a' }, { name: 'a' }], profiles: {} },
      'invalid_event',
      'twice',
    ],
    [
      'an unknown type',
      workflow,
      { type: 'constructor' },
      'invalid_event',
      'expected one of tool_registry_set',
    ],
    ['no type', workflow, {}, 'invalid_event', 'got undefined'],
    ['no event', workflow, null, 'invalid_event', 'got null'],
    [
      'a call without an id',
      running,
      { type: 'tool_calls_observed', calls: [{ name: 'read' }] },
      'invalid_event',
      '`tool_calls_observed.calls[0].id`',
    ],
    [
      'calls that are no list',
      running,
      { type: 'tool_calls_observed', calls: {} },
      'invalid_event',
      'expected an array',
    ],
    [
      'arguments that are not JSON',
      running,
      { type: 'tool_calls_observed', calls: [{ id: 'c', name: 'read', arguments: { n: 1n } }] },
      'invalid_event',
      '/calls/0/arguments/n',
    ],
    [
      'a result that is none',
      waiting,
      { type: 'tool_call_settled', callId: 'c1', result: 'done' },
      'invalid_event',
      '`tool_call_settled.result`',
    ],
    [
      'a failure without a code',
      waiting,
      { type: 'tool_call_settled', callId: 'c1', result: { success: false, error: {} } },
      'invalid_event',
      'error.code',
    ],
    [
      'a scope that is none',
      workflow,
      { type: 'tool_overrides_set', scope: 'all' },
      'invalid_event',
      '"session" or "run"',
    ],
    [
      'overrides with a misspelt list',
      workflow,
      { type: 'tool_overrides_set', scope: 'session', disabled: ['exec'] },
      'invalid_event',
      'did you mean `disable`?',
    ],
    [
      'facts that are none',
      workflow,
      { type: 'facts_updated', facts: [] },
      'invalid_event',
      'expected an object',
    ],
  ])('%s: the state is untouched, and the error says why', (_, make, event, code, message) => {
    const state = make();
    const bytes = serializeState(state);
    const reduction = reduce(state, event as WorkflowEvent);
    expect(reduction.error).toMatchObject({ code });
    expect(reduction.error?.message).toContain(message);
    expect(reduction.commands).toEqual([]);
    expect(reduction.state).toBe(state);
    expect(serializeState(state)).toBe(bytes);
  });

  test("a new inventory during a run must fit the run's profile and overrides", () => {
    const own = applied(
      workflow(),
      { type: 'run_requested', profile: 'reader' },
      { type: 'tool_overrides_set', scope: 'run', disable: ['exec'] },
    ).state;
    expect(
      reduce(own, {
        type: 'tool_registry_set',
        tools: [{ name: 'exec' }],
        profiles: { all: ['exec'] },
      }).error,
    ).toMatchObject({ code: 'unknown_profile' });
    expect(
      reduce(own, {
        type: 'tool_registry_set',
        tools: [{ name: 'a' }],
        profiles: { all: [], reader: [] },
      }).error,
    ).toMatchObject({ code: 'unknown_tool' });
  });
});
