/**
 * Sends the progress of calls over the bus. A report goes from the node that the application has
 * sent it to, to the node that runs the call, and from there to the nodes that agents listen to.
 * Progress is not stored, so an agent that does not listen misses it.
 */
import type { JsonObject, ToolContext, ToolSession } from '../../../core.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import type { Hub } from '../hub.ts';
import type { CallProgress, Wake } from '../ports/documents.ts';

const heardPrefix = 'progress:';
/** The most bytes of the text of a report, because messages of the bus are short. */
const maxMessageBytes = 256;

/** Makes the message for the node that runs a call. */
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

/** Announces the progress of calls over REST to listening agents, while the session is open. */
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

/** Reads the data of a `tool-progress` event from a message; undefined for other messages. */
export function progressIn(wake: Wake | undefined): JsonObject | undefined {
  return wake?.startsWith(heardPrefix)
    ? (JSON.parse(wake.slice(heardPrefix.length)) as JsonObject)
    : undefined;
}

function reportPrefix(id: string): `report:${string}` {
  return `report:${id} `;
}
