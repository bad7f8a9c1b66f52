/**
 * Shadow rules are tried on real calls. They are matched after the rules that are enforced, with
 * their own budget, and cannot change a verdict.
 */

import type { Effect } from '../../api/policy.ts';
import type { Call, FoundCall } from '../../core/call/call.ts';
import { countShadow, type RuleCount } from '../../core/call/counters.ts';
import { JudgedCall } from '../../core/call/judged.ts';
import type { Trials } from '../../core/call/ports.ts';
import { noteMatch } from '../../core/call/stages/decide.ts';
import type { Tally } from '../../core/call/tally.ts';
import { type CompiledRule, maxFurtherSteps } from '../../core/rules/rule.ts';
import type { Verdict } from '../../core/rules/verdict.ts';
import { Slot } from '../../core/slot.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { hasAttributes } from './attribute-judge.ts';

/** A shadow rule that matched the call that is being judged. */
interface Tried {
  readonly rule: CompiledRule;
  /** Where it counts; undefined in `explain`, which counts nothing. */
  readonly count: RuleCount | undefined;
  /** Its step in `explain`. */
  readonly step: Record<string, JsonValue> | undefined;
}

/** The shadow rules that matched, and the steps that others may still take. */
interface Trial {
  readonly tried: Tried[];
  left: number;
}

/** A shadow rule that would have decided differently about a call. */
interface Difference {
  readonly rule: CompiledRule;
  readonly wouldBe: Effect;
  readonly was: Effect;
}

/** The shadow rules that would have decided differently, as far as they count. */
export const shadowedRules = new Slot<Set<RuleCount>>();
/** The same, as far as no event has reported them. */
const unreported = new Slot<Difference[]>();

export const trials: Trials = { attempt: tryRules, compare: compareTried, tell: announceTrials };

/** Finds the shadow rules of a layer that match a call. */
function tryRules(
  call: FoundCall,
  tally: Tally,
  rules: readonly CompiledRule[],
  counts: (RuleCount | undefined)[],
): void {
  const { steps } = tally;
  const trial = (tally.trial ?? { tried: [], left: maxFurtherSteps }) as Trial;
  tally.trial = trial;
  const judged = new JudgedCall(call, trial.left);
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
      trial.left = judged.left;
      if (!matches) continue;
    } catch {
      trial.left = judged.left;
      // A fault here, such as a spent budget, must not affect the call.
      const note = 'too large to be checked against the shadow rules from here on';
      steps?.push({ source, ruleId, shadow: true, note });
      return;
    }
    const step = steps === undefined ? undefined : { source, ruleId, effect, shadow: true };
    if (step !== undefined) steps?.push(step);
    const count = steps === undefined ? noteMatch(call, rule, counts, index) : undefined;
    trial.tried.push({ rule, count, step });
  }
}

/**
 * Compares the verdict with the one that each shadow rule alone would have caused. Differences are
 * kept for {@link announceTrials}, each once per call.
 */
function compareTried(call: Call, tally: Tally, verdict: Verdict): void {
  for (const { rule, count, step } of (tally.trial as Trial).tried) {
    const wouldBe = effectWith(rule.effect, tally);
    if (step !== undefined) step.wouldBe = wouldBe;
    if (count === undefined || wouldBe === verdict.effect) continue;
    const { more } = call;
    const shadowed = shadowedRules.of(more) ?? new Set();
    if (shadowed.size === 0) {
      shadowedRules.set(more, shadowed);
      call.onEnd(() => {
        for (const one of shadowed) countShadow(one);
      });
    }
    if (shadowed.has(count)) continue;
    shadowed.add(count);
    const differences = unreported.of(more) ?? [];
    differences.push({ rule, wouldBe, was: verdict.effect });
    unreported.set(more, differences);
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
function announceTrials(call: Call): void {
  const { extra, session, toolName, callId } = call;
  const differences = extra === undefined ? undefined : unreported.of(extra);
  if (extra === undefined || differences === undefined) return;
  unreported.delete(extra);
  for (const { rule, wouldBe, was } of differences) {
    // A listener may have ended the call, and no event follows its end.
    if (call.ended || !session.hasListener('policy:shadow')) return;
    const { id: ruleId, layer: source } = rule;
    session.emit(
      'policy:shadow',
      { toolName, callId, ruleId, source, wouldBe, was },
      call.surfaceName,
    );
  }
}
