/** The port for stores that keep what quotas have counted. */
import type { MaybePromise } from '../../values/maybe-promise.ts';

/**
 * An amount that a call spends under one key. Amounts are whole numbers of 10^-18, so that a store
 * adds and compares them exactly: one call, or the number 1, is `1_000_000_000_000_000_000n`.
 */
export interface QuotaSpend {
  /**
   * The sum's key: the quota and what it is counted for. 1 to 2 000 characters. Amounts under
   * different keys are independent.
   */
  readonly key: string;
  /**
   * The amount that the call adds to the sum. Above 0, at most 10^34; from 0 for
   * {@link QuotaStore.look}.
   */
  readonly amount: bigint;
  /**
   * The most that the sum may reach, from 0. Undefined if a person has agreed to more. The amount
   * is then added, whatever the sum is.
   */
  readonly max: bigint | undefined;
  /**
   * Milliseconds for which an amount counts, a whole number from 1. Always the same for a key.
   * Undefined for a quota per session: its amounts count as long as the session.
   */
  readonly windowMs: number | undefined;
  /**
   * For a quota per session: an object that lives as long as this session in this process. A store
   * in memory must not forget the key before this object is garbage-collected, and must not keep it
   * alive. Other stores ignore it.
   */
  readonly session?: object | undefined;
  /**
   * The principal of the session. A store whose room is bounded shares it among the principals, so
   * that one cannot use it up for all. Other stores ignore it.
   */
  readonly holder?: string | undefined;
}

/** How a sum and an amount compare. */
export interface QuotaUse {
  /** The sum without the amount, in units of 10^-18. */
  readonly used: bigint;
  /**
   * Milliseconds until the amount would fit, if nothing else is spent. It is never too short. 0 if
   * the amount fits now; undefined if waiting does not help.
   */
  readonly retryAfterMs: number | undefined;
}

/** The answer to a reservation: all amounts were added, or none was. */
export type QuotaAnswer =
  | {
      /** What {@link QuotaStore.giveBack} takes. Any object. */
      readonly reservation: object;
    }
  | {
      /** One for each amount, in the same order. At least one of the amounts does not fit. */
      readonly refused: readonly QuotaUse[];
    };

/**
 * Keeps what has been spent under each key. `reserve` is one atomic step, so that simultaneous
 * calls, in any number of processes, never get more than `max` together. Windows slide: an amount
 * counts from its reservation until it is `windowMs` old, by the clock of the store.
 *
 * A store may answer at once or with a promise. One that throws, rejects, answers something else or
 * takes longer than the registry's `policyTimeoutMs` refuses the call as `quota_unavailable`. An
 * answer that comes too late is given back. If an answer is lost, its amounts may stay spent.
 */
export interface QuotaStore {
  /**
   * Adds all of the amounts, or none. An amount fits if it and the sum together are at most `max`.
   * The keys differ from each other.
   */
  reserve(spends: readonly QuotaSpend[]): MaybePromise<QuotaAnswer>;
  /**
   * Subtracts the amounts of a reservation, because its call never started. It does nothing the
   * second time, or after the amounts have left their windows.
   */
  giveBack(reservation: object): MaybePromise<void>;
  /** Returns the sums under the keys, one for each amount, in the same order. Changes nothing. */
  look(spends: readonly QuotaSpend[]): MaybePromise<readonly QuotaUse[]>;
}
