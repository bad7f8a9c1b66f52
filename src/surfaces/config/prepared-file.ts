/**
 * Prepares a file: imports its modules and checks its entries one by one. Everything asynchronous
 * happens here.
 */
import type { Quota, Rule } from '../../core.ts';
import { cleanLine } from '../shared/outside-text.ts';
import type { ModuleVersions } from './import-module.ts';
import { entryFault } from './issues.ts';
import type { RawEntry, RawFile } from './read-file.ts';
import { quotaEntry, ruleEntry } from './rule-format.ts';
import { type ServerEntry, serverEntry } from './server-format.ts';
import {
  type SingleSection,
  type SingleValues,
  singleFormats,
  singleSections,
} from './single-sections.ts';
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

/** The outcome of an entry of `mcpServers`: a server, or the reason why there is none. */
export type PreparedServer = { readonly entry: RawEntry; readonly name: string } & (
  | { readonly server: ServerEntry }
  | { readonly reason: string }
);

/**
 * The outcome of a section that has one value, such as `audit`: the value, or why there is none.
 */
export type PreparedOne<Value> = { readonly entry: RawEntry } & (
  | { readonly value: Value }
  | { readonly reason: string }
);

type PreparedOnes = { readonly [S in SingleSection]?: PreparedOne<SingleValues[S]> };

/**
 * A prepared file. Its profiles are not prepared, because their parents may change until they are
 * defined.
 */
export interface PreparedFile extends PreparedOnes {
  readonly path: string;
  readonly sections: Sections;
  readonly rules: readonly PreparedRule[];
  readonly quotas: readonly PreparedQuota[];
  readonly servers: readonly PreparedServer[];
  readonly tools: readonly PreparedTool[];
  readonly profiles: readonly RawEntry[];
}

/**
 * Prepares a file. Never rejects: the result has the fault of a broken entry in place of the entry.
 */
export async function prepareFile(
  raw: RawFile,
  sections: Sections,
  versions: ModuleVersions,
): Promise<PreparedFile> {
  const { path, rules, quotas, mcpServers, tools, profiles } = raw;
  if (sections === 'profiles')
    return { path, sections, rules: [], quotas: [], servers: [], tools: [], profiles };
  const limits = {
    rules: rules.map(prepareRule),
    quotas: quotas.map(prepareQuota),
    servers: mcpServers.map(prepareServer),
    ...prepareOnes(raw),
  };
  // Modules of a file that will not load must not run.
  if ([...limits.rules, ...limits.quotas].some((prepared) => 'reason' in prepared))
    return { path, sections, ...limits, tools: [], profiles: [] };
  const preparedTools: PreparedTool[] = [];
  // Entries are prepared one after another, so that modules run in the order of the file.
  for (const entry of tools) preparedTools.push(await prepareTool(entry, path, versions));
  return { path, sections, ...limits, tools: preparedTools, profiles };
}

function prepareServer(entry: RawEntry): PreparedServer {
  const name = entry.key as string;
  if (cleanLine(name, 64) !== name)
    return { entry, name, reason: 'expected a name of visible text, up to 64 bytes' };
  const { error } = serverEntry.safeParse(entry.value);
  return error === undefined
    ? { entry, name, server: entry.value as ServerEntry }
    : { name, ...entryFault(error.issues, entry) };
}

function prepareOnes(raw: RawFile): PreparedOnes {
  const prepared: Partial<Record<SingleSection, PreparedOne<unknown>>> = {};
  for (const section of singleSections) {
    const entry = raw[section];
    if (entry === undefined) continue;
    const { error } = singleFormats[section].safeParse(entry.value);
    prepared[section] =
      error === undefined ? { entry, value: entry.value } : entryFault(error.issues, entry);
  }
  return prepared as PreparedOnes;
}

function prepareQuota(entry: RawEntry): PreparedQuota {
  const checked = quotaEntry.safeParse(entry.value);
  return checked.success
    ? { entry, quota: entry.value as Quota }
    : entryFault(checked.error.issues, entry);
}

/** Checks the form of a rule. */
export function prepareRule(entry: RawEntry): PreparedRule {
  const checked = ruleEntry.safeParse(entry.value);
  return checked.success
    ? { entry, rule: entry.value as Rule }
    : entryFault(checked.error.issues, entry);
}
