/**
 * The loop between a model and a session, with a workflow that says what is listed, what runs
 * beside what, and when it is over.
 */

import { describe, messageOf } from '../errors.ts';
import {
  isMisuseError,
  type JsonObject,
  MisuseError,
  serializeOutput,
  type ToolSession,
} from '../index.ts';
import { readOptions } from '../options.ts';
import { stateOf } from '../surface-port.ts';
import { factChanges } from '../toolset/facts.ts';
import {
  type Generate,
  type GenerateAnswer,
  type Message,
  readAnswer,
  readInput,
} from './conversation.ts';
import { readEvent } from './read-event.ts';
import { readState } from './read-state.ts';
import { reduceRead } from './reduce.ts';
import type {
  CallOutcome,
  LlmGenerate,
  ToolCallsObserved,
  WorkflowCommand,
  WorkflowEvent,
} from './workflow-events.ts';
import type { Reduction, WorkflowState } from './workflow-state.ts';

/** What a host loop is made of. */
export interface HostLoopOptions {
  /** Which tools are listed, and the plan. Its names are those of the session. */
  readonly workflow: WorkflowState;
  /**
   * What the calls run in, through every gate. Facts that it lacks are set from the workflow, but
   * for those that it had when a loop over it ended and has lost since; its own are told to the
   * workflow before each turn.
   */
  readonly session: ToolSession;
  /** The model. */
  readonly generate: Generate;
  /** The conversation to begin with; a string is one message of the user. */
  readonly input: string | readonly Message[];
  /** Ends the loop: the model is not waited for, open calls end as `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** How often the model is asked at most. From 1. @default 16 */
  readonly maxTurns?: number | undefined;
  /**
   * The run's id, its profile, or the provider whose profile it takes. @default the workflow's
   * profile
   */
  readonly run?:
    | {
        /** The id of the run. @default a new one */
        readonly runId?: string | undefined;
        /** The id of the profile. */
        readonly profile?: string | undefined;
        /** The provider whose profile is used. */
        readonly provider?: string | undefined;
      }
    | undefined;
  /**
   * Told of each event as it was applied, with the state after it: to store a log while the run
   * goes on. A promise is waited for before anything else happens, so that a log is ahead of what
   * it tells of. What it throws or rejects with stops the loop as `failed`.
   */
  readonly onEvent?: ((event: WorkflowEvent, state: WorkflowState) => unknown) | undefined;
}

/** What a host loop came to. */
export interface HostLoopResult {
  /**
   * The workflow afterwards: without an active run, or as it was given where it had one
   * (`run_already_active`).
   */
  readonly state: WorkflowState;
  /** The whole conversation, the input included. */
  readonly messages: readonly Message[];
  /** Every call in observed order, refused ones included. */
  readonly results: readonly CallOutcome[];
  /**
   * Every event that was applied, in order: `replay(workflow, events)` gives `state`,
   * `writeTrace(workflow, events)` the log. They hold arguments and results as they went to and
   * fro, with whatever is secret in them.
   */
  readonly events: readonly WorkflowEvent[];
  /** `completed`: the model called nothing more. `max_turns`: it still wanted to. */
  readonly stopped: 'completed' | 'max_turns' | 'cancelled' | 'failed';
  /**
   * Why it failed: a refused event's code, `session_closed`, `generate_failed`, or `loop_failed`
   * for what the session or `onEvent` threw.
   */
  readonly error?: { readonly code: string; readonly message: string };
}

type Ending = Pick<HostLoopResult, 'stopped' | 'error'>;

/**
 * Runs a conversation to its end: asks the model, runs what it calls through the session by the
 * workflow's plan, tells it the results, until it calls nothing more. Resolves, whatever the model
 * and the tools do; the run is over then, in every case. What `generate` and `onEvent` throw is
 * told to the registry's logger as `err`. Once the session is closed, the model is not asked again.
 * @throws MisuseError at once for options that are none.
 *
 * @example
 * ```ts
 * import { scriptedModel } from 'host-tools/testing';
 * import { createWorkflow, runHostLoop, toolSpecs } from 'host-tools/workflow';
 *
 * const { stopped, messages } = await runHostLoop({
 *   workflow: createWorkflow({
 *     tools: toolSpecs(session),
 *     profiles: { all: ['add'] },
 *     profile: 'all',
 *   }),
 *   session,
 *   generate: scriptedModel(['Hello.']), // your model
 *   input: 'Say hello.',
 * });
 * ```
 */
