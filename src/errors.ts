/**
 * The one table of error codes, errors as data, and the single class that is thrown: at a host's
 * programming mistakes.
 */
import type { JsonValue } from './json.ts';

interface CodeRow {
  /** What the code means, for docs and people. */
  readonly meaning: string;
  /** Whether the same call may succeed if it is simply sent again later. */
  readonly retryable: boolean;
  /** How a call that ends so is counted: `rejected` never ran. */
  readonly status: 'failed' | 'rejected' | 'cancelled' | 'pending';
  /**
   * The HTTP status that a plain HTTP surface would answer with. Unique meanings share a number;
   * the code stays the truth.
   */
  readonly http: number;
  /**
   * How MCP shows it: always a tool result with `isError`, the code in `_meta["host-tools/error"]`.
   */
  readonly mcp: 'isError';
}

/**
 * Every way in which a call can end without success. Codes are never renamed.
 *
 * @example
 * ```ts
 * import { errorCodes } from 'host-tools';
 *
 * console.log(errorCodes.rate_limited.retryable); // true
 * ```
 */
export const errorCodes = {
  tool_not_found: {
    meaning: 'No tool of this name exists for this session.',
    retryable: false,
    status: 'rejected',
    http: 404,
    mcp: 'isError',
  },
  tool_not_available: {
    meaning:
      'The tool is known but not available now: gated by a fact, disabled, out of the ' +
      'profile, or removed.',
    retryable: true,
    status: 'rejected',
    http: 409,
    mcp: 'isError',
  },
  invalid_input: {
    meaning: 'The arguments do not satisfy the input schema, or are too large or too deep.',
    retryable: false,
    status: 'rejected',
    http: 422,
    mcp: 'isError',
  },
  policy_denied: {
    meaning: 'A rule, a policy, a check, a default or a before hook said no.',
    retryable: false,
    status: 'rejected',
    http: 403,
    mcp: 'isError',
  },
  policy_error: {
    meaning:
      'A policy or a before hook failed, answered nonsense or took too long; the call is refused.',
    retryable: false,
    status: 'rejected',
    http: 403,
    mcp: 'isError',
  },
  approval_pending: {
    meaning: 'The call is suspended until a person answers.',
    retryable: false,
    status: 'pending',
    http: 202,
    mcp: 'isError',
  },
  approval_denied: {
    meaning: 'A person, or the lack of one, refused the call.',
    retryable: false,
    status: 'rejected',
    http: 403,
    mcp: 'isError',
  },
  approval_timeout: {
    meaning: 'Nobody answered the approval in time.',
    retryable: true,
    status: 'rejected',
    http: 408,
    mcp: 'isError',
  },
  timeout: {
    meaning: 'The handler took longer than its timeout. It may have run.',
    retryable: true,
    status: 'failed',
    http: 504,
    mcp: 'isError',
  },
  cancelled: {
    meaning: 'The caller aborted the call.',
    retryable: true,
    status: 'cancelled',
    http: 499,
    mcp: 'isError',
  },
  handler_error: {
    meaning: 'The handler threw, rejected or returned a failure.',
    retryable: false,
    status: 'failed',
    http: 500,
    mcp: 'isError',
  },
  invalid_output: {
    meaning:
      'The handler returned what JSON cannot hold, what its output schema refuses, or too ' +
      'much of it.',
    retryable: false,
    status: 'failed',
    http: 500,
    mcp: 'isError',
  },
  rate_limited: {
    meaning: 'A limit on calls, queue, slots or pending approvals was reached.',
    retryable: true,
    status: 'rejected',
    http: 429,
    mcp: 'isError',
  },
  loop_detected: {
    meaning: 'The same call was repeated more often in a row than the loop guard allows.',
    retryable: false,
    status: 'rejected',
    http: 429,
    mcp: 'isError',
  },
  tool_cycle: {
    meaning: 'A tool called itself through others, or the chain of child calls is too deep.',
    retryable: false,
    status: 'rejected',
    http: 508,
    mcp: 'isError',
  },
  session_closed: {
    meaning: 'The session was closed before the call ended.',
    retryable: false,
    status: 'cancelled',
    http: 410,
    mcp: 'isError',
  },
  duplicate_call_id: {
    meaning: 'A call with this id is still in flight.',
    retryable: false,
    status: 'rejected',
    http: 409,
    mcp: 'isError',
  },
  sandbox_unavailable: {
    meaning: 'The isolation that the tool demands cannot be had here.',
    retryable: false,
    status: 'rejected',
    http: 503,
    mcp: 'isError',
  },
  executor_lost: {
    meaning: 'The process or connection that ran the call went away. It may have run.',
    retryable: true,
    status: 'failed',
    http: 502,
    mcp: 'isError',
  },
  internal: {
    meaning: 'A fault of the library itself. Please report it.',
    retryable: false,
    status: 'failed',
    http: 500,
    mcp: 'isError',
  },
} as const satisfies Record<string, CodeRow>;

