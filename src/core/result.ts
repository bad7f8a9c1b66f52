/** The result of a call, and `ok()` and `fail()`, by which a handler reports success or failure. */

import { type CallStatus, describe, MisuseError, type ToolError } from '../values/errors/index.ts';
import {
  copyJson,
  deepFreeze,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../values/json/index.ts';
import { checkSpelling } from '../values/options/index.ts';
import type { PendingApproval } from './approval/request.ts';

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

/** What a tool sent in addition to its output. */
export type Alongside = NonNullable<ResultMetadata['alongside']>;

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

const outcomeBrand = Symbol.for('host-tools.outcome');
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

/** The private form of {@link Ok} and {@link Fail}. */
export type HandlerOutcome =
  | {
      readonly kind: 'ok';
      readonly output: unknown;
      readonly metadata: JsonObject | undefined;
      readonly alongside: Alongside | undefined;
    }
  | { readonly kind: 'fail'; readonly failure: Failure };

/** Largest `ok()` metadata, in characters of its JSON text. */
const maxHandlerMetadataChars = 16_384;

/**
 * Makes a handler's success with metadata for the host, which gets it as `result.metadata.handler`.
 * @throws MisuseError inside the handler if `metadata` is not a JSON object or is over 16 KB. The
 * call then fails as `handler_error`.
 *
 * @example
 * ```ts
 * import { defineTool, ok } from 'host-tools';
 *
 * const report = defineTool({
 *   name: 'report',
 *   description: 'Writes the report.',
 *   parameters: { type: 'object' },
 *   handler: () => ok('The report is written.', { rows: 120 }),
 * });
 * const result = await session.call(report, {});
 * console.log(result.metadata.handler); // { rows: 120 }
 * ```
 */
export function ok<T>(output: T, metadata?: JsonObject): Ok<T> {
  let kept: JsonObject | undefined;
  if (metadata !== undefined) {
    const copy = copyJson(metadata, {
      maxDepth: 64,
      maxValues: 10_000,
      maxChars: maxHandlerMetadataChars,
    });
    if (!copy.ok || copy.overflow || !isJsonObject(copy.value)) {
      throw new MisuseError(
        'invalid_option',
        `Expected the metadata of \`ok()\` to be a JSON object of at most 16 KB, got ` +
          `${copy.ok ? describe(metadata) : `${copy.message} at "${copy.path}"`}.`,
      );
    }
    kept = copy.value;
  }
  return okAlongside(output, undefined, kept);
}

/** A success with what was sent in addition to it. Both must be JSON that nobody changes. */
export function okAlongside<T>(
  output: T,
  alongside: Alongside | undefined,
  metadata?: JsonObject,
): Ok<T> {
  return brand({ kind: 'ok', output, metadata, alongside }) as unknown as Ok<T>;
}

/**
 * Makes a handler's failure. The call ends as `handler_error`, with the reason given.
 * @param failure The message alone, or with reason, details and whether a retry may succeed.
 * @throws MisuseError inside the handler for a misspelt member, such as `retriable`. The call then
 * fails as `handler_error` with that error as its cause.
 *
 * @example
 * ```ts
 * import { defineTool, fail } from 'host-tools';
 * import { z } from 'zod';
 *
 * const stock = defineTool({
 *   name: 'stock',
 *   description: 'Counts the items in stock.',
 *   parameters: z.object({ item: z.string() }),
 *   handler: ({ item }) =>
 *     item === 'book' ? 3 : fail({ reason: 'unknown_item', message: `There is no ${item}.` }),
 * });
 * ```
 */
export function fail(failure: string | Failure): Fail {
  const { message, reason, details, retryable }: { readonly [K in keyof Failure]?: unknown } =
    typeof failure === 'string' ? { message: failure } : readFailure(failure);
  const kept: { -readonly [K in keyof Failure]: Failure[K] } = {
    message:
      typeof message === 'string' && message.trim() !== ''
        ? message
        : 'The tool failed without a message.',
  };
  if (typeof reason === 'string') kept.reason = reason;
  if (details !== undefined) {
    const copy = copyJson(details, {
      maxDepth: 64,
      maxValues: 10_000,
      maxChars: maxHandlerMetadataChars,
    });
    if (copy.ok && !copy.overflow) kept.details = copy.value;
  }
  if (retryable === true) kept.retryable = true;
  return brand({ kind: 'fail', failure: deepFreeze(kept) }) as unknown as Fail;
}

const failureMembers = ['message', 'reason', 'details', 'retryable'] as const;

/** An error may be passed as it is: only misspelt members are refused, not further ones. */
function readFailure(failure: Failure): { readonly [K in keyof Failure]?: unknown } {
  if (typeof failure !== 'object' || failure === null)
    throw new MisuseError(
      'invalid_option',
      `fail: expected a message or an object with \`message\`, got ${describe(failure)}.`,
    );
  checkSpelling('fail', failure, failureMembers);
  const { message } = failure;
  return {
    ...Object.fromEntries(
      failureMembers
        .filter((name) => Object.hasOwn(failure, name))
        .map((name) => [name, failure[name]]),
    ),
    message,
  };
}

function brand(outcome: HandlerOutcome): HandlerOutcome {
  return Object.freeze(Object.defineProperty(outcome, outcomeBrand, { value: true }));
}

/** Reads what {@link ok} or {@link fail} made. Undefined for any other value. */
export function readOutcome(value: unknown): HandlerOutcome | undefined {
  return typeof value === 'object' && value !== null && outcomeBrand in value
    ? (value as unknown as HandlerOutcome)
    : undefined;
}
