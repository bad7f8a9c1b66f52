/**
 * Prepares a file: imports its modules and checks its entries one by one. Everything asynchronous
 * happens here.
 */
import type { Quota, Rule } from '../index.ts';
import type { ModuleVersions } from './import-module.ts';
import { explainIssues } from './issues.ts';
import { quotaEntry } from './quota-format.ts';
import type { RawEntry, RawFile } from './read-file.ts';
import { ruleEntry } from './rule-format.ts';
import { type PreparedTool, prepareTool } from './tool-entry.ts';

/** The sections that a load takes from a file. */
export type Sections = 'all' | 'profiles';

/** The outcome of an entry of `rules`: a rule, or the reason why there is none. */
export type PreparedRule = { readonly entry: RawEntry } & (
  | { readonly rule: Rule }
  | { readonly reason: string }
);

/** The outcome of an entry of `quotas`: a quota, or the reason why there is none. */
export type PreparedQuota = { readonly entry: RawEntry } & (
  | { readonly quota: Quota }
  | { readonly reason: string }
);

/**
 * A prepared file. Its profiles are not prepared, because their parents may change until they are
 * defined.
 */
export interface PreparedFile {
  readonly path: string;
  readonly sections: Sections;
  readonly rules: readonly PreparedRule[];
  readonly quotas: readonly PreparedQuota[];
  readonly tools: readonly PreparedTool[];
  readonly profiles: readonly RawEntry[];
}

/**
 * Prepares a file. Never rejects: the result has the fault of a broken entry in place of the entry.
 */
export async function prepareFile(
  { path, rules, quotas, tools, profiles }: RawFile,
  sections: Sections,
  versions: ModuleVersions,
): Promise<PreparedFile> {
  if (sections === 'profiles')
    return { path, sections, rules: [], quotas: [], tools: [], profiles };
  const limits = { rules: rules.map(prepareRule), quotas: quotas.map(prepareQuota) };
  // Modules of a file that will not load must not run.
  if ([...limits.rules, ...limits.quotas].some((prepared) => 'reason' in prepared))
    return { path, sections, ...limits, tools: [], profiles: [] };
  const preparedTools: PreparedTool[] = [];
  // Entries are prepared one after another, so that modules run in the order of the file.
  for (const entry of tools) preparedTools.push(await prepareTool(entry, path, versions));
  return { path, sections, ...limits, tools: preparedTools, profiles };
}

function prepareQuota(entry: RawEntry): PreparedQuota {
  const checked = quotaEntry.safeParse(entry.value);
  return checked.success
    ? { entry, quota: entry.value as Quota }
    : { entry, reason: explainIssues(checked.error.issues, entry.value) };
}

/** Checks the form of a rule. */
export function prepareRule(entry: RawEntry): PreparedRule {
  const checked = ruleEntry.safeParse(entry.value);
  return checked.success
    ? { entry, rule: entry.value as Rule }
    : { entry, reason: explainIssues(checked.error.issues, entry.value) };
}
