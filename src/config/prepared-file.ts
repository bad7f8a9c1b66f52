/**
 * Prepares a file: imports its modules and checks its entries one by one. Everything asynchronous
 * happens here.
 */
import type { Rule } from '../index.ts';
import type { ModuleVersions } from './import-module.ts';
import { explainIssues } from './issues.ts';
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

/**
 * A prepared file. Its profiles are not prepared, because their parents may change until they are
 * defined.
 */
export interface PreparedFile {
  readonly path: string;
  readonly sections: Sections;
  readonly rules: readonly PreparedRule[];
  readonly tools: readonly PreparedTool[];
  readonly profiles: readonly RawEntry[];
}

/**
 * Prepares a file. Never rejects: the result has the fault of a broken entry in place of the entry.
 */
export async function prepareFile(
  { path, rules, tools, profiles }: RawFile,
  sections: Sections,
  versions: ModuleVersions,
): Promise<PreparedFile> {
  if (sections === 'profiles') return { path, sections, rules: [], tools: [], profiles };
  const preparedRules = rules.map(prepareRule);
  // Modules of a file that will not load must not run.
  if (preparedRules.some((prepared) => 'reason' in prepared))
    return { path, sections, rules: preparedRules, tools: [], profiles: [] };
  const preparedTools: PreparedTool[] = [];
  // Entries are prepared one after another, so that modules run in the order of the file.
  for (const entry of tools) preparedTools.push(await prepareTool(entry, path, versions));
  return { path, sections, rules: preparedRules, tools: preparedTools, profiles };
}

function prepareRule(entry: RawEntry): PreparedRule {
  const checked = ruleEntry.safeParse(entry.value);
  return checked.success
    ? { entry, rule: entry.value as Rule }
    : { entry, reason: explainIssues(checked.error.issues, entry.value) };
}
