/**
 * Applies a file to a registry in one synchronous step. The file replaces what it had loaded there
 * before, or changes nothing.
 */

import { partLoaders } from '../../assembly/load-part.ts';
import { addPart, registryStateOf } from '../../core/registry/state-of.ts';
import { type HostToolRegistry, MisuseError, type Profile } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import { canonicalJson } from '../../values/json/index.ts';
import {
  commitTools,
  definitionsOf,
  profilesOf,
  removeProfiles,
  together,
} from './commit-tools.ts';
import { type DryRun, dryRun } from './dry-run.ts';
import { commitCode } from './file-code.ts';
import { commitCredentials } from './file-credentials.ts';
import { shortened } from './issues.ts';
import {
  behind,
  type LoadedFile,
  type LoadedProfile,
  loadedFiles,
  logFault,
  nothingLoaded,
} from './loaded-files.ts';
import type { PreparedFile } from './prepared-file.ts';
import { parentsOf } from './profile-entry.ts';
import type { FileReport, LoadFailure } from './report.ts';
import { isOpen } from './try-hosted.ts';

/** The error of an edit that failed, with the entries that failed. */
export interface RefusedEdit {
  readonly error: MisuseError;
  readonly report: FileReport;
}

/**
 * Applies the entries that load, and reports the others.
 * @param whole Whether one entry that does not load prevents the whole file from loading. Then
 * nothing changes, and the reason is returned.
 * @throws MisuseError `closed`, `invalid_file`. Nothing has changed then.
 */
export function applyFile(
  registry: HostToolRegistry<never>,
  file: PreparedFile,
  whole: boolean,
): FileReport | RefusedEdit {
  for (const tool of file.tools)
    if ('thrown' in tool && tool.thrown !== undefined)
      logFault(
        registry,
        tool.thrown.value,
        { file: file.path, toolName: tool.name },
        'the module of a tool could not be loaded',
      );
  const { files, host } = loadedFiles(registry);
  const before = stillThere(registry, files.get(file.path) ?? nothingLoaded);
  const trial = dryRun(registry, file, before, whole);
  const { failed } = trial;
  if (failed.some(({ section }) => isOpen(registry, section)) || (whole && failed.length > 0)) {
    const report = { file: file.path, loaded: [], failed, profiles: [], rules: 0 };
    return whole ? { error: refusal(failed), report } : report;
  }
  files.set(
    file.path,
    together(registry, () => commit(registry, file, before, trial)),
  );
  if (file.sections === 'all') host?.take(trial.hosted);
  logSeconds(registry, file);
  return {
    file: file.path,
    loaded: [...trial.tools.values()].map(({ definition }) => definition.name),
    failed,
    profiles: [...trial.profiles.keys()],
    rules: trial.rules.length,
    ...(trial.quotas.length === 0 ? {} : { quotas: trial.quotas.map(({ id }) => id) }),
  };
}

/**
 * Loads the parts that a file uses and the registry does not have, and adds them. A registry that
 * has opened a session keeps the parts that it has: what the file needs of others is in its report.
 */
export async function partsReady(
  registry: HostToolRegistry<never>,
  file: PreparedFile,
): Promise<void> {
  const state = registryStateOf(behind(registry));
  const lacks = (): boolean => Object.keys(partLoaders).some((name) => !state.parts.has(name));
  // An entry says which part it lacks only once the entries before it have theirs.
  for (let added = lacks(); added && !state.sessions.hasOpened; ) {
    added = false;
    const before = stillThere(
      registry,
      loadedFiles(registry).files.get(file.path) ?? nothingLoaded,
    );
    for (const name of dryRun(registry, file, before).absent) {
      const part = await partLoaders[name]?.();
      if (part !== undefined && addPart(state, part)) added = true;
    }
  }
}

/** What a file had loaded and the registry still has, neither removed nor replaced since. */
function stillThere(
  registry: HostToolRegistry<never>,
  { tools, profiles, rules, quotas }: LoadedFile,
): LoadedFile {
  return {
    tools: new Map(
      [...tools].filter(([, { definition }]) =>
        definitionsOf(registry, definition.name).includes(definition),
      ),
    ),
    profiles: new Map([...profiles].filter(([id, { given }]) => registry.profile(id) === given)),
    rules,
    quotas,
  };
}

/**
 * Applies a dry run to the registry. Each step adds the function that undoes it. If a step fails
 * that the dry run could not foresee, all steps are undone.
 */
function commit(
  registry: HostToolRegistry<never>,
  { path, sections }: PreparedFile,
  before: LoadedFile,
  trial: DryRun,
): LoadedFile {
  const goneProfiles = [...before.profiles.keys()].filter((id) => !trial.profiles.has(id));
  checkNoHeirs(registry, path, goneProfiles, trial.profiles);
  const undo: (() => void)[] = [];
  try {
    const profilesOnly = sections === 'profiles';
    const rules = profilesOnly ? before.rules : commitRules(registry, before, trial, undo);
    const quotas = profilesOnly ? before.quotas : commitQuotas(registry, before, trial, undo);
    if (!profilesOnly) {
      commitCode(registry, path, trial.code, undo);
      commitCredentials(registry, path, trial.tokens, undo);
      commitTools(registry, before.tools, trial.tools, undo);
    }
    const profiles = commitProfiles(registry, before, trial, undo);
    removeProfiles(registry, goneProfiles);
    // The old rules are removed last, so that there is no moment without rules.
    if (rules !== before.rules) removeRules(registry, before.rules, undo);
    // Now that all is there, a rule that can never match may throw.
    registryStateOf(behind(registry)).ports.review?.settle();
    return { tools: profilesOnly ? before.tools : trial.tools, profiles, rules, quotas };
  } catch (error) {
    for (const step of undo.reverse()) step();
    throw error;
  }
}

