/** What the rules of a layer look at, and how far they may look. */
import type { JsonObject } from '../json.ts';
import type { OriginJudge } from './origin-judge.ts';

/**
 * How many steps the rules of one layer may take together for one call. A step is a value looked
 * at, a key looked up, or a part of a text tested, and takes some tens of nanoseconds.
 */
export const maxRuleSteps = 2_000_000;

/** How values are read: `any` by a deny or ask, `all` by an allow. */
export type Reading = 'any' | 'all';

/** Thrown when the rules of a layer have used up their steps. */
export const overBudget = Symbol('over the budget of rules');

/** What the rules of a layer know about one call. */
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
  /** Steps left. Starts at {@link maxRuleSteps}. */
  left: number;
}
