/**
 * Tries a file on a trial registry, so that the real one changes only once it is known what will
 * fail.
 */

import { registryBeside } from '../../assembly/core-registry.ts';
import { registryStateOf } from '../../core/registry/state-of.ts';
import { tryRule } from '../../core/rules/rules.ts';
import {
  type HostToolRegistry,
  isMisuseError,
  type Profile,
  type Quota,
  type Rule,
} from '../../core.ts';
import type { SharedCode } from '../../parts/code/settings.ts';
import type { FileTokens } from '../../parts/credentials/file-tokens.ts';
import { outputsOf, outputsSlot } from '../../parts/offload/outputs-of.ts';
import { registryQuotas } from '../../parts/quotas/quota-state.ts';
import { canonicalJson } from '../../values/json/index.ts';
import { profilesOf, toolKey } from './commit-tools.ts';
import { tryCode } from './file-code.ts';
import { tryCredentials } from './file-credentials.ts';
import type { HostedParts } from './file-host.ts';
import { causeText } from './import-module.ts';
import { oneLine } from './issues.ts';
import { behind, type LoadedFile, type LoadedTool } from './loaded-files.ts';
import { atNamedPart } from './places.ts';
import type { PreparedFile } from './prepared-file.ts';
import { parentsOf, prepareProfiles } from './profile-entry.ts';
import type { RawEntry } from './read-file.ts';
import type { FileSection, LoadFailure } from './report.ts';
import { singleSections } from './single-sections.ts';
import { isOpen, tryHosted } from './try-hosted.ts';

/** What a file will load once it is applied, and what will fail. */
export interface DryRun {
  readonly rules: readonly Rule[];
  readonly quotas: readonly Quota[];
  /** By {@link toolKey}, in the order of the file. */
  readonly tools: ReadonlyMap<string, LoadedTool>;
  /** Parents first. */
  readonly profiles: ReadonlyMap<string, { readonly profile: Profile; readonly identity: string }>;
  readonly hosted: HostedParts;
  /** Code mode for the sessions of the registry. */
  readonly code?: SharedCode | undefined;
  /** The tokens that the file gives. */
  readonly tokens?: FileTokens | undefined;
  readonly failed: readonly LoadFailure[];
  /** The parts that the registry lacks for what failed. */
  readonly absent: ReadonlySet<string>;
}

/**
 * Tries a file without changing the registry. Longer than 60 lines, since its sections are tried in
 * order and each uses the results of the one before.
 * @param before What the file had loaded and the registry still has.
 * @param again Whether this is an edit of a file that is watched.
 */
