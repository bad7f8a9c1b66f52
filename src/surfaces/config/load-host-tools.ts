/** Loads files of tools, profiles, rules and quotas. */

import { HostToolRegistry, MisuseError } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import { applyFile, partsReady } from './apply-file.ts';
import { loadedFiles } from './loaded-files.ts';
import { prepareFile, type Sections } from './prepared-file.ts';
import { pathOf, readFile } from './read-file.ts';
import type { FileReport, LoadReport } from './report.ts';
import { hostReady } from './try-hosted.ts';

/**
 * Loads a YAML or JSON file into a registry: its rules and quotas, then its tools, then its
 * profiles. A broken tool or profile is in `failed`, and the others load. If a rule or a quota is
 * broken, nothing of the file loads. Loading the same file again replaces what it had loaded
 * before.
 * @param path A path, relative to the working folder, or a file URL. `.json` is JSON; anything else
 * is YAML and needs the package `yaml`.
 * @throws MisuseError (as a rejection) `invalid_file` when the file cannot be read or parsed, with
 * `file:line:column:` before the reason; `missing_dependency`, `invalid_option`, `closed`. The
 * registry is unchanged then.
 *
 * @example
 * ```ts
 * import { loadHostTools } from 'host-tools/config';
 *
 * const { loaded, failed } = await loadHostTools('host-tools.yaml', registry);
 * ```
 */
export async function loadHostTools<S>(
  path: string | URL,
  registry: HostToolRegistry<S>,
): Promise<FileReport> {
  return await load(path, registry, 'all', 'loadHostTools');
}

/**
 * Loads only the `profiles` of a file. The tools that they name must be registered. `loaded` has
 * their ids, parents before those that extend them. Loading the same file again replaces the
 * profiles that it had loaded before.
 * @param path As for {@link loadHostTools}.
 * @throws MisuseError (as a rejection) as {@link loadHostTools} does.
 *
 * @example
 * ```ts
 * import { loadProfiles } from 'host-tools/config';
 *
 * const { loaded, failed } = await loadProfiles('profiles.yaml', registry);
 * ```
 */
export async function loadProfiles<S>(
  path: string | URL,
  registry: HostToolRegistry<S>,
): Promise<LoadReport> {
  const { file, profiles, failed } = await load(path, registry, 'profiles', 'loadProfiles');
  return { file, loaded: profiles, failed };
}

async function load<S>(
  path: string | URL,
  registry: HostToolRegistry<S>,
  sections: Sections,
  who: string,
): Promise<FileReport> {
  const target = checkRegistry(registry, who);
  const file = await readFile(pathOf(path, who));
  const prepared = await prepareFile(file, sections, loadedFiles(target).versions);
  await hostReady(target, prepared);
  await partsReady(target, prepared);
  const outcome = applyFile(target, prepared, false);
  if ('error' in outcome) throw outcome.error;
  return outcome;
}

/**
 * Checks a registry, and returns it as loaders use it, whatever services its tools need.
 * @throws MisuseError `invalid_option`.
 */
export function checkRegistry<S>(
  registry: HostToolRegistry<S>,
  who: string,
): HostToolRegistry<never> {
  if (!(registry instanceof HostToolRegistry))
    throw new MisuseError(
      'invalid_option',
      `${who}: expected a HostToolRegistry of this installed copy as the second argument, got ` +
        `${describe(registry)}.`,
    );
  return registry as unknown as HostToolRegistry<never>;
}
