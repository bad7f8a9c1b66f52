/** Why a program, or a call of it, does not run. */

import type { CodeAnswer } from '../../api/code.ts';
import { type ToolError, toolError } from '../../values/errors/index.ts';
import { leaseMs } from './agenda.ts';
import { errorAnswer } from './answers.ts';

export const expired: CodeAnswer = errorAnswer(
  toolError('approval_timeout', 'Nobody has answered in time, so the call was not run.', {
    reason: 'expired',
  }),
);

export function otherProgram(): ToolError {
  return toolError(
    'handler_error',
    'Another program has run under the id of this call, so this one was not run. Make a new call.',
    { reason: 'code_diverged' },
  );
}

export function programOver(): ToolError {
  return toolError(
    'cancelled',
    'The program that made this call has ended or was cancelled, so nothing was run.',
    { reason: 'parent_ended' },
  );
}

/** It runs in another process, or what it waits for does. */
export function running(remainingMs: number | undefined): ToolError {
  return toolError('rate_limited', 'The program of this call is running. Try again later.', {
    reason: 'code_running',
    details: { retryAfterMs: Math.ceil(remainingMs ?? leaseMs) },
  });
}

export function unavailable(): ToolError {
  return toolError(
    'policy_error',
    'The program was not run, since the store that keeps what it does cannot be reached.',
    { reason: 'store_unavailable', retryable: true },
  );
}
