/** The verification matrix and the definition of done of the orchestration seed, line by line. */
import { describe, expect, test } from 'vitest';
import {
  codingAgentPreset,
  createWorkflow,
  replay,
  serializeState,
  type WorkflowEvent,
} from '../../../src/surfaces/workflow/index.ts';
import { applied, listed, observe, settle } from './events.ts';

const hostTools = [
  'host.exec',
  'host.fs.read_file',
  'host.fs.write_file',
  'host.fs.edit_file',
  'host.fs.apply_patch',
  'host.fs.grep',
  'host.fs.glob',
  'host.fs.stat',
  'host.fs.exists',
  'host.fs.list_dir',
];
const ready: WorkflowEvent = {
  type: 'host_session_updated',
  hostSessionId: 'host-1',
  status: 'ready',
};
const preset = () => createWorkflow(codingAgentPreset());
const closing = ['closed', 'expired', 'error', null] as const;

describe('verification matrix', () => {
  test('1. no active host session: the effective tools exclude host fs and exec tools', () => {
    const started = applied(preset(), { type: 'run_requested' });
    expect(listed(started)).toEqual(['host.session.open']);
    for (const name of started.state.profiles.openai?.slice(1) ?? [])
      expect(started.state.run?.effective.dropped).toContainEqual({
        name,
        code: 'fact_unmet:hostSession.status',
      });
    expect(started.state.run?.effective.prerequisites).toEqual([
      {
        tool: 'host.session.open',
        fact: 'hostSession.status',
        unlocks: hostTools.filter((name) => name !== 'host.fs.edit_file'),
      },
    ]);
  });

  test('2. host session becomes ready: host tools appear, always the same way', () => {
    const first = applied(preset(), ready, { type: 'run_requested' });
    const second = applied(
      preset(),
      { type: 'run_requested' },
      ready,
      observe(['c1', 'host.session.open']),
      settle('c1'),
    );
    expect(listed(first)).toEqual([
      'host.session.open',
      ...hostTools.filter((name) => name !== 'host.fs.edit_file'),
    ]);
    expect(listed(second)).toEqual(listed(first));
    expect(second.state.run?.effective.hash).toBe(first.state.run?.effective.hash);
  });

  test.each(closing)(
    '3. host session becomes %s: host tools disappear on the next computation, and not before',
    (status) => {
      const running = applied(preset(), ready, { type: 'run_requested' });
      const gone = applied(running.state, {
        type: 'host_session_updated',
        hostSessionId: status === null ? null : 'host-1',
        status,
      });
      expect(gone.state.run?.effective).toEqual(running.state.run?.effective);
      expect(listed(applied(gone.state, observe(['c1', 'host.fs.stat']), settle('c1')))).toEqual([
        'host.session.open',
      ]);
    },
  );

  test('4. parallel planning: calls that are safe and do not conflict are grouped together', () => {
    const { commands } = applied(
      preset(),
      ready,
      { type: 'run_requested' },
      observe(['r', 'host.fs.read_file'], ['g', 'host.fs.grep'], ['w', 'host.fs.write_file']),
    );
    expect(commands).toMatchObject([
      { type: 'execute_calls', calls: [{ id: 'r' }, { id: 'g' }, { id: 'w' }] },
    ]);
  });

  test('4. parallel planning: calls that conflict, or share a resource key, are serialised', () => {
    const observed = applied(
      preset(),
      ready,
      { type: 'run_requested' },
      observe(
        ['r1', 'host.fs.read_file'],
        ['w', 'host.fs.write_file'],
        ['p', 'host.fs.apply_patch'],
        ['r2', 'host.fs.read_file'],
        ['x', 'host.exec'],
      ),
    );
    expect(observed.state.batch?.groups).toEqual([['r1', 'w'], ['p', 'r2'], ['x']]);
    expect(observed.commands).toMatchObject([{ calls: [{ id: 'r1' }, { id: 'w' }] }]);
    const half = applied(observed.state, settle('w'));
    expect(half.commands).toEqual([]);
    expect(applied(half.state, settle('r1')).commands).toMatchObject([
      { type: 'execute_calls', calls: [{ id: 'p' }, { id: 'r2' }] },
    ]);
  });

  test.each([
    ['openai', 'host.fs.apply_patch', 'host.fs.edit_file'],
    ['anthropic', 'host.fs.edit_file', 'host.fs.apply_patch'],
    ['gemini', 'host.fs.edit_file', 'host.fs.apply_patch'],
  ])('5. provider profile switching: %s prefers %s to %s', (provider, preferred, other) => {
    for (const started of [
      applied(preset(), ready, { type: 'run_requested', provider }),
      applied(preset(), ready, { type: 'run_requested', profile: provider }),
      applied(
        preset(),
        ready,
        { type: 'tool_profile_selected', profile: provider },
        { type: 'run_requested' },
      ),
      applied(
        preset(),
        ready,
        { type: 'run_requested' },
        { type: 'tool_profile_selected', profile: provider },
        observe(['c', 'host.fs.stat']),
        settle('c'),
      ),
    ]) {
      expect(listed(started)).toContain(preferred);
      expect(listed(started)).not.toContain(other);
    }
  });

  test('6. install-time preload: the first run request succeeds without a set-up event', () => {
    const started = applied(preset(), { type: 'run_requested' });
    expect(started.commands).toMatchObject([
      { type: 'llm_generate', runId: 'run-1', toolNames: ['host.session.open'] },
    ]);
  });

  test('7. replay: the same events yield a byte-identical state', () => {
    const events: WorkflowEvent[] = [
      { type: 'run_requested', provider: 'anthropic' },
      observe(['c1', 'host.session.open'], ['c2', 'host.fs.read_file']),
      ready,
      settle('c1'),
      observe(['c3', 'host.fs.edit_file'], ['c4', 'host.fs.grep'], ['c3', 'host.fs.grep']),
      settle('c4'),
      settle('c3'),
      { type: 'run_completed' },
    ];
    const first = replay(preset(), events);
    const second = replay(preset(), JSON.parse(JSON.stringify(events)));
    expect(serializeState(second.state)).toBe(serializeState(first.state));
    expect(second.commands).toEqual(first.commands);
    expect(second.state.lastPlanHash).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

describe('definition of done', () => {
  test('1. tool inventory and availability are state of the workflow', () => {
    const { state } = applied(preset(), ready, {
      type: 'tool_overrides_set',
      scope: 'session',
      disable: ['host.exec'],
    });
    const stored = JSON.parse(serializeState(state));
    expect(stored.tools).toHaveLength(11);
    expect(stored.facts).toEqual({ 'hostSession.id': 'host-1', 'hostSession.status': 'ready' });
    expect(listed(applied(stored, { type: 'run_requested' }))).toEqual(
      listed(applied(state, { type: 'run_requested' })),
    );
    expect(listed(applied(stored, { type: 'run_requested' }))).not.toContain('host.exec');
  });

  test(
    '2. nothing but the state is a catalogue: a tool that it does not hold is never listed or ' +
      'accepted',
    () => {
      const emptied = applied(preset(), ready, {
        type: 'tool_registry_set',
        tools: [{ name: 'only' }],
        profiles: { own: ['only'] },
        profile: 'own',
      });
      const started = applied(emptied.state, { type: 'run_requested', provider: 'openai' });
      expect(listed(started)).toEqual(['only']);
      expect(applied(started.state, observe(['c1', 'host.exec'])).commands).toMatchObject([
        { type: 'batch_settled', results: [{ result: { error: { code: 'tool_not_found' } } }] },
        { type: 'llm_generate' },
      ]);
    },
  );

  test(
    '3. new sessions run with preloaded tools and profiles: see row 6; a workflow made of ' +
      'nothing has none',
    () => {
      expect(
        listed(
          applied(createWorkflow({ tools: codingAgentPreset().tools }), ready, {
            type: 'run_requested',
          }),
        ),
      ).toEqual([]);
    },
  );

  test('4. dynamic host-session gating works: host tools need a ready session', () => {
    const opening = applied(
      preset(),
      { type: 'host_session_updated', hostSessionId: 'host-1', status: 'opening' },
      { type: 'run_requested' },
    );
    expect(listed(opening)).toEqual(['host.session.open']);
    const refused = applied(opening.state, observe(['c1', 'host.exec']));
    expect(refused.commands[0]).toMatchObject({
      results: [
        {
          result: {
            success: false,
            error: {
              code: 'tool_not_available',
              reason: 'fact_unmet',
              message:
                '`host.exec` is not available until `hostSession.status` holds. Call ' +
                '`host.session.open` first.',
              details: { fact: 'hostSession.status', unlockedBy: 'host.session.open' },
            },
            metadata: { status: 'rejected' },
          },
        },
      ],
    });
  });

  test('5. the reducer produces plans, the same for the same events', () => {
    const plan = () =>
      applied(
        preset(),
        ready,
        { type: 'run_requested' },
        observe(['a', 'host.fs.stat'], ['b', 'host.exec'], ['c', 'nothing']),
      ).state.batch;
    expect(plan()?.groups).toEqual([['a'], ['b']]);
    expect(plan()).toEqual(plan());
  });

  test('6. the host shuttles calls and results through explicit events', () => {
    const observed = applied(
      preset(),
      ready,
      { type: 'run_requested' },
      observe(['c1', 'host.fs.stat']),
    );
    expect(observed.commands).toEqual([
      {
        type: 'execute_calls',
        batchId: 'batch-1',
        calls: [{ id: 'c1', name: 'host.fs.stat', arguments: {} }],
      },
    ]);
    const settled = applied(observed.state, settle('c1', 'batch-1'));
    expect(settled.commands).toMatchObject([
      {
        type: 'batch_settled',
        batchId: 'batch-1',
        results: [{ callId: 'c1', toolName: 'host.fs.stat', result: { success: true } }],
      },
      { type: 'llm_generate', runId: 'run-1' },
    ]);
  });
});
