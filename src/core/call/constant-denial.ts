/**
 * Denials by rules that look at no call. Where nobody listens, such a call is refused at once, and
 * nothing of its input is read. Where somebody does, its input is read only to be shown.
 */

import type { ToolResult } from '../../api/result.ts';
import type { CompiledRule } from '../rules/rule.ts';
import { errorOf, ownVerdict, type Verdict } from '../rules/verdict.ts';
import type { SessionState } from '../session/session-state.ts';
import type { Binding } from './binding.ts';
import type { Call } from './call.ts';
import { newId } from './calls-in-flight.ts';
import { countDenied, countEnd, countMatched, countReason, type RuleCount } from './counters.ts';

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

/**
 * The result of a call without options, if the rules deny it and nobody listens. Undefined for any
 * other call, which goes through all stages.
 */
export function denyAtOnce(session: SessionState, toolName: string): ToolResult | undefined {
  const { registry, limits } = session;
  if (
    // The tool need not be looked up twice where no rule denies.
    !(registry.rules.denies || session.profile !== undefined || session.rules.length > 0) ||
    session.closed ||
    registry.closed ||
    registry.nesting > 0 ||
    registry.observers !== undefined ||
    registry.tracers !== undefined ||
    registry.limitsRate ||
    session.hooks.length > 0 ||
    session.rate !== undefined ||
    session.idled !== undefined ||
    limits.callsPerMinute !== undefined ||
    limits.loopGuard !== undefined ||
    registry.hub.size + (session.hub?.size ?? 0) > 0 ||
    registry.ports.masking?.hidesTexts() === true
  )
    return undefined;
  try {
    const binding = session.binding(toolName);
    const denial = binding === undefined ? undefined : denialOf(binding);
    if (binding === undefined || denial === undefined || binding.entry.deprecationNotLogged)
      return undefined;
    const { entry } = binding;
    const callId = newId(session);
    const error = errorOf(denial.verdict);
    count(binding, denial, error.reason ?? error.code);
    const { fingerprint } = entry;
    return {
      success: false,
      error,
      metadata: { callId, toolName, status: 'rejected', attempt: 1, durationMs: 0, fingerprint },
    };
  } catch {
    // The stages report what is wrong.
    return undefined;
  }
}

function denialOf(binding: Binding): ConstantDenial | undefined {
  if (binding.drop !== 'denied') return undefined;
  if (binding.denial === undefined) binding.denial = makeDenial(binding) ?? null;
  return binding.denial ?? undefined;
}

function makeDenial({
  entry,
  policies,
  registryRules,
  sessionRules,
}: Binding): ConstantDenial | undefined {
  const { attributes, internal, outside } = entry.internals;
  if (internal || outside !== undefined || attributes !== undefined) return undefined;
  const rules = [...registryRules, ...sessionRules];
  if (rules.some(({ hasWhen, shadow }) => hasWhen || shadow)) return undefined;
  const first = rules.find(({ effect }) => effect === 'deny') as CompiledRule;
  // The policies of the registry are asked before the rules of the session.
  if (policies.length > 0 && !registryRules.includes(first)) return undefined;
  return { verdict: ownVerdict(first) as Verdict, rules, counts: undefined };
}

function count(binding: Binding, denial: ConstantDenial, reason: string): void {
  const { session, entry } = binding;
  const counters = session.counters();
  denial.counts ??= denial.rules.map((rule) => {
    rule.use.matched = true;
    return counters.rule(rule.id);
  });
  countMatched(denial.counts);
  binding.counts ??= counters.tool(entry);
  countEnd(binding.counts, 'rejected', 0);
  countDenied(binding.counts);
  countReason(binding.counts, reason);
}
