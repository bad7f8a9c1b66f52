/** A host loop among models, tools, hosts and sessions that do not behave. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  isMisuseError,
  type JsonObject,
  type ToolSession,
} from '../../../src/index.ts';
import { createTestSession, mockTool, scriptedModel } from '../../../src/surfaces/testing/index.ts';
import {
  createWorkflow,
  type Generate,
  type HostLoopOptions,
  type HostLoopResult,
  type Message,
  replay,
  replayTrace,
  runHostLoop,
  serializeState,
  toolSpecs,
  type WorkflowState,
  writeTrace,
} from '../../../src/surfaces/workflow/index.ts';

const workflowOf = (session: ToolSession, more: object = {}): WorkflowState => {
  const tools = toolSpecs(session);
  return createWorkflow({
    tools,
    profiles: { all: tools.map(({ name }) => name) },
    profile: 'all',
    ...more,
  });
};
const tool = (name: string, handler: () => unknown, more: object = {}) =>
  defineTool({ name, description: 'Does it.', parameters: z.looseObject({}), handler, ...more });
const sessions: ToolSession[] = [];
const sessionOf = (
  ...given: Parameters<typeof createTestSession>
): ReturnType<typeof createTestSession> => {
  const session = createTestSession(...given);
  sessions.push(session);
  return session;
};
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
});

/** What holds of every result, however the loop ended. */
function checkResult(
  workflow: WorkflowState,
  { state, messages, results, events }: HostLoopResult,
): void {
  expect(state.run).toBeNull();
  expect(state.batch).toBeNull();
  const asked = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
  expect(
    messages.filter(({ role }) => role === 'tool').map(({ toolCallId }) => toolCallId),
  ).toEqual(asked);
  expect(results.map(({ callId }) => callId)).toEqual(asked);
  expect(serializeState(replay(workflow, events).state)).toBe(serializeState(state));
  expect(replayTrace(writeTrace(workflow, events))).toMatchObject({
    same: true,
    events: events.length,
  });
}

describe('an abort', () => {
  const turn = {
    toolCalls: [{ name: 'slow' }, { name: 'quick' }, { name: 'nothing' }, { name: 'slow' }],
  };
  const ticks = async (count: number): Promise<void> => {
    for (let tick = 0; tick < count; tick++) await Promise.resolve();
  };
  const run = async (
    abortAfter: number,
    log: 'no log' | 'a slow log',
  ): Promise<{ ended: HostLoopResult; running: number }> => {
    let running = 0;
    const slow = tool('slow', async () => {
      running++;
      await ticks(5);
      session.setFacts({ seen: running });
      running--;
    });
    const session = sessionOf({ tools: [slow, mockTool({ name: 'quick' })] });
    const workflow = workflowOf(session, { facts: { region: 'eu' } });
    const stop = new AbortController();
    const script = scriptedModel([turn, turn, 'Done.']);
    const generate: Generate = async (request) => {
      await ticks(3);
      return script(request);
    };
    const loop = runHostLoop({
      workflow,
      session,
      generate,
      input: 'Go.',
      signal: stop.signal,
      ...(log === 'no log' ? {} : { onEvent: () => ticks(2) }),
    });
    await ticks(abortAfter);
    stop.abort();
    const ended = await loop;
    checkResult(workflow, ended);
    await ticks(20);
    expect(session.metrics()).toMatchObject({ pending: 0 });
    return { ended, running };
  };

  test.each(['no log', 'a slow log'] as const)(
    'at every point of the loop, with %s: the run is over, every call has its one result, the ' +
      'log replays',
    async (log) => {
      const seen = new Set<string>();
      for (let abortAfter = 0; abortAfter < 300; abortAfter++) {
        const { ended, running } = await run(abortAfter, log);
        seen.add(ended.stopped);
        expect(['cancelled', 'completed']).toContain(ended.stopped);
        expect(ended.error).toBeUndefined();
        expect(running).toBe(0);
      }
      expect([...seen].sort()).toEqual(['cancelled', 'completed']);
    },
  );
});

