/** What the conditions of rules and quotas look at. */
import { isJsonObject } from '../json.ts';
import { type Judged, maxRuleSteps } from '../policy/judged.ts';
import type { FoundCall } from '../state/call.ts';

/** The canonical input, and what the schema made of it. */
export function judgedOf(call: FoundCall): Judged {
  const { properties } = call.binding.entry.internals.input.json;
  return {
    input: call.canonical,
    parsed: call.parsed,
    declares: (name) => isJsonObject(properties) && Object.hasOwn(properties, name),
    facts: call.session.facts,
    surface: call.surface?.name ?? '',
    attributes: call.extra?.attributes?.answers,
    left: maxRuleSteps,
  };
}
