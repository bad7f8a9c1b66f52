/** Explains what would happen to a call, using the code that decides calls, and runs nothing. */

import type { Explanation, RuleFault } from '../../api/explanation.ts';
import type { Decision } from '../../api/policy.ts';
import { rejection, tooManyApprovals } from '../../core/call/approval-outcome.ts';
import { requestFor } from '../../core/call/approval-question.ts';
import { defaultMaxPending } from '../../core/call/ask-approver.ts';
import { Call, type FoundCall, isFound } from '../../core/call/call.ts';
import { optionsVia, type ReadCallOptions } from '../../core/call/call-options.ts';
import { isDeniedAnyway } from '../../core/call/constant-denial.ts';
import type { TriedStart } from '../../core/call/ports.ts';
import { recordProblem } from '../../core/call/record-start.ts';
import { shownJson } from '../../core/call/shown.ts';
import { queueProblem } from '../../core/call/stages/acquire.ts';
import { rateProblem, readInput } from '../../core/call/stages/admit.ts';
import { judge } from '../../core/call/stages/decide.ts';
import { checkAvailable, lookup } from '../../core/call/stages/lookup.ts';
import { loopProblem } from '../../core/call/stages/loop-guard.ts';
import { validate } from '../../core/call/stages/validate.ts';
import { findGrant } from '../../core/call/standing-grants.ts';
import { type CallStep, type Place, places } from '../../core/call/step.ts';
import { stepsOf } from '../../core/call/steps.ts';
import { wholeRegistry } from '../../core/registry/registry-state.ts';
import { deny } from '../../core/rules/decision.ts';
import { decisionOf, type Verdict } from '../../core/rules/verdict.ts';
import { type SessionState, wholeSession } from '../../core/session/session-state.ts';
import { listingOf } from '../../core/session/view.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';

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
  // What only the library calls is judged as if it did.
  const own = session.binding(name)?.entry.definition;
  const inside = own !== undefined && session.registry.ports.tools.own.has(own) ? true : undefined;
  const options = { ...optionsVia(surface, 'explained'), inside } as ReadCallOptions;
  const call = new Call(session, name, 'explain', input, options, undefined, undefined);
  session.registry.ports.calls.masking?.begin(call);
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
  call.binding.status.masking?.collectInput(call);
  const trial: Trial = { call, draft, steps, asksPerson: false };
  for (const place of Object.values(places)) {
    if (place === places.loopGuard && input !== undefined)
      for (const more of wholeRegistry(session.registry).ports.explained)
        Object.assign(draft, await more(call));
    // The list may have changed while an earlier step had to be waited for.
    for (const step of stepsOf(call.binding).filter((one) => one.place === place))
      if ((await attempts[place]?.(trial, step)) === 'stop') return Object.freeze(draft);
  }
  return Object.freeze(draft);
}

/** A call that goes through its steps without running them. */
interface Trial {
  readonly call: FoundCall;
  readonly draft: Draft;
  readonly steps: JsonObject[];
  /** A person would be asked. */
  asksPerson: boolean;
}

/** Adds what a step would say. */
type Attempt = (trial: Trial, step: CallStep) => MaybePromise<'stop' | void>;

/** For each place, what is tried there; undefined where nothing can be known without running it. */
const attempts: Readonly<Record<Place, Attempt | undefined>> = {
  [places.hooks]: undefined,
  async [places.validation]({ call, draft, steps }) {
    const invalid = await validate(call);
    if (invalid === undefined) return undefined;
    if (call.input !== undefined) {
      refuse(call, draft, steps, 'validation', invalid);
      return 'stop';
    }
    // If no input was given, a missing property is not an error.
    steps.push({ stage: 'validation', note: 'no input was given' });
    return undefined;
  },
  [places.loopGuard]({ call, draft, steps }) {
    const repeated = call.input === undefined ? undefined : loopProblem(call);
    if (repeated === undefined) return undefined;
    refuse(call, draft, steps, 'loop guard', repeated);
    return 'stop';
  },
  async [places.policy](trial) {
    trial.asksPerson = await addVerdict(trial.call, trial.draft, trial.steps);
  },
  // The verdict says what a person would be asked.
  [places.approval]: undefined,
  async [places.slots](trial) {
    if (isOver(trial)) return;
    const { call, draft, steps } = trial;
    const queued = await queueProblem(call);
    if (queued !== undefined) refuse(call, draft, steps, 'slots', queued);
  },
  [places.recheck]: undefined,
  async [places.start]({ call, draft, steps }, { attempt }) {
    if (attempt !== undefined) addStart(call, draft, steps, await attempt(call));
  },
  [places.handler]: undefined,
  [places.audit](trial) {
    if (isOver(trial)) return;
    const { call, draft, steps } = trial;
    const unrecorded = recordProblem(call);
    if (unrecorded !== undefined) refuse(call, draft, steps, 'audit', unrecorded);
  },
  [places.run]: undefined,
};

function isOver({ draft, asksPerson }: Trial): boolean {
  return draft.code !== undefined || asksPerson;
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
  const {
    output,
    execution: { outputStrategy },
  } = entry.internals;
  const notOffloaded = binding.overBudget?.cutReason(session);
  draft.budget = Object.freeze(
    output !== undefined
      ? { maxOutputChars, strategy: 'refuse' }
      : notOffloaded === undefined
        ? { maxOutputChars, strategy: outputStrategy }
        : { maxOutputChars, strategy: 'head_tail', notOffloaded },
  );
}

function addRuleFaults(call: FoundCall, draft: Draft): void {
  const session = wholeSession(call.session);
  const { registryRules, sessionRules, gates } = call.binding.status;
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
  call.verdict = verdict;
  const approvers = call.session.registry.ports.calls.answers?.approvers(call) ?? [];
  if (approvers.length > 0) draft.approvers = approvers;
  const isMore = verdict.details !== undefined || approvers.length > 0;
  const grant = findGrant(call);
  if (grant !== undefined && (!isMore || grant.effect === 'reject')) {
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

// What `explain` says about a call that needs approval. No one is asked.

/**
 * Why the call would be refused before a person is asked. Whether there is an approver is not
 * looked at, since the adapter of a call may bring one.
 */
async function approvalProblem(call: FoundCall, verdict: Verdict): Promise<ToolError | undefined> {
  const { session, entry } = call;
  const { approvalMode, approvalTimeoutMs } = session.setup;
  const { answers } = session.registry.ports.calls;
  const isReserved = answers?.isReserved(call) === true;
  const suspends = approvalMode === 'suspend' && entry.internals.runsIn !== 'external';
  const crowded = suspends || isReserved ? await answers?.crowded(call) : crowdedDesk(call);
  if (crowded !== undefined) return crowded;
  if (call.input === undefined) return undefined;
  const question = requestFor(call, verdict, 'explain', approvalTimeoutMs);
  return question.askable ? undefined : rejection(call, question.reason, question.message);
}

function crowdedDesk({ session }: FoundCall): ToolError | undefined {
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  return (session.desk?.waiting.size ?? 0) >= limit ? tooManyApprovals(limit) : undefined;
}
