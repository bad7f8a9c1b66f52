/** Explains what would happen to a call, using the code that decides calls, and runs nothing. */

import { Call, type FoundCall, isFound } from '../../core/call/call.ts';
import { optionsVia } from '../../core/call/call-options.ts';
import { isDeniedAnyway } from '../../core/call/constant-denial.ts';
import { shownJson } from '../../core/call/shown.ts';
import { queueProblem } from '../../core/call/stages/acquire.ts';
import { rateProblem, readInput } from '../../core/call/stages/admit.ts';
import { judge } from '../../core/call/stages/decide.ts';
import { checkAvailable, lookup } from '../../core/call/stages/lookup.ts';
import { loopProblem } from '../../core/call/stages/loop-guard.ts';
import { recordProblem } from '../../core/call/stages/record-start.ts';
import { validate } from '../../core/call/stages/validate.ts';
import { findGrant } from '../../core/call/standing-grants.ts';
import type { TriedStart } from '../../core/ports.ts';
import { type Decision, deny } from '../../core/rules/decision.ts';
import { decisionOf } from '../../core/rules/verdict.ts';
import { listingOf } from '../../core/session/listing.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { Deprecation } from '../../core/tool/deprecation.ts';
import type { ErrorCode, ToolError } from '../../values/errors/index.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import type { JudgedOrigin } from '../origins/origin.ts';
import type { QuotaLevel } from '../quotas/level.ts';
import type { RuleFault } from '../rule-review/rule-faults.ts';
import { approvalProblem } from './explain-approval.ts';

/** What would happen to a call, stage by stage. Frozen. Nothing was run, and nothing recorded. */
export interface Explanation {
  /** Whether the tool is listed for the model. */
  readonly visible: boolean;
  /** The drop code that hides the tool. */
  readonly hiddenBy?: string;
  /** The text that says the tool should no longer be used. */
  readonly deprecated?: Deprecation;
  /**
   * Where the tool's calls run: `inline` for a handler in this process, `external` if other code
   * runs the tool, or the name that its executor gives, such as `thread`. Absent for an unknown
   * tool.
   */
  readonly executor?: string;
  /** What happens to an output that is longer than its budget; absent if there is no budget. */
  readonly budget?: {
    /** The most characters of an output, by the tool, its profile and the session. */
    readonly maxOutputChars: number;
    /**
     * Which part is shown: the beginning, both ends, or the beginning with a handle to read the
     * rest. `refuse` for a tool with an output schema, whose data is never cut.
     */
    readonly strategy: 'head' | 'head_tail' | 'offload' | 'refuse';
    /**
     * Why outputs are cut although the tool offloads them: `no_offload` for a registry without the
     * option `offload`, or the drop code that hides `read_tool_output`, such as `not_in_profile`.
     */
    readonly notOffloaded?: string;
  };
  /** Effective tools that provide the facts that the tool waits for. */
  readonly unlockedBy?: readonly string[];
  /** What the gates decide; absent if the call would end before they are asked. */
  readonly decision?: Decision;
  /** The rule or policy that decides, if one does. */
  readonly ruleId?: string;
  /** The layer that decides: `registry`, `profile:<id>`, `session`, `tool`, … */
  readonly source?: string;
  /**
   * The code that the call would end with before its handler runs; absent if the handler would run,
   * or if a person would be asked. It does not cover hooks, which are not run, and what only the
   * call itself brings or finds out: its idempotency key, its adapter's approver, and whether its
   * handler can be made or its sandbox started.
   */
  readonly code?: ErrorCode;
  /** Rules and quotas of the tool that can never match, and why; absent if there are none. */
  readonly ruleFaults?: readonly RuleFault[];
  /**
   * Where the targets of the input, and the identifiers in its texts, came from; absent without an
   * input, and in a session that remembers nothing.
   */
  readonly origins?: readonly JudgedOrigin[];
  /** The current use of the quotas that apply to the call; absent if there are none. */
  readonly quotas?: readonly QuotaLevel[];
  /**
   * What each stage and gate said, in order. A shadow rule that matches has a step with
   * `shadow: true` and `wouldBe`: what the gates would decide if it were enforced.
   */
  readonly steps: readonly JsonObject[];
}

type Draft = { -readonly [K in keyof Explanation]: Explanation[K] };

/**
 * Explains a call. Without an input, it only covers what does not depend on the input.
 * @param surface The adapter that the call would come through; none for a direct call.
 */
