/** How a call with an idempotency key runs at most once. */

import type { Store } from './store.ts';

/** What is kept of calls with an idempotency key. */
export interface IdempotencyOptions {
  /**
   * Keeps the outcomes. @default `store` of the registry, or `memoryStore()` on its clock
   */
  readonly store?: Store | undefined;
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
