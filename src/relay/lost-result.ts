/** The result of a call whose node died, and that must not be run again. */
import { errorCodes, type ToolResult } from '../index.ts';

/** @param durationMs since it was accepted */
export function lostResult(callId: string, toolName: string, durationMs: number): ToolResult {
  const { retryable, status } = errorCodes.executor_lost;
  return {
    success: false,
    error: {
      code: 'executor_lost',
      message: 'The relay node that ran the call went away before it had ended. The call may have run.',
      reason: 'node_lost',
      retryable,
    },
    metadata: { callId, toolName, status, attempt: 1, durationMs: Math.max(0, durationMs) },
  };
}
