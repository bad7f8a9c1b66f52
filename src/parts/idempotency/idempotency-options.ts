/** The option `idempotency` of registries, and what a registry keeps for it. */

import type { IdempotencyOptions, IdempotencyStore } from '../../api/idempotency.ts';
import type { Store } from '../../api/store.ts';
import { keeper, storeOr } from '../../stores/shared/use-store.ts';
import { duration, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import { idempotencyIn } from './idempotency-in.ts';
import { memoryIdempotency } from './memory-idempotency.ts';

const table = {
  store: storeOr<IdempotencyStore>(['claim', 'renew', 'finish', 'release']),
  ttlMs: withDefault(duration, 86_400_000),
  leaseMs: withDefault(duration, 10_000),
} satisfies TableOf<IdempotencyOptions>;

/** What the calls of a registry share. */
export interface Idempotency {
  readonly store: IdempotencyStore;
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
    keeper(where, 'idempotency.store', own, shared, idempotencyIn, ports) ??
    memoryIdempotency({ now });
  return { store, ttlMs, leaseMs, waiting: new Map(), saving: new Set() };
}
