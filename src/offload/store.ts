/** The port for stores that keep outputs whole which a model was shown only the beginning of. */
import type { MaybePromise } from '../maybe-promise.ts';

/** An output to keep. */
export interface OffloadedOutput {
  /** A digest of the session and of whoever it acts for: 64 hexadecimal digits. */
  readonly session: string;
  /** A digest of the handle: 64 hexadecimal digits. Not used before. */
  readonly key: string;
  /** The whole output as text. Its UTF-8 is at most `maxBytes` long. */
  readonly text: string;
  /** What the library remembers of it, in at most 1 000 characters. Given back as it is. */
  readonly about: string;
  /**
   * The most bytes of UTF-8 of all texts of the session. If there would be more, the oldest texts
   * of the session are dropped.
   */
  readonly maxBytes: number;
  /** Milliseconds for which the output is kept. From 1. */
  readonly ttlMs: number;
}

/**
 * Keeps outputs by session and key. A store may answer at once or with a promise. If `put` throws,
 * rejects or takes longer than the registry's `policyTimeoutMs`, the output is cut as without a
 * store; if `get` does, reading fails (reason `offload_unavailable`). A store may drop outputs
 * early.
 */
export interface OffloadStore {
  /** Keeps an output, and drops the oldest ones of its session where they are too many bytes. */
  put(output: OffloadedOutput): MaybePromise<void>;
  /** The output under the key; undefined if this session has none. */
  get(
    session: string,
    key: string,
  ): MaybePromise<Pick<OffloadedOutput, 'text' | 'about'> | undefined>;
}
