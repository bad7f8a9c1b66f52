/**
 * Decides about a call by asking every gate and weighing the answers. No other code reaches a
 * verdict; `call` and `explain` both use this.
 */

import type { ToolEvents } from '../../../api/events.ts';
import type { JsonObject } from '../../../values/json/index.ts';
import { type CompiledRule, type Judged, overBudget } from '../../rules/rule.ts';
import {
  bothDetails,
  errorOf,
  makeVerdict,
  ownVerdict,
  type Verdict,
} from '../../rules/verdict.ts';
import { promptOf } from '../approval-question.ts';
import type { Binding } from '../binding.ts';
import type { Call, FoundCall } from '../call.ts';
import type { RuleCount } from '../counters.ts';
import { deliver } from '../deliver.ts';
import { approvalJudge, checkJudge, policyJudge } from '../host-judges.ts';
import { JudgedCall, type UnrecordedCall } from '../judged.ts';
import type { Outcome, Step } from '../step.ts';
import { type Answer, emptyTally, type Judge, type Tally } from '../tally.ts';

const allowed: Verdict = Object.freeze(makeVerdict('allow', { source: 'default' }));

/** Reaches the verdict and refuses a denied call. A verdict of `ask` is for the approve stage. */
export function decide(call: FoundCall): Step {
  const { binding } = call;
  if (binding.open) {
    call.verdict = allowed;
    return undefined;
  }
  const verdict = judge(call, undefined);
  return verdict instanceof Promise
    ? verdict.then((settled) => conclude(call, settled))
    : conclude(call, verdict);
}

function conclude(call: Call, verdict: Verdict): Outcome {
  if (call.ended) return undefined;
  call.verdict = verdict;
  if (verdict.effect !== 'deny') return undefined;
  return errorOf(verdict);
}

/** Announces the verdict and what shadow rules would have made of it. */
export function announceVerdict(call: Call): void {
  const { session } = call;
  const { observers, ports } = session.registry;
  const { notes, trials } = ports.calls;
  if (observers !== undefined || session.hasListener('policy:check')) notes?.settle(call);
  emitPolicyCheck(call);
  // What they differ in is kept among what only some calls need.
  if (call.extra !== undefined) trials?.tell(call);
}

/**
 * Emits `policy:check`. It is separate from {@link decide}, since a call that is judged again emits
 * no second event.
 */
function emitPolicyCheck(call: Call): void {
  const { session, toolName, callId, verdict } = call;
  if (verdict === undefined || !session.hasListener('policy:check')) return;
  const { effect, ruleId, source, reason } = verdict;
  const { sessionId, registry } = session;
  const event: {
    -readonly [K in keyof ToolEvents['policy:check']]: ToolEvents['policy:check'][K];
  } & { type: string } = {
    type: 'policy:check',
    sessionId,
    principal: session.actor.principal,
    actor: session.actor,
    surface: call.surfaceName,
    // In the turn in which the call was announced, the time has not changed.
    at:
      session.events.lastAnnounced === call && !call.waited
        ? session.events.lastAnnouncedAt
        : registry.now(),
    seq: ++session.events.seq,
    toolName,
    callId,
    effect,
  };
  if (ruleId !== undefined) event.ruleId = ruleId;
  if (source !== undefined) event.source = source;
  if (reason !== undefined) event.reason = reason;
  const more = registry.ports.calls.notes?.of(call);
  if (more !== undefined) Object.assign(event, more);
  deliver(session, 'policy:check', event);
}

/** Asks every gate in order. If `steps` is given, each answer is added to it. */
export function judge(
  call: FoundCall,
  steps: JsonObject[] | undefined,
): Verdict | Promise<Verdict> {
  return weigh(call, emptyTally(steps), judgesOf(call.binding), 0);
}

