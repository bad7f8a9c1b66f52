/** What rules can see of a call, and how many steps they may take. */

import type { JsonObject } from '../../values/json/index.ts';

/**
 * The steps that all enforced rules together may take for one call. A step looks at a value, looks
 * up a key, or tests a part of a text, and takes about 30 nanoseconds.
 */
export const maxRuleSteps = 1_000_000;

/**
 * The steps that all shadow rules together may take, and those that the conditions of a part's
 * gates may take. They add to those of the rules, and together they must not block the process.
 */
export const maxFurtherSteps = 500_000;

/** How values are read: `any` for a deny or ask, `all` for an allow. */
export type Reading = 'any' | 'all';

/** Thrown when rules have used up their steps. */
export const overBudget = Symbol('over the budget of rules');

/** Takes steps. @throws overBudget */
export function takeSteps(judged: Judged, steps: number): void {
  judged.left -= steps;
  if (judged.left < 0) throw overBudget;
}

/** What rules know about one call. */
export interface Judged {
  /** The input that was sent, as people and events see it. */
  readonly input: JsonObject;
  /**
   * The value that the handler gets. It is the same object if the schema transforms nothing, and
   * undefined if there is no parsed value.
   */
  readonly parsed: unknown;
  /**
   * Whether the tool's schema declares the member at a path. A member that the schema drops unread
   * must not help a call to pass.
   */
  readonly declares: (...path: readonly string[]) => boolean;
  /** The facts of the session. */
  readonly facts: JsonObject;
  /** The adapter that the call came through; `""` for a direct call. */
  readonly surface: string;
  /** The call, for the words of parts; undefined for a value on its own. */
  readonly call: object | undefined;
  /** The host's attributes of values of the input, by the path that the tool declares. */
  readonly attributes: ReadonlyMap<string, unknown> | undefined;
  /** Steps left. */
  left: number;
}
