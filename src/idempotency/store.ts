/** The port for stores that keep the outcomes of calls with an idempotency key. */
import type { MaybePromise } from '../maybe-promise.ts';

/** What a call asks for before it runs. */
export interface IdempotencyClaim {
  /**
   * A digest of the idempotency key, the tool and whoever the call acts for: 64 hexadecimal digits.
   */
  readonly key: string;
  /** A digest of the canonical input: 64 hexadecimal digits. */
  readonly input: string;
  /** Who asks: a random id of this call. It may ask again, and is then answered the same. */
  readonly holder: string;
  /** Milliseconds for which the claim counts unless it is renewed. From 1. */
  readonly leaseMs: number;
  /** Milliseconds for which a claim whose holder is lost is remembered. From 1. */
  readonly ttlMs: number;
  /** Whether the call may run where the lease of another holder is over: its tool is idempotent. */
  readonly takeOver: boolean;
}

/** The answer to a claim. */
export type ClaimAnswer =
  /** The key is this holder's: its call may run. */
  | { readonly state: 'claimed' }
  /** Another holder's call runs. `leaseMs` is what is left of its lease, above 0. */
  | { readonly state: 'running'; readonly leaseMs: number }
  /** The lease of another holder is over, and the call has no outcome. */
  | { readonly state: 'lost' }
  /** The call has ended with this outcome. */
  | { readonly state: 'done'; readonly outcome: string }
  /** The key was used with another input. */
  | { readonly state: 'conflict' };

/**
 * Keeps one record under each key: who holds it with which input, and later the outcome. Every
 * method is one atomic step. Leases and times to live run by the clock of the store.
 *
 * A store may answer at once or with a promise. One that throws, rejects, answers something else or
 * takes longer than the registry's `policyTimeoutMs` refuses the call before it runs
 * (`policy_error`, reason `idempotency_unavailable`). A claim whose answer comes too late is
 * released.
 */
export interface IdempotencyStore {
  /**
   * Takes the key for a holder, or says what is known about it. The input is compared first. The
   * record is remembered for `leaseMs` and then for `ttlMs`.
   */
  claim(claim: IdempotencyClaim): MaybePromise<ClaimAnswer>;
  /**
   * Lets a holder's lease begin anew. False, and nothing happens, if the key is not this holder's
   * or its call has ended. A lease that was over begins again, unless another holder has taken
   * over.
   */
  renew(
    key: string,
    holder: string,
    times: Pick<IdempotencyClaim, 'leaseMs' | 'ttlMs'>,
  ): MaybePromise<boolean>;
  /**
   * Keeps the outcome for `ttlMs`, also if the lease was over. False, and nothing happens, if the
   * key is not this holder's or has an outcome.
   */
  finish(key: string, holder: string, outcome: string, ttlMs: number): MaybePromise<boolean>;
  /**
   * Forgets the key, because the call never started. Does nothing if it is not this holder's or has
   * an outcome.
   */
  release(key: string, holder: string): MaybePromise<void>;
}
