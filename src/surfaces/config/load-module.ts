/** Loads a module that sets up a registry or exports definitions. */

import { type AnyTool, type HostToolRegistry, isMisuseError, MisuseError } from '../../core.ts';
import { inspectTool } from '../../extend.ts';
import { describe } from '../../values/errors/index.ts';
import { nearestNames } from '../../values/text/names.ts';
import { definitionsOf } from './commit-tools.ts';
import {
  causeText,
  faultText,
  type ImportedModule,
  importModule,
  kindOf,
} from './import-module.ts';
import { oneLine } from './issues.ts';
import { checkRegistry } from './load-host-tools.ts';
import { loadedFiles, logFault } from './loaded-files.ts';
import { recordRegistry } from './recording-registry.ts';
import type { LoadFailure, LoadReport } from './report.ts';
import { ModuleFault, resolveModule } from './resolve-module.ts';

type SetUp = (registry: HostToolRegistry<never>) => unknown;

const expected =
  '`setupHostTools(registry)`, or definitions made by defineTool() as the default export ' +
  '(one, or a list) or as named exports';

/**
 * Loads a module into a registry. A module that exports `setupHostTools(registry)` (or
 * `setup_host_tools`), sync or async, sets up the registry itself. From any other module, the
 * default export is loaded first: a definition, a list of definitions or a set-up function. Then
 * each named export that is a definition is loaded, sorted by the code units of the names. A
 * definition that cannot be registered is in `failed`, and the others load.
 * @param specifier A path, relative to the working folder, a file URL, or a package as code in the
 * working folder would import it. A path of a folder is read by its package.json, as a package is.
 * @throws MisuseError (as a rejection) `invalid_file` when the module cannot be loaded, exports
 * nothing that can be loaded, or its set-up throws or rejects. Whatever the set-up had done to the
 * registry is undone then. `invalid_option` for wrong arguments.
 *
 * @example
 * ```ts
 * import { loadHostToolsModule } from 'host-tools/config';
 *
 * const { loaded, failed } = await loadHostToolsModule('./tools.js', registry);
 * ```
 */
export async function loadHostToolsModule<S>(
  specifier: string | URL,
  registry: HostToolRegistry<S>,
): Promise<LoadReport> {
  const target = checkRegistry(registry, 'loadHostToolsModule');
  const named = specifier instanceof URL ? specifier.href : specifier;
  if (typeof named !== 'string' || named === '' || named.includes('\0'))
    throw new MisuseError(
      'invalid_option',
      'loadHostToolsModule: expected a path, a file URL or the name of a package, got ' +
        `${describe(specifier)}.`,
    );
  const module = await moduleOf(named, target);
  const { exports } = module;
  const setUp = exports.get('setupHostTools') ?? exports.get('setup_host_tools');
  if (setUp !== undefined) {
    if (typeof setUp !== 'function')
      throw refused(module, `expected \`setupHostTools\` to be a function, got ${describe(setUp)}`);
    return {
      file: module.path,
      loaded: await runSetUp(setUp as SetUp, target, module),
      failed: [],
    };
  }
  const main = exports.get('default');
  const candidates = definitionsIn(exports);
  if (typeof main !== 'function' && candidates.length === 0)
    throw refused(module, `expected it to export ${expected}${hintOf(module)}`);
  const loaded =
    typeof main === 'function' ? [...(await runSetUp(main as SetUp, target, module))] : [];
  const failed: LoadFailure[] = [];
  candidates.forEach(([name, value], index) => {
    try {
      // This throws for a definition of another copy of the library.
      inspectTool(value);
      const definition = value as AnyTool;
      // A set-up function has already registered this definition.
      if (typeof main === 'function' && definitionsOf(target, definition.name).includes(definition))
        return;
      target.register(definition);
      loaded.push(definition.name);
    } catch (error) {
      if (isMisuseError(error) && error.code === 'closed') throw error;
      failed.push({
        index,
        name: nameOf(value) ?? name,
        reason: oneLine(causeText(error)),
        section: 'tools',
        file: module.path,
      });
    }
  });
  return { file: module.path, loaded, failed };
}

async function moduleOf(
  specifier: string,
  registry: HostToolRegistry<never>,
): Promise<ImportedModule> {
  let path = specifier;
  try {
    path = await resolveModule(specifier, process.cwd());
    return await importModule(path, loadedFiles(registry).versions);
  } catch (error) {
    if (!(error instanceof ModuleFault)) throw error;
    const { message, thrown } = error;
    if (thrown === undefined)
      throw new MisuseError('invalid_file', `Cannot load \`${specifier}\`: ${message}.`);
    const { value: cause } = thrown;
    logFault(registry, cause, { module: specifier }, 'a module could not be loaded');
    // The fault's own message begins with the path, too.
    const said = `Cannot load the module ${path}: ${faultText(cause, path)}.`;
    throw new MisuseError('invalid_file', said, { cause });
  }
}

/** Runs the set-up function. Returns the names of the tools that it registered. */
async function runSetUp(
  setUp: SetUp,
  registry: HostToolRegistry<never>,
  module: ImportedModule,
): Promise<readonly string[]> {
  const recording = recordRegistry(registry);
  try {
    await setUp(recording.registry);
    return recording.names();
  } catch (error) {
    await recording.undo();
    logFault(registry, error, { module: module.path }, 'the set-up of a module failed');
    throw refused(
      module,
      `its set-up failed: ${faultText(error, module.path)}; everything it had registered was ` +
        'removed again',
      error,
    );
  }
}

/**
 * The definitions of the default export, then those of named exports, each once and with the name
 * of the export.
 */
function definitionsIn(
  exports: ReadonlyMap<string, unknown>,
): readonly (readonly [string, unknown])[] {
  const main = exports.get('default');
  const list: readonly unknown[] = Array.isArray(main) ? main : [main];
  const seen = new Set<unknown>();
  const named = [...exports].filter(([name]) => name !== 'default');
  return [...list.map((value) => ['default', value] as const), ...named].filter(([name, value]) => {
    // Every item of a list is meant to be a definition, so one that is not is reported.
    const wanted = kindOf(value) !== 'other' || (name === 'default' && Array.isArray(main));
    if (!wanted || seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}

function nameOf(value: unknown): string | undefined {
  const name = kindOf(value) === 'other' ? undefined : (value as { name?: unknown }).name;
  return typeof name === 'string' ? name : undefined;
}

function hintOf({ exports }: ImportedModule): string {
  const all = [...exports];
  const listed = all.find(
    ([, value]) => Array.isArray(value) && value.some((item) => kindOf(item) !== 'other'),
  );
  if (listed !== undefined) return `; \`${listed[0]}\` is a list: make it the default export`;
  const setUps = all.filter(([, value]) => typeof value === 'function').map(([name]) => name);
  const [near] = nearestNames('setupHostTools', setUps, 1);
  if (near !== undefined) return `. Did you mean \`${near}\` to be \`setupHostTools\`?`;
  const names = [...exports.keys()];
  return `; it exports ${names.length === 0 ? 'nothing' : names.slice(0, 20).join(', ')}`;
}

function refused({ path }: ImportedModule, what: string, cause?: unknown): MisuseError {
  const text = oneLine(what);
  return new MisuseError(
    'invalid_file',
    `Cannot load the module ${path}: ${text}${text.endsWith('?') ? '' : '.'}`,
    { cause },
  );
}
