/** Carries out operations on a session, and sends the messages that tell the nodes about them. */

import type { JsonObject, ToolContext, ToolSession } from '../../../core.ts';
import type { Store } from '../../../extend.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import type { Hub } from '../hub.ts';
import type { CallProgress, Wake } from '../ports/documents.ts';
import type { RelaySettings } from '../settings.ts';

/** A message that is sent once the operations have taken place. */
export interface Telling {
  readonly wake: Wake;
  /** The index of a `set`. A space and the version that it returned are appended to the message. */
  readonly versionOf?: number;
}

/** The part of a node that changes a session and tells the other nodes about it. */
export interface Change {
  readonly settings: Pick<RelaySettings, 'store'>;
}

/** Carries out operations on a session, and sends the messages in the same step. */
export async function applyAndWake<const T extends readonly Store.Operation[]>(
  { settings: { store } }: Change,
  code: string,
  ops: T,
  tellings: readonly Telling[],
): Promise<Store.Outcome<T>> {
  const messages = tellings.map(
    ({ wake, versionOf }): Store.Publish => ({ op: 'publish', message: wake, versionOf }),
  );
  const steps: readonly Store.Operation[] = [...ops, ...messages];
  return (await store.apply({ session: code }, steps)) as Store.Outcome as Store.Outcome<T>;
}

/** The most characters of a document's version, with the space before it. */
const versionChars = 20;

/**
 * Makes a message that carries a document and its version, or a message without them if they are
 * too long for the bus.
 * @param textOf makes the JSON of the document
 * @param versionOf the index of the `set` that writes the document
 */
export function messageOf(
  { store }: Pick<RelaySettings, 'store'>,
  wake: 'log:application' | `call:${string}`,
  textOf: () => string,
  versionOf: number,
): Telling {
  const most = store.maxMessageChars;
  if (most === undefined) return { wake };
  const text = textOf();
  return wake.length + 1 + text.length + versionChars <= most
    ? { wake: `${wake} ${text}` as Wake, versionOf }
    : { wake };
}

/** A document that a message carries. */
export interface Carried<D> {
  readonly document: D;
  readonly version: number;
}

/** Reads the document from a message that {@link messageOf} made; undefined if it carries none. */
export function carriedBy<D>(
  message: Wake | undefined,
  wake: 'log:application' | `call:${string}`,
): Carried<D> | undefined {
  if (message === undefined || !message.startsWith(`${wake} {`)) return undefined;
  const end = message.lastIndexOf(' ');
  try {
    return {
      document: JSON.parse(message.slice(wake.length + 1, end)) as D,
      version: Number(message.slice(end + 1)),
    };
  } catch {
    // The message is about another call, whose id begins with this one.
    return undefined;
  }
}

// Sends the progress of calls in messages. A report goes from the node that the application has
// sent it to, to the node that runs the call, and from there to the nodes that agents listen to.
// Progress is not stored, so an agent that does not listen misses it.

const heardPrefix = 'progress:';
/** The most bytes of the text of a report, because every agent that listens gets it. */
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
