/** What the inspector's server and its page send to each other about rules and tests of a call. */
import type { VerdictEffect } from './inspector-wire.ts';

/** How a value of an input is tested. */
export type FieldTest = 'equals' | 'glob' | 'gte' | 'lte';

/** A value of a recorded input, which a rule may test. */
export interface RuleField {
  /** Names joined by dots; `*` for each element of a list. */
  readonly path: string;
  /** The value as JSON, perhaps cut. */
  readonly value: string;
  /** None if no rule can test it. */
  readonly tests: readonly FieldTest[];
  /** A glob that the text matches. */
  readonly glob?: string;
  /** Why there is no test. */
  readonly why?: 'redacted' | 'long' | 'never';
}

/** What a rule made from a call may test. */
export interface RuleProposal {
  readonly effect: VerdictEffect;
  readonly fields: readonly RuleField[];
  /** How many more values the input has. */
  readonly more: number;
}

/** A rule that a person wants to make. */
export interface RuleRequest {
  /** The number of the call. */
  readonly n: number;
  readonly effect: VerdictEffect;
  /** Whether the rule is only about the principal of the call. */
  readonly principal: boolean;
  readonly fields: readonly {
    /** The position in the proposal. */
    readonly at: number;
    readonly test: FieldTest;
    /** The glob or the bound. @default that of the proposal */
    readonly value?: string | number;
  }[];
}

/** A rule, and what it would have changed. */
export interface RuleTrial {
  readonly yaml: string;
  /** Recorded calls. */
  readonly calls: number;
  readonly judged: number;
  /** Judged calls that the rule matches, whether or not it decides them. */
  readonly matched: number;
  readonly changed: number;
  readonly changes: readonly {
    readonly before: VerdictEffect;
    readonly after: VerdictEffect;
    readonly calls: number;
  }[];
  /** The first calls that change, by their numbers. */
  readonly first: readonly {
    readonly n: number;
    readonly before: VerdictEffect;
    readonly after: VerdictEffect;
  }[];
  /** Calls that were not judged: their input is not kept whole, their tool is gone, … */
  readonly unjudged: { readonly cut: number; readonly unknown: number; readonly invalid: number };
  /** Judged calls with `[redacted]` in the input. */
  readonly redacted: number;
  /** Judged calls about which code of the host decides too, which was not asked. */
  readonly unasked: number;
  /** Calls of sessions whose facts are not known any more, if rules test facts. */
  readonly withoutFacts: number;
}

/** What a policy test expects: the outcome of the call, the present decision, or a given one. */
export const testExpectations = ['recorded', 'now', 'allow', 'ask', 'deny', 'hidden'] as const;
export type TestExpectation = (typeof testExpectations)[number];

/** A policy test that a person wants to make. */
export interface TestRequest {
  readonly n: number;
  readonly expect: TestExpectation;
}

/** A decision, with the rule and the reason if they are known. */
export interface TestDecision {
  readonly decision: string;
  readonly reason?: string;
  readonly ruleId?: string;
}

/** A policy test, and whether the present rules pass it. */
export interface TestTrial {
  readonly yaml: string;
  readonly passes: boolean;
  readonly expected: TestDecision;
  readonly found: TestDecision;
  /**
   * What to know about it. `redacted`: the input has `[redacted]` in place of secrets. `facts`: the
   * session has facts, which the test does not name. `quota`: a quota decided the call, and a test
   * begins with empty quotas.
   */
  readonly notes: readonly ('redacted' | 'facts' | 'quota')[];
}
