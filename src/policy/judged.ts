/** What rules look at, and how far they may look. */
import type { JsonObject } from '../json/index.ts';
import type { OriginJudge } from './origin-judge.ts';

/**
 * How many steps all rules that are enforced may take together when a call is judged. A step is a
 * value looked at, a key looked up, or a part of a text tested, and takes about 30 nanoseconds.
 */
export const maxRuleSteps = 1_000_000;

/**
 * How many steps all shadow rules may take together, and how many the conditions of quotas may.
 * These add to those of the rules, and together they must not hold up the process.
 */
export const maxFurtherSteps = 500_000;

/** How values are read: `any` by a deny or ask, `all` by an allow. */
export type Reading = 'any' | 'all';

/** Thrown when rules have used up their steps. */
export const overBudget = Symbol('over the budget of rules');

/** What rules know about one call. */
export interface Judged {
  /** What was sent, as people and events see it. */
  readonly input: JsonObject;
  /**
   * What the handler gets: the same object where the schema transforms nothing, undefined where
   * there is no parsed value.
   */
  readonly parsed: unknown;
  /**
   * Whether the tool's schema declares what a path leads to. A member that it drops unread must not
   * help a call to pass.
   */
  readonly declares: (...path: readonly string[]) => boolean;
  /** The facts of the session. */
  readonly facts: JsonObject;
  /** The adapter that the call came through; `""` for a direct call. */
  readonly surface: string;
  /** Where the values came from; undefined if the session remembers nothing. */
  readonly origins: OriginJudge | undefined;
  /** What the host said about values of the input, by the path that the tool declares. */
  readonly attributes: ReadonlyMap<string, unknown> | undefined;
  /** Steps left. */
  left: number;
}
