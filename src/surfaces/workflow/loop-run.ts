/** One run of a host loop: asks the model, runs its calls, applies every event to the workflow. */
import { factChanges } from '../../core/toolset/facts.ts';
import { isMisuseError, type JsonObject, serializeOutput, type ToolSession } from '../../core.ts';
import { inspectSession, type SessionView } from '../../extend.ts';
import { messageOf } from '../../values/errors/index.ts';
import {
  type GenerateAnswer,
  type HostLoopResult,
  type LoopStart,
  type Message,
  readAnswer,
} from './host-loop-options.ts';
import { readEvent } from './read-event.ts';
import { reduceRead } from './reduce.ts';
import type {
  CallOutcome,
  LlmGenerate,
  ToolCallsObserved,
  WorkflowCommand,
  WorkflowEvent,
} from './workflow-events.ts';
import type { Reduction, WorkflowState } from './workflow-state.ts';

interface LoopRun {
  readonly start: LoopStart;
  readonly signal: AbortSignal;
  readonly inSession: SessionView;
  readonly messages: Message[];
  readonly results: CallOutcome[];
  readonly events: WorkflowEvent[];
  state: WorkflowState;
  /** The session's facts when the workflow last learned them. */
  sessionFacts: JsonObject;
  /** The error of the failed step, if it has its own code. */
  refused: HostLoopResult['error'];
}

type Ending = Pick<HostLoopResult, 'stopped' | 'error'>;
type Commands = readonly WorkflowCommand[];

/**
 * The facts of a session when a loop over it ended. Facts that are missing since then were removed
 * by other code.
 */
const factsAtEnd = new WeakMap<ToolSession, JsonObject>();

/** Runs the conversation to its end. Always resolves; the run of the workflow is over then. */
export async function runLoop(start: LoopStart, signal: AbortSignal): Promise<HostLoopResult> {
  const { session, workflow, messages } = start;
  const run: LoopRun = {
    start,
    signal,
    inSession: inspectSession(session),
    messages,
    results: [],
    events: [],
    state: workflow,
    sessionFacts: factsAtEnd.get(session) ?? {},
    refused: undefined,
  };
  for (const { role, content } of messages) {
    if (role === 'user') run.inSession.heard(content, 'user');
    else if (role === 'system') run.inSession.heard(content, 'trusted');
  }
  let ending = await converse(run).catch((error: unknown) => failure(run, error));
  // The loop ends its own run, however it stopped. A run that was active before it is not its own.
  if (run.state.run !== null && run.state.run.id !== workflow.run?.id) {
    try {
      await send(run, read(run, { type: 'run_cancelled' }));
    } catch (error) {
      ending = failure(run, error);
    }
  }
  factsAtEnd.set(session, run.sessionFacts);
  const { state, results, events } = run;
  return { state, messages, results, events, ...ending };
}

async function converse(run: LoopRun): Promise<Ending> {
  const { start, messages } = run;
  const requested = read(run, { ...start.run, type: 'run_requested' });
  // Tried before the facts are joined, since a refused run must change nothing.
  apply(run, requested);
  await joinFacts(run);
  await mirrorListing(run);
  let commands = await send(run, requested);
  for (;;) {
    const ask = commands.find((command) => command.type === 'llm_generate');
    if (ask === undefined) throw new Error('The session did not answer every call of the batch.');
    if ((run.state.run?.turns ?? 0) > start.maxTurns) return { stopped: 'max_turns' };
    const { text = '', toolCalls = [] } = await askModel(run, ask);
    if (toolCalls.length === 0) {
      messages.push(Object.freeze({ role: 'assistant', content: text }));
      await send(run, read(run, { type: 'run_completed' }));
      return { stopped: 'completed' };
    }
    const observed = read(run, { type: 'tool_calls_observed', calls: toolCalls });
    // Facts that changed during the request count from the next turn on, because the model chose
    // its calls by the tools that it saw.
    await mirrorFacts(run);
    const { calls } = observed as ToolCallsObserved;
    messages.push(Object.freeze({ role: 'assistant', content: text, toolCalls: calls }));
    commands = await settleBatch(run, await send(run, observed));
  }
}

function failure({ signal, refused }: LoopRun, error: unknown): Ending {
  if (signal.aborted) return { stopped: 'cancelled' };
  const code = isMisuseError(error) ? error.code : 'loop_failed';
  return { stopped: 'failed', error: refused ?? { code, message: messageOf(error) } };
}

