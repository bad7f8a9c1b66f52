/** The option `idempotency` of registries, and what a registry keeps for it. */

import type { IdempotencyOptions } from '../../api/registry.ts';
import type { Store } from '../../api/store.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import { keeper, storeOption } from '../../stores/shared/use-store.ts';
import { duration, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import { KeysIn, keyUse } from './idempotency-in.ts';

const table = {
  store: storeOption,
  ttlMs: withDefault(duration, 86_400_000),
  leaseMs: withDefault(duration, 10_000),
} satisfies TableOf<IdempotencyOptions>;

/** What the calls of a registry share. */
export interface Idempotency {
  readonly store: Store;
  readonly keys: KeysIn;
  readonly ttlMs: number;
  readonly leaseMs: number;
  /**
   * The calls of this registry that wait for another call with their key. They are woken to look
   * again.
   */
  readonly waiting: Map<string, Set<() => void>>;
  /** Outcomes that are being saved. They never reject. */
  readonly saving: Set<Promise<void>>;
}

/**
 * @param shared The store of the registry.
 * @throws MisuseError `invalid_option`, which names the option.
 */
export function readIdempotency(
  options: IdempotencyOptions,
  { now }: { readonly now: () => number },
  where: string,
  shared: Store | undefined,
  ports: { usesStore: boolean },
): Idempotency {
  const read = readOptions(where, options, table, { path: 'idempotency' });
  const { store: own, ttlMs, leaseMs } = read;
  const store =
    keeper(where, 'idempotency.store', own, shared, keyUse, ports) ?? memoryStore({ now });
  return { store, keys: new KeysIn(store), ttlMs, leaseMs, waiting: new Map(), saving: new Set() };
}
