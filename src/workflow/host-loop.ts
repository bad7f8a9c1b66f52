/** The loop between a model and a session, with a workflow that says what is listed, what runs beside what, and when it is over. */
import { isMisuseError, type JsonObject, MisuseError, serializeOutput, type ToolCall, type ToolSession } from '../index.ts';
import { describe, stateOf } from '../internal.ts';
import type { Generate, GenerateAnswer, Message } from './conversation.ts';
import { factChanges } from './facts.ts';
import { readEvent } from './read-event.ts';
import { reduce } from './reduce.ts';
import type { CallOutcome, LlmGenerate, ToolCallsObserved, WorkflowCommand, WorkflowEvent } from './workflow-events.ts';
import type { WorkflowState } from './workflow-state.ts';

/** What a host loop is made of. */
export interface HostLoopOptions {
  /** Which tools are listed, and the plan. Its names are those of the session. */
  readonly workflow: WorkflowState;
  /** What the calls run in, through every gate. Facts that it lacks are set from the workflow; its own are told to the workflow before each turn. */
  readonly session: ToolSession;
  /** The model. */
  readonly generate: Generate;
  /** The conversation to begin with; a string is one message of the user. */
  readonly input: string | readonly Message[];
  /** Ends the loop: the model is not waited for, open calls end as `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** How often the model is asked at most. From 1. @default 16 */
  readonly maxTurns?: number | undefined;
  /** The run's id, its profile, or the provider whose profile it takes. @default the workflow's profile */
  readonly run?: { readonly runId?: string | undefined; readonly profile?: string | undefined; readonly provider?: string | undefined } | undefined;
  /** Told of each event as it was applied, with the state after it: to store a log while the run goes on. What it throws stops the loop as `failed`. */
  readonly onEvent?: ((event: WorkflowEvent, state: WorkflowState) => void) | undefined;
}

/** What a host loop came to. */
export interface HostLoopResult {
  /** The workflow afterwards, without an active run. */
  readonly state: WorkflowState;
  /** The whole conversation, the input included. */
  readonly messages: readonly Message[];
  /** Every call in observed order, refused ones included. */
  readonly results: readonly CallOutcome[];
  /** Every event that was applied, in order: `replay(workflow, events)` gives `state`, `writeTrace(workflow, events)` the log. */
  readonly events: readonly WorkflowEvent[];
  /** `completed`: the model called nothing more. `max_turns`: it still wanted to. */
  readonly stopped: 'completed' | 'max_turns' | 'cancelled' | 'failed';
  /** Why it failed: a refused event's code, `generate_failed`, or `loop_failed` for what the session or `onEvent` threw. */
  readonly error?: { readonly code: string; readonly message: string };
}

type Ending = Pick<HostLoopResult, 'stopped' | 'error'>;

/**
 * Runs a conversation to its end: asks the model, runs what it calls through the session by the workflow's plan, tells it the results, until it calls nothing more.
 * Resolves, whatever the model and the tools do; the run is over then, in every case.
 * @throws MisuseError at once for options that are none.
 */
export function runHostLoop(options: HostLoopOptions): Promise<HostLoopResult> {
  checkOptions(options);
  const { signal } = options;
  const cancelled = new AbortController();
  const abort = (): void => cancelled.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return converse(options, cancelled.signal).finally(() => {
    signal?.removeEventListener('abort', abort);
    // A request that was not waited for learns that nobody does.
    cancelled.abort();
  });
}

