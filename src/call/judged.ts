/** What the rules judge of a call. */
import { isJsonObject } from '../json.ts';
import { type Judged, maxRuleSteps, overBudget } from '../policy/conditions.ts';
import type { CompiledRule } from '../policy/rule.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';

/** Whether a rule matches; its layer's budget may run out first. */
export function matchOf(rule: CompiledRule, judged: Judged): boolean | 'over budget' {
  try {
    return rule.matches(judged);
  } catch (error) {
    if (error === overBudget) return 'over budget';
    throw error;
  }
}

/** Both values of the call. */
export function judgedOf(call: Call): Judged {
  const { input } = (call.binding as Binding).entry.internals;
  const { properties } = input.json;
  return {
    input: call.canonical,
    // A raw schema's parse is the input itself, and is read once.
    parsed: call.parsed,
    declares: (name) => isJsonObject(properties) && Object.hasOwn(properties, name),
    left: maxRuleSteps,
  };
}
