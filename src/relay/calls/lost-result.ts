/**
 * Results of calls that end without being run: their node died and they must not be run again, or
 * no person answered.
 */
import { errorCodes, type ToolResult } from '../../index.ts';
import type { RequestDocument } from '../ports/documents.ts';

/** @param durationMs since it was accepted */
export function lostResult(callId: string, toolName: string, durationMs: number): ToolResult {
  const { retryable, status } = errorCodes.executor_lost;
  return {
    success: false,
    error: {
      code: 'executor_lost',
      message:
        'The relay node that ran the call went away before it had ended. The call may have run.',
      reason: 'node_lost',
      retryable,
    },
    metadata: { callId, toolName, status, attempt: 1, durationMs: Math.max(0, durationMs) },
  };
}

/** Of a request that ran, and whose result the store did not take. */
export function unkeptResult(callId: string, toolName: string, durationMs: number): ToolResult {
  const { retryable, status } = errorCodes.executor_lost;
  return {
    success: false,
    error: {
      code: 'executor_lost',
      message: 'The call has run; its result could not be kept.',
      reason: 'result_not_kept',
      retryable,
    },
    metadata: { callId, toolName, status, attempt: 1, durationMs: Math.max(0, durationMs) },
  };
}

/** Of a request that waited for a person for too long. */
export function unansweredResult(
  callId: string,
  { tool, createdAt, waitsUntil = createdAt }: RequestDocument,
): ToolResult {
  const { retryable, status } = errorCodes.approval_timeout;
  return {
    success: false,
    error: {
      code: 'approval_timeout',
      message: `No one answered the approval request for \`${tool}\` in time.`,
      reason: 'timeout',
      retryable,
    },
    metadata: {
      callId,
      toolName: tool,
      status,
      attempt: 1,
      durationMs: Math.max(0, waitsUntil - createdAt),
    },
  };
}
