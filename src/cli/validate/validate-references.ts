/**
 * Checks that the names in rules, quotas and definitions exist. With a typing error, a rule that
 * denies forbids nothing, and a quota counts nothing.
 */
import { compileQuotas, compileRules } from '../../assembly/compile.ts';
import { registryStateOf } from '../../core/registry/state-of.ts';
import { everyRule } from '../../core/rules/rule-use.ts';
import type { HostToolRegistry, Quota, Rule } from '../../core.ts';
import { everyQuota } from '../../parts/quotas/quota-state.ts';
import { reviewOf } from '../../parts/rule-review/review-of.ts';
import { nearestNames } from '../../values/text/names.ts';
import type { Findings } from './validate-checks.ts';

/** A rule as it was written. */
export interface WrittenRule {
  /** The place, such as `rules[0], line 3`. */
  readonly place: string;
  readonly rule: Rule;
}

/**
 * Finds rules that match no tool of the registry, and `uses` that name no tool. Does nothing for a
 * registry without tools.
 */
export function checkReferences(
  registry: HostToolRegistry,
  written: readonly WrittenRule[],
  findings: Findings,
): void {
  const {
    profiles,
    catalogue: { tools, names: all },
  } = registryStateOf(registry);
  if (tools.size === 0) return;
  const names = [...tools.keys()];
  const summaries = all.all().map(({ summary }) => summary);
  const touches = (rule: Rule): boolean =>
    compileRules([rule], 'file').some(({ appliesTo }) => summaries.some(appliesTo));
  const ofProfiles = [...profiles].flatMap(([id, { given }]) =>
    (given.rules ?? []).map((rule, index) => ({
      place: `profile \`${id}\`, rules[${index}]`,
      rule,
    })),
  );
  const rules = [...written, ...ofProfiles];
  const wrong = rules.flatMap(({ place, rule }) => {
    const where = `${place}${rule.id === undefined ? '' : ` \`${rule.id}\``}`;
    const lost =
      rule.tools === undefined
        ? []
        : [rule.tools].flat().filter((one) => !touches({ effect: rule.effect, tools: one }));
    if (lost.length > 0)
      return lost.map(
        (one) => `${where}: \`${one}\` matches no tool of the file${meant(one, names)}`,
      );
    return touches(rule) ? [] : [`${where}: it matches no tool of the file.`];
  });
  for (const fault of wrong) findings.fail('rule_matches', fault);
  if (rules.length > 0 && wrong.length === 0)
    findings.note('rule_matches', undefined, 'Each rule matches a tool.');

  for (const [name, { internals }] of tools)
    for (const used of internals.uses)
      findings.note(
        'uses_known',
        tools.has(used)
          ? undefined
          : `It uses \`${used}\`, but the file has no tool of that name${meant(
              used,
              names.filter((one) => one !== name),
            )}`,
        `\`${used}\` exists.`,
        name,
      );
}

/** A quota as it was written. */
export interface WrittenQuota {
  /** The place, such as `quotas[0], line 3`. */
  readonly place: string;
  readonly quota: Quota;
}

/** Finds quotas that match no tool of the registry. Does nothing for a registry without tools. */
export function checkQuotas(
  registry: HostToolRegistry,
  written: readonly WrittenQuota[],
  findings: Findings,
): void {
  const {
    profiles,
    catalogue: { tools },
  } = registryStateOf(registry);
  if (tools.size === 0) return;
  const names = [...tools.keys()];
  const ofProfiles = [...profiles].flatMap(([id, { given }]) =>
    (given.quotas ?? []).map((quota, index) => ({
      place: `profile \`${id}\`, quotas[${index}]`,
      quota,
    })),
  );
  const quotas = [...written, ...ofProfiles];
  const wrong = quotas.flatMap(({ place, quota }) =>
    [quota.tools ?? []]
      .flat()
      .filter((tool) => {
        const compiled = compileQuotas([{ ...quota, tools: tool }], 'file');
        return !compiled.some(({ appliesTo }) => names.some((name) => appliesTo({ name })));
      })
      .map(
        (tool) =>
          `${place} \`${quota.id}\`: \`${tool}\` matches no tool of the file${meant(tool, names)}`,
      ),
  );
  for (const fault of wrong) findings.fail('quota_matches', fault);
  if (quotas.length > 0 && wrong.length === 0)
    findings.note('quota_matches', undefined, 'Each quota matches a tool.');
}

function meant(name: string, known: readonly string[]): string {
  const near = nearestNames(name, known);
  return near.length === 0
    ? '.'
    : `; did you mean ${near.map((one) => `\`${one}\``).join(' or ')}?`;
}

// Finds conditions of rules and quotas that cannot hold, by the schemas of the tools that they are
// about.

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
