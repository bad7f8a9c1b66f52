/** How features use the one store: whether a value is one, what it must have, and names in it. */
import type { Store } from '../../api/store.ts';
import { sha256 } from '../../values/crypto.ts';
import { inProcess, isInProcess } from '../../values/limits/in-process.ts';
import { type Kind, kind, withMethods, wrongOption } from '../../values/options/index.ts';

const methods = withMethods<Store>(['apply', 'schedule', 'due', 'listen', 'ping', 'close']);

/** Whether a value is a store. */
function isStore(value: unknown): value is Store {
  return methods.accepts(value) && typeof (value as Store).kind === 'string';
}

/** The option `store` of a registry. */
export const storeOption: Kind<Store> = kind(
  'a store, such as memoryStore() of host-tools',
  isStore,
);

/** An option for a store, or for an object with methods to keep only one feature's data. */
export function storeOr<T>(names: readonly (string & keyof T)[]): Kind<Store | T> {
  const own = withMethods<T>(names);
  return kind(
    `${own.expected}, or a store such as memoryStore() of host-tools`,
    (value) => isStore(value) || own.accepts(value),
  );
}

/** What a feature does with a store. */
export interface Use<T> {
  /** The feature, for messages. */
  readonly what: string;
  /** The operations that it needs. */
  readonly needs: readonly Store.Operation['op'][];
  /** The feature as logic over the store. */
  readonly over: (store: Store) => T;
}

/** Whether a store has all operations that a feature needs. */
export function canKeep(store: Store, use: Pick<Use<unknown>, 'needs'>): boolean {
  return lacking(store, use) === undefined;
}

function lacking(store: Store, { needs }: Pick<Use<unknown>, 'needs'>): string | undefined {
  return needs.find((op) => store.lacks?.includes(op) === true);
}

/**
 * What keeps a feature's data: its own object as given, or the logic over a store.
 * @param option The option that has it, for the error.
 * @throws MisuseError `invalid_option` for a store that lacks an operation
 */
export function kept<T extends object>(
  where: string,
  option: string,
  given: Store | T,
  use: Use<T>,
): T {
  if (!isStore(given)) return given;
  const op = lacking(given, use);
  if (op !== undefined)
    throw wrongOption(
      where,
      option,
      `a store with the operation \`${op}\`, which ${use.what} need, such as ` +
        'memoryStore() or postgresStore()',
      given,
    );
  const made = use.over(given);
  return isInProcess(given) ? inProcess(made) : made;
}

/**
 * What keeps a feature's data: its own option if it is given, otherwise the registry's store.
 * @param ports Told that the registry's store is used.
 * @returns undefined if there is neither
 * @throws MisuseError as {@link kept}
 */
export function keeper<T extends object>(
  where: string,
  option: string,
  own: Store | T | undefined,
  shared: Store | undefined,
  use: Use<T>,
  ports: { usesStore: boolean },
): T | undefined {
  if (own !== undefined) return kept(where, option, own, use);
  if (shared === undefined) return undefined;
  ports.usesStore = true;
  return kept(where, 'store', shared, use);
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