export function dryRun(
  registry: HostToolRegistry<never>,
  file: PreparedFile,
  before: LoadedFile,
  again = false,
): DryRun {
  const state = registryStateOf(behind(registry));
  const failed: LoadFailure[] = [];
  const absent = new Set<string>();
  const faultOf = (call: () => unknown): string | undefined => faultOfCall(call, absent);
  const fail = (
    section: FileSection,
    { index, line }: RawEntry,
    name: string | undefined,
    reason: string,
  ): void => {
    failed.push({
      index,
      ...(name === undefined ? {} : { name }),
      reason: oneLine(reason),
      line,
      section,
      file: file.path,
    });
  };
  const rules: Rule[] = [];
  for (const prepared of file.rules) {
    const reason =
      'reason' in prepared
        ? prepared.reason
        : faultOf(() => tryRule(prepared.rule, 'registry', state.parts))?.replace(ownPlace, '');
    if (reason !== undefined)
      fail('rules', placeOf(prepared, reason), idOf(prepared.entry.value), reason);
    else if ('rule' in prepared) rules.push(prepared.rule);
  }
  const quotas: Quota[] = [];
  const layers = registryQuotas.of(state)?.layers;
  const taken = takenIds(registry, before);
  for (const prepared of file.quotas) {
    const reason =
      'reason' in prepared
        ? prepared.reason
        : faultOf(() => {
            if (layers === undefined) throw state.parts.missing('registry', 'quotas', '`quotas`');
            layers.compile([prepared.quota], taken);
          })?.replace(ownPlace, '');
    if (reason !== undefined)
      fail('quotas', placeOf(prepared, reason), idOf(prepared.entry.value), reason);
    else if ('quota' in prepared) {
      taken.add(prepared.quota.id);
      quotas.push(prepared.quota);
    }
  }
  const { hosted, prefixes } = tryHosted(registry, file, again, fail);
  // A tool without its rule, quota or log is worse than no tool.
  if (failed.some(({ section }) => isOpen(registry, section)))
    return { rules: [], quotas: [], tools: new Map(), profiles: new Map(), hosted, failed, absent };

  const trial = registryBeside(state);
  const trialState = registryStateOf(trial);
  // It is never closed, and must not keep executors from being disposed of.
  trialState.isTrial = true;
  // A profile may name the reader that the file's tools bring.
  if (outputsSlot.of(state)?.onDemand !== undefined) outputsOf(trialState).onDemand = {};
  const own = new Set(
    file.sections === 'all' ? [...before.tools.values()].map(({ definition }) => definition) : [],
  );
  trial.registerAll(registry.listTools().filter((definition) => !own.has(definition)));
  let code: SharedCode | undefined;
  if (hosted.code !== undefined && file.code !== undefined) {
    const entry = hosted.code;
    const reason = faultOf(() => {
      code = tryCode(registry, trial, file.path, entry);
    });
    if (reason !== undefined) fail('code', file.code.entry, undefined, reason);
  }
  let tokens: FileTokens | undefined;
  if (hosted.credentials !== undefined && file.credentials !== undefined) {
    const entry = hosted.credentials;
    const reason = faultOf(() => {
      tokens = tryCredentials(registry, file.path, entry);
    });
    if (reason !== undefined) fail('credentials', file.credentials.entry, undefined, reason);
  }
  const tools = new Map<string, LoadedTool>();
  for (const prepared of file.tools) {
    const { entry, name } = prepared;
    if ('reason' in prepared) {
      fail('tools', entry, name, prepared.reason);
      continue;
    }
    const key = toolKey(prepared.definition);
    const known = before.tools.get(key);
    // An unchanged entry of an unchanged module keeps its definition.
    const definition =
      known?.identity === prepared.identity ? known.definition : prepared.definition;
    const reason =
      foreignOwner(registry, definition.name) ?? faultOf(() => trial.register(definition));
    if (reason !== undefined)
      fail(
        'tools',
        atNamedPart(entry, reason),
        name,
        tools.has(key) ? `the file already has a tool \`${definition.name}\`` : reason,
      );
    else tools.set(key, { definition, identity: prepared.identity });
  }

  const outside = (id: string): Profile | undefined => {
    const given = registry.profile(id);
    return given !== undefined && before.profiles.get(id)?.given === given ? undefined : given;
  };
  const profiles = new Map<string, { readonly profile: Profile; readonly identity: string }>();
  const broken = new Set<string>();
  for (const prepared of prepareProfiles(
    file.profiles,
    prefixes,
    [...profilesOf(registry).keys()].filter((id) => outside(id) !== undefined),
  )) {
    const { id } = prepared;
    const reason =
      'reason' in prepared
        ? prepared.reason
        : (fallen(prepared.profile, broken) ??
          tryProfile(trial, prepared.profile, outside, faultOf));
    if (reason !== undefined) {
      broken.add(id);
      fail('profiles', placeOf(prepared, reason), id.slice(0, 256), reason);
    } else if ('profile' in prepared)
      profiles.set(id, {
        profile: prepared.profile,
        identity: canonicalJson(prepared.profile),
      });
  }
  return { rules, quotas, tools, profiles, hosted, code, tokens, failed: inOrder(failed), absent };
}

/** Names the entry in messages about its rule or quota, which the report does as well. */
export const ownPlace = /^registry (?:rule|quota) 0(?: \(`.{0,256}?`\))?: /s;

