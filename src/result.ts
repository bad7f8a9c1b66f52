/** What a call resolves to, and the two values by which a handler speaks of success and failure. */

import type { PendingApproval } from './approval/request.ts';
import { type CallStatus, describe, MisuseError, type ToolError } from './errors.ts';
import { copyJson, deepFreeze, isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { checkSpelling } from './options.ts';

/** What is known about a call beside its outcome. */
export interface ResultMetadata {
  /** The caller's, else a fresh one. */
  readonly callId: string;
  /** The name that was called, also where no tool has it. */
  readonly toolName: string;
  /** `rejected` means that the handler never ran. */
  readonly status: CallStatus;
  /**
   * Milliseconds from admission to the end, on a monotonic clock; waits for people and slots
   * included.
   */
  readonly durationMs: number;
  /** 1, or 2 for a call that was suspended for approval and resumed. */
  readonly attempt: number;
  /** What `repair: "safe"` mended, a row a place. */
  readonly repaired?: readonly { readonly path: string; readonly rule: string }[];
  /** Of the definition that ran or would have run; absent where the lookup found none. */
  readonly fingerprint?: string;
  /** Present when the output was cut. `exact` is false where counting stopped at the limit. */
  readonly truncated?: {
    /** Characters before the cut. */
    readonly originalChars: number;
    /** Whether `originalChars` is exact or a lower bound. */
    readonly exact: boolean;
    /** Whether the end was kept as well as the start. */
    readonly strategy: 'head' | 'head_tail';
  };
  /** What the handler added by `ok(output, metadata)`. At most 16 KB. */
  readonly handler?: JsonObject;
}

/** A call whose handler ran, and whose output passed its gates. */
export interface ToolSuccess<O> {
  readonly success: true;
  /**
   * What the handler gave, as JSON: validated where there is an output schema, cut where it was
   * over its budget.
   */
  readonly output: O;
  readonly error?: undefined;
  /** What is known beside the output. */
  readonly metadata: ResultMetadata;
}

/**
 * A call that ended in any other way; `error.code` says how, `metadata.status` whether the handler
 * ran.
 */
export interface ToolFailure {
  readonly success: false;
  /** Why, with a stable code. */
  readonly error: ToolError;
  readonly output?: undefined;
  /** What is known beside the error. */
  readonly metadata: ResultMetadata;
  /**
   * The suspended request with its token. Not enumerable, so that it reaches no log and no model by
   * accident; only with `approval_pending`.
   */
  readonly approval?: PendingApproval;
}

/** Every call resolves to one; no call throws or rejects. */
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

/** What {@link fail} takes. */
export interface Failure {
  /** What went wrong and what to do, for the model. */
  readonly message: string;
  /** A stable machine-readable reason, such as `dirty_worktree`. */
  readonly reason?: string;
  /** Further data for the caller: JSON of at most 16 KB, else left out. */
  readonly details?: JsonValue;
  /** Whether the same call may succeed later. @default false */
  readonly retryable?: boolean;
}

/** The private shape behind {@link Ok} and {@link Fail}. */
export type HandlerOutcome =
  | { readonly kind: 'ok'; readonly output: unknown; readonly metadata: JsonObject | undefined }
  | { readonly kind: 'fail'; readonly failure: Failure };

/** Largest `ok()` metadata, in characters of its JSON text. */
const maxHandlerMetadataChars = 16_384;

/**
 * A handler's success with something for the host beside the output. `metadata` arrives as
 * `result.metadata.handler`.
 * @throws MisuseError inside the handler when `metadata` is not a JSON object or is over 16 KB; the
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
  return brand({ kind: 'ok', output, metadata: kept }) as unknown as Ok<T>;
}

/**
 * A handler's failure, with a stable reason. The call ends as `handler_error`. A string is the
 * message.
 * @throws MisuseError inside the handler for a misspelt member, such as `retriable`; the call then
 * fails as `handler_error` with that as its cause.
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

/**
 * An error may be given as it is, whatever it holds beside its message: only what was probably
 * meant to be a member of ours is refused.
 */
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

/** Reads what {@link ok} or {@link fail} made; anything else is a plain value. */
export function readOutcome(value: unknown): HandlerOutcome | undefined {
  return typeof value === 'object' && value !== null && outcomeBrand in value
    ? (value as unknown as HandlerOutcome)
    : undefined;
}
