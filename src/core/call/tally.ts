/** What the gates have decided about one call so far. */
import type { JsonObject } from '../../values/json/index.ts';
import { maxRuleSteps } from '../rules/rule.ts';
import type { Verdict } from '../rules/verdict.ts';
import type { FoundCall } from './call.ts';

/** A deny ends the judging. An ask outweighs an allow, and both outweigh the default. */
export interface Tally {
  deny: Verdict | undefined;
  ask: Verdict | undefined;
  allow: Verdict | undefined;
  /** Some rule, policy or check has decided, so the default does not apply. */
  decided: boolean;
  /** The answer of each gate, in order. Kept only for `explain`. */
  readonly steps: JsonObject[] | undefined;
  /** Steps that the rules may still take. */
  left: number;
  /** What {@link Trials} keep. */
  trial: unknown;
}

/** What is known before the first gate answers. */
export function emptyTally(steps: Tally['steps']): Tally {
  return {
    deny: undefined,
    ask: undefined,
    allow: undefined,
    decided: false,
    steps,
    left: maxRuleSteps,
    trial: undefined,
  };
}

/** Adds the answer of a gate to a tally. */
export type Answer = (tally: Tally) => void;

/**
 * One gate. It adds its answer to the tally now, or resolves with the answer. A gate that resolves
 * with nothing has added it by then.
 */
export interface Judge {
  (call: FoundCall, tally: Tally): void | Promise<Answer | void>;
  /**
   * It is asked even after a denial, and then only counts the rules that match. Only the gate of
   * rules has this, since it is synchronous and runs no host code.
   */
  readonly counts?: true;
}

/** How logs, events and verdicts name a gate of the host's code. */
export interface Gate {
  /** The layer: `registry`, `session` or `tool`. */
  readonly source: string;
  readonly what: string;
  /** The id of a policy. */
  readonly id: string | undefined;
  /**
   * The gate's decision to allow, which is always the same; undefined for a gate that never allows.
   */
  readonly allowed: Verdict | undefined;
  /** It serves only shadow rules, so its failure refuses nothing. */
  readonly trial?: true;
}
