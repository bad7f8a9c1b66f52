/** Host loops over sessions that list few tools: the model is shown what the session lists. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type DiscoveryOptions,
  defineTool,
  HostToolRegistry,
  type ToolSession,
} from '../../../src/index.ts';
import { type ScriptedTurn, scriptedModel } from '../../../src/surfaces/testing/index.ts';
import {
  createWorkflow,
  effectiveOf,
  type HostLoopOptions,
  reduce,
  replay,
  replayTrace,
  runHostLoop,
  serializeState,
  toolSpecs,
  type WorkflowEvent,
  type WorkflowState,
  writeTrace,
} from '../../../src/surfaces/workflow/index.ts';

const topics = ['mail', 'weather', 'rocket', 'invoice'];

function openWith(...options: (DiscoveryOptions | undefined)[]) {
  const registry = new HostToolRegistry({ rules: [{ effect: 'deny', tools: 'drop_*' }] });
  registry.registerAll([
    ...topics.map((topic) =>
      defineTool({
        name: `use_${topic}`,
        description: `Does the ${topic}.`,
        parameters: z.object({}),
        ...(topic === 'rocket' ? { requires: [{ fact: 'fuel', equals: true }] } : {}),
        handler: () => `${topic} ran`,
      }),
    ),
    ...['read_file', 'drop_mail'].map((name) =>
      defineTool({ name, description: 'x', parameters: z.object({}), handler: () => name }),
    ),
  ]);
  return options.map((discovery, at) =>
    registry.createSession({ sessionId: `s${at}`, discovery }),
  ) as [ToolSession, ToolSession];
}

const open = () => openWith({ keep: 'read_*' })[0];

function workflowOf(session: ToolSession, budget?: object): WorkflowState {
  const tools = toolSpecs(session);
  return createWorkflow({
    tools,
    profiles: { all: tools.map(({ name }) => name) },
    profile: 'all',
    ...(budget === undefined ? {} : { budget }),
  });
}

const find = (query: string): ScriptedTurn => ({
  toolCalls: [{ name: 'find_tools', arguments: { query } }],
});

async function run(
  session: ToolSession,
  turns: readonly ScriptedTurn[],
  more: Partial<HostLoopOptions> = {},
) {
  const workflow = more.workflow ?? workflowOf(session);
  const generate = scriptedModel(turns);
  const ended = await runHostLoop({ session, generate, input: 'Go.', ...more, workflow });
  return { ended, workflow, shown: generate.requests.map(({ toolNames }) => toolNames) };
}

describe('a host loop over a session with discovery', () => {
  test('shows what is kept and find_tools, then what was found, which follows it', async () => {
    const { ended, shown } = await run(open(), [
      find('weather'),
      find('mail'),
      { toolCalls: [{ name: 'use_weather' }] },
      'Sun.',
    ]);
    expect(ended.stopped).toBe('completed');
    expect(shown).toEqual([
      ['read_file', 'find_tools'],
      ['read_file', 'find_tools', 'use_weather'],
      ['read_file', 'find_tools', 'use_weather', 'use_mail'],
      ['read_file', 'find_tools', 'use_weather', 'use_mail'],
    ]);
    expect(ended.results.at(-1)?.result).toMatchObject({ output: 'weather ran' });
  });

  test('gives the model the definition of find_tools', () => {
    const spec = toolSpecs(open()).find(({ name }) => name === 'find_tools');
    expect(spec).toMatchObject({ parameters: { required: ['query'] }, parallelSafe: true });
    const [plain] = openWith(undefined);
    expect(toolSpecs(plain).map(({ name }) => name)).not.toContain('find_tools');
  });

  test('is replayed to the same state, and its trace is the same', async () => {
    const { ended, workflow } = await run(open(), [find('weather'), find('mail'), 'Done.']);
    expect(ended.events.filter(({ type }) => type === 'tools_listed')).toHaveLength(3);
    expect(serializeState(replay(workflow, ended.events).state)).toBe(serializeState(ended.state));
    expect(replayTrace(writeTrace(workflow, ended.events))).toMatchObject({ same: true });
    const stored = JSON.parse(serializeState(ended.state)) as WorkflowState;
    expect(effectiveOf(stored).names).toEqual([
      'read_file',
      'find_tools',
      'use_weather',
      'use_mail',
    ]);
  });

  test('runs a tool that was not found, by its name; a gate stops a hidden one', async () => {
    const { ended } = await run(open(), [
      { toolCalls: [{ name: 'use_mail' }, { name: 'drop_mail' }, { name: 'use_rocket' }] },
      'Done.',
    ]);
    expect(
      ended.results.map(({ result }) => (result.success ? result.output : result.error.code)),
    ).toEqual(['mail ran', 'policy_denied', 'tool_not_available']);
  });

  test('a budget of the workflow counts what is listed, so that what is found fits', async () => {
    const session = open();
    const { shown } = await run(session, [find('invoice'), 'Done.'], {
      workflow: workflowOf(session, { maxTools: 3 }),
    });
    expect(shown.at(-1)).toEqual(['read_file', 'find_tools', 'use_invoice']);
  });

  test('continues where the last loop ended; without discovery, all tools are shown', async () => {
    const [session, plain] = openWith({ keep: 'read_*' }, undefined);
    const first = await run(session, [find('mail'), 'Done.']);
    const second = await run(session, ['Hello.'], { workflow: first.ended.state });
    expect(second.shown).toEqual([['read_file', 'find_tools', 'use_mail']]);
    expect(second.ended.events.map(({ type }) => type)).not.toContain('tools_listed');
    const third = await run(plain, ['Hello.'], { workflow: first.ended.state });
    expect(third.shown[0]).toContain('use_weather');
    expect(third.ended.state).not.toHaveProperty('listed');
  });

  test('follows facts: what waits for one is found when it holds', async () => {
    const session = open();
    const { shown } = await run(session, [find('rocket'), find('rocket'), 'Done.'], {
      onEvent: ({ type }) => {
        if (type === 'tool_call_settled') session.setFacts({ fuel: true });
      },
    });
    expect(shown.map((names) => names.includes('use_rocket'))).toEqual([false, false, true]);
  });
});

describe('tools_listed', () => {
  const workflow = () => workflowOf(open());

  test('narrows what is effective, in its order; names that are not effective are left out', () => {
    const { state } = reduce(workflow(), {
      type: 'tools_listed',
      names: ['use_mail', 'nothing', 'use_rocket', 'read_file'],
    });
    const { names, dropped } = effectiveOf(state);
    expect(names).toEqual(['use_mail', 'read_file']);
    expect(dropped).toContainEqual({ name: 'use_weather', code: 'not_discovered' });
    expect(dropped).toContainEqual({ name: 'use_rocket', code: 'fact_unmet:fuel' });
  });

  test('null shows all again, and leaves no trace in the state', () => {
    const before = workflow();
    const narrowed = reduce(before, { type: 'tools_listed', names: [] }).state;
    expect(effectiveOf(narrowed).names).toEqual([]);
    const after = reduce(narrowed, { type: 'tools_listed', names: null }).state;
    expect(serializeState(after)).toBe(serializeState(before));
  });

  test.each([[['a', 'a']], ['a'], [undefined], [[7]]])('%j is refused', (names) => {
    const { error } = reduce(workflow(), { type: 'tools_listed', names } as never);
    expect(error?.code).toBe('invalid_event');
  });

  test('whatever is listed, every tool is once in names or in dropped', () => {
    const state = workflow();
    const all = state.tools.map(({ name }) => name).sort();
    const name = fc.constantFrom(...all, 'nothing');
    fc.assert(
      fc.property(fc.uniqueArray(name), (names) => {
        const event: WorkflowEvent = { type: 'tools_listed', names };
        const found = effectiveOf(reduce(state, event).state);
        expect([...found.names, ...found.dropped.map((one) => one.name)].sort()).toEqual(all);
        expect(found.names).toEqual(names.filter((one) => found.names.includes(one)));
      }),
    );
  });
});
