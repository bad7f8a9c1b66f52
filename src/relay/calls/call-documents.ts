/** The documents of calls on their way to the application, changed by compare-and-set. */
import { type CallDocument, keys } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';

/** Calls as they are written down. */
export interface CallDocuments {
  /** Writes one down; false where it is there already, or the session is gone. */
  create(code: string, id: string, document: CallDocument): Promise<boolean>;
  read(code: string, id: string): Promise<CallDocument | undefined>;
  /**
   * Changes one; `change` gives undefined where nothing is to change. The document as it then is;
   * undefined where there is none.
   */
  change(
    code: string,
    id: string,
    change: (document: CallDocument) => CallDocument | undefined,
  ): Promise<CallDocument | undefined>;
  /**
   * Nobody waits for it any more: what is left says that it was there. True where it was open until
   * then, for the one who closed it.
   */
  end(code: string, id: string): Promise<boolean>;
  /** Removes one that has ended. */
  forget(code: string, id: string): Promise<void>;
}

/** @param store rejects where it cannot be reached, and so do these */
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
    async end(code, id) {
      let wasOpen = false;
      await change(code, id, ({ args: _args, answer: _answer, ...rest }) => {
        wasOpen = rest.state === 'open';
        return rest.state === 'ended' ? undefined : { ...rest, state: 'ended' };
      });
      return wasOpen;
    },
    async forget(code, id) {
      const found = await find(code, id);
      if (found?.document.state === 'ended') await store.delete(code, keys.call(id), found.version);
    },
  };
}