function weigh(
  call: FoundCall,
  tally: Tally,
  judges: readonly Judge[],
  from: number,
): Verdict | Promise<Verdict> {
  for (let index = from; index < judges.length && !call.ended; index++) {
    const judge = judges[index] as Judge;
    if (tally.deny !== undefined && judge.counts !== true) continue;
    const kept = call.extra?.kept?.get(judge) as Answer | undefined;
    if (kept !== undefined) {
      kept(tally);
      continue;
    }
    const later = judge(call, tally);
    if (later === undefined) continue;
    return later.then((answer) => {
      const { more } = call;
      more.kept ??= new Map();
      if (answer !== undefined) {
        answer(tally);
        more.kept.set(judge, answer);
      }
      return weigh(call, tally, judges, index + 1);
    });
  }
  const verdict = conclusionOf(call.binding, tally);
  if (tally.trial !== undefined && !call.ended)
    call.session.registry.ports.calls.trials?.compare(call, tally, verdict);
  return verdict;
}

function conclusionOf(binding: Binding, tally: Tally): Verdict {
  const { steps } = tally;
  // The usual cases need no copy.
  if (steps === undefined && tally.deny !== undefined) return tally.deny;
  if (steps === undefined && (tally.decided || binding.status.default === 'allow'))
    return tally.ask ?? tally.allow ?? allowed;
  if (tally.deny !== undefined) return { ...tally.deny, steps };
  if (!tally.decided && binding.status.default !== 'allow') {
    steps?.push({ source: 'default', effect: binding.status.default });
    if (binding.status.default === 'deny')
      return makeVerdict('deny', {
        reason: 'denied_by_default',
        source: 'default',
        message: 'The call was denied, because no rule allows it and the default is to deny.',
        steps,
      });
    if (tally.ask === undefined)
      return makeVerdict('ask', { source: 'default', prompt: promptOf(binding.entry), steps });
  }
  return { ...(tally.ask ?? tally.allow ?? allowed), steps };
}

/**
 * The gates of a tool in a session, in the order of their layers. They are made once per refresh.
 */
function judgesOf(binding: Binding): readonly Judge[] {
  if (binding.judges === undefined) {
    const { entry, session, status } = binding;
    const { registryRules, sessionRules, profileAsks, gates } = status;
    const { ports, settings } = session.registry;
    const judges: Judge[] = ports.calls.first.flatMap((judgesFor) => judgesFor(binding));
    if (registryRules.length > 0) judges.push(rulesJudge(registryRules));
    for (const policy of settings.policies) judges.push(policyJudge(policy, 'registry'));
    if (sessionRules.length > 0) judges.push(rulesJudge(sessionRules));
    for (const policy of session.policies) judges.push(policyJudge(policy, 'session'));
    if (entry.internals.check !== undefined) judges.push(checkJudge(entry.internals.check));
    if (profileAsks || entry.internals.requiresApproval !== false) judges.push(approvalJudge);
    for (const gate of gates) judges.push(...(gate.judges ?? []));
    binding.judges = judges;
  }
  return binding.judges as readonly Judge[];
}

/** Whether rules alone decide about the calls of a tool, and no shadow rules are tried. */
export function judgesByRules(binding: Binding): boolean {
  const { registryRules, sessionRules } = binding.status;
  return (
    judgesOf(binding).every(({ counts }) => counts === true) &&
    ![...registryRules, ...sessionRules].some(({ shadow }) => shadow)
  );
}

/** The verdict of a tool whose calls are judged by rules alone. */
export function judgeByRules(call: UnrecordedCall): Verdict {
  const { binding } = call;
  const tally = emptyTally(undefined);
  for (const judge of judgesOf(binding) as readonly RulesJudge[]) judge(call, tally);
  return conclusionOf(binding, tally);
}

/** A call as rules know it. */
type RuledCall = FoundCall | UnrecordedCall;

interface RulesJudge {
  (call: RuledCall, tally: Tally): void;
  readonly counts: true;
}

