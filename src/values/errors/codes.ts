/** How the calls of each error code end. What a code means is in `error-codes.ts`. */

/** How calls with one code end. */
export interface CodeEnd {
  /** Whether the same call may succeed if it is simply sent again later. */
  readonly retryable: boolean;
  /** The status of a call that ends with this code. A `rejected` call never ran. */
  readonly status: 'failed' | 'rejected' | 'cancelled' | 'pending';
}

const rejected = { retryable: false, status: 'rejected' } as const;
const rejectedForNow = { retryable: true, status: 'rejected' } as const;
const pending = { retryable: false, status: 'pending' } as const;
const failed = { retryable: false, status: 'failed' } as const;
const failedForNow = { retryable: true, status: 'failed' } as const;
const cancelled = { retryable: false, status: 'cancelled' } as const;
const cancelledForNow = { retryable: true, status: 'cancelled' } as const;

/** Every way in which a call can end without success. Codes are never renamed. */
export const codes = {
  tool_not_found: rejected,
  tool_not_available: rejectedForNow,
  invalid_input: rejected,
  policy_denied: rejected,
  policy_error: rejected,
  approval_pending: pending,
  approval_denied: rejected,
  approval_timeout: rejectedForNow,
  timeout: failedForNow,
  cancelled: cancelledForNow,
  handler_error: failed,
  invalid_output: failed,
  rate_limited: rejectedForNow,
  loop_detected: rejected,
  tool_cycle: rejected,
  session_closed: cancelled,
  duplicate_call_id: rejected,
  sandbox_unavailable: rejected,
  executor_lost: failedForNow,
  internal: failed,
} as const satisfies Record<string, CodeEnd>;

/**
 * The stable code of a failed call; `errorCodes` has the meaning, the HTTP status and whether to
 * try again.
 */
export type ErrorCode = keyof typeof codes;
