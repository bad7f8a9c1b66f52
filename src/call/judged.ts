/** What the conditions of rules and quotas look at. */
import { type Judged, maxRuleSteps } from '../policy/judged.ts';
import { declaresPath } from '../schema/declares-path.ts';
import type { FoundCall } from '../state/call.ts';
import { originsOf } from './origins.ts';

/** The canonical input, and what the schema made of it. */
export function judgedOf(call: FoundCall): Judged {
  const { json } = call.binding.entry.internals.input;
  return {
    input: call.canonical,
    parsed: call.parsed,
    declares: (...path) => declaresPath(json, path),
    facts: call.session.facts,
    surface: call.surface?.name ?? '',
    origins: originsOf(call),
    attributes: call.extra?.attributes?.answers,
    left: maxRuleSteps,
  };
}
