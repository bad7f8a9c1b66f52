/** Reports to the host what its own code threw during a call. */

import { type ToolError, withCause } from '../../values/errors/index.ts';
import type { Refused } from '../../values/schema/bind.ts';
import type { Call } from './call.ts';

/**
 * Logs what was thrown, with its stack and without what the call hides.
 * @param source The code that threw: `policy`, `check`, `hook`, `approver`, `handler`, …
 */
export function reportFault(
  call: Call,
  thrown: unknown,
  source: string,
  message: string,
  more?: object,
): void {
  const { session, callId, toolName } = call;
  const { masking } = session.registry.ports.calls;
  session.registry.hostFault(
    thrown,
    { sessionId: session.sessionId, callId, toolName, source, ...more },
    message,
    masking && ((error) => masking.logged(call, error)),
  );
}

/**
 * The error of a call whose schema refused a value. If the schema itself threw, that is logged and
 * becomes the error's cause.
 */
export function schemaError(
  call: Call,
  { fault }: Refused,
  source: 'parameters' | 'outputSchema',
  error: ToolError,
): ToolError {
  if (fault === undefined) return error;
  reportFault(call, fault.thrown, source, `the schema \`${source}\` threw`);
  return withCause(error, fault.thrown);
}
