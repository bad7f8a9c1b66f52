/**
 * Finds conditions of rules and quotas that cannot hold, by the schemas of the tools that they are
 * about.
 */

import { compileQuotas, compileRules } from '../../assembly/compile.ts';
import { registryStateOf } from '../../core/registry/state-of.ts';
import { everyRule } from '../../core/rules/rule-use.ts';
import type { HostToolRegistry } from '../../core.ts';
import { everyQuota } from '../../parts/quotas/quota-state.ts';
import { reviewOf } from '../../parts/rule-review/review-of.ts';
import type { Findings } from './validate-checks.ts';
import type { WrittenQuota, WrittenRule } from './validate-references.ts';

/** A rule or quota with the place where it was written. */
type Placed<T> = readonly [place: string, one: T];
type Rules = readonly Placed<ReturnType<typeof everyRule>[number]>[];
type Quotas = readonly Placed<ReturnType<typeof everyQuota>[number]>[];

/**
 * Checks the rules and quotas of a file and its profiles.
 * @param isWhole Whether the registry has all tools. If not, such as for a file with MCP servers,
 * only rules that name their tools are judged.
 */
export function checkDeadRules(
  registry: HostToolRegistry,
  written: { readonly rules: readonly WrittenRule[]; readonly quotas: readonly WrittenQuota[] },
  isWhole: boolean,
  findings: Findings,
): void {
  const rules = [...written.rules];
  const quotas = [...written.quotas];
  for (const [id, { given }] of registryStateOf(registry).profiles) {
    const place = (field: string): string => `profile \`${id}\`, ${field}`;
    given.rules?.forEach((rule, at) => {
      rules.push({ place: place(`rules[${at}]`), rule });
    });
    given.quotas?.forEach((quota, at) => {
      quotas.push({ place: place(`quotas[${at}]`), quota });
    });
  }
  const named = (place: string, id: string | undefined): string =>
    id === undefined ? place : `${place} \`${id}\``;
  check(
    registry,
    rules.flatMap(({ place, rule }) =>
      compileRules([rule], 'file').map((one) => [named(place, rule.id), one] as const),
    ),
    quotas.flatMap(({ place, quota }) =>
      compileQuotas([quota], 'file').map((one) => [named(place, quota.id), one] as const),
    ),
    isWhole,
    findings,
  );
}

/**
 * Checks the rules and quotas that a module has added to a registry. Other modules may bring more
 * tools, so only those that name their tools are judged.
 */
export function checkAddedRules(registry: HostToolRegistry, findings: Findings): void {
  const state = registryStateOf(registry);
  const placed = <T extends { readonly id: string; readonly layer: string }>(one: T): Placed<T> => [
    `\`${one.id}\` (${one.layer})`,
    one,
  ];
  check(registry, everyRule(state).map(placed), everyQuota(state).map(placed), false, findings);
}

function check(
  registry: HostToolRegistry,
  rules: Rules,
  quotas: Quotas,
  isWhole: boolean,
  findings: Findings,
): void {
  const review = reviewOf(registryStateOf(registry));
  for (const [name, list, held] of [
    ['rule_can_match', rules, 'Each rule can match a call.'],
    ['quota_can_match', quotas, 'Each quota can count a call.'],
  ] as const) {
    const faults = list.flatMap(([place, one]) =>
      review.faultsOf(one, isWhole).map(({ message }) => `${place}: ${message}`),
    );
    for (const fault of faults) findings.fail(name, fault);
    if (list.length > 0 && faults.length === 0) findings.note(name, undefined, held);
  }
}