async function converse(options: HostLoopOptions, signal: AbortSignal): Promise<HostLoopResult> {
  const { workflow, session, generate, input, maxTurns = 16, onEvent } = options;
  const messages: Message[] = typeof input === 'string' ? [{ role: 'user', content: input }] : [...input];
  const results: CallOutcome[] = [];
  const events: WorkflowEvent[] = [];
  let state = workflow;
  let sessionFacts: JsonObject = {};
  let refused: HostLoopResult['error'];

  const send = (event: WorkflowEvent): readonly WorkflowCommand[] => {
    const { state: next, commands, error } = reduce(state, event);
    if (error !== undefined) {
      refused = error;
      throw new Error(error.message);
    }
    state = next;
    events.push(event);
    for (const command of commands) {
      if (command.type !== 'batch_settled') continue;
      results.push(...command.results);
      for (const { callId, result } of command.results) messages.push({ role: 'tool', toolCallId: callId, content: serializeOutput(result) });
    }
    onEvent?.(event, state);
    return commands;
  };

  /** A copy of an event that holds what a model or a tool gave. */
  const read = (event: WorkflowEvent): WorkflowEvent => {
    try {
      return readEvent(event);
    } catch (error) {
      refused = { code: 'invalid_event', message: messageOf(error) };
      throw error;
    }
  };

  /** Tells the workflow what the session's facts say now. */
  const mirrorFacts = (): void => {
    const { facts } = stateOf(session);
    const changes = factChanges(state.facts, facts, sessionFacts);
    sessionFacts = facts;
    if (Object.keys(changes).length > 0) send({ type: 'facts_updated', facts: changes });
  };

  const joinFacts = (): void => {
    const missing = Object.entries(state.facts).filter(([key]) => !Object.hasOwn(stateOf(session).facts, key));
    if (missing.length > 0) session.setFacts(Object.fromEntries(missing));
    mirrorFacts();
  };

  const askModel = async ({ tools, toolNames, runId }: LlmGenerate): Promise<GenerateAnswer> => {
    signal.throwIfAborted();
    try {
      return readAnswer(await unlessAborted(async () => generate({ messages: [...messages], tools, toolNames, runId, signal }), signal));
    } catch (error) {
      refused = { code: 'generate_failed', message: `\`generate\` failed: ${messageOf(error)}` };
      throw error;
    }
  };

  /** Runs the groups of a batch one after another; ends with the commands of its last settlement. */
  const settleBatch = async (observed: readonly WorkflowCommand[]): Promise<readonly WorkflowCommand[]> => {
    let commands = observed;
    for (;;) {
      const group = commands.find((command) => command.type === 'execute_calls');
      if (group === undefined) return commands;
      const batch = await session.executeBatch(group.calls, { signal });
      // Before the last settlement, which asks for the next turn: a fact that a call brought about opens tools at once.
      mirrorFacts();
      for (const { callId, result } of batch.results) commands = send(read({ type: 'tool_call_settled', batchId: group.batchId, callId, result }));
      signal.throwIfAborted();
    }
  };

  const talk = async (): Promise<Ending> => {
    joinFacts();
    let commands = send(read({ type: 'run_requested', ...options.run }));
    for (;;) {
      const ask = commands.find((command) => command.type === 'llm_generate');
      if (ask === undefined || (state.run?.turns ?? 0) > maxTurns) return { stopped: 'max_turns' };
      const { text = '', toolCalls = [] } = await askModel(ask);
      if (toolCalls.length === 0) {
        messages.push({ role: 'assistant', content: text });
        send({ type: 'run_completed' });
        return { stopped: 'completed' };
      }
      const observed = read({ type: 'tool_calls_observed', calls: toolCalls }) as ToolCallsObserved;
      messages.push({ role: 'assistant', content: text, toolCalls: observed.calls });
      // What changed while the model was thinking holds for the next turn: this one is judged by what the model was shown.
      mirrorFacts();
      commands = await settleBatch(send(observed));
    }
  };

  const failed = (error: unknown): Ending => {
    if (signal.aborted) return { stopped: 'cancelled' };
    return { stopped: 'failed', error: refused ?? { code: isMisuseError(error) ? error.code : 'loop_failed', message: messageOf(error) } };
  };

  let ending = await talk().catch(failed);
  // The run ends with the loop, however that ended; a run that was active before is not the loop's.
  if (state.run !== null && state.run.id !== workflow.run?.id) {
    try {
      send({ type: 'run_cancelled' });
    } catch (error) {
      ending = failed(error);
    }
  }
  return { state, messages, results, events, ...ending };
}

/** Starts what the function starts and waits for it, or for the abort, whichever is first. */
function unlessAborted<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    void start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

function readAnswer(answer: unknown): GenerateAnswer {
  if (typeof answer !== 'object' || answer === null) throw new TypeError(`expected { text?, toolCalls? }, got ${describe(answer)}`);
  const { text, toolCalls } = answer as { text?: unknown; toolCalls?: unknown };
  if (text !== undefined && text !== null && typeof text !== 'string') throw new TypeError(`expected \`text\` to be a string, got ${describe(text)}`);
  if (toolCalls !== undefined && toolCalls !== null && !Array.isArray(toolCalls))
    throw new TypeError(`expected \`toolCalls\` to be an array, got ${describe(toolCalls)}`);
  return { text: text ?? '', toolCalls: (toolCalls as readonly ToolCall[] | null | undefined) ?? [] };
}

function messageOf(error: unknown): string {
  try {
    const { message } = error as { message?: unknown };
    return typeof message === 'string' && message !== '' ? message : describe(error);
  } catch {
    return describe(error);
  }
}

function checkOptions(options: HostLoopOptions): void {
  const fault = (field: string, expected: string, got: unknown): MisuseError =>
    new MisuseError('invalid_option', `runHostLoop: expected \`${field}\` to be ${expected}, got ${describe(got)}.`);
  if (typeof options !== 'object' || options === null) throw fault('options', 'an object', options);
  const { workflow, session, generate, input, signal, maxTurns = 16, onEvent } = options;
  if (typeof workflow !== 'object' || workflow === null || workflow.version !== 1)
    throw fault('workflow', "a workflow's state, as `createWorkflow` gives it", workflow);
  if (typeof session !== 'object' || session === null || typeof session.executeBatch !== 'function') throw fault('session', 'a session', session);
  if (typeof generate !== 'function') throw fault('generate', 'a function', generate);
  if (typeof input !== 'string' && !Array.isArray(input)) throw fault('input', 'a string or an array of messages', input);
  if (!Number.isInteger(maxTurns) || maxTurns < 1) throw fault('maxTurns', 'an integer from 1', maxTurns);
  if (onEvent !== undefined && typeof onEvent !== 'function') throw fault('onEvent', 'a function', onEvent);
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') throw fault('signal', 'an AbortSignal', signal);
}
