/** What a call says in place of texts that hold its secrets. */
import type { Call, FoundCall } from '../../core/call/call.ts';
import type { Unaskable } from '../../core/call/ports.ts';
import { shownJson, shownNameOf, shownText } from '../../core/call/shown.ts';
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';

const notShown =
  'The arguments contain too many secrets, or are too large to be searched for secrets. Send less.';

/** Nobody is asked, since the input cannot be shown without its secrets. */
export const inputNotShown: Unaskable = Object.freeze({
  askable: false,
  reason: 'input_not_shown',
  message: notShown,
});

/** Nobody is asked, since a text of the question holds a secret. */
export function secretInPrompt(call: FoundCall, field: 'title' | 'message'): Unaskable {
  const { session, toolName, callId } = call;
  session.registry.warn(
    { sessionId: session.sessionId, callId, toolName, field },
    'the prompt of an approval contains a secret of the call, so the call was refused',
  );
  return {
    askable: false,
    reason: 'secret_in_prompt',
    message: `The \`${field}\` of the approval request contains a secret of the call.`,
  };
}

/** An error without the secrets of its call. */
export function shownError(call: Call, error: ToolError): ToolError {
  // Every text of this call would be hidden, also the one that says so. It is written again here,
  // so that nothing else is shown.
  if (error.code === 'approval_denied' && error.reason === 'input_not_shown')
    return toolError(
      'approval_denied',
      `The call to \`${shownNameOf(call)}\` was not approved: ${notShown}`,
      { reason: 'input_not_shown' },
    );
  const shown: { -readonly [K in keyof ToolError]: ToolError[K] } = {
    ...error,
    message: shownText(call, error.message),
  };
  if (Object.hasOwn(error, 'cause')) withCause(shown, error.cause);
  if (error.reason !== undefined) shown.reason = shownText(call, error.reason);
  if (error.details !== undefined) shown.details = shownJson(call, error.details);
  return shown;
}
