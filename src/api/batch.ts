/** Batches of calls, and how they are run. */

import type { ErrorCode } from '../values/errors/index.ts';
import type { Surface } from './context.ts';
import type { ToolResult } from './result.ts';

/** One call that a model made. */
export interface ToolCall {
  /** The model's id for the call. It becomes the `callId`. A repeated id is rejected. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The input, or its JSON text. @default {} */
  readonly arguments?: unknown;
  /**
   * Overrides the tool's own key in the plan of this batch. Across batches, the tool's key for the
   * final input applies.
   */
  readonly resourceKey?: string | undefined;
}

/** One call in a plan. */
export interface PlannedCall {
  /** The call's id. */
  readonly id: string;
  /** The tool's name, as it was called. */
  readonly name: string;
  /** Whether it is in a group. A rejected call ends with its `code` and splits no group. */
  readonly accepted: boolean;
  /** Why it was rejected. */
  readonly code?: ErrorCode;
}

/** A batch as groups that may run in parallel, and the calls that are rejected. */
export interface BatchPlan {
  /** Ids. Groups run one after another, the calls of a group in parallel. */
  readonly groups: readonly (readonly string[])[];
  /** In observed order. */
  readonly calls: readonly PlannedCall[];
  /** Equal for equal plans. Computed when first read. */
  readonly hash: string;
}

/** Options of `session.executeBatch`. */
export interface BatchOptions {
  /**
   * The most calls that run at once. From 1.
   * @default no limit besides those of session and tools
   */
  readonly maxConcurrency?: number | undefined;
  /**
   * Whether a failed call ends the later calls that have not started, as `cancelled`.
   * @default false
   */
  readonly stopOnError?: boolean | undefined;
  /** Cancels every call of the batch. */
  readonly signal?: AbortSignal | undefined;
  /** Who makes the calls. For adapters: it must come from host code, never from a payload. */
  readonly surface?: Surface | undefined;
}

/** The result of a batch. A failed call has a result like any other. */
export interface BatchResult {
  /** The groups that were run and the calls that were refused. */
  readonly plan: BatchPlan;
  /** One result for each call, in the order in which the calls were passed. */
  readonly results: readonly {
    /** The id of the call. */
    readonly callId: string;
    /** The name of the tool. */
    readonly toolName: string;
    /** How the call ended. */
    readonly result: ToolResult;
  }[];
}
