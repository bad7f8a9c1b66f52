/** The result of a call, and what a handler may return. */

import type { CallStatus, ToolError } from '../values/errors/index.ts';
import type { JsonObject, JsonValue } from '../values/json/index.ts';
import type { PendingApproval } from './approval.ts';

/** What is known about a call besides its outcome. */
export interface ResultMetadata {
  /** The id that the caller passed, or a generated one. */
  readonly callId: string;
  /** The name that was called, even if no tool has it. */
  readonly toolName: string;
  /** How the call ended. `rejected` means that the handler never ran. */
  readonly status: CallStatus;
  /**
   * Milliseconds from admission to the end, by a monotonic clock. Includes the time that the call
   * waited for people and slots.
   */
  readonly durationMs: number;
  /** 1, or 2 for a call that was suspended for approval and resumed. */
  readonly attempt: number;
  /** The repairs of `repair: "safe"`, one entry per place. */
  readonly repaired?: readonly { readonly path: string; readonly rule: string }[];
  /**
   * Present and true if nothing ran: an earlier call with the same idempotency key had this
   * outcome.
   */
  readonly replayed?: true;
  /** The fingerprint of the tool's definition; absent if no tool was found. */
  readonly fingerprint?: string;
  /** Present if the output was cut. */
  readonly truncated?: {
    /** Characters before the cut. */
    readonly originalChars: number;
    /**
     * Whether `originalChars` is exact. If it is false, counting stopped early and the number is a
     * lower bound.
     */
    readonly exact: boolean;
    /**
     * What the model saw: the start, the start and the end, or the start of an output that was kept
     * as a whole.
     */
    readonly strategy: 'head' | 'head_tail' | 'offload';
    /**
     * With `offload`: the handle with which `read_tool_output` reads the whole output, in the same
     * session.
     */
    readonly handle?: string;
  };
  /** What a program has logged, of code mode. At most 8 000 characters. */
  readonly logs?: readonly string[];
  /** The metadata that the handler passed to `ok(output, metadata)`. At most 16 KB. */
  readonly handler?: JsonObject;
  /**
   * What a tool that is imported over MCP sent in addition to its output. The gates judge it like
   * the output, and MCP clients get it with the output.
   */
  readonly alongside?: {
    /** Content parts, if the output is structured content. */
    readonly content?: readonly JsonObject[];
    /** Structured content, if the output consists of content parts. */
    readonly structuredContent?: JsonValue;
    /** The metadata of the server's result, which are for the client and not for a model. */
    readonly _meta?: JsonObject;
    /** Present if the content parts were cut. */
    readonly truncated?: NonNullable<ResultMetadata['truncated']>;
    /** The names of members that were over the budget of the tool's output. */
    readonly leftOut?: readonly string[];
  };
}

/** The result of a call whose handler succeeded and whose output passed all checks. */
export interface ToolSuccess<O> {
  readonly success: true;
  /**
   * The handler's return value as JSON. Validated if the tool has an output schema, and cut if it
   * is over its budget.
   */
  readonly output: O;
  readonly error?: undefined;
  /** Further facts about the call. */
  readonly metadata: ResultMetadata;
}

/**
 * The result of a call that ended in any other way. `error.code` says why, and `metadata.status`
 * whether the handler ran.
 */
export interface ToolFailure {
  readonly success: false;
  /** Why the call failed, with a stable code. */
  readonly error: ToolError;
  readonly output?: undefined;
  /** Further facts about the call. */
  readonly metadata: ResultMetadata;
  /**
   * The suspended request with its token; only present with `approval_pending`. Not enumerable, so
   * that it does not get into a log or to a model by accident.
   */
  readonly approval?: PendingApproval;
}

/** The result of a call. Every call resolves to one; no call throws or rejects. */
export type ToolResult<O = unknown> = ToolSuccess<O> | ToolFailure;

declare const okBrand: unique symbol;

declare const failBrand: unique symbol;

/** A success with metadata, made by {@link ok}. */
export interface Ok<T> {
  readonly [okBrand]: T;
}

/** A failure, made by {@link fail}. */
export interface Fail {
  readonly [failBrand]: true;
}

/** The argument of {@link fail}. */
export interface Failure {
  /** What went wrong and what to do about it, for the model. */
  readonly message: string;
  /** A stable machine-readable reason, such as `dirty_worktree`. */
  readonly reason?: string;
  /** Further data for the caller. Left out if it is not JSON, or is over 16 KB. */
  readonly details?: JsonValue;
  /** Whether the same call may succeed later. @default false */
  readonly retryable?: boolean;
}