describe('a model', () => {
  test(
    'that changes what it was given changes its own copy, or throws at it: the conversation and ' +
      'the listing stay',
    async () => {
      const session = sessionOf({ tools: [mockTool({ name: 'look' }), tool('exec', () => 'ran')] });
      const tools = toolSpecs(session);
      const stored = JSON.parse(
        serializeState(createWorkflow({ tools, profiles: { p: ['look'] }, profile: 'p' })),
      );
      for (const workflow of [
        stored,
        createWorkflow({ tools, profiles: { p: ['look'] }, profile: 'p' }),
      ]) {
        const input: Message[] = [{ role: 'user', content: 'Go.' }];
        let turns = 0;
        const refusals: unknown[] = [];
        const generate: Generate = (request) => {
          const {
            messages,
            toolNames,
            tools: listed,
          } = request as unknown as {
            messages: Message[];
            toolNames: string[];
            tools: { name: string }[];
          };
          for (const change of [
            () => toolNames.push('exec'),
            () => listed.push({ name: 'exec' }),
            () => Object.assign(listed[0] as object, { name: 'exec' }),
            () => Object.assign(listed[0] as object, { requires: [] }),
            () => Object.assign(messages[0] as object, { content: 'Something else.' }),
          ]) {
            try {
              change();
            } catch (error) {
              refusals.push(error);
            }
          }
          messages.length = 0;
          return turns++ === 0
            ? { toolCalls: [{ id: '1', name: 'exec', arguments: {} }] }
            : { text: 'Done.' };
        };
        const ended = await runHostLoop({ workflow, session, generate, input });
        expect(ended.results[0]?.result.error?.code).toBe('tool_not_available');
        expect(ended.messages[0]).toEqual({ role: 'user', content: 'Go.' });
        expect(refusals).toHaveLength(10);
        expect(input).toEqual([{ role: 'user', content: 'Go.' }]);
        checkResult(workflow, ended);
      }
    },
  );

  test('that counts its calls from zero in every turn is answered each time', async () => {
    const look = mockTool({ name: 'look' });
    const session = sessionOf({ tools: [look] });
    const workflow = workflowOf(session);
    const generate = scriptedModel([
      { toolCalls: [{ id: '0', name: 'look' }] },
      { toolCalls: [{ id: '0', name: 'look' }] },
      'Done.',
    ]);
    const ended = await runHostLoop({ workflow, session, generate, input: 'Go.' });
    expect(ended.results.map(({ callId, result }) => [callId, result.success])).toEqual([
      ['0', true],
      ['0', true],
    ]);
    expect(look.callCount).toBe(2);
    checkResult(workflow, ended);
  });

  test('that changes its calls after it gave them changes nothing', async () => {
    const calls = [{ id: '1', name: 'look', arguments: { path: 'a' } }];
    const look = tool('look', () => Object.assign(calls[0]?.arguments as object, { path: 'b' }));
    const session = sessionOf({ tools: [look] });
    let turns = 0;
    const generate: Generate = () => {
      if (turns++ > 0) return { text: 'Done.' };
      return { toolCalls: calls };
    };
    const { results, messages } = await runHostLoop({
      workflow: workflowOf(session),
      session,
      generate,
      input: 'Go.',
    });
    expect(results[0]?.result).toMatchObject({ success: true });
    expect(messages[1]?.toolCalls?.[0]?.arguments).toEqual({ path: 'a' });
  });

  test.each<[string, () => unknown]>([
    ['of ten megabytes', () => ({ text: 'x'.repeat(10_000_000) })],
    [
      'nested 900 levels deep',
      () => Array.from({ length: 900 }).reduce<unknown>((inner) => ({ inner }), 1),
    ],
    ['that are text which is not JSON', () => '{'],
  ])('that gives arguments %s is told of it, and the loop goes on', async (_, make) => {
    const session = sessionOf({ tools: [mockTool({ name: 'look' })] });
    const workflow = workflowOf(session);
    const generate = scriptedModel([{ toolCalls: [{ name: 'look', arguments: make() }] }, 'Done.']);
    const ended = await runHostLoop({ workflow, session, generate, input: 'Go.' });
    expect({ stopped: ended.stopped, code: ended.results[0]?.result.error?.code }).toEqual({
      stopped: 'completed',
      code: 'invalid_input',
    });
    checkResult(workflow, ended);
  });
});

