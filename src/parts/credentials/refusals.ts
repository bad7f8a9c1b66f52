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

export function loginNeeded(name: string, { url }: Login): ToolError {
  return toolError(
    'tool_not_available',
    `The user has to log in to \`${name}\` first, at the address in the details. The tool did ` +
      'not run. Call it again once they have done so.',
    { reason: 'authorization_required', details: { credential: name, url } },
  );
}
