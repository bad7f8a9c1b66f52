/** Carries out operations on a session, and sends the messages that tell the nodes about them. */

import type { JsonObject, ToolContext, ToolSession } from '../../../core.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import type { Hub } from '../hub.ts';
import type { CallProgress, Wake } from '../ports/documents.ts';
import type { Applied } from '../ports/store.ts';
import type { StoreOp } from '../ports/store-ops.ts';
import type { RelaySettings } from '../settings.ts';

/** A message that is sent once the operations have taken place. */
export interface Telling {
  readonly wake: Wake;
  /** The index of a `set`. A space and the version that it returned are appended to the message. */
  readonly versionOf?: number;
}

/** The parts of a node that change a session and tell the other nodes about it. */
export interface Change {
  readonly settings: Pick<RelaySettings, 'store' | 'bus'>;
  readonly hub: Pick<Hub, 'wake'>;
}

/**
 * Carries out operations on a session, and sends the messages if the operations have taken place. A
 * store that can reach the listeners of the bus sends them in the same step. Otherwise they are
 * sent afterwards.
 */
export async function applyAndWake<const T extends readonly StoreOp[]>(
  { settings: { store, bus }, hub }: Change,
  code: string,
  ops: T,
  tellings: readonly Telling[],
): Promise<Applied<T>> {
  if (store.carrier !== undefined && store.carrier === bus.carrier) {
    const messages = tellings.map(
      ({ wake, versionOf }): StoreOp => ({ op: 'publish', message: wake, versionOf }),
    );
    return (await store.apply(code, [...ops, ...messages])) as Applied as Applied<T>;
  }
  const applied = await store.apply(code, ops);
  if (applied.results !== undefined)
    for (const { wake, versionOf } of tellings)
      hub.wake(
        code,
        versionOf === undefined ? wake : (`${wake} ${applied.results[versionOf]}` as Wake),
      );
  return applied;
}

/** The most characters of a document's version, with the space before it. */
const versionChars = 20;
/** The most characters of a message if the bus sets no limit. */
const usualChars = 1_000;

/**
 * Makes a message that carries a document and its version, or a message without them if they are
 * too long for the bus.
 * @param textOf makes the JSON of the document
 * @param versionOf the index of the `set` that writes the document
 */
export function messageOf(
  { bus }: Pick<RelaySettings, 'bus'>,
  wake: 'log:application' | `call:${string}`,
  textOf: () => string,
  versionOf: number,
): Telling {
  const most = bus.maxMessageChars ?? usualChars;
  if (most === 0) return { wake };
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

// Sends the progress of calls over the bus. A report goes from the node that the application has
// sent it to, to the node that runs the call, and from there to the nodes that agents listen to.
// Progress is not stored, so an agent that does not listen misses it.

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
