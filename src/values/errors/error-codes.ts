/** What the error codes mean. A bundle that does not read it leaves it out. */

import { type CodeEnd, codes, type ErrorCode } from './codes.ts';

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

type Row = Pick<CodeRow, 'meaning' | 'http'>;

function table<const R extends Readonly<Record<ErrorCode, Row>>>(
  rows: R,
): { readonly [C in ErrorCode]: R[C] & (typeof codes)[C] & Pick<CodeRow, 'mcp'> } {
  const all = Object.entries(codes).map(([code, end]) => {
    const { meaning, http } = rows[code as ErrorCode];
    return [code, { meaning, ...end, http, mcp: 'isError' }];
  });
  return Object.fromEntries(all) as ReturnType<typeof table<R>>;
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
export const errorCodes = /* @__PURE__ */ table({
  tool_not_found: {
    meaning: 'No tool of this name exists for this session.',
    http: 404,
  },
  tool_not_available: {
    meaning:
      'The tool is known but not available now: gated by a fact, disabled, out of the ' +
      'profile, or removed.',
    http: 409,
  },
  invalid_input: {
    meaning: 'The arguments do not satisfy the input schema, or are too large or too deep.',
    http: 422,
  },
  policy_denied: {
    meaning: 'A rule, a policy, a check, a default or a before hook denied the call.',
    http: 403,
  },
  policy_error: {
    meaning:
      'A policy or a before hook failed, returned an invalid answer or took too long. The ' +
      'call was refused.',
    http: 403,
  },
  approval_pending: {
    meaning: 'The call is suspended until a person answers.',
    http: 202,
  },
  approval_denied: {
    meaning: 'A person rejected the call, or it could not be approved.',
    http: 403,
  },
  approval_timeout: {
    meaning: 'The approval was not answered in time.',
    http: 408,
  },
  timeout: {
    meaning: 'The handler took longer than its timeout. It may have run.',
    http: 504,
  },
  cancelled: {
    meaning: 'The caller aborted the call.',
    http: 499,
  },
  handler_error: {
    meaning: 'The handler threw, rejected or returned a failure.',
    http: 500,
  },
  invalid_output: {
    meaning: 'The output is not JSON, does not match the output schema, or is too large.',
    http: 500,
  },
  rate_limited: {
    meaning: 'A limit on calls, queue, slots or pending approvals was reached.',
    http: 429,
  },
  loop_detected: {
    meaning: 'The same call was repeated more often in a row than the loop guard allows.',
    http: 429,
  },
  tool_cycle: {
    meaning: 'A tool called itself through others, or the chain of child calls is too deep.',
    http: 508,
  },
  session_closed: {
    meaning: 'The session was closed before the call ended.',
    http: 410,
  },
  duplicate_call_id: {
    meaning: 'A call with this id is still in flight.',
    http: 409,
  },
  sandbox_unavailable: {
    meaning: 'The isolation that the tool requires is not available.',
    http: 503,
  },
  executor_lost: {
    meaning: 'The process or connection that ran the call went away. It may have run.',
    http: 502,
  },
  internal: {
    meaning: 'A fault of the library itself. Please report it.',
    http: 500,
  },
});