/** The entry with the line of what is wrong. The form of an entry is checked with its lines. */
function placeOf(prepared: { readonly entry: RawEntry }, reason: string): RawEntry {
  return 'reason' in prepared ? prepared.entry : atNamedPart(prepared.entry, reason);
}

/** The ids of the registry's other quotas. */
function takenIds(registry: HostToolRegistry<never>, { quotas }: LoadedFile): Set<string> {
  const all = registryQuotas.of(registryStateOf(behind(registry)))?.layers.all ?? [];
  const own = new Set(quotas?.quotas.map(({ id }) => id));
  return new Set(all.map(({ id }) => id).filter((id) => !own.has(id)));
}

/**
 * The reason why a profile cannot be loaded if a parent could not. Undefined if all parents could.
 */
function fallen(profile: Profile, broken: ReadonlySet<string>): string | undefined {
  const parent = parentsOf(profile).find((id) => broken.has(id));
  return parent === undefined ? undefined : `it extends \`${parent}\`, which cannot be loaded`;
}

/**
 * Defines a profile, after those of the real registry that it extends. Returns why that fails;
 * undefined if it succeeds.
 */
function tryProfile(
  trial: HostToolRegistry<never>,
  profile: Profile,
  outside: (id: string) => Profile | undefined,
  faultOf: (call: () => unknown) => string | undefined,
): string | undefined {
  const seen = new Set([profile.id]);
  const bring = (id: string): string | undefined => {
    if (trial.profile(id) !== undefined || seen.has(id)) return undefined;
    seen.add(id);
    const parent = outside(id);
    if (parent === undefined) return undefined;
    for (const grand of parentsOf(parent)) {
      if (grand === profile.id) return `\`extends\` forms a circle: \`${id}\` extends it`;
      const reason = bring(grand);
      if (reason !== undefined) return reason;
    }
    // The parent's tools existed when it was defined. A tool that was removed since is not a fault
    // of this file.
    const tools = parent.tools.map((tool) =>
      trial.get(nameOf(tool)) === undefined
        ? { ...(typeof tool === 'string' ? { name: tool } : tool), optional: true }
        : tool,
    );
    return faultOf(() => trial.defineProfile({ ...parent, tools }));
  };
  for (const parent of parentsOf(profile)) {
    const reason = bring(parent);
    if (reason !== undefined) return reason;
  }
  return faultOf(() => trial.defineProfile(profile));
}

/**
 * Why a tool of a scope leaves no room for one of the file. The trial registry has no scopes, so it
 * would take the file's tool as another version.
 */
function foreignOwner(registry: HostToolRegistry<never>, name: string): string | undefined {
  const owner = registryStateOf(behind(registry)).catalogue.tools.get(name)?.owner;
  return owner === undefined || owner === 'host'
    ? undefined
    : `Tool \`${name}\` is already registered by \`${owner}\`. Choose another name.`;
}

/**
 * The message of what a function throws; undefined if it throws nothing.
 * @param absent Gets the part that was missing.
 */
function faultOfCall(call: () => unknown, absent: Set<string>): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (isMisuseError(error) && error.part !== undefined) absent.add(error.part);
    return causeText(error);
  }
}

/** Sorts failures by section, then by place, because profiles were tried parents first. */
function inOrder(failed: readonly LoadFailure[]): readonly LoadFailure[] {
  const sections: readonly FileSection[] = [
    'rules',
    'quotas',
    'mcpServers',
    ...singleSections,
    'tools',
    'profiles',
  ];
  return [...failed].sort(
    (a, b) => sections.indexOf(a.section) - sections.indexOf(b.section) || a.index - b.index,
  );
}

function nameOf(tool: Profile['tools'][number]): string {
  return typeof tool === 'string' ? tool : tool.name;
}

function idOf(rule: unknown): string | undefined {
  const id =
    typeof rule === 'object' && rule !== null && Object.hasOwn(rule, 'id')
      ? (rule as { id: unknown }).id
      : undefined;
  return typeof id === 'string' && id !== '' ? id.slice(0, 256) : undefined;
}
