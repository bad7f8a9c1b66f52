import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  isMisuseError,
  jsonSchema,
  MisuseError,
  originRules,
  type ToolSession,
} from '../../../src/index.ts';
import {
  createTestSession,
  mockTool,
  type ScriptedTurn,
  scriptedModel,
} from '../../../src/surfaces/testing/index.ts';
import {
  createWorkflow,
  type Generate,
  type HostLoopOptions,
  type Message,
  replay,
  replayTrace,
  runHostLoop,
  serializeState,
  toolSpecs,
  type WorkflowState,
  writeTrace,
} from '../../../src/surfaces/workflow/index.ts';

const read = () => mockTool({ name: 'read', output: 'text' });
const workflowOf = (session: ToolSession): WorkflowState => {
  const specs = toolSpecs(session);
  return createWorkflow({
    tools: specs,
    profiles: { all: specs.map(({ name }) => name) },
    profile: 'all',
  });
};
const loop = (
  turns: readonly ScriptedTurn[],
  more: Partial<HostLoopOptions> & { session: ToolSession },
) => {
  const generate = scriptedModel(turns);
  const workflow = more.workflow ?? workflowOf(more.session);
  return { generate, workflow, ended: runHostLoop({ workflow, generate, input: 'Go.', ...more }) };
};

describe('what the user wrote', () => {
  const send = () =>
    defineTool({
      name: 'send',
      description: 'Sends.',
      parameters: jsonSchema<{ to?: string }>({ type: 'object' }),
      handler: () => 'sent',
    });

  test('is known to rules about origins, and so is the system prompt', async () => {
    const session = createTestSession({ tools: [send()], rules: originRules() });
    await loop(['Done.'], {
      session,
      input: [
        { role: 'system', content: 'The office is office@example.org.' },
        { role: 'user', content: 'Write to ann@example.org.' },
        { role: 'assistant', content: 'Shall I write to eve@example.org?' },
      ],
    }).ended;
    const of = (to: string) => session.originOf('send', { to })[0]?.origin;
    expect([of('ann@example.org'), of('office@example.org'), of('eve@example.org')]).toEqual([
      'user',
      'trusted',
      'unknown',
    ]);
  });

  test('is not remembered by a session that has no rule about origins', async () => {
    const session = createTestSession({ tools: [send()] });
    await loop(['Done.'], { session, input: 'Write to ann@example.org.' }).ended;
    expect(session.originOf('send', { to: 'ann@example.org' })[0]?.origin).toBe('unknown');
  });
});

