/**
 * What a workflow infers, and what of it must not compile. Each marked line has one mistake; a line
 * that compiles fails the type check.
 */
import type { JsonObject } from '../../src/index.ts';
import { createTestSession, mockTool, scriptedModel } from '../../src/surfaces/testing/index.ts';
import {
  type CallOutcome,
  codingAgentPreset,
  computeEffective,
  createWorkflow,
  type Generate,
  type Message,
  planBatch,
  reduce,
  replay,
  runHostLoop,
  type ToolCall,
  type ToolSpec,
  toolSpecs,
  type WorkflowCommand,
  type WorkflowEvent,
  type WorkflowState,
} from '../../src/surfaces/workflow/index.ts';
import { given, same } from './proof.ts';

const session = createTestSession({ tools: [mockTool({ name: 'look' })] });
const workflow = createWorkflow(codingAgentPreset());
const maybe = <T>(): T | undefined => given<T | undefined>();

// ---------- Inventories: from a session, from JSON, with members that may be missing

createWorkflow({ tools: toolSpecs(session) });
createWorkflow({ tools: JSON.parse('[]') });
createWorkflow(JSON.parse('{}'));
const spec: ToolSpec = {
  name: 'look',
  description: maybe<string>(),
  parameters: maybe<JsonObject>(),
  requires: maybe<{ fact: string; equals: string }[]>(),
  provides: maybe<string[]>(),
  parallelSafe: maybe<boolean>(),
  resourceKey: maybe<string>(),
  tokens: maybe<number>(),
};
createWorkflow({
  tools: [spec],
  profiles: maybe<Record<string, string[]>>(),
  profile: maybe<string>(),
  facts: maybe<JsonObject>(),
});
computeEffective({
  tools: [spec],
  profile: maybe<string[]>(),
  facts: maybe<JsonObject>(),
  budget: maybe<{ maxTools?: number | undefined }>(),
});
computeEffective({
  tools: [spec],
  overrides: { session: maybe<{ enable?: string[] | undefined }>(), run: undefined },
});
planBatch(
  [{ id: '1', name: 'look', arguments: {}, resourceKey: maybe<string>() }],
  [spec],
  maybe<string[]>() ?? [],
);

// @ts-expect-error a spec without a name
createWorkflow({ tools: [{ description: 'words' }] });
// @ts-expect-error a resource key that is a function: a workflow is plain data
createWorkflow({ tools: [{ name: 'look', resourceKey: () => 'x' }] });
// @ts-expect-error an unknown block
createWorkflow({ tools: [{ name: 'look', blocked: ['gone'] }] });
// @ts-expect-error an unknown member
createWorkflow({ tools: [{ name: 'look', parallel: true }] });
// @ts-expect-error no tools
createWorkflow({ profiles: {} });
// @ts-expect-error an unknown option
createWorkflow({ tools: [], profil: 'all' });

// ---------- Events

reduce(workflow, { type: 'run_requested' });
reduce(workflow, {
  type: 'run_requested',
  runId: maybe<string>(),
  profile: maybe<string>(),
  provider: maybe<string>(),
});
reduce(workflow, { type: 'host_session_updated', hostSessionId: null, status: 'closed' });
reduce(workflow, {
  type: 'host_session_updated',
  hostSessionId: 'h',
  status: 'a state of the host',
});
reduce(workflow, { type: 'tool_overrides_set', scope: 'run', enable: maybe<string[]>() });
reduce(workflow, { type: 'tool_calls_observed', calls: given<readonly ToolCall[]>() });
reduce(JSON.parse('{}'), JSON.parse('{}'));
replay(workflow, new Set<WorkflowEvent>());

// @ts-expect-error an unknown event
reduce(workflow, { type: 'run_stopped' });
// @ts-expect-error an event without what it tells
reduce(workflow, { type: 'tool_profile_selected' });
// @ts-expect-error a scope that there is not
reduce(workflow, { type: 'tool_overrides_set', scope: 'all' });
// @ts-expect-error a call without an id
reduce(workflow, { type: 'tool_calls_observed', calls: [{ name: 'look' }] });
// @ts-expect-error a result that is none
reduce(workflow, { type: 'tool_call_settled', callId: '1', result: 'done' });
// @ts-expect-error a member of another event
reduce(workflow, { type: 'run_completed', profile: 'all' });
// @ts-expect-error no state
reduce({}, { type: 'run_completed' });

// ---------- Commands and errors narrow by their discriminators

const { state, commands, error } = reduce(workflow, { type: 'run_requested' });
same<typeof state, WorkflowState>(true);
same<typeof commands, readonly WorkflowCommand[]>(true);
for (const command of commands) {
  switch (command.type) {
    case 'llm_generate':
      same<typeof command.tools, readonly ToolSpec[]>(true);
      // @ts-expect-error calls are of another command
      void command.calls;
      break;
    case 'execute_calls':
      same<typeof command.calls, readonly ToolCall[]>(true);
      // @ts-expect-error results are of another command
      void command.results;
      break;
    case 'batch_settled':
      same<typeof command.results, readonly CallOutcome[]>(true);
      break;
    default:
      same<typeof command, never>(true);
  }
}
const asked = commands.find((command) => command.type === 'llm_generate');
same<NonNullable<typeof asked>['toolNames'], readonly string[]>(true);
// @ts-expect-error toolNames only of the command that has them
void commands[0]?.toolNames;
// @ts-expect-error a code that no refusal has
void (error?.code === 'unknown_run');
// @ts-expect-error a state is read-only
state.profile = 'all';
// @ts-expect-error and so is what it holds
state.tools.push(spec);

// ---------- A loop

const generate: Generate = ({ messages, toolNames }) => ({
  text: `${messages.length} ${toolNames.length}`,
  toolCalls: maybe<ToolCall[]>(),
});
void runHostLoop({
  workflow,
  session,
  generate,
  input: 'Go.',
  signal: maybe<AbortSignal>(),
  maxTurns: maybe<number>(),
  onEvent: undefined,
});
void runHostLoop({
  workflow,
  session,
  generate: scriptedModel(['Done.']),
  input: [{ role: 'user', content: 'Go.' }],
});
void runHostLoop({
  workflow,
  session,
  generate: async () => ({}),
  input: given<readonly Message[]>(),
  onEvent: async () => {},
});
const log: WorkflowEvent[] = [];
void runHostLoop({
  workflow,
  session,
  generate,
  input: 'Go.',
  onEvent: (event) => log.push(event),
});

// @ts-expect-error a model that answers with text alone
void runHostLoop({ workflow, session, generate: () => 'Done.', input: 'Go.' });
void runHostLoop({
  workflow,
  session,
  // @ts-expect-error a model that calls without an id
  generate: () => ({ toolCalls: [{ name: 'look' }] }),
  input: 'Go.',
});
void runHostLoop({
  workflow,
  session,
  // @ts-expect-error a model that asks for what it is not given
  generate: ({ session: s }) => ({ text: String(s) }),
  input: 'Go.',
});
// @ts-expect-error a message of nobody
void runHostLoop({ workflow, session, generate, input: [{ role: 'model', content: 'x' }] });
// @ts-expect-error options in place of a state
void runHostLoop({ workflow: codingAgentPreset(), session, generate, input: 'Go.' });
// @ts-expect-error no model
void runHostLoop({ workflow, session, input: 'Go.' });
// @ts-expect-error an unknown option
void runHostLoop({ workflow, session, generate, input: 'Go.', turns: 3 });
