/** The decision of all gates together. `call` and `explain` use the same code to reach it. */

import type { ApprovalPrompt } from '../../api/approval.ts';
import type { Decision } from '../../api/policy.ts';
import { deniedError, type ToolError, withCause } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { allow, ask, deny } from './decision.ts';
import type { CompiledRule } from './rule.ts';

/** Lists that a question shows, by the member of the request. */
export type Details = Readonly<Record<string, readonly unknown[]>>;

/** All lists of both; undefined for none. */
export function bothDetails(
  one: Details | undefined,
  other: Details | undefined,
): Details | undefined {
  return one === undefined || other === undefined ? (one ?? other) : joinDetails(one, other);
}

/** All lists of both. */
export function joinDetails(one: Details | undefined, other: Details | undefined): Details {
  const joined: Record<string, readonly unknown[]> = { ...one };
  for (const [name, list] of Object.entries(other ?? {}))
    joined[name] = Object.freeze([...(joined[name] ?? []), ...list]);
  return Object.freeze(joined);
}

export interface Verdict {
  readonly effect: 'allow' | 'ask' | 'deny';
  /** Set for a deny. `policy_error` if a gate failed instead of deciding. */
  readonly code: 'policy_denied' | 'policy_error' | undefined;
  /** Every deny has one. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /**
   * The text for the model if there is no message. It is prepared in advance if it never changes.
   */
  readonly text: string | undefined;
  readonly ruleId: string | undefined;
  /** Every verdict of a gate or a default has one. */
  readonly source: string | undefined;
  /** The value that a gate threw. */
  readonly cause: unknown;
  /** Every ask has one. */
  readonly prompt: ApprovalPrompt | undefined;
  /** What a person is shown besides, and agrees to. Only an ask has some. */
  readonly details: Details | undefined;
  /** The decision of each gate, in order. Kept only for `explain`. */
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
  details: undefined,
  steps: undefined,
};

/** A verdict has all members of its own, so that none is inherited. */
export function makeVerdict(effect: Verdict['effect'], said: Partial<Verdict>): Verdict {
  return { ...unsaid, ...said, effect };
}

/** A denial with the text of a gate. It is one literal because every refused call makes one. */
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
    details: undefined,
    steps: undefined,
    effect: 'deny',
  };
}

/** The text for the model if a denial has no message. */
export function denialText({ code, reason, ruleId }: Verdict): string {
  if (code === 'policy_error') return `The call was refused because a policy failed (${reason}).`;
  return (
    `The call was denied${ruleId === undefined ? '' : ` by rule \`${ruleId}\``}: ${reason}. Do ` +
    'not retry it unchanged.'
  );
}

/** The error of a call that a verdict denies. */
export function errorOf(verdict: Verdict): ToolError {
  const { code, reason, ruleId, source } = verdict;
  const error = deniedError(
    code ?? 'policy_denied',
    verdict.message ?? verdict.text ?? denialText(verdict),
    reason,
    ruleId,
    source,
  );
  return verdict.cause === undefined ? error : withCause(error, verdict.cause);
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

/** The decision of a rule if it is always the same. An ask also has the texts of its tool. */
export function ownVerdict({
  effect,
  id: ruleId,
  layer: source,
  reason,
}: CompiledRule): Verdict | undefined {
  if (effect === 'ask') return undefined;
  if (effect === 'allow') return Object.freeze(makeVerdict('allow', { ruleId, source }));
  const denial = makeVerdict('deny', { reason, ruleId, source });
  return Object.freeze({ ...denial, text: denialText(denial) });
}
