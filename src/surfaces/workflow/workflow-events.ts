/** What happens to a workflow, and what it asks its host to do. Both are plain data. */

import type { ToolCall } from '../../api/batch.ts';
import type { ToolResult } from '../../api/result.ts';
import type { ToolSpec } from '../../core/toolset/tool-spec.ts';
import type { JsonObject } from '../../values/json/index.ts';

/**
 * What a host reports to a workflow. `type` is the discriminator. An event that is not JSON or
 * lacks a required field is refused as `invalid_event`.
 */
export type WorkflowEvent =
  | ToolRegistrySet
  | ToolProfileSelected
  | ToolOverridesSet
  | HostSessionUpdated
  | FactsUpdated
  | ToolsListed
  | RunRequested
  | ToolCallsObserved
  | ToolCallSettled
  | RunCompleted
  | RunCancelled;

/**
 * Replaces the inventory. Without `profiles`, the profiles stay. Refused if a profile or an
 * override would then name a tool that does not exist.
 */
export interface ToolRegistrySet {
  readonly type: 'tool_registry_set';
  /** The tools, in order. */
  readonly tools: readonly ToolSpec[];
  /** For each profile id, the names of its tools in order. @default the current profiles */
  readonly profiles?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The profile to select. @default the selected profile */
  readonly profile?: string | undefined;
}

/** Selects a profile from the next turn on, even in a run that chose another. */
export interface ToolProfileSelected {
  readonly type: 'tool_profile_selected';
  /** The profile's id. */
  readonly profile: string;
}

/** Replaces the three lists of one scope. A list that is left out becomes empty. */
export interface ToolOverridesSet {
  readonly type: 'tool_overrides_set';
  /** `run` needs an active run and ends with it. */
  readonly scope: 'session' | 'run';
  /** Tools to add to the profile's choice. */
  readonly enable?: readonly string[] | undefined;
  /** Tools to remove. Overrides every other list. */
  readonly disable?: readonly string[] | undefined;
  /** Tools to add; the same as `enable`. The gates still apply. */
  readonly force?: readonly string[] | undefined;
}

/**
 * Sets both facts `hostSession.id` and `hostSession.status`. A null, or leaving one out in JSON,
 * deletes the fact.
 */
export interface HostSessionUpdated {
  readonly type: 'host_session_updated';
  /** The host session's id. */
  readonly hostSessionId: string | null;
  /** `ready` makes tools that require a host session available; any other status does not. */
  readonly status: 'ready' | 'closed' | 'expired' | 'error' | (string & {}) | null;
}

/** Merges facts by key. A null deletes the key. */
export interface FactsUpdated {
  readonly type: 'facts_updated';
  /** Flat, with dotted keys. */
  readonly facts: JsonObject;
}

/**
 * Selects the effective tools that the model sees from the next turn on, for a session with
 * `discovery`. The others can still be called.
 */
export interface ToolsListed {
  readonly type: 'tools_listed';
  /** In the order of listing. Names that are not effective are left out. Null shows all tools. */
  readonly names: readonly string[] | null;
}

/** Starts a run. The same reduction asks for the first `llm_generate`. */
export interface RunRequested {
  readonly type: 'run_requested';
  /** The id of the run. @default `run-1`, `run-2`, … */
  readonly runId?: string | undefined;
  /** The profile of this run. @default the selected profile */
  readonly profile?: string | undefined;
  /** Selects the profile with this name, if it exists and `profile` is not given. */
  readonly provider?: string | undefined;
}

/** The calls that the model made in its turn. */
export interface ToolCallsObserved {
  readonly type: 'tool_calls_observed';
  /** In the order of the model. */
  readonly calls: readonly ToolCall[];
}

/** The result of one call of the open batch. Late, duplicate and unknown results are ignored. */
export interface ToolCallSettled {
  readonly type: 'tool_call_settled';
  /** The id of the batch. @default the open batch */
  readonly batchId?: string | undefined;
  /** The call's id. */
  readonly callId: string;
  /** The result. */
  readonly result: ToolResult;
}

/** The model makes no further calls. Refused while a batch is open. */
export interface RunCompleted {
  readonly type: 'run_completed';
}

/** Ends the run. The open calls of its batch end as `cancelled`. */
export interface RunCancelled {
  readonly type: 'run_cancelled';
}

/** What a workflow asks its host to do. */
export type WorkflowCommand = LlmGenerate | ExecuteCalls | BatchSettled;

/** Ask the model for its next turn with exactly these tools. */
export interface LlmGenerate {
  readonly type: 'llm_generate';
  /** The run's id. */
  readonly runId: string;
  /** The effective tools, in effective order. */
  readonly tools: readonly ToolSpec[];
  /** Their names, in the same order. */
  readonly toolNames: readonly string[];
}

/**
 * Run these calls in parallel. A batch has one such command per group, each after all calls of the
 * previous group are settled. A group whose calls were all settled early has none.
 */
export interface ExecuteCalls {
  readonly type: 'execute_calls';
  /** The batch's id. */
  readonly batchId: string;
  /** The calls of the group, in observed order. */
  readonly calls: readonly ToolCall[];
}

/** Every observed call has its result. */
export interface BatchSettled {
  readonly type: 'batch_settled';
  /** The batch's id. */
  readonly batchId: string;
  /** In observed order, including refused calls. */
  readonly results: readonly CallOutcome[];
}

/** One call and its result. */
export interface CallOutcome {
  /** The call's id. */
  readonly callId: string;
  /** The tool's name in the call. */
  readonly toolName: string;
  /** The result. */
  readonly result: ToolResult;
}

/** Why an event was refused. */
export interface WorkflowError {
  /** Stable. Branch on this. */
  readonly code:
    | 'unknown_tool'
    | 'unknown_profile'
    | 'run_not_active'
    | 'run_already_active'
    | 'batch_already_active'
    | 'invalid_event';
  /** What was expected and what to do. */
  readonly message: string;
}
