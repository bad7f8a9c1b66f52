/** What the gates have said about one call so far. */
import type { JsonObject, JsonValue } from '../json/index.ts';
import { maxFurtherSteps, maxRuleSteps } from '../policy/judged.ts';
import type { CompiledRule } from '../policy/rule.ts';
import type { Verdict } from '../policy/verdict.ts';
import type { FoundCall } from '../state/call.ts';
import type { RuleCount } from '../state/counters.ts';

/** A shadow rule that matched the call that is being judged. */
export interface Tried {
  readonly rule: CompiledRule;
  /** Where it counts; undefined in `explain`, which counts nothing. */
  readonly count: RuleCount | undefined;
  /** Its step in `explain`. */
  readonly step: Record<string, JsonValue> | undefined;
}

/** A deny ends the judging. An ask outweighs an allow, and either outweighs the default. */
export interface Tally {
  deny: Verdict | undefined;
  ask: Verdict | undefined;
  allow: Verdict | undefined;
  /** Some rule, policy or check had an opinion, so the default does not apply. */
  spoken: boolean;
  /** What each gate said, in order; kept only for `explain`. */
  readonly steps: JsonObject[] | undefined;
  /** The shadow rules that matched. */
  tried: Tried[] | undefined;
  /** Steps that the rules may still take, and the shadow rules. */
  left: number;
  trialLeft: number;
}

/** What is known before the first gate has answered. */
export function emptyTally(steps: Tally['steps']): Tally {
  return {
    deny: undefined,
    ask: undefined,
    allow: undefined,
    spoken: false,
    steps,
    tried: undefined,
    left: maxRuleSteps,
    trialLeft: maxFurtherSteps,
  };
}

/** One gate. It adds its answer to the tally, now or later. */
export interface Judge {
  (call: FoundCall, tally: Tally): void | Promise<void>;
  /**
   * It is also asked after a denial, when it only counts the rules that match: the gate of rules,
   * which is synchronous and runs no code of the host.
   */
  readonly counts?: true;
}

/** What logs, events and verdicts say about a gate that is the host's code. */
export interface Gate {
  /** The layer: `registry`, `session` or `tool`. */
  readonly source: string;
  readonly what: 'policy' | 'check' | 'requiresApproval' | 'attributes';
  /** The id of a policy. */
  readonly id: string | undefined;
  /**
   * The gate's allowance, which is the same each time; undefined for a gate that allows nothing.
   */
  readonly allowed: Verdict | undefined;
  /** It serves shadow rules only, so its failure refuses nothing. */
  readonly trial?: true;
}