/** One gate for all rules of a layer. All layers share one budget of steps. */
function rulesJudge(all: readonly CompiledRule[]): RulesJudge {
  const shadows = all.filter(({ shadow }) => shadow);
  const rules = shadows.length === 0 ? all : all.filter(({ shadow }) => !shadow);
  const verdicts = rules.map(ownVerdict);
  const counts: (RuleCount | undefined)[] = rules.map(nowhere);
  const shadowCounts: (RuleCount | undefined)[] = shadows.map(nowhere);
  const judge = (call: RuledCall, tally: Tally): void => {
    const { steps } = tally;
    let judged: Judged | undefined;
    for (let index = 0; index < rules.length; index++) {
      // After a denial, the other rules are only counted. `explain` counts nothing.
      if (tally.deny !== undefined && steps !== undefined) break;
      const rule = rules[index] as CompiledRule;
      if (rule.hasWhen) {
        // `explain` without an input skips the rules that look at it.
        if (steps !== undefined && call.input === undefined) continue;
        judged ??= judgedOf(call, tally.left);
        const match = matchOf(rule, judged);
        tally.left = judged.left;
        if (match === 'over budget') {
          if (tally.deny === undefined) denyOverBudget(tally, rule);
          break;
        }
        if (!match) continue;
      }
      if (steps === undefined) noteMatch(call, rule, counts, index);
      if (tally.deny === undefined) addDecision(call, tally, rule, verdicts[index]);
    }
    if (shadows.length > 0)
      call.session.registry.ports.calls.trials?.attempt(
        call as FoundCall,
        tally,
        shadows,
        shadowCounts,
      );
  };
  return Object.assign(judge, { counts: true as const });
}

function judgedOf(call: RuledCall, left: number): Judged {
  if (!('left' in call)) return new JudgedCall(call, left);
  call.left = left;
  return call;
}

/**
 * Notes that a rule matched a call.
 * @param counts Where the rules count, each at its index; filled when a rule first matches.
 */
export function noteMatch(
  call: Pick<Call, 'session' | 'matched'>,
  rule: CompiledRule,
  counts: (RuleCount | undefined)[],
  index: number,
): RuleCount {
  rule.use.matched = true;
  let count = counts[index];
  if (count === undefined) {
    count = call.session.counters().rule(rule.id);
    counts[index] = count;
  }
  if (call.matched === undefined) call.matched = [count];
  else call.matched.push(count);
  return count;
}

function nowhere(): undefined {
  return undefined;
}

/** Adds the decision of a rule that matched. */
function addDecision(
  { entry }: RuledCall,
  tally: Tally,
  { id: ruleId, layer: source, effect, details }: CompiledRule,
  verdict: Verdict | undefined,
): void {
  tally.steps?.push({ source, ruleId, effect });
  tally.decided = true;
  if (effect === 'deny') tally.deny = verdict;
  else if (effect === 'allow') tally.allow ??= verdict;
  else if (tally.ask === undefined)
    tally.ask = makeVerdict('ask', { ruleId, source, prompt: promptOf(entry), details });
  else if (details !== undefined)
    tally.ask = { ...tally.ask, details: bothDetails(tally.ask.details, details) };
}

/** Whether a rule matches, unless the budget runs out first. */
export function matchOf(rule: CompiledRule, judged: Judged): boolean | 'over budget' {
  try {
    return rule.matches(judged);
  } catch (error) {
    if (error === overBudget) return 'over budget';
    throw error;
  }
}

function denyOverBudget(tally: Tally, { id: ruleId, layer: source }: CompiledRule): void {
  const reason = 'rules_over_budget';
  tally.steps?.push({ source, ruleId, effect: 'deny', reason });
  tally.deny = makeVerdict('deny', {
    code: 'policy_error',
    reason,
    ruleId,
    source,
    message:
      'The call was refused because its arguments are too large to be checked against the rules. ' +
      'Send less.',
  });
}
