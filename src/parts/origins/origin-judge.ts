/**
 * What rules can ask about the origins of a call's values. The call answers; see `call-origins.ts`.
 */

import type { JudgedOrigin, KnownContainers, Origin } from '../../api/origins.ts';

/** The origins of one call's values. They are computed when a rule first asks. */
export interface OriginJudge {
  /**
   * Everything that is judged of the input and of what the schema made of it.
   * @param spend takes the steps that it costs; throws if there are not enough
   */
  all(containers: KnownContainers, spend: Spend): readonly JudgedOrigin[];
  /**
   * The origins of the values at one path: that of a target, those of the identifiers in a text, or
   * those of the leaves of an object or array.
   */
  at(path: readonly string[], spend: Spend): OriginsOf;
}

/** Takes steps from the budget of the rules. @throws overBudget */
export type Spend = (steps: number) => void;

/** The origins of a value. Empty if there is nothing in it to judge. */
export type OriginsOf = (value: unknown) => readonly Origin[];
