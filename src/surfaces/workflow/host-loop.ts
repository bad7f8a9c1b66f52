/**
 * The loop between a model and a session. A workflow says which tools are listed, which calls run
 * in parallel, and when the conversation is over.
 */
import {
  abortSignal,
  anything,
  fn,
  kind,
  reading,
  readMembers,
  readOptions,
  required,
  type TableOf,
  wholeNumber,
  withDefault,
  withMethods,
} from '../../values/options/index.ts';
import {
  type HostLoopOptions,
  type HostLoopResult,
  type LoopStart,
  readInput,
} from './host-loop-options.ts';
import { runLoop } from './loop-run.ts';
import { readState } from './read-state.ts';
import type { WorkflowState } from './workflow-state.ts';

/**
 * Runs a conversation to its end: asks the model, runs its calls through the session by the plan of
 * the workflow, and gives it the results, until it makes no further calls. Resolves whatever the
 * model and the tools do, and the run is then over. Errors of `generate` and `onEvent` go to the
 * registry's logger as `err`. Once the session is closed, the model is not asked again.
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
    // A model request that is still open is no longer needed.
    cancelled.abort();
  });
}

const where = 'runHostLoop';
const loopTable = {
  workflow: required(
    kind<WorkflowState>(
      'a workflow state from `createWorkflow`',
      (value) => (value as WorkflowState | null | undefined)?.version === 1,
    ),
  ),
  session: required(withMethods<HostLoopOptions['session']>(['executeBatch'], 'a session')),
  generate: required(fn<HostLoopOptions['generate']>()),
  input: anything<HostLoopOptions['input']>(),
  signal: abortSignal,
  maxTurns: withDefault(wholeNumber(1), 16),
  run: anything<NonNullable<HostLoopOptions['run']>>(),
  onEvent: fn<NonNullable<HostLoopOptions['onEvent']>>(),
} satisfies TableOf<HostLoopOptions>;

function readHostLoop(options: HostLoopOptions): LoopStart {
  const { workflow, input, run, ...given } = readOptions(where, options, loopTable);
  return {
    ...given,
    workflow: readState(workflow),
    messages: reading(where, 'input', () => readInput(input as HostLoopOptions['input'])),
    run: readMembers(where, run, ['runId', 'profile', 'provider'], { path: 'run' }),
  };
}
