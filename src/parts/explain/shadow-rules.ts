/**
 * Shadow rules are tried on real calls. They are matched after the rules that are enforced, with
 * their own budget, and cannot change a verdict.
 */

import type { Call, FoundCall } from '../../core/call/call.ts';
import { judgedOf } from '../../core/call/judged.ts';
import type { Tally, Tried } from '../../core/call/tally.ts';
import type { RuleCount } from '../../core/registry/counters.ts';
import type { Effect } from '../../core/rules/decision.ts';
import type { CompiledRule } from '../../core/rules/rule.ts';
import type { Verdict } from '../../core/rules/verdict.ts';
import { hasAttributes } from './attribute-judge.ts';

/**
 * Notes that a rule matched a call.
 * @param counts Where the rules count, each at its index; filled when a rule first matches.
 */
export function noteMatch(
  call: Call,
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

/** Finds the shadow rules of a layer that match a call. */
export function tryRules(
  call: FoundCall,
  tally: Tally,
  rules: readonly CompiledRule[],
  counts: (RuleCount | undefined)[],
): void {
  const { steps } = tally;
  const judged = judgedOf(call, tally.trialLeft);
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index] as CompiledRule;
    const { id: ruleId, layer: source, effect } = rule;
    // `explain` without an input skips the rules that look at it.
    if (steps !== undefined && call.input === undefined && rule.hasWhen) continue;
    // A rule cannot be tried if the host did not return the attributes that it reads.
    if (!hasAttributes(call, rule.attributes)) {
      steps?.push({ source, ruleId, shadow: true, note: 'its attributes are not known' });
      continue;
    }
    try {
      const matches = rule.matches(judged);
      tally.trialLeft = judged.left;
      if (!matches) continue;
    } catch {
      tally.trialLeft = judged.left;
      // A fault here, such as a spent budget, must not affect the call.
      const note = 'too large to be checked against the shadow rules from here on';
      steps?.push({ source, ruleId, shadow: true, note });
      return;
    }
    const step = steps === undefined ? undefined : { source, ruleId, effect, shadow: true };
    if (step !== undefined) steps?.push(step);
    const count = steps === undefined ? noteMatch(call, rule, counts, index) : undefined;
    tally.tried ??= [];
    tally.tried.push({ rule, count, step });
  }
}

/**
 * Compares the verdict with the one that each shadow rule alone would have caused. Differences are
 * kept for {@link tellTrials}, each once per call.
 */
export function compareTried(call: Call, tally: Tally, verdict: Verdict): void {
  for (const { rule, count, step } of tally.tried as readonly Tried[]) {
    const wouldBe = effectWith(rule.effect, tally);
    if (step !== undefined) step.wouldBe = wouldBe;
    if (count === undefined || wouldBe === verdict.effect) continue;
    const { more } = call;
    more.shadowed ??= new Set();
    if (more.shadowed.has(count)) continue;
    more.shadowed.add(count);
    more.trials ??= [];
    more.trials.push({ rule, wouldBe, was: verdict.effect });
  }
}

/**
 * The effect of all gates together with one more rule. If a rule matches, the default does not
 * apply.
 */
function effectWith(effect: Effect, { deny, ask }: Tally): Effect {
  if (deny !== undefined || effect === 'deny') return 'deny';
  return ask !== undefined || effect === 'ask' ? 'ask' : 'allow';
}

/** Emits `policy:shadow` for the differences that were found since the last time. */
export function tellTrials(call: Call): void {
  const trials = call.extra?.trials;
  if (trials === undefined) return;
  call.more.trials = undefined;
  const { session, toolName, callId } = call;
  for (const { rule, wouldBe, was } of trials) {
    // A listener may have ended the call, and no event follows its end.
    if (call.ended || !session.hears('policy:shadow')) return;
    const { id: ruleId, layer: source } = rule;
    session.emit(
      'policy:shadow',
      { toolName, callId, ruleId, source, wouldBe, was },
      call.surfaceName,
    );
  }
}
