/** What all gates together say of a call. The same code reaches it for `call` and for `explain`. */
import type { ApprovalPrompt } from '../approval/request.ts';
import type { JsonObject } from '../json.ts';
import { allow, ask, type Decision, deny } from './decision.ts';

export interface Verdict {
  readonly effect: 'allow' | 'ask' | 'deny';
  /** Of a deny. `policy_error` where a gate failed rather than decided. */
  readonly code: 'policy_denied' | 'policy_error' | undefined;
  /** Of a deny, which always has one. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /**
   * What the model is told where there is no message; written beforehand where it never changes.
   */
  readonly text: string | undefined;
  readonly ruleId: string | undefined;
  /** Always there in what a gate or a default has said. */
  readonly source: string | undefined;
  /** What a gate threw. */
  readonly cause: unknown;
  /** Of an ask, which always has one. */
  readonly prompt: ApprovalPrompt | undefined;
  /** What each gate said, in order; kept only for `explain`. */
  readonly steps: readonly JsonObject[] | undefined;
}

const unsaid: Omit<Verdict, 'effect'> = {
  code: undefined,
  reason: undefined,
  message: undefined,
  text: undefined,
  ruleId: undefined,
  source: undefined,
  cause: undefined,
  prompt: undefined,
  steps: undefined,
};

/** A verdict has all its members, said or not: none is inherited. */
export function makeVerdict(effect: Verdict['effect'], said: Partial<Verdict>): Verdict {
  return { ...unsaid, ...said, effect };
}

/**
 * A denial in a gate's own words, written as one literal: one is made for every call that is
 * refused.
 */
export function denied(
  reason: string,
  message: string | undefined,
  source: string,
  ruleId: string | undefined,
): Verdict {
  return {
    code: undefined,
    reason,
    message,
    text: undefined,
    ruleId,
    source,
    cause: undefined,
    prompt: undefined,
    steps: undefined,
    effect: 'deny',
  };
}

/** What the model is told of a denial that nobody worded. */
export function denialText({ code, reason, ruleId }: Verdict): string {
  if (code === 'policy_error') return `The call was refused because a policy failed (${reason}).`;
  return (
    `The call was denied${ruleId === undefined ? '' : ` by rule \`${ruleId}\``}: ${reason}. Do ` +
    'not repeat it as it is.'
  );
}

/** The verdict as `explain` and events show it. */
export function decisionOf(verdict: Verdict): Decision {
  switch (verdict.effect) {
    case 'allow':
      return allow();
    case 'ask':
      return ask(verdict.prompt?.title);
    case 'deny':
      return deny(verdict.reason as string, verdict.message);
  }
}