/** Copies an event that holds data of a model or a tool. */
function read(run: LoopRun, event: WorkflowEvent): WorkflowEvent {
  try {
    return readEvent(event);
  } catch (error) {
    run.refused = { code: 'invalid_event', message: messageOf(error) };
    throw error;
  }
}

function apply(run: LoopRun, event: WorkflowEvent): Reduction {
  const reduction = reduceRead(run.state, event);
  if (reduction.error === undefined) return reduction;
  run.refused = reduction.error;
  throw new Error(reduction.error.message);
}

/** Applies an event that was copied by {@link read}. */
async function send(run: LoopRun, event: WorkflowEvent): Promise<Commands> {
  const { state, commands } = apply(run, event);
  run.state = state;
  run.events.push(event);
  for (const command of commands) {
    if (command.type !== 'batch_settled') continue;
    for (const outcome of command.results) {
      run.results.push(outcome);
      const content = serializeOutput(outcome.result);
      run.messages.push(Object.freeze({ role: 'tool', toolCallId: outcome.callId, content }));
    }
  }
  try {
    await run.start.onEvent?.(event, state);
  } catch (error) {
    report(run, error, 'onEvent');
    throw error;
  }
  return commands;
}

function report(run: LoopRun, thrown: unknown, source: 'generate' | 'onEvent'): void {
  run.inSession.registry.report(
    thrown,
    { sessionId: run.start.session.sessionId, source },
    `\`${source}\` of a host loop failed`,
  );
}

/** Brings the session's current facts into the workflow. */
async function mirrorFacts(run: LoopRun): Promise<void> {
  const { facts } = run.inSession;
  const changes = factChanges(run.state.facts, facts, run.sessionFacts);
  run.sessionFacts = facts;
  if (Object.keys(changes).length > 0)
    await send(run, read(run, { type: 'facts_updated', facts: changes }));
}

/** Tells the workflow what a session lists that does not list everything, and how it changed. */
async function mirrorListing(run: LoopRun): Promise<void> {
  const { inSession, start, state } = run;
  const names = inSession.brought.length === 0 ? null : start.session.effectiveTools().names;
  const { listed = null } = state;
  const isSame =
    names === listed ||
    (names?.length === listed?.length && names?.every((name, at) => name === listed?.[at]));
  if (isSame !== true) await send(run, read(run, { type: 'tools_listed', names }));
}

/**
 * Makes workflow and session agree on facts. Facts that the session has lost since the last loop
 * come first, so that a fact that was removed in between is not set again.
 */
async function joinFacts(run: LoopRun): Promise<void> {
  await mirrorFacts(run);
  const { inSession, start } = run;
  const missing = Object.entries(run.state.facts).filter(
    ([key]) => !Object.hasOwn(inSession.facts, key),
  );
  // A closed session accepts no facts.
  if (missing.length === 0 || inSession.closed) return;
  start.session.setFacts(Object.fromEntries(missing));
  await mirrorFacts(run);
}

async function askModel(
  run: LoopRun,
  { tools, toolNames, runId }: LlmGenerate,
): Promise<GenerateAnswer> {
  const { signal, messages } = run;
  const { generate } = run.start;
  signal.throwIfAborted();
  if (run.inSession.closed) {
    const message = 'The session is closed, so no tool can be called.';
    run.refused = { code: 'session_closed', message };
    throw new Error(message);
  }
  try {
    const request = { messages: [...messages], tools, toolNames, runId, signal };
    return readAnswer(await unlessAborted(async () => generate(request), signal));
  } catch (error) {
    if (!signal.aborted) report(run, error, 'generate');
    run.refused = { code: 'generate_failed', message: `\`generate\` failed: ${messageOf(error)}` };
    throw error;
  }
}

/** Runs the groups of a batch one after another. Returns the commands of the last settlement. */
async function settleBatch(run: LoopRun, observed: Commands): Promise<Commands> {
  const { start, signal } = run;
  let commands = observed;
  for (;;) {
    const group = commands.find((command) => command.type === 'execute_calls');
    if (group === undefined) return commands;
    const batch = await start.session.executeBatch(group.calls, { signal });
    const last = batch.results.length - 1;
    for (const [index, { callId, result }] of batch.results.entries()) {
      // The last settlement asks for the next turn. Facts that a call established, and tools that
      // it found, must be known before that, so that they count at once.
      if (index === last) {
        await mirrorFacts(run);
        await mirrorListing(run);
      }
      const event = { batchId: group.batchId, callId, result } as const;
      commands = await send(run, read(run, { type: 'tool_call_settled', ...event }));
    }
    signal.throwIfAborted();
  }
}

/** Waits for a promise or for the abort, whichever comes first. */
function unlessAborted<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    void start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
