/**
 * Finds conditions of rules and quotas that cannot hold, by the schemas of the tools that they are
 * about.
 */
import type { HostToolRegistry } from '../../index.ts';
import {
  compileQuotas,
  compileRules,
  everyQuota,
  everyRule,
  registryStateOf,
} from '../../surface-port.ts';
import type { Findings } from './validate-checks.ts';
import type { WrittenQuota, WrittenRule } from './validate-references.ts';

type Rules = readonly { readonly place: string; readonly rule: ReturnType<typeof everyRule>[0] }[];
type Quotas = readonly {
  readonly place: string;
  readonly quota: ReturnType<typeof everyQuota>[0];
}[];

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
  const profiles = [...registryStateOf(registry).profiles].map(([id, { given }]) => ({
    id,
    given,
  }));
  const rules = [
    ...written.rules,
    ...profiles.flatMap(({ id, given }) =>
      (given.rules ?? []).map((rule, at) => ({ place: `profile \`${id}\`, rules[${at}]`, rule })),
    ),
  ];
  const quotas = [
    ...written.quotas,
    ...profiles.flatMap(({ id, given }) =>
      (given.quotas ?? []).map((quota, at) => ({
        place: `profile \`${id}\`, quotas[${at}]`,
        quota,
      })),
    ),
  ];
  check(
    registry,
    rules.flatMap(({ place, rule }) =>
      compileRules([rule], 'file').map((compiled) => ({
        place: rule.id === undefined ? place : `${place} \`${rule.id}\``,
        rule: compiled,
      })),
    ),
    quotas.flatMap(({ place, quota }) =>
      compileQuotas([quota], 'file').map((compiled) => ({
        place: `${place} \`${quota.id}\``,
        quota: compiled,
      })),
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
  const placeOf = ({ id, layer }: { readonly id: string; readonly layer: string }): string =>
    `\`${id}\` (${layer})`;
  check(
    registry,
    everyRule(state).map((rule) => ({ place: placeOf(rule), rule })),
    everyQuota(state).map((quota) => ({ place: placeOf(quota), quota })),
    false,
    findings,
  );
}

function check(
  registry: HostToolRegistry,
  rules: Rules,
  quotas: Quotas,
  isWhole: boolean,
  findings: Findings,
): void {
  const { review } = registryStateOf(registry);
  const deadRules = rules.flatMap(({ place, rule }) =>
    review.faultsOf(rule, isWhole).map(({ message }) => `${place}: ${message}`),
  );
  report('rule_can_match', deadRules, rules.length, 'Each rule can match a call.', findings);
  const deadQuotas = quotas.flatMap(({ place, quota }) =>
    review.faultsOf(quota, isWhole).map(({ message }) => `${place}: ${message}`),
  );
  report('quota_can_match', deadQuotas, quotas.length, 'Each quota can count a call.', findings);
}

function report(
  name: 'rule_can_match' | 'quota_can_match',
  faults: readonly string[],
  count: number,
  held: string,
  findings: Findings,
): void {
  for (const fault of faults) findings.fail(name, fault);
  if (count > 0 && faults.length === 0) findings.note(name, undefined, held);
}
