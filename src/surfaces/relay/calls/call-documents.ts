/** Reads and changes the documents of calls to the application, by compare-and-set. */
import type { Store } from '../../../extend.ts';
import { type CallDocument, keys } from '../ports/documents.ts';
import { documentsOf, type KeptStore } from '../ports/kept-store.ts';
import { busy } from './session-document.ts';

/** The most tries to change a call. Other nodes may change it at the same time. */
export const maxTries = 20;

/** A document, and the version that the next write has to name. */
export interface FoundCall {
  readonly document: CallDocument;
  readonly version: number;
}

/** Finds a call. */
export async function findCall(
  store: KeptStore,
  code: string,
  id: string,
): Promise<FoundCall | undefined> {
  const [stored] = await documentsOf(store, code, [keys.call(id)]);
  return callIn(stored);
}

/** Reads a call from a stored value. */
export function callIn(stored: Store.Document | undefined): FoundCall | undefined {
  return stored && { document: JSON.parse(stored.value) as CallDocument, version: stored.version };
}

/** Makes the operation that writes a call over the version that was found. */
export function writeCall(id: string, { document, version }: FoundCall): SetCall {
  return { op: 'set', key: keys.call(id), value: JSON.stringify(document), version };
}

type SetCall = Store.Set;

/**
 * Changes a call, and tries again if it has been changed in the meantime.
 * @param next makes the document after the change; undefined to change nothing
 * @param write carries out the operation that writes the document; resolves to false if the version
 * has changed
 * @returns the document after the change; undefined for an unknown call
 * @throws RelayError 503 `busy`
 */
export async function changeCall(
  store: KeptStore,
  code: string,
  id: string,
  next: (document: CallDocument) => CallDocument | undefined,
  write: (op: SetCall) => Promise<boolean>,
): Promise<CallDocument | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await findCall(store, code, id);
    if (found === undefined) return undefined;
    const document = next(found.document);
    if (document === undefined) return found.document;
    if (await write(writeCall(id, { document, version: found.version }))) return document;
  }
  throw busy();
}

/**
 * Makes the document that is kept of an ended call, so that a late answer is recognized. It is
 * removed once the call's entry is dropped from the log.
 */
export function endedCall(document: CallDocument): CallDocument {
  return { ...withoutArgs(document), state: 'ended' };
}

/**
 * Copies a call without its arguments and its answer. Naming the members costs less than copying
 * the rest.
 */
export function withoutArgs(document: CallDocument): CallDocument {
  const { tool, deadline, idempotent, attempt, epoch, client, state } = document;
  return client === undefined
    ? { tool, deadline, idempotent, attempt, epoch, state }
    : { tool, deadline, idempotent, attempt, epoch, client, state };
}
