/** How whole outputs are kept of which a model saw only the beginning. */

import type { Store } from './store.ts';

/** How outputs over their budget are kept, for `outputStrategy: "offload"`. */
export interface OffloadOptions {
  /**
   * Keeps the outputs. @default `store` of the registry, or `memoryStore()` on its clock
   */
  readonly store?: Store | undefined;
  /**
   * The most UTF-8 bytes that one session keeps, and that one output may have. The oldest outputs
   * of the session are removed first. A longer output is cut instead. From 1 to 2^26.
   * @default 4_194_304
   */
  readonly maxBytes?: number | undefined;
  /** Milliseconds for which an output is kept. Above 0, at most 2^31-1. @default 3_600_000 */
  readonly ttlMs?: number | undefined;
}