describe('a conversation', () => {
  test(
    'goes on until the model calls nothing more: every call is run through the session, every ' +
      'result told',
    async () => {
      const tool = read();
      const session = createTestSession({ tools: [tool] });
      const { ended, generate } = loop(
        [{ text: 'Reading.', toolCalls: [{ name: 'read', arguments: { path: 'a' } }] }, 'Done.'],
        { session },
      );
      const { stopped, messages, results, state, error } = await ended;
      expect({ stopped, error }).toEqual({ stopped: 'completed', error: undefined });
      expect(messages).toEqual([
        { role: 'user', content: 'Go.' },
        {
          role: 'assistant',
          content: 'Reading.',
          toolCalls: [{ id: 'call-1', name: 'read', arguments: { path: 'a' } }],
        },
        { role: 'tool', toolCallId: 'call-1', content: 'text' },
        { role: 'assistant', content: 'Done.' },
      ]);
      expect(results).toMatchObject([
        { callId: 'call-1', toolName: 'read', result: { success: true, output: 'text' } },
      ]);
      expect(tool.callCount).toBe(1);
      expect(session.metrics()).toMatchObject({ calls: 1, succeeded: 1 });
      expect(state).toMatchObject({ run: null, lastRun: { id: 'run-1', ended: 'completed' } });
      expect(generate.requests.map(({ toolNames, runId }) => ({ toolNames, runId }))).toEqual([
        { toolNames: ['read'], runId: 'run-1' },
        { toolNames: ['read'], runId: 'run-1' },
      ]);
    },
  );

  test('may begin with messages, which are not changed', async () => {
    const input: Message[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Go.' },
    ];
    const { ended } = loop(['Done.'], { session: createTestSession({ tools: [read()] }), input });
    expect((await ended).messages).toEqual([...input, { role: 'assistant', content: 'Done.' }]);
    expect(input).toHaveLength(2);
  });

  test(
    'refused calls are answered too, in observed order: unknown ones, hidden ones, a repeated ' +
      'id',
    async () => {
      const session = createTestSession({ tools: [read(), mockTool({ name: 'hidden' })] });
      const workflow = createWorkflow({
        tools: toolSpecs(session),
        profiles: { p: ['read'] },
        profile: 'p',
      });
      const toolCalls = [
        { id: 'a', name: 'hidden' },
        { id: 'b', name: 'read' },
        { id: 'b', name: 'read' },
        { id: 'c', name: 'raed' },
      ];
      const { messages, results } = await loop([{ toolCalls }, 'Done.'], { session, workflow })
        .ended;
      expect(results.map(({ callId, result }) => [callId, result.error?.code ?? 'ok'])).toEqual([
        ['a', 'tool_not_available'],
        ['b', 'ok'],
        ['b', 'duplicate_call_id'],
        ['c', 'tool_not_found'],
      ]);
      expect(messages.slice(2, 6).map(({ role, toolCallId }) => [role, toolCallId])).toEqual(
        ['a', 'b', 'b', 'c'].map((id) => ['tool', id]),
      );
    },
  );

  test('a policy of the session judges what the workflow lets through', async () => {
    const session = createTestSession({
      tools: [read()],
      rules: [{ effect: 'deny', tools: 'read', reason: 'not_today' }],
    });
    const workflow = createWorkflow({
      tools: [{ name: 'read' }],
      profiles: { p: ['read'] },
      profile: 'p',
    });
    const { results } = await loop([{ toolCalls: [{ name: 'read' }] }, 'Done.'], {
      session,
      workflow,
    }).ended;
    expect(results[0]?.result.error).toMatchObject({ code: 'policy_denied', reason: 'not_today' });
  });

  test('calls of one group run in parallel, conflicting ones one after another', async () => {
    const running: string[] = [];
    const seen: string[][] = [];
    const step = (name: string, resourceKey?: string) =>
      defineTool({
        name,
        description: 'Meets the others.',
        parameters: z.object({}),
        parallelSafe: true,
        ...(resourceKey === undefined ? {} : { resourceKey }),
        handler: async () => {
          running.push(name);
          await new Promise((resolve) => setImmediate(resolve));
          seen.push([...running]);
          running.splice(running.indexOf(name), 1);
        },
      });
    const session = createTestSession({
      tools: [step('one'), step('two'), step('left', 'key'), step('right', 'key')],
    });
    await loop(
      [{ toolCalls: ['one', 'two', 'left', 'right'].map((name) => ({ name })) }, 'Done.'],
      { session },
    ).ended;
    expect(
      seen.some(
        (together) =>
          together.includes('one') && together.includes('two') && together.includes('left'),
      ),
    ).toBe(true);
    expect(
      seen.every((together) => !(together.includes('left') && together.includes('right'))),
    ).toBe(true);
  });

  test("a resource key from the input also serialises, by the session's locks", async () => {
    let inside = 0;
    let most = 0;
    const edit = defineTool({
      name: 'edit',
      description: 'Edits a file.',
      parameters: z.object({ path: z.string() }),
      parallelSafe: true,
      resourceKey: ({ path }) => path,
      handler: async () => {
        inside++;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
      },
    });
    const session = createTestSession({ tools: [edit] });
    const toolCalls = ['a', 'a', 'a'].map((path) => ({ name: 'edit', arguments: { path } }));
    const { results } = await loop([{ toolCalls }, 'Done.'], { session }).ended;
    expect(results.every(({ result }) => result.success)).toBe(true);
    expect(most).toBe(1);
  });
});

