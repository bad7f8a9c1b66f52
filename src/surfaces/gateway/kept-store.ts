/** The store of the commands that keep something, as the files of a gateway use it. */
import type { Store } from '../../extend.ts';
import type { StoreEntry } from '../config/server-format.ts';

/** A store that was opened before the files were loaded. */
export interface KeptStore {
  /** Undefined for a folder. */
  readonly store: Store | undefined;
  /** The folder; undefined for a store. */
  readonly folder: string | undefined;
  /** Signs approvals that are kept in a store. */
  readonly secret: Uint8Array | undefined;
  /** Why the store that a file names cannot be used; undefined if it is this one. */
  problem(file: string, entry: StoreEntry): string | undefined;
}

const approvals = { shared: 'approvals' } as const;
const key = 'secret of the command line';

/**
 * The secret with which the commands sign the approvals of a store. It lies beside them, since
 * whoever can write approvals there can do what tokens are good for.
 */
export async function storedSecret(store: Store): Promise<Uint8Array> {
  const found = await readSecret(store);
  if (found !== undefined) return found;
  const made = crypto.getRandomValues(new Uint8Array(32));
  await writeSecret(store, made);
  // Another process may have been first.
  return (await readSecret(store)) ?? made;
}

export async function readSecret(store: Store): Promise<Uint8Array | undefined> {
  const { results } = await store.apply(approvals, [{ op: 'get', keys: [key] }]);
  const value = results?.[0][0]?.value;
  return value === undefined ? undefined : Buffer.from(value, 'base64url');
}

/** Keeps a secret, unless there is one. */
export async function writeSecret(store: Store, secret: Uint8Array): Promise<void> {
  const value = Buffer.from(secret).toString('base64url');
  await store.apply(approvals, [{ op: 'set', key, value, version: 0 }]);
}
