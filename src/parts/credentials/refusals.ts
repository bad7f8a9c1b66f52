/** Why a call does not get its credentials. */

import { type ToolError, toolError } from '../../values/errors/index.ts';
import type { Login } from './answer.ts';

export function unavailable(name: string, why: string): ToolError {
  return toolError(
    'policy_error',
    `The credential \`${name}\` is not available: ${why}. The tool did not run. Do not retry it ` +
      'at once; say what happened.',
    { reason: 'credentials_unavailable', retryable: true },
  );
}

/** The call is refused. Nothing goes on with it. */
export function loginNeeded(name: string, { url }: Login): ToolError {
  return toolError(
    'tool_not_available',
    `The user has to log in to \`${name}\` first, at ${url} . The tool did not run. Call it ` +
      'again once they have done so.',
    { reason: 'authorization_required', details: { credential: name, url } },
  );
}

/** The call waits, and goes on by itself. */
export function loginAwaited(name: string, { url }: Login): ToolError {
  return toolError(
    'approval_pending',
    `The call waits until the user has logged in to \`${name}\`, at ${url} . It then goes on by ` +
      'itself. Do not retry it; tell the user, and continue with other work.',
    { reason: 'authorization_required', details: { credential: name, url } },
  );
}
