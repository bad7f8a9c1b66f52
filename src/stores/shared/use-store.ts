/** How features use the one store: whether a value is one, what it must have, and names in it. */

import type { Store } from '../../api/store.ts';
import { sha256 } from '../../values/crypto.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { type Kind, kind, withMethods, wrongOption } from '../../values/options/index.ts';

const methods = ['apply', 'schedule', 'due', 'listen', 'ping', 'close'] as const;

/** Whether a value is a store. */
function isStore(value: unknown): value is Store {
  return withMethods<Store>(methods).accepts(value) && typeof (value as Store).kind === 'string';
}

/** The option for a store, of a registry or of a feature. */
export const storeOption: Kind<Store> = kind(
  'a store, such as memoryStore() of host-tools',
  isStore,
);

/** What a feature needs of a store. */
export interface Use {
  /** The feature, for messages. */
  readonly what: string;
  /** The operations that it needs. */
  readonly needs: readonly Store.Operation['op'][];
}

/** Whether a store has all operations that a feature needs. */
export function canKeep(store: Store, use: Pick<Use, 'needs'>): boolean {
  return lacking(store, use) === undefined;
}

function lacking(store: Store, { needs }: Pick<Use, 'needs'>): string | undefined {
  return needs.find((op) => store.lacks?.includes(op) === true);
}

/**
 * The store of a feature: the one of its own option if it is given, otherwise the registry's.
 * @param option The feature's own, for the error.
 * @param ports Told that the registry's store is used.
 * @returns undefined if there is neither
 * @throws MisuseError `invalid_option` for a store that lacks an operation
 */
export function keeper(
  where: string,
  option: string,
  own: Store | undefined,
  shared: Store | undefined,
  use: Use,
  ports: { usesStore: boolean },
): Store | undefined {
  const store = own ?? shared;
  if (store === undefined) return undefined;
  if (own === undefined) ports.usesStore = true;
  return checkedStore(where, own === undefined ? 'store' : option, store, use);
}

/**
 * Refuses the store of a registry if no part keeps something in it, once all of them are there: a
 * host that gives one expects that. Each part that adds the option says so.
 */
export function expectUse(
  ports: { readonly usesStore: boolean; readonly installed: (() => void)[] },
  store: unknown,
): void {
  if (store === undefined) return;
  ports.installed.push(() => {
    if (!ports.usesStore)
      throw new MisuseError(
        'invalid_option',
        'HostToolRegistry: nothing would be kept in `store`. Leave it out, or switch on what ' +
          'uses it, without a store of its own: docs/stores.md names the features.',
      );
  });
}

/** @throws MisuseError `invalid_option` for a store that lacks an operation */
export function checkedStore(where: string, option: string, store: Store, use: Use): Store {
  const op = lacking(store, use);
  if (op === undefined) return store;
  throw wrongOption(
    where,
    option,
    `a store with the operation \`${op}\`, which ${use.what} need, such as ` +
      'memoryStore(), sqliteStore(), redisStore() or postgresStore()',
    store,
  );
}

/** The longest text that is part of a name as it is. */
const longest = 1_900;

/**
 * The name of a key, a list or a space for any text: the same for the same text, and never the one
 * of another.
 * @param prefix What it is about, in at most 50 characters.
 */
export function nameFor(prefix: string, text: string): string {
  return text.length <= longest && text.isWellFormed()
    ? `${prefix} ${text}`
    : // JSON keeps apart what UTF-8 cannot express.
      `${prefix}# ${sha256(JSON.stringify(text))}`;
}

const stores = new WeakSet<object>();

/** Marks a store. */
export function inProcess<T extends object>(store: T): T {
  stores.add(store);
  return store;
}

/** Whether a store is one of this process. Stores of a host count as shared. */
export function isInProcess(store: object): boolean {
  return stores.has(store);
}

/** What is used of a store. */
export type BoundedStore = Pick<Store, 'apply'>;

/** @param ms Milliseconds for each step. */
export function bounded(store: Store, ms: number): BoundedStore {
  return {
    apply: (space, operations) =>
      withDeadline(
        Promise.resolve().then(() => store.apply(space, operations)),
        ms,
      ),
  };
}