describe('facts', () => {
  const opening = () =>
    defineTool({
      name: 'open',
      description: 'Opens the host session.',
      parameters: z.object({}),
      provides: ['hostSession.status'],
      handler: () => {
        session.setFacts({ 'hostSession.status': 'ready' });
      },
    });
  const waiting = () =>
    defineTool({
      name: 'stat',
      description: 'Looks at a file.',
      parameters: z.object({}),
      requires: [{ fact: 'hostSession.status', equals: 'ready' }],
      handler: () => 'a file',
    });
  let session: ToolSession;

  test(
    'a fact that a call brings about opens tools in the very next turn, and one that goes ' +
      'closes them',
    async () => {
      session = createTestSession({ tools: [opening(), waiting()] });
      const { ended, generate, workflow } = loop(
        [
          { toolCalls: [{ name: 'open' }] },
          { toolCalls: [{ name: 'stat' }] },
          () => {
            session.setFacts({ 'hostSession.status': null });
            return { toolCalls: [{ name: 'stat' }] };
          },
          'Done.',
        ],
        { session },
      );
      const { results, events, state } = await ended;
      expect(generate.requests.map(({ toolNames }) => toolNames)).toEqual([
        ['open'],
        ['open', 'stat'],
        ['open', 'stat'],
        ['open'],
      ]);
      expect(results.map(({ result }) => result.error?.code ?? 'ok')).toEqual([
        'ok',
        'ok',
        'tool_not_available',
      ]);
      expect(serializeState(replay(workflow, events).state)).toBe(serializeState(state));
    },
  );

  test(
    'facts of the workflow that the session lacks are set on it; where both have one, the ' +
      'session is right',
    async () => {
      session = createTestSession({ tools: [opening(), waiting()], facts: { region: 'eu' } });
      const workflow = createWorkflow({
        tools: toolSpecs(session),
        profiles: { p: ['stat'] },
        profile: 'p',
        facts: { 'hostSession.status': 'ready', region: 'us' },
      });
      const { results, state } = await loop([{ toolCalls: [{ name: 'stat' }] }, 'Done.'], {
        session,
        workflow,
      }).ended;
      expect(results[0]?.result.success).toBe(true);
      expect(state.facts).toEqual({ 'hostSession.status': 'ready', region: 'eu' });
    },
  );
});

describe('the log', () => {
  test('replays to the same bytes, and its trace to the same hash', async () => {
    const session = createTestSession({ tools: [read()] });
    const told: string[] = [];
    const { ended, workflow } = loop(
      [{ toolCalls: [{ name: 'read' }, { name: 'nothing' }] }, 'Done.'],
      {
        session,
        run: { runId: 'mine' },
        onEvent: ({ type }) => told.push(type),
      },
    );
    const { events, state } = await ended;
    expect(events.map(({ type }) => type)).toEqual([
      'run_requested',
      'tool_calls_observed',
      'tool_call_settled',
      'run_completed',
    ]);
    expect(told).toEqual(events.map(({ type }) => type));
    expect(serializeState(replay(workflow, JSON.parse(JSON.stringify(events))).state)).toBe(
      serializeState(state),
    );
    expect(replayTrace(writeTrace(workflow, events))).toMatchObject({ same: true, events: 4 });
  });
});

