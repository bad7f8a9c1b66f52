/**
 * Errors of calls as data, and the only class that is thrown, for a host's programming mistakes.
 */
import type { JsonValue } from '../json/index.ts';
import { type CodeEnd, codes, type ErrorCode } from './codes.ts';

export { codes, type ErrorCode } from './codes.ts';
export { describe, errorName, messageFromParts, messageOf, ownMessage } from './describe.ts';

/** How a call ended. `rejected`: its handler never ran; `failed` and `cancelled`: it may have. */
export type CallStatus = 'succeeded' | CodeEnd['status'];

/** A failure of a call, as data. */
export interface ToolError {
  /** Stable; the one thing to branch on. */
  readonly code: ErrorCode;
  /** Says, for the model or a person, what was wrong and what to do. */
  readonly message: string;
  /** A stable machine-readable reason below the code, such as `branch_prefix_required`. */
  readonly reason?: string;
  /** The rule, policy or quota that decided. */
  readonly ruleId?: string;
  /** The layer that decided: `registry`, `profile:<id>`, `session`, `tool`, … */
  readonly source?: string;
  /** Whether the same call may succeed later. @default what `errorCodes` says of the code */
  readonly retryable: boolean;
  /** Further data that the code defines or the handler passed to `fail()`. Secrets are redacted. */
  readonly details?: JsonValue;
  /**
   * What the host's own code threw, if that ended the call: a policy, check, hook, schema,
   * approver, store or handler. Not enumerable, so it reaches no JSON, event or model. Secrets are
   * not scrubbed from it.
   */
  readonly cause?: unknown;
}

/** The optional parts of a {@link ToolError}. */
export interface ToolErrorParts {
  readonly reason?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly source?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly details?: JsonValue | undefined;
}

/**
 * Builds a {@link ToolError}. Absent parts are left out, so that results compare and serialise
 * cleanly.
 */
export function toolError(code: ErrorCode, message: string, parts: ToolErrorParts = {}): ToolError {
  // Reads own members only: a `reason` on `Object.prototype` does not belong to this error. A copy
  // of the parts would do the same, at twice the cost of the whole error.
  const error = deniedError(
    code,
    message,
    own(parts, 'reason'),
    own(parts, 'ruleId'),
    own(parts, 'source'),
  );
  const retryable = own(parts, 'retryable');
  const details = own(parts, 'details');
  if (retryable !== undefined) error.retryable = retryable;
  if (details !== undefined) error.details = details;
  return error;
}

function own<K extends keyof ToolErrorParts>(parts: ToolErrorParts, name: K): ToolErrorParts[K] {
  return Object.hasOwn(parts, name) ? parts[name] : undefined;
}

/**
 * {@link toolError} with separate arguments. A denial is built for every refused call, and
 * collecting its parts in an object costs as much as the decision.
 */
export function deniedError(
  code: ErrorCode,
  message: string,
  reason: string | undefined,
  ruleId: string | undefined,
  source: string | undefined,
): { -readonly [K in keyof ToolError]: ToolError[K] } {
  const { retryable } = codes[code];
  // The usual denials are one literal, since members that are added later cost as much again.
  if (reason !== undefined && source !== undefined)
    return ruleId === undefined
      ? { code, message, retryable, reason, source }
      : { code, message, retryable, reason, ruleId, source };
  const error: { -readonly [K in keyof ToolError]: ToolError[K] } = { code, message, retryable };
  if (reason !== undefined) error.reason = reason;
  if (ruleId !== undefined) error.ruleId = ruleId;
  if (source !== undefined) error.source = source;
  return error;
}

/** Adds the thrown value as `cause`. It is not enumerable, so serialising the error omits it. */
export function withCause(error: ToolError, cause: unknown): ToolError {
  return Object.defineProperty(error, 'cause', {
    value: cause,
    enumerable: false,
    configurable: true,
    writable: false,
  });
}

const misuseBrand = Symbol.for('host-tools.misuse');

/** The codes of a host's programming mistakes. */
export type MisuseCode =
  | 'invalid_definition'
  | 'invalid_schema'
  | 'invalid_option'
  | 'duplicate_name'
  | 'name_conflict'
  | 'unknown_tool'
  | 'unknown_profile'
  | 'unknown_knob'
  | 'invalid_rule'
  | 'invalid_quota'
  | 'invalid_operation'
  | 'foreign_definition'
  | 'closed'
  | 'missing_dependency'
  | 'missing_part'
  | 'invalid_file'
  | 'in_use';

/**
 * The only error that is thrown. It reports a host's programming mistake, synchronously and where
 * the mistake is made. Recognise it by `name` or {@link isMisuseError}; `instanceof` fails for a
 * second installed copy of the package.
 *
 * @example
 * ```ts
 * import { HostToolRegistry, MisuseError } from 'host-tools';
 *
 * try {
 *   new HostToolRegistry().createSession({ sessionId: 's1', profile: 'missing' });
 * } catch (error) {
 *   if (error instanceof MisuseError) console.error(error.code); // unknown_profile
 * }
 * ```
 */
export class MisuseError extends Error {
  /** Identifies the error if `instanceof` cannot. */
  override readonly name = 'MisuseError';
  /** Stable; the message says what was expected, what was got, and what to do. */
  readonly code: MisuseCode;
  /** For `missing_part`: the function that makes the part, such as `origins`. */
  readonly part?: string;
  readonly [misuseBrand] = true;
  constructor(
    code: MisuseCode,
    message: string,
    options?: ErrorOptions & { readonly part?: string },
  ) {
    super(message, options);
    this.code = code;
    if (options?.part !== undefined) this.part = options.part;
  }
}

/**
 * True for a {@link MisuseError} of this or any other installed copy.
 *
 * @example
 * ```ts
 * import { isMisuseError } from 'host-tools';
 *
 * try {
 *   registry.register(add);
 * } catch (error) {
 *   if (!isMisuseError(error)) throw error;
 *   console.error(error.code, error.message);
 * }
 * ```
 */
export function isMisuseError(value: unknown): value is MisuseError {
  return typeof value === 'object' && value !== null && misuseBrand in value;
}

/** @param action what the closed session was asked to do, such as `register a tool` */
export function sessionClosed(sessionId: string, action: string): MisuseError {
  return new MisuseError(
    'closed',
    `Session \`${sessionId}\`: cannot ${action}, because the session is closed. Create another.`,
  );
}

/** The `code`, such as `ENOENT` of an error of Node; undefined if there is none. */
export function codeOf(thrown: unknown): unknown {
  return (thrown as { readonly code?: unknown } | null | undefined)?.code;
}
