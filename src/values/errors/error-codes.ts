/**
 * What the error codes mean. It is a literal, so that a bundle that does not read it leaves it out;
 * the compiler compares it with `codes`.
 */

import type { CodeEnd, codes, ErrorCode } from './codes.ts';

/** What one code means, and how surfaces answer with it. */
export interface CodeRow extends CodeEnd {
  /** What the code means, for docs and people. */
  readonly meaning: string;
  /**
   * The HTTP status that a plain HTTP surface would answer with. Several codes share a number, so
   * branch on the code.
   */
  readonly http: number;
  /**
   * How MCP shows the failure: always as a tool result with `isError`. The code is in
   * `_meta["host-tools/error"]`.
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
    meaning: 'A rule, a policy, a check, a default or a before hook denied the call.',
    retryable: false,
    status: 'rejected',
    http: 403,
    mcp: 'isError',
  },
  policy_error: {
    meaning:
      'A policy or a before hook failed, returned an invalid answer or took too long. The ' +
      'call was refused.',
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
    meaning: 'A person rejected the call, or it could not be approved.',
    retryable: false,
    status: 'rejected',
    http: 403,
    mcp: 'isError',
  },
  approval_timeout: {
    meaning: 'The approval was not answered in time.',
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
    meaning: 'The output is not JSON, does not match the output schema, or is too large.',
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
    meaning: 'The isolation that the tool requires is not available.',
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
} as const satisfies { readonly [C in ErrorCode]: CodeRow & (typeof codes)[C] };