function removeRules(
  registry: HostToolRegistry<never>,
  old: LoadedFile['rules'],
  undo: (() => void)[],
): void {
  if (old === undefined) return;
  old.remove();
  undo.push(() => {
    old.remove = registry.addRules(old.rules);
  });
}

function commitRules(
  registry: HostToolRegistry<never>,
  before: LoadedFile,
  { rules }: DryRun,
  undo: (() => void)[],
): LoadedFile['rules'] {
  const identity = canonicalJson(rules);
  if (before.rules?.identity === identity) return before.rules;
  if (rules.length === 0) return undefined;
  const remove = registry.addRules(rules);
  undo.push(remove);
  return { identity, rules, remove };
}

/**
 * Replaces the quotas of a file. The old ones are removed first, because the new ones may have
 * their ids; no call can start in between.
 */
function commitQuotas(
  registry: HostToolRegistry<never>,
  before: LoadedFile,
  { quotas }: DryRun,
  undo: (() => void)[],
): LoadedFile['quotas'] {
  const identity = canonicalJson(quotas);
  const old = before.quotas;
  if (old?.identity === identity) return old;
  if (old !== undefined) {
    old.remove();
    undo.push(() => {
      old.remove = registry.addQuotas(old.quotas);
    });
  }
  if (quotas.length === 0) return undefined;
  const remove = registry.addQuotas(quotas);
  undo.push(remove);
  return { identity, quotas, remove };
}

function commitProfiles(
  registry: HostToolRegistry<never>,
  before: LoadedFile,
  { profiles }: DryRun,
  undo: (() => void)[],
): ReadonlyMap<string, LoadedProfile> {
  const loaded = new Map<string, LoadedProfile>();
  for (const [id, { profile, identity }] of profiles) {
    const known = before.profiles.get(id);
    if (known?.identity === identity) {
      loaded.set(id, known);
      continue;
    }
    const old = registry.profile(id);
    registry.defineProfile(profile);
    undo.push(() =>
      old === undefined ? removeProfiles(registry, [id]) : registry.defineProfile(old),
    );
    loaded.set(id, { given: registry.profile(id) as Profile, identity });
  }
  return loaded;
}

/** Refuses to remove a profile that another one extends. */
function checkNoHeirs(
  registry: HostToolRegistry<never>,
  path: string,
  gone: readonly string[],
  staying: ReadonlyMap<string, unknown>,
): void {
  if (gone.length === 0) return;
  for (const [id, profile] of profilesOf(registry)) {
    const parent =
      gone.includes(id) || staying.has(id)
        ? undefined
        : parentsOf(profile).find((one) => gone.includes(one));
    if (parent !== undefined)
      throw new MisuseError(
        'invalid_file',
        `${path}:1:1: the profile \`${parent}\` was removed or cannot be loaded, but ` +
          `\`${id}\` extends it; nothing was changed`,
      );
  }
}

function refusal(failed: readonly LoadFailure[]): MisuseError {
  const [first] = failed as readonly [LoadFailure];
  const { file, line = 1, section, index, name, reason } = first;
  const more = failed.length === 1 ? '' : ` (and ${failed.length - 1} more)`;
  return new MisuseError(
    'invalid_file',
    `${file}:${line}:1: ${section}[${index}]${name === undefined ? '' : ` \`${name}\``}: ` +
      `${reason}${more}; nothing was changed`,
  );
}

// Logs where a file has a `timeout` without a unit, which is read as seconds.

/** Maximum places that are named. */
const maxNamed = 4;

/** Logs it once for each load. */
function logSeconds(
  registry: HostToolRegistry<never>,
  { path, tools, servers }: PreparedFile,
): void {
  const places = [
    ...tools.flatMap((tool) =>
      'definition' in tool && isInSeconds(tool.entry.value)
        ? [`tool \`${shortened(tool.definition.name)}\``]
        : [],
    ),
    ...servers.flatMap((one) =>
      'server' in one && Object.values(one.server.labels ?? {}).some(isInSeconds)
        ? [`labels of server \`${shortened(one.name)}\``]
        : [],
    ),
  ];
  if (places.length === 0) return;
  const more = places.length > maxNamed ? ` and ${places.length - maxNamed} more` : '';
  const named = `${places.slice(0, maxNamed).join(', ')}${more}`;
  inspectRegistry(behind(registry)).warn(
    { file: path },
    `\`timeout\` without a unit is read as seconds (${named}); ` +
      'write the unit, as in `timeout: 5s`, or milliseconds, as in `timeoutMs: 5000`',
  );
}

function isInSeconds(entry: unknown): boolean {
  return (
    typeof entry === 'object' &&
    entry !== null &&
    Object.hasOwn(entry, 'timeout') &&
    typeof (entry as { timeout: unknown }).timeout === 'number'
  );
}