export function runHostLoop(options: HostLoopOptions): Promise<HostLoopResult> {
  const read = readHostLoop(options);
  const { signal } = read;
  const cancelled = new AbortController();
  const abort = (): void => cancelled.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return converse(read, cancelled.signal).finally(() => {
    signal?.removeEventListener('abort', abort);
    // A request that was not waited for learns that nobody does.
    cancelled.abort();
  });
}

async function converse(
  { workflow, session, generate, messages, maxTurns, onEvent, run }: Start,
  signal: AbortSignal,
): Promise<HostLoopResult> {
  const inSession = stateOf(session);
  const results: CallOutcome[] = [];
  const events: WorkflowEvent[] = [];
  let state = workflow;
  let sessionFacts = factsAtEnd.get(session) ?? {};
  let refused: HostLoopResult['error'];

  const apply = (event: WorkflowEvent): Reduction => {
    const reduction = reduceRead(state, event);
    if (reduction.error === undefined) return reduction;
    refused = reduction.error;
    throw new Error(reduction.error.message);
  };

  const report = (thrown: unknown, source: 'generate' | 'onEvent'): void =>
    inSession.registry.hostFault(
      thrown,
      { sessionId: session.sessionId, source },
      `\`${source}\` of a host loop failed`,
    );

  /** Applies an event that is a copy already. */
  const send = async (event: WorkflowEvent): Promise<readonly WorkflowCommand[]> => {
    const { state: next, commands } = apply(event);
    state = next;
    events.push(event);
    for (const command of commands) {
      if (command.type !== 'batch_settled') continue;
      for (const outcome of command.results) {
        results.push(outcome);
        messages.push(
          Object.freeze({
            role: 'tool',
            toolCallId: outcome.callId,
            content: serializeOutput(outcome.result),
          }),
        );
      }
    }
    try {
      await onEvent?.(event, state);
    } catch (error) {
      report(error, 'onEvent');
      throw error;
    }
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
  const mirrorFacts = async (): Promise<void> => {
    const { facts } = inSession;
    const changes = factChanges(state.facts, facts, sessionFacts);
    sessionFacts = facts;
    if (Object.keys(changes).length > 0)
      await send(read({ type: 'facts_updated', facts: changes }));
  };

  /**
   * What the session has lost since the last loop goes first: a door that was shut in between is
   * not opened again.
   */
  const joinFacts = async (): Promise<void> => {
    await mirrorFacts();
    const missing = Object.entries(state.facts).filter(
      ([key]) => !Object.hasOwn(inSession.facts, key),
    );
    // A closed session takes no facts.
    if (missing.length === 0 || inSession.closed) return;
    session.setFacts(Object.fromEntries(missing));
    await mirrorFacts();
  };

  const askModel = async ({ tools, toolNames, runId }: LlmGenerate): Promise<GenerateAnswer> => {
    signal.throwIfAborted();
    if (inSession.closed) {
      refused = {
        code: 'session_closed',
        message: 'The session was closed, so that nothing can be called any more.',
      };
      throw new Error(refused.message);
    }
    try {
      return readAnswer(
        await unlessAborted(
          async () => generate({ messages: [...messages], tools, toolNames, runId, signal }),
          signal,
        ),
      );
    } catch (error) {
      if (!signal.aborted) report(error, 'generate');
      refused = { code: 'generate_failed', message: `\`generate\` failed: ${messageOf(error)}` };
      throw error;
    }
  };

  /**
   * Runs the groups of a batch one after another; ends with the commands of its last settlement.
   */
  const settleBatch = async (
    observed: readonly WorkflowCommand[],
  ): Promise<readonly WorkflowCommand[]> => {
    let commands = observed;
    for (;;) {
      const group = commands.find((command) => command.type === 'execute_calls');
      if (group === undefined) return commands;
      const batch = await session.executeBatch(group.calls, { signal });
      const last = batch.results.length - 1;
      for (const [index, { callId, result }] of batch.results.entries()) {
        // Before the last settlement, which asks for the next turn: a fact that a call brought
        // about opens tools at once.
        if (index === last) await mirrorFacts();
        commands = await send(
          read({ type: 'tool_call_settled', batchId: group.batchId, callId, result }),
        );
      }
      signal.throwIfAborted();
    }
  };

  const talk = async (): Promise<Ending> => {
    const start = read({ ...run, type: 'run_requested' });
    // A run that is refused changes nothing, the session's facts included.
    apply(start);
    await joinFacts();
    let commands = await send(start);
    for (;;) {
      const ask = commands.find((command) => command.type === 'llm_generate');
      if (ask === undefined) throw new Error('The session did not answer every call of the batch.');
      if ((state.run?.turns ?? 0) > maxTurns) return { stopped: 'max_turns' };
      const { text = '', toolCalls = [] } = await askModel(ask);
      if (toolCalls.length === 0) {
        messages.push(Object.freeze({ role: 'assistant', content: text }));
        await send(read({ type: 'run_completed' }));
        return { stopped: 'completed' };
      }
      const observed = read({ type: 'tool_calls_observed', calls: toolCalls }) as ToolCallsObserved;
      // What changed while the model was thinking holds for the next turn: this one is judged by
      // what the model was shown.
      await mirrorFacts();
      // Calls stand in the conversation only with their results.
      messages.push(Object.freeze({ role: 'assistant', content: text, toolCalls: observed.calls }));
      commands = await settleBatch(await send(observed));
    }
  };

  const failed = (error: unknown): Ending => {
    if (signal.aborted) return { stopped: 'cancelled' };
    return {
      stopped: 'failed',
      error: refused ?? {
        code: isMisuseError(error) ? error.code : 'loop_failed',
        message: messageOf(error),
      },
    };
  };

  let ending = await talk().catch(failed);
  // The run ends with the loop, however that ended; a run that was active before is not the loop's.
  if (state.run !== null && state.run.id !== workflow.run?.id) {
    try {
      await send(read({ type: 'run_cancelled' }));
    } catch (error) {
      ending = failed(error);
    }
  }
  factsAtEnd.set(session, sessionFacts);
  return { state, messages, results, events, ...ending };
}

/**
 * What a session's facts were when a loop over it ended: what it has lost since was taken from it.
 */
const factsAtEnd = new WeakMap<ToolSession, JsonObject>();

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

/** The options as they were when the loop began. */
interface Start
  extends Pick<HostLoopOptions, 'session' | 'generate' | 'signal' | 'onEvent' | 'run'> {
  readonly workflow: WorkflowState;
  readonly messages: Message[];
  readonly maxTurns: number;
}

const optionNames = [
  'workflow',
  'session',
  'generate',
  'input',
  'signal',
  'maxTurns',
  'run',
  'onEvent',
] as const satisfies readonly (keyof HostLoopOptions)[];

function readHostLoop(options: HostLoopOptions): Start {
  const fault = (field: string, expected: string, got: unknown): MisuseError =>
    new MisuseError(
      'invalid_option',
      `runHostLoop: expected \`${field}\` to be ${expected}, got ${describe(got)}.`,
    );
  if (options === undefined) throw fault('options', 'an object', options);
  const {
    workflow,
    session,
    generate,
    input,
    signal,
    maxTurns = 16,
    run,
    onEvent,
  } = readOptions('runHostLoop', options, optionNames);
  if (typeof workflow !== 'object' || workflow === null || workflow.version !== 1)
    throw fault('workflow', "a workflow's state, as `createWorkflow` gives it", workflow);
  if (typeof session !== 'object' || session === null || typeof session.executeBatch !== 'function')
    throw fault('session', 'a session', session);
  if (typeof generate !== 'function') throw fault('generate', 'a function', generate);
  if (!Number.isInteger(maxTurns) || maxTurns < 1)
    throw fault('maxTurns', 'an integer from 1', maxTurns);
  if (onEvent !== undefined && typeof onEvent !== 'function')
    throw fault('onEvent', 'a function', onEvent);
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw fault('signal', 'an AbortSignal', signal);
  return {
    workflow: readState(workflow),
    session,
    generate,
    messages: readInput(input as HostLoopOptions['input']),
    signal,
    maxTurns,
    run: readOptions('`run` of runHostLoop', run, ['runId', 'profile', 'provider']),
    onEvent,
  };
}
