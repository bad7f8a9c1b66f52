/** The store as the parts of a relay use it, and the steps that they take most. */
import type { Store } from '../../../extend.ts';
import { isRelayError, storeUnavailable } from '../relay-error.ts';

/** The store of a relay. It rejects only with the relay error `store_unavailable`. */
export interface KeptStore extends Pick<Store, 'listen' | 'maxMessageChars'> {
  apply<const T extends readonly Store.Operation[]>(
    space: Store.Space,
    operations: T,
  ): Promise<Store.Outcome<T>>;
  schedule(
    items: readonly Store.Item[],
    delayMs: number,
    done?: readonly Store.Item[],
  ): Promise<void>;
  due(limit: number, delayMs: number): Promise<readonly Store.Item[]>;
  ping(): Promise<void>;
}

/** What a relay needs of a store. */
export const neededOperations = [
  'open',
  'extend',
  'drop',
  'get',
  'set',
  'touch',
  'delete',
  'append',
  'read',
  'count',
  'publish',
] as const satisfies readonly Store.Operation['op'][];

/** Converts the failures of the host's store. Its owner closes it. */
export function keptStore(store: Store, report: (kind: string, error: unknown) => void): KeptStore {
  const guard =
    <A extends unknown[], R>(operation: (...args: A) => R) =>
    async (...args: A): Promise<Awaited<R>> => {
      try {
        return await operation.apply(store, args);
      } catch (error) {
        if (isRelayError(error)) throw error;
        report('store', error);
        throw storeUnavailable(error);
      }
    };
  return {
    maxMessageChars: store.maxMessageChars,
    apply: guard(store.apply) as KeptStore['apply'],
    schedule: guard(store.schedule),
    due: guard(store.due),
    listen: guard(store.listen),
    ping: guard(store.ping),
  };
}

/** Reads documents of a session, in the order of their keys. */
export async function documentsOf(
  store: Pick<KeptStore, 'apply'>,
  code: string,
  keys: readonly string[],
): Promise<readonly (Store.Document | undefined)[]> {
  return (await store.apply({ session: code }, [{ op: 'get', keys }])).results?.[0] ?? [];
}

/**
 * Writes a document of a session.
 * @returns the new version; undefined if the document has another version than `version`, or if the
 * session is gone
 */
export async function writeDocument(
  store: Pick<KeptStore, 'apply'>,
  code: string,
  key: string,
  value: string,
  version?: number,
): Promise<number | undefined> {
  const set = { op: 'set', key, value, version } as const;
  return (await store.apply({ session: code }, [set])).results?.[0];
}

/** Removes a document of a session. True for the caller that removed it. */
export async function removeDocument(
  store: Pick<KeptStore, 'apply'>,
  code: string,
  key: string,
  version?: number,
): Promise<boolean> {
  const remove = { op: 'delete', key, version } as const;
  return (await store.apply({ session: code }, [remove])).results?.[0] === true;
}
