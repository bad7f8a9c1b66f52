/** The option `undo` of registries, and what a registry shares for it. */

import type { UndoOptions } from '../../api/registry.ts';
import type { Store } from '../../api/store.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import {
  type BoundedStore,
  bounded,
  canKeep,
  keeper,
  storeOption,
} from '../../stores/shared/use-store.ts';
import { duration, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import { undoUse } from './undone-in.ts';

const table = {
  store: storeOption,
  ttlMs: withDefault(duration, 86_400_000),
} satisfies TableOf<UndoOptions>;

export interface Undo {
  readonly store: Store;
  /** The same one. A step fails that is not answered in time. */
  readonly asked: BoundedStore;
  readonly ttlMs: number;
  /** Calls that are being kept, by session and id. They never reject. */
  readonly saving: Map<string, Promise<void>>;
  /** Numbers the calls of this process. */
  seq: number;
  /** Whether some tool has `revert`. */
  reverts: boolean;
}

/**
 * @param shared The store of the registry. It is used if it can keep calls.
 * @throws MisuseError `invalid_option`, which names the option.
 */
export function readUndo(
  options: UndoOptions | undefined,
  { now, settings: { policyTimeoutMs } }: RegistryState,
  shared: Store | undefined,
  ports: { usesStore: boolean },
): Undo {
  const where = 'HostToolRegistry';
  const { store: own, ttlMs } = readOptions(where, options, table, { path: 'undo' });
  const isAsked = options !== undefined || (shared !== undefined && canKeep(shared, undoUse));
  // A store that nobody gave for this purpose may be used for nothing else.
  const mark = options === undefined ? { usesStore: false } : ports;
  const given = isAsked ? keeper(where, 'undo.store', own, shared, undoUse, mark) : undefined;
  const store = given ?? memoryStore({ now });
  return {
    store,
    asked: bounded(store, policyTimeoutMs),
    ttlMs,
    saving: new Map(),
    seq: 0,
    reverts: false,
  };
}