/**
 * The stable code of a failed call; {@link errorCodes} has the meaning, the HTTP status and whether
 * to try again.
 */
export type ErrorCode = keyof typeof errorCodes;
/** How a call ended. `rejected`: its handler never ran; `failed` and `cancelled`: it may have. */
export type CallStatus = 'succeeded' | CodeRow['status'];

/** A failure of a call, as data. */
export interface ToolError {
  /** Stable; the one thing to branch on. */
  readonly code: ErrorCode;
  /** For the model or a person: what was wrong and what to do. */
  readonly message: string;
  /** A stable machine-readable reason below the code, such as `branch_prefix_required`. */
  readonly reason?: string;
  /** The rule or policy that decided. */
  readonly ruleId?: string;
  /** The layer that decided: `registry`, `profile:<id>`, `session`, `tool`, … */
  readonly source?: string;
  /** Whether the same call may succeed later. @default by the code */
  readonly retryable: boolean;
  /** Further data by the code or by the handler's `fail()`. Secrets are redacted. */
  readonly details?: JsonValue;
  /**
   * What the host's own code threw, where that ended the call: a policy, check, hook, schema,
   * approver, store or handler. Not enumerable, so that no JSON, event or model gets it; secrets
   * are not scrubbed from it.
   */
  readonly cause?: unknown;
}

export interface ToolErrorParts {
  readonly reason?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly source?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly details?: JsonValue | undefined;
}

const noParts: ToolErrorParts = Object.freeze({
  reason: undefined,
  ruleId: undefined,
  source: undefined,
  retryable: undefined,
  details: undefined,
});

/**
 * Builds a {@link ToolError}; leaves absent parts out, so that results compare and serialise
 * cleanly.
 */
export function toolError(code: ErrorCode, message: string, parts?: ToolErrorParts): ToolError {
  // Own members alone: a `reason` on `Object.prototype` is none of this error's.
  const { reason, ruleId, source, retryable, details }: ToolErrorParts =
    parts === undefined ? noParts : { ...noParts, ...parts };
  const error = deniedError(code, message, reason, ruleId, source);
  if (retryable !== undefined) error.retryable = retryable;
  if (details !== undefined) error.details = details;
  return error;
}

/**
 * What {@link toolError} builds, of parts that are known one by one: a denial is made on every
 * refused call, and collecting its parts costs as much as judging it.
 */
export function deniedError(
  code: ErrorCode,
  message: string,
  reason: string | undefined,
  ruleId: string | undefined,
  source: string | undefined,
): { -readonly [K in keyof ToolError]: ToolError[K] } {
  const error: { -readonly [K in keyof ToolError]: ToolError[K] } = {
    code,
    message,
    retryable: errorCodes[code].retryable,
  };
  if (reason !== undefined) error.reason = reason;
  if (ruleId !== undefined) error.ruleId = ruleId;
  if (source !== undefined) error.source = source;
  return error;
}

/** The same error with what was thrown as its `cause`, where only code finds it. */
export function withCause(error: ToolError, cause: unknown): ToolError {
  return Object.defineProperty(error, 'cause', {
    value: cause,
    enumerable: false,
    configurable: true,
    writable: false,
  });
}

const misuseBrand = Symbol.for('host-tools.misuse');

/** Codes of a host's mistakes. */
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
  | 'foreign_definition'
  | 'closed'
  | 'missing_dependency'
  | 'invalid_file';

/**
 * Thrown at a host's programming mistakes, synchronously, where they are made; nothing else is
 * thrown. Recognise it by `name` or {@link isMisuseError}: two installed copies defeat
 * `instanceof`.
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
  /** Tells it apart where `instanceof` cannot. */
  override readonly name = 'MisuseError';
  /** Stable; the message says what was expected, what was got, and what to do. */
  readonly code: MisuseCode;
  readonly [misuseBrand] = true;
  constructor(code: MisuseCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
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

/** Makes a switch over one of our unions fail to compile when a member is forgotten. */
export function assertNever(value: never): never {
  throw new MisuseError('invalid_option', `Unexpected value: ${String(value)}`);
}

/** Writes what came, for a message: type and a short, single-line view of the value. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'string')
    return `\`${value.length > 60 ? `${value.slice(0, 57)}...` : value}\` (string)`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'function') return 'a function';
  return `\`${String(value)}\` (${typeof value})`;
}

/** What was thrown, as a message: whatever it is, and even where reading it throws. */
export function messageOf(thrown: unknown): string {
  try {
    const message: unknown =
      typeof thrown === 'object' && thrown !== null
        ? (thrown as { message?: unknown }).message
        : thrown;
    return typeof message === 'string' && message !== '' ? message : describe(thrown);
  } catch {
    return 'an error that cannot be shown';
  }
}

/**
 * What kind of thing was thrown, for logs, which must not hold its message: the error's name, else
 * the type.
 */
export function errorName(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.name) : typeof thrown;
  } catch {
    // A revoked proxy, or an error whose name throws.
    return typeof thrown;
  }
}