describe('the end', () => {
  test('max_turns: the model is asked so often and no more, and the run is over', async () => {
    const session = createTestSession({ tools: [read()] });
    const again = { toolCalls: [{ name: 'read' }] };
    const { ended, generate } = loop([again, again, again], { session, maxTurns: 2 });
    const { stopped, results, state } = await ended;
    expect({ stopped, asked: generate.requests.length, results: results.length }).toEqual({
      stopped: 'max_turns',
      asked: 2,
      results: 2,
    });
    expect(state.lastRun).toEqual({ id: 'run-1', ended: 'cancelled' });
  });

  test('a model is asked 16 times unless said otherwise', async () => {
    const session = createTestSession({ tools: [read()] });
    const generate = scriptedModel(
      Array.from({ length: 20 }, () => ({ toolCalls: [{ name: 'read' }] })),
    );
    await runHostLoop({ workflow: workflowOf(session), session, generate, input: 'Go.' });
    expect(generate.requests).toHaveLength(16);
  });

  test.each<[string, ScriptedTurn | Generate, string]>([
    ['throws', new Error('overloaded'), 'overloaded'],
    [
      'answers nothing',
      (() => undefined) as never,
      'expected { text?, toolCalls? }, got undefined',
    ],
    ['answers no text', (() => ({ text: 1 })) as never, 'expected `text` to be a string'],
    [
      'answers no list of calls',
      (() => ({ toolCalls: {} })) as never,
      'expected `toolCalls` to be an array',
    ],
  ])('failed: a `generate` that %s', async (_, turn, message) => {
    const session = createTestSession({ tools: [read()] });
    const generate: Generate = turn instanceof Error ? scriptedModel([turn]) : (turn as Generate);
    const { stopped, error, state } = await runHostLoop({
      workflow: workflowOf(session),
      session,
      generate,
      input: 'Go.',
    });
    expect(stopped).toBe('failed');
    expect(error).toMatchObject({ code: 'generate_failed' });
    expect(error?.message).toContain(message);
    expect(state.run).toBeNull();
  });

  test('failed: a `generate` that throws synchronously, whatever it throws', async () => {
    const session = createTestSession({ tools: [read()] });
    for (const thrown of [undefined, null, Symbol('x'), Proxy.revocable({}, {}).proxy, 'text']) {
      const generate: Generate = () => {
        throw thrown;
      };
      expect(
        await runHostLoop({ workflow: workflowOf(session), session, generate, input: 'Go.' }),
      ).toMatchObject({
        stopped: 'failed',
        error: { code: 'generate_failed' },
      });
    }
  });

  test('failed: invalid calls', async () => {
    const session = createTestSession({ tools: [read()] });
    const generate: Generate = () => ({ toolCalls: [{ name: 'read' }] as never });
    const { error } = await runHostLoop({
      workflow: workflowOf(session),
      session,
      generate,
      input: 'Go.',
    });
    expect(error).toMatchObject({ code: 'invalid_event' });
    expect(error?.message).toContain('`tool_calls_observed.calls[0].id`');
  });

  test('failed: an active run, which stays unchanged, and an unknown profile', async () => {
    const session = createTestSession({ tools: [read()] });
    const active = replay(workflowOf(session), [{ type: 'run_requested' }]).state;
    const { state, error, stopped } = await loop(['Done.'], { session, workflow: active }).ended;
    expect({ stopped, code: error?.code }).toEqual({
      stopped: 'failed',
      code: 'run_already_active',
    });
    expect(state).toBe(active);
    expect(
      (await loop(['Done.'], { session, run: { profile: 'none' } }).ended).error,
    ).toMatchObject({ code: 'unknown_profile' });
  });

  test('failed: what `onEvent` throws', async () => {
    const session = createTestSession({ tools: [read()] });
    const onEvent = (): void => {
      throw new Error('disk full');
    };
    const { stopped, error, state } = await loop(['Done.'], { session, onEvent }).ended;
    expect({ stopped, error, run: state.run }).toEqual({
      stopped: 'failed',
      error: { code: 'loop_failed', message: 'disk full' },
      run: null,
    });
  });

  test('cancelled before it begins: neither the model nor a tool is asked', async () => {
    const tool = read();
    const { ended, generate } = loop([{ toolCalls: [{ name: 'read' }] }], {
      session: createTestSession({ tools: [tool] }),
      signal: AbortSignal.abort(),
    });
    expect((await ended).stopped).toBe('cancelled');
    expect([generate.requests.length, tool.callCount]).toEqual([0, 0]);
  });

  test(
    'cancelled while the model thinks: it is not waited for, it learns of it, and what it ' +
      'answers later is dropped',
    async () => {
      const stop = new AbortController();
      let answer: ((value: { text: string }) => void) | undefined;
      let heard: AbortSignal | undefined;
      const generate: Generate = ({ signal }) => {
        heard = signal;
        queueMicrotask(() => stop.abort());
        return new Promise((resolve) => {
          answer = resolve;
        });
      };
      const session = createTestSession({ tools: [read()] });
      const { stopped, messages, state } = await runHostLoop({
        workflow: workflowOf(session),
        session,
        generate,
        input: 'Go.',
        signal: stop.signal,
      });
      expect({ stopped, heard: heard?.aborted, run: state.run }).toEqual({
        stopped: 'cancelled',
        heard: true,
        run: null,
      });
      answer?.({ text: 'late' });
      await Promise.resolve();
      expect(messages).toEqual([{ role: 'user', content: 'Go.' }]);
    },
  );

  test(
    'cancelled while tools run: open calls end as cancelled, later groups never start, every ' +
      'call has its result',
    async () => {
      const stop = new AbortController();
      const later = mockTool({ name: 'later' });
      const hanging = defineTool({
        name: 'hanging',
        description: 'Ends when it is told to.',
        parameters: z.object({}),
        handler: () => {
          stop.abort();
          return new Promise(() => {});
        },
      });
      const session = createTestSession({ tools: [read(), hanging, later] });
      const toolCalls = [
        { id: 'a', name: 'read' },
        { id: 'b', name: 'hanging' },
        { id: 'c', name: 'later' },
      ];
      const { stopped, results, state, events, messages } = await loop([{ toolCalls }], {
        session,
        signal: stop.signal,
      }).ended;
      expect({ stopped, batch: state.batch, lastRun: state.lastRun?.ended }).toEqual({
        stopped: 'cancelled',
        batch: null,
        lastRun: 'cancelled',
      });
      expect(results.map(({ callId, result }) => [callId, result.error?.code ?? 'ok'])).toEqual([
        ['a', 'ok'],
        ['b', 'cancelled'],
        ['c', 'cancelled'],
      ]);
      expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(3);
      expect(later.callCount).toBe(0);
      expect(serializeState(replay(workflowOf(session), events).state)).toBe(serializeState(state));
      await session.registry.close();
    },
  );

  test('leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const counting = new Proxy(signal, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (key === 'addEventListener') listeners++;
        if (key === 'removeEventListener') listeners--;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await loop([{ toolCalls: [{ name: 'read' }] }, 'Done.'], {
      session: createTestSession({ tools: [read()] }),
      signal: counting,
    }).ended;
    expect(listeners).toBe(0);
  });

  test('over a closed session fails as `session_closed` without asking the model', async () => {
    const session = createTestSession({ tools: [read()] });
    const workflow = workflowOf(session);
    await session.close();
    const asked = vi.fn(() => ({ text: 'Done.' }));
    const { stopped, error, state } = await runHostLoop({
      workflow,
      session,
      generate: asked,
      input: 'Go.',
    });
    expect({ stopped, code: error?.code, run: state.run }).toEqual({
      stopped: 'failed',
      code: 'session_closed',
      run: null,
    });
    expect(asked).not.toHaveBeenCalled();
  });

  test(
    'whose session is closed while the model thinks answers its calls as `session_closed`, and ' +
      'asks no more',
    async () => {
      const session = createTestSession({ tools: [read()] });
      const workflow = workflowOf(session);
      let asked = 0;
      const generate = () => {
        asked++;
        void session.close();
        return { toolCalls: [{ id: 'a', name: 'read' }] };
      };
      const { stopped, error, results } = await runHostLoop({
        workflow,
        session,
        input: 'x',
        maxTurns: 200,
        generate,
      });
      expect({ asked, stopped, code: error?.code }).toEqual({
        asked: 1,
        stopped: 'failed',
        code: 'session_closed',
      });
      expect(results.map(({ result }) => result.error?.code)).toEqual(['session_closed']);
    },
  );
});

