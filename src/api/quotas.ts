/** Quotas: as a host writes them, and how much of one is used. */

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
