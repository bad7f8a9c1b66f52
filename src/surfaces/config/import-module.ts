/** Imports modules, again if their file has changed since, and finds what they export. */
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMisuseError } from '../../core.ts';
import { inspectTool } from '../../extend.ts';
import { codeOf } from '../../values/errors/index.ts';
import { ownFolder } from '../../values/packages/own-folder.ts';
import { ModuleFault } from './resolve-module.ts';
import { placesOf, placeText } from './thrown-place.ts';

/** The version that each module had when it was first imported for a registry, by path. */
export type ModuleVersions = Map<string, string>;

/** A module's exports, and the version of its file that they came from. */
export interface ImportedModule {
  readonly path: string;
  readonly version: string;
  /**
   * The exports by name, `default` included. The exports of a CommonJS module are here under their
   * own names too.
   */
  readonly exports: ReadonlyMap<string, unknown>;
}

/**
 * Maximum time for loading a module, in milliseconds. A module that never loads would block all
 * others, and every further edit of a watched file.
 */
const longestLoad = 60_000;

/**
 * Imports a module. The first import gives the same instance as the host's own imports. Once the
 * file has changed, the import gives a new instance, because engines never unload a module.
 * @throws ModuleFault with the cause's message
 */
export async function importModule(
  path: string,
  versions: ModuleVersions,
  limitMs: number = longestLoad,
): Promise<ImportedModule> {
  const latest = await versionOf(path);
  const first = versions.get(path) ?? latest;
  const url = pathToFileURL(path);
  // The version is noted before the import, because the engine also remembers the address of a
  // module that failed.
  versions.set(path, first);
  if (latest !== first) {
    url.searchParams.set('version', latest);
    // Node caches CommonJS modules by path.
    delete createRequire(url).cache[path];
  }
  try {
    const namespace = (await within(import(/* @vite-ignore */ url.href), limitMs)) as Readonly<
      Record<string, unknown>
    >;
    // Reading an export may throw.
    return { path, version: latest, exports: exportsOf(namespace) };
  } catch (error) {
    throw new ModuleFault(`the module ${path} cannot be loaded: ${faultText(error, path)}`, {
      value: error,
    });
  }
}

async function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    const tooLong = new Error(
      `it is still loading after ${limitMs / 1_000} s; move slow work into the handler`,
    );
    timer = setTimeout(reject, limitMs, tooLong);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** The version of a file; empty if it cannot be read. */
export async function versionOf(path: string): Promise<string> {
  try {
    const { mtimeNs, size } = await stat(path, { bigint: true });
    return `${mtimeNs}-${size}`;
  } catch {
    return '';
  }
}

function exportsOf(namespace: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> {
  // Sorted like a module namespace of the language, because one that a bundler or a loader made may
  // not be.
  const found = new Map(Object.entries(namespace).sort(([a], [b]) => (a < b ? -1 : 1)));
  // Node marks CommonJS modules with these names; the author of the module did not write them.
  found.delete('module.exports');
  found.delete('__esModule');
  const inner = found.get('default');
  if (
    typeof inner === 'object' &&
    inner !== null &&
    !Array.isArray(inner) &&
    kindOf(inner) === 'other'
  )
    for (const [name, value] of Object.entries(inner)) if (!found.has(name)) found.set(name, value);
  return found;
}

/**
 * Whether a value is a definition of this copy of the library, one of another copy, or something
 * else.
 */
export function kindOf(value: unknown): 'definition' | 'foreign' | 'other' {
  if (typeof value !== 'object' || value === null) return 'other';
  try {
    inspectTool(value);
    return 'definition';
  } catch (error) {
    return isMisuseError(error) && error.code === 'foreign_definition' ? 'foreign' : 'other';
  }
}

/** Anything that was thrown, as one line. */
export function causeText(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : String(error);
    const [line = ''] = message.split('\n', 1);
    return line === '' ? 'it threw something without a message' : line;
  } catch {
    return 'it threw something without a message';
  }
}

/**
 * What a module's own code threw, as one line, with its place if the stack has one.
 * @param path the path of the module
 */
export function faultText(error: unknown, path: string): string {
  const text = causeText(error).replace(/\.$/, '');
  if (codeOf(error) === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?ts$/.test(path))
    return `${text}; compile it to JavaScript, or use Node 22.18 or newer, which runs TypeScript`;
  const places = placesOf(error);
  // If files of the library throw because of a module's mistake, the cause is further out.
  const caused = isMisuseError(error)
    ? places.findIndex((place) => !place.path.startsWith(ownFolder))
    : 0;
  const place = places[caused];
  if (place !== undefined && !place.path.startsWith(ownFolder))
    return `${text} (at ${placeText(place)})`;
  // Node does not expose the place of a syntax error.
  return error instanceof SyntaxError
    ? `SyntaxError: ${text} (run \`node --check ${path}\` for the place)`
    : text;
}