export async function explain(
  session: SessionState,
  name: string,
  input: unknown,
  surface?: string,
): Promise<Explanation> {
  const steps: JsonObject[] = [];
  const draft: Draft = { visible: false, steps };
  const options = optionsVia(surface, 'explained');
  const call = new Call(session, name, 'explain', input, options, undefined, undefined);
  session.registry.ports.masking?.begin(call);
  const stop = (stage: string, error: ToolError): Explanation => {
    refuse(call, draft, steps, stage, error);
    return Object.freeze(draft);
  };
  if (session.closed || session.registry.closed)
    return stop('admission', {
      code: 'session_closed',
      message: 'The session is closed.',
      retryable: false,
    });
  addVisibility(session, name, draft);
  const fault = readInput(call);
  const unreadable = (isDeniedAnyway(call) ? undefined : fault) ?? rateProblem(call);
  if (unreadable !== undefined) return stop('admission', unreadable);
  const unknown = lookup(call);
  if (call.counted) call.entry?.ended();
  if (unknown !== undefined || !isFound(call)) return stop('lookup', unknown as ToolError);
  const { deprecated } = call.entry.definition;
  if (deprecated !== undefined) draft.deprecated = deprecated;
  draft.executor = call.entry.internals.runsIn;
  addBudget(call, draft);
  addRuleFaults(call, draft);
  const unavailable = checkAvailable(call);
  if (unavailable !== undefined) return stop('availability', unavailable);
  call.binding.masking?.collectInput(call);
  const invalid = call.binding.drop === 'denied' ? undefined : await validate(call);
  // If no input was given, a missing property is not an error.
  if (invalid !== undefined) {
    if (input !== undefined) return stop('validation', invalid);
    steps.push({ stage: 'validation', note: 'no input was given' });
  }
  if (input !== undefined) {
    for (const more of session.registry.ports.explained) Object.assign(draft, await more(call));
  }
  const repeated = input === undefined ? undefined : loopProblem(call);
  if (repeated !== undefined) return stop('loop guard', repeated);
  const isAsked = await addVerdict(call, draft, steps);
  const goesOn = (): boolean => draft.code === undefined && !isAsked;
  const queued = goesOn() ? await queueProblem(call) : undefined;
  if (queued !== undefined) refuse(call, draft, steps, 'slots', queued);
  for (const { tryStart } of call.binding.gates)
    if (tryStart !== undefined) addStart(call, draft, steps, await tryStart(call));
  const unrecorded = goesOn() ? recordProblem(call) : undefined;
  if (unrecorded !== undefined) refuse(call, draft, steps, 'audit', unrecorded);
  return Object.freeze(draft);
}

function refuse(
  call: Call,
  draft: Draft,
  steps: JsonObject[],
  stage: string,
  error: ToolError,
): void {
  steps.push({ stage, ...(shownJson(call, error as unknown as JsonObject) as JsonObject) });
  draft.code = error.code;
}

function addVisibility(session: SessionState, name: string, draft: Draft): void {
  const view = listingOf(session);
  draft.visible = view.entries.has(name);
  const hiddenBy = view.dropped.find((dropped) => dropped.name === name)?.code;
  if (hiddenBy !== undefined) draft.hiddenBy = hiddenBy;
  const unlocking = view.prerequisites
    .filter(({ unlocks }) => unlocks.includes(name))
    .map(({ tool }) => tool);
  if (unlocking.length > 0) draft.unlockedBy = unlocking;
}

function addBudget({ session, binding, entry }: FoundCall, draft: Draft): void {
  const { maxOutputChars } = binding;
  if (maxOutputChars === Number.POSITIVE_INFINITY || entry.internals.runsIn === 'external') return;
  const { output, outputStrategy } = entry.internals;
  const notOffloaded = binding.overBudget?.cutReason(session);
  draft.budget = Object.freeze(
    output !== undefined
      ? { maxOutputChars, strategy: 'refuse' }
      : notOffloaded === undefined
        ? { maxOutputChars, strategy: outputStrategy }
        : { maxOutputChars, strategy: 'head_tail', notOffloaded },
  );
}

function addRuleFaults({ session, binding }: FoundCall, draft: Draft): void {
  const { registryRules, sessionRules, gates } = binding;
  const conditioned = gates.flatMap((gate) => gate.conditioned ?? []);
  const faults = session.registry.ports.review?.faultsIn(session, [
    ...registryRules,
    ...sessionRules,
    ...conditioned,
  ]);
  if (faults !== undefined && faults.length > 0)
    draft.ruleFaults = Object.freeze(faults) as readonly RuleFault[];
}

/**
 * Adds the decision of the gates, and the standing answer if it asks.
 * @returns whether a person would be asked
 */
async function addVerdict(call: FoundCall, draft: Draft, steps: JsonObject[]): Promise<boolean> {
  const verdict = await judge(call, steps);
  draft.decision = shownJson(
    call,
    decisionOf(verdict) as unknown as JsonObject,
  ) as unknown as Decision;
  if (verdict.ruleId !== undefined) draft.ruleId = verdict.ruleId;
  if (verdict.source !== undefined) draft.source = verdict.source;
  if (verdict.effect === 'deny') draft.code = verdict.code ?? 'policy_denied';
  if (verdict.effect !== 'ask') return false;
  const grant = findGrant(call);
  if (grant !== undefined && (verdict.details === undefined || grant.effect === 'reject')) {
    steps.push({ stage: 'approval', grant: grant as unknown as JsonValue });
    if (grant.effect === 'reject') draft.code = 'approval_denied';
    return false;
  }
  const unasked = await approvalProblem(call, verdict);
  if (unasked !== undefined) refuse(call, draft, steps, 'approval', unasked);
  return unasked === undefined;
}

/** Adds what a last gate says. It may refuse a call that the gates before it allow. */
function addStart(
  call: FoundCall,
  draft: Draft,
  steps: JsonObject[],
  { stage, error, shown }: TriedStart,
): void {
  Object.assign(draft, shown);
  if (error === undefined) return;
  steps.push({
    stage,
    ...(shownJson(call, error as unknown as JsonValue) as JsonObject),
  });
  if (draft.code !== undefined) return;
  const { code, reason, ruleId, source } = error;
  draft.decision = deny(reason as string);
  draft.code = code;
  if (ruleId !== undefined) draft.ruleId = ruleId;
  if (source !== undefined) draft.source = source;
}
