/** The documents of calls to the application, changed by compare-and-set. */
import { type CallDocument, keys } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import type { StoreOp } from '../ports/store-ops.ts';
import type { StoredValue } from '../ports/stored.ts';

/** A document, and the version that the next write has to name. */
export interface FoundCall {
  readonly document: CallDocument;
  readonly version: number;
}

/** Finds a call. */
export async function findCall(
  store: RelayStore,
  code: string,
  id: string,
): Promise<FoundCall | undefined> {
  const [stored] = await store.get(code, [keys.call(id)]);
  return callIn(stored);
}

/** The call that a stored value is. */
export function callIn(stored: StoredValue | undefined): FoundCall | undefined {
  return stored && { document: JSON.parse(stored.value) as CallDocument, version: stored.version };
}

/** The operation that writes a call over the version that was found. */
export function writeCall(id: string, { document, version }: FoundCall): SetCall {
  return { op: 'set', key: keys.call(id), value: JSON.stringify(document), version };
}

type SetCall = Extract<StoreOp, { readonly op: 'set' }>;

/**
 * Changes a call, and tries again if it has been changed in the meantime.
 * @param next the document after the change; undefined to change nothing
 * @param write writes it. @returns false when the version was another
 * @returns the document after the change; undefined for an unknown call
 */
export async function changeCall(
  store: RelayStore,
  code: string,
  id: string,
  next: (document: CallDocument) => CallDocument | undefined,
  write: (op: SetCall) => Promise<boolean>,
): Promise<CallDocument | undefined> {
  for (;;) {
    const found = await findCall(store, code, id);
    if (found === undefined) return undefined;
    const document = next(found.document);
    if (document === undefined) return found.document;
    if (await write(writeCall(id, { document, version: found.version }))) return document;
  }
}

/**
 * What is left of a call that has ended, so that a late answer is recognised. It is removed when the
 * call's entry is dropped from the log.
 */
export function endedCall(document: CallDocument): CallDocument {
  return { ...withoutArgs(document), state: 'ended' };
}

/** A call without its arguments and its answer. Members by name: a copy of the rest costs more. */
export function withoutArgs(document: CallDocument): CallDocument {
  const { tool, deadline, idempotent, attempt, epoch, client, state } = document;
  return client === undefined
    ? { tool, deadline, idempotent, attempt, epoch, state }
    : { tool, deadline, idempotent, attempt, epoch, client, state };
}
