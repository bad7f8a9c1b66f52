/** What a case of a policy test expects, and how it is compared with what the gates decide. */
import type { Approvers, Explanation, JsonValue } from '../../core.ts';
import { canonicalJson } from '../../values/json/index.ts';

/** What a case expects. */
export interface Expectation {
  /** `allow`, `ask`, `deny`, `hidden`, or an error code. */
  readonly decision: string;
  readonly reason?: string;
  readonly ruleId?: string;
  /** Who has to answer, in any order; an empty list for anyone. */
  readonly approvers?: readonly Approvers[];
}

/** What the gates decide about a case. */
export interface Found {
  readonly decision: string;
  readonly reason?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly source?: string | undefined;
  readonly hiddenBy?: string | undefined;
  readonly code?: string | undefined;
  readonly approvers?: readonly Approvers[] | undefined;
  /** The shadow rules that would change the decision. */
  readonly shadow?: readonly Shadow[] | undefined;
}

/** A shadow rule that would change the decision. */
export interface Shadow {
  readonly ruleId: string;
  readonly source: string;
  readonly wouldBe: string;
}

/** What an explanation says about the call of a case. */
export function foundOf(explanation: Explanation): Found {
  const { decision, ruleId, source, hiddenBy, code, approvers, steps } = explanation;
  const said: JsonValue | undefined = steps[steps.length - 1]?.reason;
  const reason =
    decision === undefined
      ? typeof said === 'string'
        ? said
        : hiddenBy
      : decision.effect === 'deny'
        ? decision.reason
        : undefined;
  return {
    decision: decision?.effect ?? (hiddenBy === undefined ? (code ?? 'allow') : 'hidden'),
    reason,
    ruleId,
    source,
    hiddenBy,
    code,
    approvers,
    shadow: shadowsOf(steps, decision?.effect),
  };
}

/**
 * Undefined if there are none, so that tables without shadow rules have the same output as before.
 */
function shadowsOf(
  steps: Explanation['steps'],
  decision: string | undefined,
): readonly Shadow[] | undefined {
  const changing = steps.flatMap(({ shadow, ruleId, source, wouldBe }) =>
    shadow === true && wouldBe !== undefined && wouldBe !== decision
      ? [{ ruleId: String(ruleId), source: String(source), wouldBe: String(wouldBe) }]
      : [],
  );
  return changing.length === 0 ? undefined : changing;
}

/** Whether the gates decide as the case expects. */
export function meets({ decision, reason, ruleId, approvers }: Expectation, found: Found): boolean {
  const named =
    decision === found.decision ||
    decision === found.code ||
    (decision === 'hidden' && found.hiddenBy !== undefined);
  return (
    named &&
    (reason === undefined || reason === found.reason) &&
    (ruleId === undefined || ruleId === found.ruleId) &&
    (approvers === undefined || approversText(approvers) === approversText(found.approvers))
  );
}

/** The same for the same approvers, in any order. */
export function approversText(approvers: readonly Approvers[] = []): string {
  const sets = approvers.map(({ any, count = 1, notPrincipal = false }) =>
    canonicalJson({ any: [...any].sort(), count, notPrincipal }),
  );
  return sets.sort().join();
}
