/** The option `idempotency` of registries, and what a registry keeps for it. */

import type { IdempotencyOptions, IdempotencyStore } from '../../api/idempotency.ts';
import {
  duration,
  readOptions,
  type TableOf,
  withDefault,
  withMethods,
} from '../../values/options/index.ts';
import { memoryIdempotency } from './memory-idempotency.ts';

const table = {
  store: withMethods<IdempotencyStore>(['claim', 'renew', 'finish', 'release']),
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

/** @throws MisuseError `invalid_option`, which names the option. */
export function readIdempotency(
  options: IdempotencyOptions,
  now: () => number,
  where: string,
): Idempotency {
  const read = readOptions(where, options, table, { path: 'idempotency' });
  const { store = memoryIdempotency({ now }), ttlMs, leaseMs } = read;
  return { store, ttlMs, leaseMs, waiting: new Map(), saving: new Set() };
}
