/** The refusal of a call whose input could not be shown to an approver without its secrets. */
import { type ToolError, toolError } from '../../values/errors/index.ts';
import type { Call } from './call.ts';
import { shownNameOf } from './shown-name.ts';

export const notShown =
  'The arguments contain too many secrets, or are too large to be searched for secrets. Send less.';

export function inputNotShown(call: Call): ToolError {
  return toolError(
    'approval_denied',
    `The call to \`${shownNameOf(call)}\` was not approved: ${notShown}`,
    { reason: 'input_not_shown' },
  );
}
