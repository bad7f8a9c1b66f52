/** Operations on a session, and the messages that tell the nodes of them. */
import type { Hub } from '../hub.ts';
import type { Wake } from '../ports/documents.ts';
import type { Applied } from '../ports/store.ts';
import type { StoreOp } from '../ports/store-ops.ts';
import type { RelaySettings } from '../settings.ts';

/** A message that is sent once the operations have taken place. */
export interface Telling {
  readonly wake: Wake;
  /** Adds a space and the version that the `set` of this index has given. */
  readonly versionOf?: number;
}

/** What is needed to change a session and to tell of it. */
export interface Change {
  readonly settings: Pick<RelaySettings, 'store' | 'bus'>;
  readonly hub: Pick<Hub, 'wake'>;
}

/**
 * Carries out operations on a session. If they have taken place, the messages are sent: by the store
 * in the same step if it can reach the listeners of the bus, otherwise afterwards.
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

/** Characters that the version of a document takes at most, with the space before it. */
const versionChars = 20;
/** Most characters of the messages of a bus that says nothing about it. */
const usualChars = 1_000;

/**
 * A message with a document, to which its version is added; without them if the bus cannot carry so
 * much.
 * @param textOf makes the JSON of the document
 */
export function tellingOf(
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

/** The document that a message {@link tellingOf} carries; undefined if it carries none. */
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
    // A message for another id that begins with this one: it is none of ours.
    return undefined;
  }
}