describe("the host's own code", () => {
  const logged = (): {
    logger: { error: (data: object, message?: string) => void; warn: () => void };
    entries: unknown[];
  } => {
    const entries: unknown[] = [];
    return {
      entries,
      logger: { error: (data, message) => void entries.push({ ...data, message }), warn: () => {} },
    };
  };

  test.each([
    [
      'throws',
      () => {
        throw new Error('the provider is down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the provider is down'))],
  ])('that %s is told to the logger with its stack: `generate`', async (_, generate) => {
    const { logger, entries } = logged();
    const session = createTestSession({ tools: [read()], logger: logger as never });
    await runHostLoop({ workflow: workflowOf(session), session, generate, input: 'Go.' });
    expect(entries).toEqual([
      {
        err: expect.objectContaining({
          message: 'the provider is down',
          stack: expect.stringContaining('host-loop.test.ts'),
        }),
        sessionId: 'test-session',
        source: 'generate',
        message: '`generate` of a host loop failed',
      },
    ]);
  });

  test('that throws is logged with its stack: `onEvent`', async () => {
    const { logger, entries } = logged();
    const session = createTestSession({ tools: [read()], logger: logger as never });
    const onEvent = () => Promise.reject(new Error('the disk is full'));
    await runHostLoop({
      workflow: workflowOf(session),
      session,
      generate: () => ({}),
      input: 'Go.',
      onEvent,
    });
    expect(entries[0]).toMatchObject({ err: { message: 'the disk is full' }, source: 'onEvent' });
  });

  test('that ends because the loop was aborted is not logged', async () => {
    const { logger, entries } = logged();
    const session = createTestSession({ tools: [read()], logger: logger as never });
    const stop = new AbortController();
    const generate = ({ signal }: { signal: AbortSignal }) => {
      stop.abort();
      return Promise.reject(signal.reason as Error);
    };
    expect(
      await runHostLoop({
        workflow: workflowOf(session),
        session,
        generate,
        input: 'Go.',
        signal: stop.signal,
      }),
    ).toMatchObject({ stopped: 'cancelled' });
    expect(entries).toEqual([]);
  });
});

