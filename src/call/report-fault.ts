/** Telling the host what its own code threw inside a call. */
import type { Call } from '../state/call.ts';
import { scrubText } from './secrets.ts';

/**
 * Logs what was thrown, with its stack and without the call's secrets.
 * @param source Whose code it was: `policy`, `check`, `hook`, `approver`, `handler`, ...
 */
export function reportFault(call: Call, thrown: unknown, source: string, message: string, more?: object): void {
  const { session, callId, toolName } = call;
  const secrets = call.extra?.secrets;
  const scrub = secrets === undefined || secrets.none ? undefined : (text: string): string => scrubText(call, text);
  session.registry.hostFault(thrown, { sessionId: session.sessionId, callId, toolName, source, ...more }, message, scrub);
}
