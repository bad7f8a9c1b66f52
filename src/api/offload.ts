/** How whole outputs are kept of which a model saw only the beginning. */

import type { MaybePromise } from '../values/maybe-promise.ts';
import type { Store } from './store.ts';

/** How outputs over their budget are kept, for `outputStrategy: "offload"`. */
export interface OffloadOptions {
  /**
   * Keeps the outputs: a store, `memoryOffload()`, `fileOffload({ dir })`,
   * `redisOffload({ client })` or your own.
   * @default `store` of the registry, or memoryOffload() on its clock
   */
  readonly store?: OffloadStore | Store | undefined;
  /**
   * The most UTF-8 bytes that one session keeps, and that one output may have. The oldest outputs
   * of the session are removed first. A longer output is cut instead. From 1 to 2^26.
   * @default 4_194_304
   */
  readonly maxBytes?: number | undefined;
  /** Milliseconds for which an output is kept. Above 0, at most 2^31-1. @default 3_600_000 */
  readonly ttlMs?: number | undefined;
}

/** An output to keep. */
export interface OffloadedOutput {
  /** A digest of the session and its principal: 64 hexadecimal digits. */
  readonly session: string;
  /** A digest of the handle: 64 hexadecimal digits. Each is used once. */
  readonly key: string;
  /** The whole output as text. Its UTF-8 is at most `maxBytes` long. */
  readonly text: string;
  /** What the library remembers about it, in at most 1 000 characters. Returned unchanged. */
  readonly about: string;
  /**
   * The most UTF-8 bytes of all texts of the session. If there would be more, the oldest texts of
   * the session are dropped.
   */
  readonly maxBytes: number;
  /** Milliseconds for which the output is kept. From 1. */
  readonly ttlMs: number;
}

/**
 * Keeps outputs by session and key. A store may answer at once or with a promise. If `put` throws,
 * rejects or takes longer than the registry's `policyTimeoutMs`, the output is cut, as if there
 * were no store. If `get` does, reading fails (reason `offload_unavailable`). A store may drop
 * outputs early.
 */
export interface OffloadStore {
  /** Keeps an output. If the session has too many bytes, its oldest outputs are dropped. */
  put(output: OffloadedOutput): MaybePromise<void>;
  /** The output under the key; undefined if this session has none. */
  get(
    session: string,
    key: string,
  ): MaybePromise<Pick<OffloadedOutput, 'text' | 'about'> | undefined>;
}
