/**
 * The loop between a model and a session. A workflow says which tools are listed, which calls run
 * in parallel, and when the conversation is over.
 */
import { describe } from '../errors.ts';
import { MisuseError } from '../index.ts';
import { readOptions } from '../options.ts';
import { readInput } from './conversation.ts';
import type { HostLoopOptions, HostLoopResult, LoopStart } from './host-loop-options.ts';
import { runLoop } from './loop-run.ts';
import { readState } from './read-state.ts';

/**
 * Runs a conversation to its end: asks the model, runs its calls through the session by the plan of
 * the workflow, and gives it the results, until it makes no further calls. Resolves whatever the
 * model and the tools do, and the run is then over. Errors of `generate` and `onEvent` go to the
 * registry's logger as `err`. Once the session is closed, the model is not asked again.
 * @example
 * ```ts
 * const { messages, stopped } = await runHostLoop({
 *   workflow: createWorkflow({ tools: toolSpecs(session) }),
 *   session,
 *   generate: ({ messages, tools }) => askMyModel(messages, tools),
 *   input: 'What changed in the last commit?',
 * });
 * ```
 * @throws MisuseError at once for invalid options
 */
export function runHostLoop(options: HostLoopOptions): Promise<HostLoopResult> {
  const read = readHostLoop(options);
  const { signal } = read;
  const cancelled = new AbortController();
  const abort = (): void => cancelled.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return runLoop(read, cancelled.signal).finally(() => {
    signal?.removeEventListener('abort', abort);
    // A request to the model that is still open is no longer needed.
    cancelled.abort();
  });
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

function readHostLoop(options: HostLoopOptions): LoopStart {
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
