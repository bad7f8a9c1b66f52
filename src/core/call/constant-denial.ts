/**
 * Denials by rules that look at no call. Where nobody listens, nothing of the input of such a call
 * is read. Where somebody does, it is read only to be shown.
 */

import type { CompiledRule } from '../rules/rule.ts';
import { ownVerdict, type Verdict } from '../rules/verdict.ts';
import type { Binding } from './binding.ts';
import type { Call } from './call.ts';
import type { RuleCount } from './counters.ts';
import type { CallSession } from './session-port.ts';

/** What every call to a tool ends with in a session. */
export interface ConstantDenial {
  readonly verdict: Verdict;
  /** The rules of the tool, all of which match. */
  readonly rules: readonly CompiledRule[];
  /** Where they count; undefined until the first call. */
  counts: readonly RuleCount[] | undefined;
}

/** Whether the rules deny the call whatever its input is, and are asked before the host's code. */
export function isDeniedAnyway({ session, toolName, parent, extra }: Call): boolean {
  if (parent !== undefined || extra?.resumed !== undefined || session.hooks.length > 0)
    return false;
  const binding = session.binding(toolName);
  return binding !== undefined && denialOf(binding) !== undefined;
}

/** The denial of every call of a tool; undefined if its calls have to be judged. */
export function denialOf(binding: Binding): ConstantDenial | undefined {
  if (binding.status.drop !== 'denied') return undefined;
  if (binding.denial === undefined) binding.denial = makeDenial(binding) ?? null;
  return binding.denial ?? undefined;
}

function makeDenial({
  entry,
  session,
  status: { registryRules, sessionRules },
}: Binding): ConstantDenial | undefined {
  const { attributes, internal, outside } = entry.internals;
  if (internal || outside !== undefined || attributes !== undefined) return undefined;
  const rules = [...registryRules, ...sessionRules];
  if (rules.some(({ hasWhen, shadow }) => hasWhen || shadow)) return undefined;
  const first = rules.find(({ effect }) => effect === 'deny') as CompiledRule;
  // The policies of the registry are asked before the rules of the session.
  if (session.registry.settings.policies.length > 0 && !registryRules.includes(first))
    return undefined;
  return { verdict: ownVerdict(first) as Verdict, rules, counts: undefined };
}

/** Where the rules of a denial count in its session. */
export function countsOf(denial: ConstantDenial, session: CallSession): readonly RuleCount[] {
  denial.counts ??= denial.rules.map((rule) => {
    rule.use.matched = true;
    return session.counters().rule(rule.id);
  });
  return denial.counts;
}
