/** How a call with an idempotency key runs at most once. */

import type { MaybePromise } from '../values/maybe-promise.ts';
import type { Store } from './store.ts';

/** What is kept of calls with an idempotency key. */
export interface IdempotencyOptions {
  /**
   * Keeps the outcomes: a store, `memoryIdempotency()`, `redisIdempotency({ client })` or your own.
   * @default `store` of the registry, or memoryIdempotency() on its clock
   */
  readonly store?: IdempotencyStore | Store | undefined;
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

/** What a call requests before it runs. */
export interface IdempotencyClaim {
  /**
   * A digest of the idempotency key, the tool and the session's principal: 64 hexadecimal digits.
   */
  readonly key: string;
  /** A digest of the canonical input: 64 hexadecimal digits. */
  readonly input: string;
  /** The holder: a random id of this call. If it asks again, it gets the same answer. */
  readonly holder: string;
  /** Milliseconds for which the claim counts unless it is renewed. From 1. */
  readonly leaseMs: number;
  /** Milliseconds for which a claim is remembered after its holder is lost. From 1. */
  readonly ttlMs: number;
  /**
   * Whether the call may run after the lease of another holder has ended, because its tool is
   * idempotent.
   */
  readonly takeOver: boolean;
}

/** The answer to a claim. */
export type ClaimAnswer =
  /** This holder has the key, and its call may run. */
  | { readonly state: 'claimed' }
  /** Another holder's call is running. `leaseMs` is the rest of its lease, above 0. */
  | { readonly state: 'running'; readonly leaseMs: number }
  /** The lease of another holder has ended, and the call has no outcome. */
  | { readonly state: 'lost' }
  /** The call has ended with this outcome. */
  | { readonly state: 'done'; readonly outcome: string }
  /** The key was used with another input. */
  | { readonly state: 'conflict' };

/**
 * Keeps one record under each key: who holds it with which input, and later the outcome. Every
 * method is one atomic step. Leases and times to live use the clock of the store.
 *
 * A store may answer at once or with a promise. One that throws, rejects, answers something else or
 * takes longer than the registry's `policyTimeoutMs` refuses the call before it runs
 * (`policy_error`, reason `idempotency_unavailable`). A claim whose answer comes too late is
 * released.
 */
export interface IdempotencyStore {
  /**
   * Takes the key for a holder, or returns what is known about it. The input is compared first. The
   * record is remembered for `leaseMs` and then for `ttlMs`.
   */
  claim(claim: IdempotencyClaim): MaybePromise<ClaimAnswer>;
  /**
   * Restarts a holder's lease. False, without a change, if this holder does not have the key or its
   * call has ended. A lease that had ended starts again, unless another holder has taken over.
   */
  renew(
    key: string,
    holder: string,
    times: Pick<IdempotencyClaim, 'leaseMs' | 'ttlMs'>,
  ): MaybePromise<boolean>;
  /**
   * Keeps the outcome for `ttlMs`, even if the lease has ended. False, without a change, if this
   * holder does not have the key or the key has an outcome.
   */
  finish(key: string, holder: string, outcome: string, ttlMs: number): MaybePromise<boolean>;
  /**
   * Forgets the key, because the call never started. Does nothing if this holder does not have the
   * key, or if it has an outcome.
   */
  release(key: string, holder: string): MaybePromise<void>;
}
