/**
 * Judges a recorded call with the code that decides about real ones, and runs nothing. Counts go to
 * the call's registry, which is a copy made for this purpose (`state/judging-copy.ts`).
 */

import type { Approvers } from '../../api/answers.ts';
import type { Effect } from '../../api/policy.ts';
import { Call, type FoundCall, isFound } from '../../core/call/call.ts';
import { optionsVia } from '../../core/call/call-options.ts';
import { countMatched, countShadow } from '../../core/call/counters.ts';
import { readInput } from '../../core/call/stages/admit.ts';
import { decide } from '../../core/call/stages/decide.ts';
import { validate } from '../../core/call/stages/validate.ts';
import { GoTo } from '../../core/call/step.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { knownAttributes } from './attribute-judge.ts';
import { shadowedRules } from './shadow-rules.ts';

/** A call as it was recorded. */
export interface RecordedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** The adapter that the call came through; `""` for a direct call. */
  readonly surface: string;
  /** Something in the input was replaced by `[redacted]`, so it may not fit the schema any more. */
  readonly redacted: boolean;
}

/** The decision about a recorded call. */
export interface Judgement {
  readonly effect: Effect;
  /** The rule or quota that decides, if one does. */
  readonly ruleId: string | undefined;
  /** Who has to answer a question; undefined for anyone. */
  readonly approvers?: readonly Approvers[] | undefined;
}

/**
 * Judges a call. A call that needs a person's approval counts as approved for the quotas, since it
 * spends its amounts once the person agrees.
 * @returns `unknown` if there is no such tool, `invalid` for arguments that the gates never see
 */
export async function judgeRecorded(
  session: SessionState,
  { callId, toolName, input, surface, redacted }: RecordedCall,
): Promise<Judgement | 'unknown' | 'invalid'> {
  const options = optionsVia(surface === '' ? undefined : surface);
  const call = new Call(session, toolName, callId, input, options, undefined, undefined);
  // The tool need not be listed now: the record says that it was called.
  call.binding = session.binding(toolName);
  call.entry = call.binding?.entry;
  if (!isFound(call)) return 'unknown';
  if (readInput(call) !== undefined) return 'invalid';
  call.binding.status.masking?.collectInput(call);
  // As in a real call, a tool that a rule hides is refused before its arguments are validated.
  const validated = call.binding.status.drop === 'denied' ? undefined : validate(call);
  // Most calls wait for nothing, and waiting would take longer than their rules.
  const refused = validated instanceof Promise ? await validated : validated;
  if (refused !== undefined) {
    if (!redacted || call.unsafe) return 'invalid';
    // The rules see the text that replaces the secret. No attribute is asked about it.
    call.parsed = undefined;
    const paths = [...(call.entry.internals.attributes?.keys() ?? [])];
    const answers = new Map(paths.map((path) => [path, undefined]));
    const later = new Set(paths);
    knownAttributes.set(call.more, { input: call.canonical, answers, later, parse: undefined });
  }
  const decided = decide(call);
  if (decided instanceof Promise) await decided;
  const verdict = call.verdict ?? allowed;
  const judgement = verdict.effect === 'deny' ? verdict : ((await refusedAtStart(call)) ?? verdict);
  count(call);
  const { effect, ruleId } = judgement;
  const approvers =
    effect === 'ask' ? call.session.registry.ports.calls.answers?.approvers(call) : undefined;
  return { effect, ruleId, approvers };
}

const allowed: Judgement = { effect: 'allow', ruleId: undefined };

/** Runs the last gates as if a person had agreed. Undefined if they let the call start. */
async function refusedAtStart(call: FoundCall): Promise<Judgement | undefined> {
  const { verdict } = call;
  if (verdict?.details !== undefined) call.more.ensureApproval().agreed = verdict.details;
  const { gates } = call.binding.status;
  call.state = 'gates';
  const keepers = gates.flatMap(({ keep }) => keep ?? []);
  const keep = keepers[0]?.all(keepers.map(({ ask }) => ask));
  for (const start of [keep, ...gates.map((gate) => gate.start)]) {
    const error = await start?.(call);
    // A call that would be sent back to ask a person has its answer.
    if (error !== undefined && !(error instanceof GoTo))
      return { effect: 'deny', ruleId: error.ruleId };
  }
  return undefined;
}

/** Counts the rules that have matched, as the end of a real call does. */
function count({ matched, extra }: FoundCall): void {
  if (matched !== undefined) countMatched(matched);
  const shadowed = extra === undefined ? undefined : shadowedRules.of(extra);
  if (shadowed !== undefined) for (const rule of shadowed) countShadow(rule);
}
