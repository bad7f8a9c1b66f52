/**
 * The progress of calls as messages of the bus: from the node that the application tells to the one
 * that runs the call, and from there to those that agents listen to. Nothing of it is stored, so an
 * agent that does not listen misses it.
 */
import type { JsonObject, ToolContext, ToolSession } from '../../../index.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import type { Hub } from '../hub.ts';
import type { CallProgress, Wake } from '../ports/documents.ts';

const heardPrefix = 'progress:';
/** Most bytes of a message, since messages of the bus are short. */
const maxMessageBytes = 256;

/** The message for the node that runs a call. */
export function reportWake(id: string, progress: CallProgress): Wake {
  return `${reportPrefix(id)}${JSON.stringify(progress)}`;
}

/** Passes a {@link reportWake} of this call on to the call, and ignores every other message. */
export function passOnReport(wake: Wake, id: string, context: ToolContext): void {
  const prefix = reportPrefix(id);
  if (!wake.startsWith(prefix)) return;
  const { done, total, message } = JSON.parse(wake.slice(prefix.length)) as CallProgress;
  context.progress(done, total, message);
}

/** Tells the progress of agents' calls over REST to those who listen, while the session is open. */
export function announceProgress(session: ToolSession, code: string, hub: Hub): void {
  session.events.on('tool:progress', ({ surface, callId, done, total, message }) => {
    if (surface !== 'relay') return;
    const line = cleanLine(message, maxMessageBytes);
    const data: JsonObject = {
      requestId: callId,
      done,
      ...(total === undefined ? {} : { total }),
      ...(line === '' ? {} : { message: line }),
    };
    hub.wake(code, `${heardPrefix}${JSON.stringify(data)}`);
  });
}

/** The data of the event `tool-progress` that a message is for; undefined for other messages. */
export function progressIn(wake: Wake | undefined): JsonObject | undefined {
  return wake?.startsWith(heardPrefix)
    ? (JSON.parse(wake.slice(heardPrefix.length)) as JsonObject)
    : undefined;
}

function reportPrefix(id: string): `report:${string}` {
  return `report:${id} `;
}
