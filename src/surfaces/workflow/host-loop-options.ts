/** The options and the result of a host loop. */
import type { ToolSession } from '../../core.ts';
import type { Generate, Message } from './conversation.ts';
import type { CallOutcome, WorkflowEvent } from './workflow-events.ts';
import type { WorkflowState } from './workflow-state.ts';

/** Options of `runHostLoop`. */
export interface HostLoopOptions {
  /** Decides which tools are listed, and plans calls. Its tool names are those of the session. */
  readonly workflow: WorkflowState;
  /**
   * Runs the calls, through every gate. Before each turn, its facts are copied to the workflow. At
   * the start, facts that it lacks are set from the workflow, except those that it has lost since
   * the last loop over it ended.
   */
  readonly session: ToolSession;
  /** The model. */
  readonly generate: Generate;
  /** The conversation so far. A string is one message of the user. */
  readonly input: string | readonly Message[];
  /** Ends the loop at once. Open calls end as `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** The most requests to the model. From 1. @default 16 */
  readonly maxTurns?: number | undefined;
  /**
   * The id of the run, and its profile or the provider whose profile it uses. @default the profile
   * of the workflow
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
   * Receives each applied event with the state after it, for example to store a log during the run.
   * The loop waits for its promise before it continues, so that a log is never behind. If it throws
   * or rejects, the loop stops as `failed`.
   */
  readonly onEvent?: ((event: WorkflowEvent, state: WorkflowState) => unknown) | undefined;
}

/** The result of a host loop. */
export interface HostLoopResult {
  /**
   * The workflow afterwards, without an active run. If it already had one, it is unchanged
   * (`run_already_active`).
   */
  readonly state: WorkflowState;
  /** The whole conversation, including the input. */
  readonly messages: readonly Message[];
  /** Every call in observed order, including refused ones. */
  readonly results: readonly CallOutcome[];
  /**
   * Every applied event in order: `replay(workflow, events)` gives `state`, and
   * `writeTrace(workflow, events)` gives a log. They contain arguments and results unredacted,
   * including secrets.
   */
  readonly events: readonly WorkflowEvent[];
  /** `completed`: the model made no further calls. `max_turns`: it still wanted to. */
  readonly stopped: 'completed' | 'max_turns' | 'cancelled' | 'failed';
  /**
   * Why it failed: the code of a refused event, `session_closed`, `generate_failed`, or
   * `loop_failed` if the session or `onEvent` threw.
   */
  readonly error?: { readonly code: string; readonly message: string };
}

/** The checked options of a host loop. */
export interface LoopStart
  extends Pick<HostLoopOptions, 'session' | 'generate' | 'signal' | 'onEvent' | 'run'> {
  readonly workflow: WorkflowState;
  readonly messages: Message[];
  readonly maxTurns: number;
}
