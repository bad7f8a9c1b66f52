/** Compiles rules and quotas with the tests of all parts, where there is no registry. */

import type { Quota } from '../api/quotas.ts';
import type { Rule } from '../api/rule.ts';
import type { CompiledRule } from '../core/rules/rule.ts';
import { compileRules as compileRulesWith, tryRule as tryRuleWith } from '../core/rules/rules.ts';
import type { CompiledQuota } from '../parts/quotas/quota-layers.ts';
import { compileQuotas as compileQuotasWith } from '../parts/quotas/quotas.ts';
import { everything } from './full-registry.ts';

export function compileRules(
  rules: readonly Rule[],
  layer: string,
  before?: number,
): readonly CompiledRule[] {
  return compileRulesWith(rules, layer, everything, before);
}

export function tryRule(rule: Rule, layer: string): void {
  tryRuleWith(rule, layer, everything);
}

export function compileQuotas(
  quotas: readonly Quota[],
  layer: string,
  others?: ReadonlySet<string>,
): readonly CompiledQuota[] {
  return compileQuotasWith(quotas, layer, everything, others);
}