describe('a tool', () => {
  test('may give the deepest output that a session lets through', async () => {
    const deep = Array.from({ length: 500 }).reduce<unknown>((inner) => ({ inner }), 1);
    const session = sessionOf({ tools: [tool('deep', () => deep)] });
    const workflow = workflowOf(session);
    const ended = await runHostLoop({
      workflow,
      session,
      generate: scriptedModel([{ toolCalls: [{ name: 'deep' }] }, 'Done.']),
      input: 'Go.',
    });
    expect(ended.error).toBeUndefined();
    expect(ended.results[0]?.result.success).toBe(true);
    checkResult(workflow, ended);
  });

  test(
    'that waits for a person in suspend mode is answered as pending; no token is in messages, ' +
      'results, events or state',
    async () => {
      const session = sessionOf({
        tools: [tool('deploy', () => 'done', { requiresApproval: true })],
        principal: 'ada',
        approvalMode: 'suspend',
        approvals: { secret: 'k'.repeat(32) },
      } as never);
      const workflow = workflowOf(session);
      const ended = await runHostLoop({
        workflow,
        session,
        generate: scriptedModel([{ toolCalls: [{ name: 'deploy' }] }, 'Waiting.']),
        input: 'Go.',
      });
      expect(ended.results[0]?.result).toMatchObject({
        error: { code: 'approval_pending' },
        metadata: { status: 'pending' },
      });
      const [pending] = await session.approvals.pending();
      const token = (pending as { token?: string } | undefined)?.token ?? '';
      expect(token).not.toBe('');
      expect(JSON.stringify(ended)).not.toContain(token);
      const resumed = await session.approvals.resume(token, 'allow_once');
      expect(resumed.success).toBe(true);
      checkResult(workflow, ended);
    },
  );

  test('that sets facts after its turn is known before the next turn', async () => {
    let later: (() => void) | undefined;
    const session = sessionOf({
      tools: [
        tool('start', () => {
          later = () => session.setFacts({ job: { id: 1, done: true } });
        }),
        tool('fetch', () => 'it', { requires: [{ fact: 'state', equals: 'up' }] }),
      ],
      facts: { job: { id: 1, done: false } },
    });
    const workflow = workflowOf(session);
    const generate = scriptedModel([
      { toolCalls: [{ name: 'start' }] },
      () => {
        later?.();
        session.setFacts({ state: 'up' });
        return { toolCalls: [{ name: 'start' }] };
      },
      'Done.',
    ]);
    const ended = await runHostLoop({ workflow, session, generate, input: 'Go.' });
    expect(generate.requests.map(({ toolNames }) => toolNames)).toEqual([
      ['start'],
      ['start'],
      ['start', 'fetch'],
    ]);
    expect(ended.state.facts).toEqual({ job: { id: 1, done: true }, state: 'up' });
    expect(ended.events.filter(({ type }) => type === 'facts_updated')).toHaveLength(2);
    checkResult(workflow, ended);
  });
});

