/**
 * The state of a workflow: plain JSON, so that it can be stored, compared and replayed byte for
 * byte.
 */
import { describe, MisuseError } from '../errors.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import type { ToolResult } from '../result.ts';
import type { ToolCall } from '../toolset/batch-plan.ts';
import {
  type EffectiveInput,
  type EffectiveSet,
  effectiveSet,
  type Overrides,
} from '../toolset/effective.ts';
import type { ToolSpec } from '../toolset/tool-spec.ts';
import type { WorkflowCommand, WorkflowError } from './workflow-events.ts';

/**
 * All that a workflow knows. Frozen all the way down, plain JSON without `undefined`;
 * `JSON.parse(serializeState(state))` is as good as `state`, but for the order of keys, which it
 * sorts. While a batch is open it holds the calls' arguments and results, secrets included.
 */
export interface WorkflowState {
  /** Of this shape. */
  readonly version: 1;
  /** The inventory, in the order in which it was given. */
  readonly tools: readonly ToolSpec[];
  /** Profiles: id to names, in order. */
  readonly profiles: Readonly<Record<string, readonly string[]>>;
  /** The selected profile. Null: no tools. */
  readonly profile: string | null;
  /** Flat, with dotted keys. */
  readonly facts: JsonObject;
  /** The session scope's lists. */
  readonly overrides: Overrides | null;
  /** How many tools, and how much of them, a model is shown. */
  readonly budget: NonNullable<EffectiveInput['budget']> | null;
  /** The active run. */
  readonly run: RunState | null;
  /** The batch that waits for settlements. */
  readonly batch: BatchState | null;
  /** The run before, and how it ended. */
  readonly lastRun: { readonly id: string; readonly ended: 'completed' | 'cancelled' } | null;
  /** The hash of the last batch's plan. */
  readonly lastPlanHash: string | null;
  /** Runs so far; numbers the next one's default id. */
  readonly runs: number;
  /** Batches so far; numbers the next one's id. */
  readonly batches: number;
}

/** One run: from `run_requested` to `run_completed` or `run_cancelled`. */
export interface RunState {
  /** The run's id. */
  readonly id: string;
  /** The profile that the run chose for itself. Null: the workflow's. */
  readonly profile: string | null;
  /** The run scope's lists. */
  readonly overrides: Overrides | null;
  /** How often the model was asked. */
  readonly turns: number;
  /**
   * What the model was shown last; calls are judged by it until it is asked again, whatever changes
   * meanwhile.
   */
  readonly effective: EffectiveSet;
  /** The specs behind `effective.names`, in the same order. */
  readonly tools: readonly ToolSpec[];
}

/** One batch: what the model asked for in one turn. */
export interface BatchState {
  /** `batch-1`, `batch-2`, … */
  readonly id: string;
  /** Ids; one group runs at a time. */
  readonly groups: readonly (readonly string[])[];
  /** The place in `groups` of the group that runs. */
  readonly group: number;
  /**
   * In observed order. Put together when it is first read, so that a batch of thousands of calls is
   * not copied for each that ends.
   */
  readonly calls: readonly BatchCall[];
  /** Equal for equal plans. */
  readonly planHash: string;
}

/** One observed call. */
export interface BatchCall extends ToolCall {
  /** Whether it is in a group. */
  readonly accepted: boolean;
  /** What it came to. Null while it waits or runs. */
  readonly result: ToolResult | null;
}

/** What a workflow starts with. */
export interface WorkflowOptions {
  /** The inventory. */
  readonly tools: readonly ToolSpec[];
  /** Profiles: id to the names of its tools, in order. @default none */
  readonly profiles?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The selected profile. @default none: no tools */
  readonly profile?: string | undefined;
  /** Flat, with dotted keys. @default none */
  readonly facts?: JsonObject | undefined;
  /** How many tools, and how much of them, a model is shown. @default no limit */
  readonly budget?: EffectiveInput['budget'];
}

/** What came of one event. */
export interface Reduction {
  /** The next state; the very same object where the event was refused or ignored. */
  readonly state: WorkflowState;
  /** What the host is asked to do, in order. */
  readonly commands: readonly WorkflowCommand[];
  /** Why the event was refused. The state is untouched then, and there are no commands. */
  readonly error?: WorkflowError;
}

/** What to say of a value that no workflow has ever been. */
export function notAState(why: string): MisuseError {
  return new MisuseError(
    'invalid_option',
    `Expected \`state\` to be a workflow's state, as \`createWorkflow\`, \`reduce\` and ` +
      `\`serializeState\` give it. ${why}`,
  );
}

/**
 * What a model would be shown now: of the active run's next turn, or of a run that starts now.
 * @throws MisuseError `invalid_option` for what is no state.
 */
export function effectiveOf(state: WorkflowState): EffectiveSet {
  checkVersion(state);
  const { tools, profiles, facts, overrides, budget, run } = state;
  const id = run?.profile ?? state.profile;
  return effectiveSet({
    tools,
    profile: (id === null || !Object.hasOwn(profiles, id) ? undefined : profiles[id]) ?? [],
    overrides: {
      ...(overrides === null ? {} : { session: overrides }),
      ...(run?.overrides == null ? {} : { run: run.overrides }),
    },
    facts,
    ...(budget === null ? {} : { budget }),
  });
}

/**
 * Canonical text: keys sorted, no white space. Equal states have equal bytes. @throws MisuseError
 * `invalid_option` for what is no state.
 */
export function serializeState(state: WorkflowState): string {
  checkVersion(state);
  return canonicalJson(state as unknown as JsonValue);
}

function checkVersion(state: unknown): void {
  if (
    typeof state !== 'object' ||
    state === null ||
    (state as Partial<WorkflowState>).version !== 1
  )
    throw notAState(`Got ${describe(state)}.`);
}
