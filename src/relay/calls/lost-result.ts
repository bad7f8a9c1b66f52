/**
 * Results that the relay writes itself: the node died and the call must not run again, the result
 * could not be kept, or an approval was not answered.
 */
import { errorCodes, type ToolResult } from '../../index.ts';
import type { RequestDocument } from '../ports/documents.ts';

/** For a call whose node died. @param durationMs since the request was accepted */
export function lostResult(callId: string, toolName: string, durationMs: number): ToolResult {
  return executorLost(
    callId,
    toolName,
    durationMs,
    'node_lost',
    'The relay node that ran the call went away before the call ended. The call may have run.',
  );
}

/** For a request that ran, but whose result the store did not take. */
export function unkeptResult(callId: string, toolName: string, durationMs: number): ToolResult {
  return executorLost(
    callId,
    toolName,
    durationMs,
    'result_not_kept',
    'The call has run, but its result could not be kept.',
  );
}

function executorLost(
  callId: string,
  toolName: string,
  durationMs: number,
  reason: string,
  message: string,
): ToolResult {
  const { retryable, status } = errorCodes.executor_lost;
  return {
    success: false,
    error: { code: 'executor_lost', message, reason, retryable },
    metadata: { callId, toolName, status, attempt: 1, durationMs: Math.max(0, durationMs) },
  };
}

/** For a request whose approval was not answered in time. */
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
