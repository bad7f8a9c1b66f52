/** A rule as the gates run it. */

import type { Effect } from '../../api/decision.ts';
import type { ToolSummary } from '../../api/tool.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { WrittenCondition } from './conditions.ts';
import type { Judged } from './judged.ts';
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
