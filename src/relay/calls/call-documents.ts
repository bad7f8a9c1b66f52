/** The documents of calls to the application, changed by compare-and-set. */
import { type CallDocument, keys } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';

/** Reads and writes the documents of calls. */
export interface CallDocuments {
  /** Stores a new call. False if it is already stored or the session is gone. */
  create(code: string, id: string, document: CallDocument): Promise<boolean>;
  read(code: string, id: string): Promise<CallDocument | undefined>;
  /**
   * Changes a call. `change` returns undefined to change nothing.
   * @returns the document after the change; undefined for an unknown call
   */
  change(
    code: string,
    id: string,
    change: (document: CallDocument) => CallDocument | undefined,
  ): Promise<CallDocument | undefined>;
  /**
   * Ends a call that has no waiting caller. The rest of the document shows that the call existed.
   * @param applies says whether to end the call that is stored. @default always
   * @returns true for the caller that ended an open call
   */
  end(code: string, id: string, applies?: (document: CallDocument) => boolean): Promise<boolean>;
  /** Removes a call that has ended. */
  forget(code: string, id: string): Promise<void>;
}

/** Makes the documents of calls. Each method rejects when the store does. */
export function createCallDocuments(store: RelayStore): CallDocuments {
  const find = async (
    code: string,
    id: string,
  ): Promise<{ document: CallDocument; version: number } | undefined> => {
    const [stored] = await store.get(code, [keys.call(id)]);
    return stored === undefined
      ? undefined
      : { document: JSON.parse(stored.value) as CallDocument, version: stored.version };
  };
  const change: CallDocuments['change'] = async (code, id, next) => {
    for (;;) {
      const found = await find(code, id);
      if (found === undefined) return undefined;
      const document = next(found.document);
      if (document === undefined) return found.document;
      if (
        (await store.set(code, keys.call(id), JSON.stringify(document), found.version)) !==
        undefined
      )
        return document;
    }
  };
  return {
    create: async (code, id, document) =>
      (await store.set(code, keys.call(id), JSON.stringify(document), 0)) !== undefined,
    read: async (code, id) => (await find(code, id))?.document,
    change,
    async end(code, id, applies = () => true) {
      let wasOpen = false;
      await change(code, id, (document) => {
        const { args: _args, answer: _answer, ...rest } = document;
        const ends = rest.state !== 'ended' && applies(document);
        wasOpen = ends && rest.state === 'open';
        return ends ? { ...rest, state: 'ended' } : undefined;
      });
      return wasOpen;
    },
    async forget(code, id) {
      const found = await find(code, id);
      if (found?.document.state === 'ended') await store.delete(code, keys.call(id), found.version);
    },
  };
}