describe('options', () => {
  const session = createTestSession({ tools: [read()] });
  const good: HostLoopOptions = {
    workflow: workflowOf(session),
    session,
    generate: () => ({}),
    input: 'Go.',
  };
  test.each<[string, object]>([
    ['workflow', { workflow: {} }],
    ['session', { session: {} }],
    ['generate', { generate: 'model' }],
    ['input', { input: 1 }],
    ['maxTurns', { maxTurns: 0 }],
    ['maxTurns', { maxTurns: 1.5 }],
    ['signal', { signal: {} }],
    ['onEvent', { onEvent: true }],
  ])('a wrong `%s` throws at once', (field, wrong) => {
    try {
      void runHostLoop({ ...good, ...wrong } as HostLoopOptions);
      expect.unreachable();
    } catch (error) {
      expect(isMisuseError(error)).toBe(true);
      expect((error as MisuseError).message).toContain(`\`${field}\``);
    }
  });
});

describe('toolSpecs', () => {
  test('gives what a workflow plans with, of every tool that a model could come to see', () => {
    const session = createTestSession({
      tools: [
        defineTool({
          name: 'edit',
          description: 'Edits.',
          parameters: jsonSchema<{ path: string }>({
            type: 'object',
            properties: { path: { type: 'string' } },
          }),
          parallelSafe: true,
          resourceKey: 'files',
          requires: [{ fact: 'open', equals: true }],
          handler: () => null,
        }),
        defineTool({
          name: 'inner',
          description: 'Internal.',
          parameters: z.object({}),
          exposure: 'internal',
          handler: () => null,
        }),
        defineTool({
          name: 'open',
          description: 'Opens.',
          parameters: z.object({}),
          provides: ['open'],
          resourceKey: () => 'x',
          handler: () => null,
        }),
      ],
    });
    session.register(mockTool({ name: 'own' }));
    expect(toolSpecs(session)).toMatchObject([
      {
        name: 'edit',
        description: 'Edits.',
        parameters: { type: 'object', properties: { path: { type: 'string' } } },
        requires: [{ fact: 'open', equals: true }],
        parallelSafe: true,
        resourceKey: 'files',
      },
      { name: 'open', provides: ['open'] },
      { name: 'own' },
    ]);
    expect(toolSpecs(session)[1]).not.toHaveProperty('resourceKey');
  });

  test('of what is no session: a MisuseError', () => {
    expect(() => toolSpecs({} as ToolSession)).toThrow(MisuseError);
  });
});
