/**
 * The state of a workflow. It is plain JSON, so that it can be stored, compared and replayed
 * exactly.
 */

import type { ToolCall } from '../../api/batch.ts';
import type { ToolResult } from '../../api/result.ts';
import type { Overrides } from '../../api/session-options.ts';
import type { EffectiveSet } from '../../core/toolset/effective.ts';
import type { ToolSpec } from '../../core/toolset/tool-spec.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { canonicalJson, type JsonObject } from '../../values/json/index.ts';
import { type EffectiveInput, setOf } from './compute-effective.ts';
import type { WorkflowCommand, WorkflowError } from './workflow-events.ts';

/**
 * The state of a workflow: deeply frozen, plain JSON without `undefined`.
 * `JSON.parse(serializeState(state))` is equivalent to `state`, with sorted keys. While a batch is
 * open, the state contains the arguments and results of its calls, including secrets.
 */
export interface WorkflowState {
  /** The version of this format. */
  readonly version: 1;
  /** The inventory, in the given order. */
  readonly tools: readonly ToolSpec[];
  /** For each profile id, the names of its tools in order. */
  readonly profiles: Readonly<Record<string, readonly string[]>>;
  /** The selected profile. Null means no tools. */
  readonly profile: string | null;
  /** A flat map with dotted keys. */
  readonly facts: JsonObject;
  /** The overrides of the session scope. */
  readonly overrides: Overrides | null;
  /** Bounds on the tools that a model sees. */
  readonly budget: NonNullable<EffectiveInput['budget']> | null;
  /**
   * The tools that the session lists, in order. The model sees no other tools. Only present for a
   * session with `discovery`.
   */
  readonly listed?: readonly string[];
  /** The active run. */
  readonly run: RunState | null;
  /** The batch that waits for settlements. */
  readonly batch: BatchState | null;
  /** The previous run, and how it ended. */
  readonly lastRun: { readonly id: string; readonly ended: 'completed' | 'cancelled' } | null;
  /** The hash of the plan of the last batch. */
  readonly lastPlanHash: string | null;
  /** The number of runs so far, used for the default id of the next run. */
  readonly runs: number;
  /** The number of batches so far, used for the id of the next batch. */
  readonly batches: number;
}

/** One run: from `run_requested` to `run_completed` or `run_cancelled`. */
export interface RunState {
  /** The run's id. */
  readonly id: string;
  /** The profile that the run chose. Null means the selected profile of the workflow. */
  readonly profile: string | null;
  /** The overrides of the run scope. */
  readonly overrides: Overrides | null;
  /** How often the model was asked. */
  readonly turns: number;
  /**
   * The tools that the model saw last. Calls are judged by them until the model is asked again,
   * even if something changes meanwhile.
   */
  readonly effective: EffectiveSet;
  /** The specs behind `effective.names`, in the same order. */
  readonly tools: readonly ToolSpec[];
}

/** One batch: the calls that the model made in one turn. */
export interface BatchState {
  /** `batch-1`, `batch-2`, … */
  readonly id: string;
  /** Ids of calls. One group runs at a time. */
  readonly groups: readonly (readonly string[])[];
  /** The index in `groups` of the running group. */
  readonly group: number;
  /**
   * In observed order. Built when first read, so that a batch of thousands of calls is not copied
   * whenever one ends.
   */
  readonly calls: readonly BatchCall[];
  /** Equal for equal plans. */
  readonly planHash: string;
}

/** One observed call. */
export interface BatchCall extends ToolCall {
  /** Whether it is in a group. */
  readonly accepted: boolean;
  /** The result. Null while the call waits or runs. */
  readonly result: ToolResult | null;
}

/** Options of `createWorkflow`. */
export interface WorkflowOptions {
  /** The inventory. */
  readonly tools: readonly ToolSpec[];
  /** For each profile id, the names of its tools in order. @default none */
  readonly profiles?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The selected profile. @default none, which means no tools */
  readonly profile?: string | undefined;
  /** A flat map with dotted keys. @default none */
  readonly facts?: JsonObject | undefined;
  /** Bounds on the tools that a model sees. @default no bounds */
  readonly budget?: EffectiveInput['budget'];
}

/** The outcome of one event. */
export interface Reduction {
  /** The next state. The same object if the event was refused or ignored. */
  readonly state: WorkflowState;
  /** What the host has to do, in order. */
  readonly commands: readonly WorkflowCommand[];
  /** Why the event was refused. Then the state is unchanged and there are no commands. */
  readonly error?: WorkflowError;
}

/** The error for a value that is not a workflow state. */
export function notAState(why: string): MisuseError {
  return new MisuseError(
    'invalid_option',
    `Expected \`state\` to be a workflow state from \`createWorkflow\`, \`reduce\` or ` +
      `\`serializeState\`. ${why}`,
  );
}

/**
 * The tools that a model would see now: in the next turn of the active run, or in a run that starts
 * now.
 * @example
 * ```ts
 * import { createWorkflow, effectiveOf } from 'host-tools/workflow';
 *
 * const workflow = createWorkflow({
 *   tools: [{ name: 'add' }],
 *   profiles: { all: ['add'] },
 *   profile: 'all',
 * });
 * console.log(effectiveOf(workflow).names); // ['add']
 * ```
 * @throws MisuseError `invalid_option` for a value that is not a workflow state
 */
export function effectiveOf(state: WorkflowState): EffectiveSet {
  checkVersion(state);
  const { tools, profiles, facts, overrides, budget, listed, run } = state;
  const id = run?.profile ?? state.profile;
  const input: EffectiveInput = {
    tools,
    profile: (id === null || !Object.hasOwn(profiles, id) ? undefined : profiles[id]) ?? [],
    overrides: {
      ...(overrides === null ? {} : { session: overrides }),
      ...(run?.overrides == null ? {} : { run: run.overrides }),
    },
    facts,
    ...(budget === null ? {} : { budget }),
  };
  return setOf(input, listed);
}

/**
 * The state as canonical JSON: sorted keys, no white space. Equal states give equal texts.
 * @example
 * ```ts
 * import { createWorkflow, serializeState } from 'host-tools/workflow';
 *
 * const text = serializeState(createWorkflow({ tools: [], profiles: { none: [] } }));
 * const state = JSON.parse(text);
 * ```
 * @throws MisuseError `invalid_option` for a value that is not a workflow state
 */
export function serializeState(state: WorkflowState): string {
  checkVersion(state);
  return canonicalJson(state);
}

function checkVersion(state: unknown): void {
  if (
    typeof state !== 'object' ||
    state === null ||
    (state as Partial<WorkflowState>).version !== 1
  )
    throw notAState(`Got ${describe(state)}.`);
}
