/**
 * Makes the results that the relay writes itself. They are for a call that must not run again after
 * its node died, a result that could not be stored, an approval that was not answered, and a call
 * that its agent has cancelled.
 */
import { errorCodes, type ToolResult } from '../../../core.ts';
import type { RequestDocument } from '../ports/documents.ts';

/** Makes the result of a call whose node died. @param durationMs since the request was accepted */
export function lostResult(callId: string, toolName: string, durationMs: number): ToolResult {
  return executorLost(
    callId,
    toolName,
    durationMs,
    'node_lost',
    'The relay node that ran the call went away before the call ended. The call may have run.',
  );
}

/** Makes the result of a request that ran, but whose own result could not be stored. */
export function unkeptResult(callId: string, toolName: string, durationMs: number): ToolResult {
  return executorLost(
    callId,
    toolName,
    durationMs,
    'result_not_kept',
    'The call has run, but its result could not be stored; perhaps it is too large or the store ' +
      'is full. Do not repeat the call unless it may run twice.',
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

/** Whether a cancelled call has run, as far as that is known. */
export type HasRun = 'no' | 'perhaps';

/** Makes the result of a request that its agent has cancelled. */
export function cancelledResult(
  callId: string,
  toolName: string,
  durationMs: number,
  hasRun: HasRun,
): ToolResult {
  const { retryable, status } = errorCodes.cancelled;
  return {
    success: false,
    error: {
      code: 'cancelled',
      message:
        `The agent cancelled the call to \`${toolName}\`` +
        (hasRun === 'no' ? ' while it waited for approval. It has not run.' : '. It may have run.'),
      retryable,
    },
    metadata: { callId, toolName, status, attempt: 1, durationMs: Math.max(0, durationMs) },
  };
}

/** Makes the result of a request whose approval was not answered in time. */
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
