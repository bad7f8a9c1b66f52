/** Why a call is not taken back. */

import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';

export function unknownCall(callId: string): ToolError {
  return toolError(
    'invalid_input',
    `No call \`${callId.slice(0, 100)}\` can be taken back. It has to be a call that succeeded, ` +
      'of a tool with `revert`, in a session of the same principal, and not too long ago.',
    { reason: 'unknown_call' },
  );
}

export function stillRunning(callId: string): ToolError {
  return toolError(
    'invalid_input',
    `The call \`${callId.slice(0, 100)}\` has not ended: it runs, or waits for a person. Take it ` +
      'back once it has ended. What it asks people can be rejected, so that it ends sooner.',
    { reason: 'still_running', retryable: true },
  );
}

export function alreadyReverted(callId: string): ToolError {
  return toolError('invalid_input', `The call \`${callId}\` was taken back before.`, {
    reason: 'already_reverted',
  });
}

export function revertRan(callId: string): ToolError {
  return toolError(
    'invalid_input',
    `\`revert\` of the call \`${callId}\` has run before, and has failed or was not seen to end. ` +
      'It is not run again. Find out what is left of the call.',
    { reason: 'revert_ran' },
  );
}

export function changed(tool: string): ToolError {
  return toolError(
    'tool_not_available',
    `\`${tool}\` was changed or removed since the call, so the call cannot be taken back.`,
    { reason: 'definition_changed', retryable: false },
  );
}

export function edited(): ToolError {
  return toolError(
    'invalid_input',
    'The input of what takes a call back cannot be changed. Take it back again.',
    { reason: 'revert_changed' },
  );
}

export function unavailable(cause: unknown): ToolError {
  const error = toolError(
    'policy_error',
    'The call could not be taken back, because it is not known what it did. Try again later.',
    { reason: 'undo_unavailable', source: 'undo', retryable: true },
  );
  return withCause(error, cause);
}