describe('a session', () => {
  test(
    'that is closed midway answers the open calls and the rest of the batch, and the loop is ' +
      'over',
    async () => {
      const session: ToolSession = sessionOf({
        tools: [
          tool('last', () => {
            void session.close();
            return new Promise(() => {});
          }),
          mockTool({ name: 'look' }),
        ],
      });
      const workflow = workflowOf(session);
      const calls = { toolCalls: [{ name: 'look' }, { name: 'last' }, { name: 'look' }] };
      const ended = await runHostLoop({
        workflow,
        session,
        generate: scriptedModel([calls, calls, 'Done.']),
        input: 'Go.',
      });
      expect(ended).toMatchObject({ stopped: 'failed', error: { code: 'session_closed' } });
      expect(ended.results.map(({ result }) => result.error?.code ?? 'ok')).toEqual([
        'ok',
        'session_closed',
        'session_closed',
      ]);
      checkResult(workflow, ended);
    },
  );

  test('that is closed takes no facts, and says so by the one code', async () => {
    const session = sessionOf({ tools: [mockTool({ name: 'look' })] });
    const workflow = workflowOf(session, { facts: { region: 'eu' } });
    await session.close();
    expect(
      await runHostLoop({ workflow, session, generate: () => ({ text: 'Done.' }), input: 'Go.' }),
    ).toMatchObject({ error: { code: 'session_closed' } });
  });
});

describe('a conversation that continues', () => {
  const gated = (facts?: JsonObject) =>
    sessionOf({
      tools: [
        tool('open', () => 'open', { provides: ['door'] }),
        tool('enter', () => 'in', { requires: [{ fact: 'door', equals: 'open' }] }),
      ],
      ...(facts === undefined ? {} : { facts }),
    });
  const once = (session: ToolSession, workflow: WorkflowState, input: HostLoopOptions['input']) => {
    const generate = scriptedModel([{ toolCalls: [{ name: 'enter' }] }, 'Done.']);
    return runHostLoop({ workflow, session, generate, input }).then((ended) => ({
      ...ended,
      listed: generate.requests[0]?.toolNames,
    }));
  };

  test(
    'begins with the state and the messages of the loop before, also when both were stored as ' +
      'JSON',
    async () => {
      const session = gated({ door: 'open' });
      const workflow = workflowOf(session);
      const first = await once(session, workflow, 'Go.');
      const state = JSON.parse(serializeState(first.state));
      const second = await once(session, state, [
        ...JSON.parse(JSON.stringify(first.messages)),
        { role: 'user', content: 'Again.' },
      ]);
      expect(second.results[0]?.result.success).toBe(true);
      expect(second.state).toMatchObject({ runs: 2, batches: 2, lastRun: { id: 'run-2' } });
      expect(serializeState(replay(workflow, [...first.events, ...second.events]).state)).toBe(
        serializeState(second.state),
      );
      expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages);
    },
  );

  test(
    'a fact that the session lost in between stays lost: the stored workflow opens no door ' +
      'again',
    async () => {
      const session = gated({ door: 'open' });
      const first = await once(session, workflowOf(session), 'Go.');
      session.setFacts({ door: null });
      const second = await once(session, first.state, 'Again.');
      expect(second.listed).toEqual(['open']);
      expect(second.results[0]?.result.error).toMatchObject({
        code: 'tool_not_available',
        reason: 'fact_unmet',
      });
      expect(second.state.facts).toEqual({});
    },
  );

  test('in a new session the facts of the stored workflow hold', async () => {
    const before = gated({ door: 'open' });
    const first = await once(before, workflowOf(before), 'Go.');
    const second = await once(gated(), JSON.parse(serializeState(first.state)), 'Again.');
    expect(second.results[0]?.result.success).toBe(true);
  });

  test('a run that is refused leaves the facts of the session as they were', async () => {
    const session = gated();
    const active = replay(workflowOf(session, { facts: { door: 'open' } }), [
      { type: 'run_requested' },
    ]).state;
    expect(await once(session, active, 'Go.')).toMatchObject({
      stopped: 'failed',
      error: { code: 'run_already_active' },
      events: [],
    });
    expect(session.effectiveTools().names).toEqual(['open']);
  });
});

