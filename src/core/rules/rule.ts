/** A rule as the gates run it, and what it can see of a call, in how many steps. */

import type { Effect } from '../../api/policy.ts';
import type { ToolSummary } from '../../api/tool.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { WrittenCondition } from './conditions.ts';
import type { Details } from './verdict.ts';

/** Whether a rule has matched yet. The only part of a compiled rule that changes. */
export interface RuleUse {
  matched: boolean;
}

/** A checked rule. It is frozen and shares nothing with the host's object. */
export interface CompiledRule {
  readonly id: string;
  readonly effect: Effect;
  /** Only a deny has one. */
  readonly reason: string | undefined;
  /** Where the rule was written: `registry`, `profile:<id>`, `session`, … */
  readonly layer: string;
  /**
   * Whether the rule depends on the call: its input or its surface. A deny that does not depend on
   * it also hides the tool.
   */
  readonly hasWhen: boolean;
  /** What the rule tests, as it was written. For people. */
  readonly conditions: Partial<JsonObject>;
  /** The conditions of its `when`. */
  readonly when: readonly WrittenCondition[];
  /** Which tools it is about, as it was written. */
  readonly about: Partial<JsonObject>;
  /** The tools that it names; undefined if a wildcard or another field chooses them. */
  readonly names: readonly string[] | undefined;
  /** Whether the rule tests the principal. */
  readonly hasPrincipal: boolean;
  /** Paths whose attributes the rule reads, as tools declare them. */
  readonly attributes: readonly string[];
  /** What the question of an ask shows besides; undefined for nothing. */
  readonly details: Details | undefined;
  /** The rule is only tried, so it must not change any result. */
  readonly shadow: boolean;
  readonly use: RuleUse;
  /** The part that neither session nor call changes: names, tags, annotations, source. */
  appliesTo(tool: ToolSummary): boolean;
  /** The part that no call changes: principal and facts. */
  appliesIn(principal: string, facts: JsonObject): boolean;
  /**
   * The part that depends on the call: surface and `when`, judged on the input as sent and as
   * parsed. @throws `overBudget`.
   */
  matches(judged: Judged): boolean;
}

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
