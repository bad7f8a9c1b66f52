/**
 * A file whose modules are imported and whose entries are checked one by one: all that may wait is
 * done.
 */
import type { Rule } from '../index.ts';
import { ruleEntry } from './format.ts';
import type { ModuleVersions } from './import-module.ts';
import { explainIssues } from './issues.ts';
import type { RawEntry, RawFile } from './read-file.ts';
import { type PreparedTool, prepareTool } from './tool-entry.ts';

/** The sections that a load takes from a file. */
export type Sections = 'all' | 'profiles';

/** What an entry of `rules` gave: a rule, or why there is none. */
export type PreparedRule = { readonly entry: RawEntry } & (
  | { readonly rule: Rule }
  | { readonly reason: string }
);

/** All but the profiles, whose parents may change until the moment they are defined. */
export interface PreparedFile {
  readonly path: string;
  readonly sections: Sections;
  readonly rules: readonly PreparedRule[];
  readonly tools: readonly PreparedTool[];
  readonly profiles: readonly RawEntry[];
}

/** Never rejects; what is wrong with an entry is in its place. */
export async function prepareFile(
  { path, rules, tools, profiles }: RawFile,
  sections: Sections,
  versions: ModuleVersions,
): Promise<PreparedFile> {
  if (sections === 'profiles') return { path, sections, rules: [], tools: [], profiles };
  const preparedRules = rules.map(prepareRule);
  // No module is run for a file that will not load.
  if (preparedRules.some((prepared) => 'reason' in prepared))
    return { path, sections, rules: preparedRules, tools: [], profiles: [] };
  const preparedTools: PreparedTool[] = [];
  // One after another: modules run in the order of the file.
  for (const entry of tools) preparedTools.push(await prepareTool(entry, path, versions));
  return { path, sections, rules: preparedRules, tools: preparedTools, profiles };
}

function prepareRule(entry: RawEntry): PreparedRule {
  const checked = ruleEntry.safeParse(entry.value);
  return checked.success
    ? { entry, rule: entry.value as Rule }
    : { entry, reason: explainIssues(checked.error.issues, entry.value) };
}
