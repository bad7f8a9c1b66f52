/** The option `idempotency` of registries, and what a registry keeps for it. */

import {
  duration,
  readOptions,
  type TableOf,
  withDefault,
  withMethods,
} from '../../values/options/index.ts';
import { memoryIdempotency } from './memory-idempotency.ts';
import type { IdempotencyStore } from './store.ts';

/** What is kept of calls with an idempotency key. */
export interface IdempotencyOptions {
  /**
   * Keeps the outcomes: `memoryIdempotency()`, `redisIdempotency({ client })` or your own.
   * @default memoryIdempotency() on the registry's clock
   */
  readonly store?: IdempotencyStore | undefined;
  /**
   * Milliseconds for which an outcome is kept. Above 0, at most 2^31-1 (over 24 days).
   * @default 86_400_000
   */
  readonly ttlMs?: number | undefined;
  /**
   * Milliseconds after which a process that has not renewed its claim counts as dead. A claim is
   * renewed three times within this time. Above 0, at most 2^31-1.
   * @default 10_000
   */
  readonly leaseMs?: number | undefined;
}

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
