/** What happens to a workflow, and what a workflow asks its host to do: plain data both ways. */
import type { JsonObject } from '../json.ts';
import type { ToolResult } from '../result.ts';
import type { ToolCall } from '../toolset/batch-plan.ts';
import type { ToolSpec } from '../toolset/tool-spec.ts';

/**
 * What a host tells a workflow. `type` is the discriminator. Whatever is not JSON, or lacks a field
 * that it needs, is refused as `invalid_event`.
 */
export type WorkflowEvent =
  | ToolRegistrySet
  | ToolProfileSelected
  | ToolOverridesSet
  | HostSessionUpdated
  | FactsUpdated
  | RunRequested
  | ToolCallsObserved
  | ToolCallSettled
  | RunCompleted
  | RunCancelled;

/**
 * Replaces the inventory. Profiles that are not given stay. Refused where a profile or an override
 * would then name a tool that is gone.
 */
export interface ToolRegistrySet {
  readonly type: 'tool_registry_set';
  /** The tools, in order. */
  readonly tools: readonly ToolSpec[];
  /** Profiles: id to the names of its tools, in order. @default the ones that are there */
  readonly profiles?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The profile to select. @default the one that is selected */
  readonly profile?: string | undefined;
}

/** Selects a profile for the next computation, also of a run that had chosen another. */
export interface ToolProfileSelected {
  readonly type: 'tool_profile_selected';
  /** The profile's id. */
  readonly profile: string;
}

/** Replaces the three lists of one scope; a list that is not given becomes empty. */
export interface ToolOverridesSet {
  readonly type: 'tool_overrides_set';
  /** `run` needs an active run and ends with it. */
  readonly scope: 'session' | 'run';
  /** Names to add to the profile's choice. */
  readonly enable?: readonly string[] | undefined;
  /** Names to take away. Beats every other list. */
  readonly disable?: readonly string[] | undefined;
  /** Names to add, as `enable`; no gate opens for them. */
  readonly force?: readonly string[] | undefined;
}

/**
 * Sets the facts `hostSession.id` and `hostSession.status`, both of them; null clears, and so does
 * a JSON event that leaves one out.
 */
export interface HostSessionUpdated {
  readonly type: 'host_session_updated';
  /** The host session's id. */
  readonly hostSessionId: string | null;
  /** `ready` opens what waits for a host session; anything else closes it. */
  readonly status: 'ready' | 'closed' | 'expired' | 'error' | (string & {}) | null;
}

/** Merges facts by key; null deletes. */
export interface FactsUpdated {
  readonly type: 'facts_updated';
  /** Flat, with dotted keys. */
  readonly facts: JsonObject;
}

/** Starts a run: the same reduction asks for the first `llm_generate`. */
export interface RunRequested {
  readonly type: 'run_requested';
  /** @default `run-1`, `run-2`, … */
  readonly runId?: string | undefined;
  /** A profile for this run. */
  readonly profile?: string | undefined;
  /** Picks the profile of its name, where there is one and `profile` is not given. */
  readonly provider?: string | undefined;
}

/** What the model asked for in its turn. */
export interface ToolCallsObserved {
  readonly type: 'tool_calls_observed';
  /** In the model's order; `name` is a tool id. */
  readonly calls: readonly ToolCall[];
}

/** How one call of the open batch ended. Late, duplicate and unknown ones are ignored. */
export interface ToolCallSettled {
  readonly type: 'tool_call_settled';
  /** @default the open batch */
  readonly batchId?: string | undefined;
  /** The call's id. */
  readonly callId: string;
  /** What it came to. */
  readonly result: ToolResult;
}

/** The model is done. Refused while a batch is open. */
export interface RunCompleted {
  readonly type: 'run_completed';
}

/** Ends the run; the open calls of its batch end as `cancelled`. */
export interface RunCancelled {
  readonly type: 'run_cancelled';
}

/** What a workflow asks of its host, in this order. */
export type WorkflowCommand = LlmGenerate | ExecuteCalls | BatchSettled;

/** Ask the model for its next turn, with these tools and no others. */
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
 * Run these calls side by side; a batch has one such command a group, the next when all of the last
 * are settled. A group whose calls were all settled ahead has none.
 */
export interface ExecuteCalls {
  readonly type: 'execute_calls';
  /** The batch's id. */
  readonly batchId: string;
  /** The calls of the group, in observed order. */
  readonly calls: readonly ToolCall[];
}

/** Every observed call has its one result. */
export interface BatchSettled {
  readonly type: 'batch_settled';
  /** The batch's id. */
  readonly batchId: string;
  /** In observed order, refused calls included. */
  readonly results: readonly CallOutcome[];
}

/** One call and what it came to. */
export interface CallOutcome {
  /** The call's id. */
  readonly callId: string;
  /** The tool's name, as it was called. */
  readonly toolName: string;
  /** What it came to. */
  readonly result: ToolResult;
}

/** Why an event was refused. */
export interface WorkflowError {
  /** Stable; the one thing to branch on. */
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