describe('a host', () => {
  const session = (): ToolSession => sessionOf({ tools: [mockTool({ name: 'look' })] });

  test('may store the log asynchronously: nothing happens before an event is stored', async () => {
    const here = session();
    const workflow = workflowOf(here);
    const order: string[] = [];
    const generate: Generate = () => {
      order.push('model');
      return order.length < 4 ? { toolCalls: [{ id: '1', name: 'look' }] } : {};
    };
    const onEvent: NonNullable<HostLoopOptions['onEvent']> = async ({ type }) => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(type);
    };
    const ended = await runHostLoop({ workflow, session: here, generate, input: 'Go.', onEvent });
    expect(order).toEqual([
      'run_requested',
      'model',
      'tool_calls_observed',
      'tool_call_settled',
      'model',
      'run_completed',
    ]);
    checkResult(workflow, ended);
  });

  test(
    'whose log fails to store stops the loop as failed, at whichever event; nothing is left ' +
      'unhandled',
    async () => {
      for (let failing = 1; failing <= 4; failing++) {
        const here = session();
        const workflow = workflowOf(here);
        let told = 0;
        const onEvent = async (): Promise<void> => {
          await Promise.resolve();
          if (++told === failing) throw new Error('disk full');
        };
        const ended = await runHostLoop({
          workflow,
          session: here,
          generate: scriptedModel([{ toolCalls: [{ name: 'look' }] }, 'Done.']),
          input: 'Go.',
          onEvent,
        });
        expect(ended).toMatchObject({
          stopped: 'failed',
          error: { code: 'loop_failed', message: 'disk full' },
        });
        checkResult(workflow, ended);
      }
    },
  );

  test.each<[string, unknown]>([
    ['input[0]', [null]],
    ['input[0].role', [{ role: 'model', content: 'x' }]],
    [
      'input[1].content',
      [
        { role: 'user', content: 'x' },
        { role: 'user', content: [] },
      ],
    ],
    ['input[0].content', [{ role: 'user', content: 1n }]],
  ])('whose `%s` is no message is told so at once', (field, input) => {
    const here = session();
    try {
      void runHostLoop({
        workflow: workflowOf(here),
        session: here,
        generate: () => ({}),
        input: input as Message[],
      });
      expect.unreachable();
    } catch (error) {
      expect(isMisuseError(error)).toBe(true);
      expect((error as Error).message).toContain(`\`${field}\``);
    }
  });

  test('whose stored workflow is damaged fails at once', () => {
    const here = session();
    const stored = { ...JSON.parse(serializeState(workflowOf(here))), tools: [null] };
    expect(() =>
      runHostLoop({ workflow: stored, session: here, generate: () => ({}), input: 'Go.' }),
    ).toThrow('`state.tools[0]`: expected an object');
  });

  test('cannot make another event of `run`', () => {
    const here = session();
    const run = { type: 'run_cancelled' } as never;
    expect(() =>
      runHostLoop({
        workflow: workflowOf(here),
        session: here,
        generate: () => ({}),
        input: 'Go.',
        run,
      }),
    ).toThrow('unknown option `run.type`');
  });
});

test('whatever a model calls, turn by turn, the loop ends well', async () => {
  const name = fc.constantFrom('look', 'write', 'fail', 'nothing', '', '__proto__');
  const call = fc.record({
    id: fc.constantFrom('0', '1', '2'),
    name,
    arguments: fc.oneof(fc.jsonValue(), fc.constant(undefined)),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(call, { maxLength: 4 }), { maxLength: 4 }),
      async (turns) => {
        const session = sessionOf({
          tools: [
            mockTool({ name: 'look' }),
            tool('write', () => null, { resourceKey: 'x', parallelSafe: true }),
            tool('fail', () => Promise.reject(new Error('no'))),
          ],
        });
        const workflow = workflowOf(session);
        let turn = 0;
        const ended = await runHostLoop({
          workflow,
          session,
          generate: () => ({ toolCalls: turns[turn++] ?? [] }),
          input: 'Go.',
        });
        expect(ended.error).toBeUndefined();
        checkResult(workflow, ended);
      },
    ),
    { numRuns: 50 },
  );
});
