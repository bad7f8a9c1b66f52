/** Quotas: as a host writes them, as a store counts them, and how much of one is used. */

import type { MaybePromise } from '../values/maybe-promise.ts';
import type { Glob, Rule } from './rule.ts';

/**
 * Limits how often something is done, or how much of it, within a window of time. An amount is
 * reserved in one atomic step immediately before a handler starts, so that simultaneous calls
 * cannot spend the same remainder. It is given back if the handler never starts, and kept once it
 * has started. Plain data, loadable from YAML.
 */
export interface Quota {
  /**
   * Names the quota in errors, prompts and `explain`. Non-blank, without white space at its ends,
   * at most 256 characters, and unique among the quotas of its registry, profile or session.
   */
  readonly id: string;
  /** Tool names. @default every tool */
  readonly tools?: Glob | readonly Glob[] | undefined;
  /**
   * Conditions on the input, as in a `deny` rule. Only calls that match are counted. @default every
   * call
   */
  readonly when?: Rule['when'];
  /**
   * The path of the number to sum, such as `"amount"` or `"items.*.amount"`; a list of keys for
   * names that contain dots. Several values there are added. It is read in the input as it was sent
   * and as the handler gets it, and the larger sum counts. A call without a value there adds 0; one
   * with anything but numbers from 0 is refused as `quota_unreadable`. @default counts calls
   */
  readonly sum?: string | readonly string[] | undefined;
  /**
   * The most that the calls of a window may add up to. From 0, which allows none, to 2^53-1.
   * Fractions are exact to eighteen decimals.
   */
  readonly max: number;
  /**
   * The window, which slides. An amount counts until it is a minute, an hour, a day or `ms`
   * milliseconds old. `ms` is a whole number from 1 to ten years. `session` counts as long as the
   * session, and needs `session` in `by`.
   */
  readonly per: 'minute' | 'hour' | 'day' | 'session' | { readonly ms: number };
  /**
   * Which calls count together: those of sessions with the same id, of sessions with the same
   * principal (or without one), or of all registries with the same store. `{ path }` keeps a sum
   * for each value at a path of the input, such as a payee; a call with several values there spends
   * for each of them, and one with no value, null or an object there, or with more than 100 values,
   * is refused as `quota_unreadable`. A list keeps a sum for each combination:
   * `["session", { path: "to" }]` counts each payee of each session.
   */
  readonly by: 'registry' | QuotaSubject | readonly QuotaSubject[];
  /**
   * What happens to a call that would exceed the quota: it is refused, or a person is asked. A call
   * that a person has approved is counted, whatever the sum is. @default "deny"
   */
  readonly over?: 'deny' | 'ask' | undefined;
  /** The reason of a refusal. Must match `^[a-z][a-z0-9_]*$`. @default "quota_exceeded" */
  readonly reason?: string | undefined;
}

/** What a sum of a {@link Quota} is kept for. */
export type QuotaSubject =
  | 'session'
  | 'principal'
  | {
      /** Names joined by dots, or a list of keys. */
      readonly path: string | readonly string[];
    };

/**
 * A quota as one call finds it. If it is counted for several values, this is the one with the
 * highest use.
 */
export interface QuotaLevel {
  /** The id of the quota. */
  readonly quota: string;
  /** Where the quota was written: `registry`, `profile:<id>` or `session`. */
  readonly source: string;
  /** The most that the calls of a window may add up to. */
  readonly max: number;
  /** The present sum, without this call. */
  readonly used: number;
  /** The amount that this call adds. */
  readonly amount: number;
  /**
   * Milliseconds until the call fits if nothing else is spent: 0 if it fits now, null if waiting
   * does not help.
   */
  readonly retryAfterMs: number | null;
}

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
