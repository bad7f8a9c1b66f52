/** Importing modules, anew where their file has changed since, and finding what they export. */
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMisuseError } from '../index.ts';
import { internalsOf } from '../surface-port.ts';
import { ModuleFault } from './resolve-module.ts';
import { placesOf, placeText } from './thrown-place.ts';

/**
 * The version of each module, by path, that was there when it was first imported for a registry.
 */
export type ModuleVersions = Map<string, string>;

/** A module's exports, and which version of its file they came from. */
export interface ImportedModule {
  readonly path: string;
  readonly version: string;
  /**
   * By name; `default` among them. What a CommonJS module exports stands here by its own names too.
   */
  readonly exports: ReadonlyMap<string, unknown>;
}

/**
 * Longest time that a module may take to load, in milliseconds: one that never does would keep all
 * others, and every further edit of a watched file, waiting.
 */
const longestLoad = 60_000;

/**
 * Imports a module. The first time it is the instance that the host's own imports get; once its
 * file has changed it is a new one, since no engine forgets a module.
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
  // Before the import: a module that failed is remembered by its address too.
  versions.set(path, first);
  if (latest !== first) {
    url.searchParams.set('version', latest);
    // CommonJS modules are remembered by path.
    delete createRequire(url).cache[path];
  }
  try {
    const namespace = (await within(import(/* @vite-ignore */ url.href), limitMs)) as Readonly<
      Record<string, unknown>
    >;
    // What is exported may throw when it is looked at.
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
      `it is still loading after ${limitMs / 1_000} s; what takes long belongs into the handler`,
    );
    timer = setTimeout(reject, limitMs, tooLong);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

async function versionOf(path: string): Promise<string> {
  try {
    const { mtimeNs, size } = await stat(path, { bigint: true });
    return `${mtimeNs}-${size}`;
  } catch {
    return '';
  }
}

function exportsOf(namespace: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> {
  // In the order that the language gives a namespace, also where a bundler or a loader made it.
  const found = new Map(Object.entries(namespace).sort(([a], [b]) => (a < b ? -1 : 1)));
  // The names that Node marks a CommonJS module by; neither was written by its author.
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

/** Whether a value is a definition of this copy, one of another copy, or something else. */
export function kindOf(value: unknown): 'definition' | 'foreign' | 'other' {
  if (typeof value !== 'object' || value === null) return 'other';
  try {
    internalsOf(value);
    return 'definition';
  } catch (error) {
    return isMisuseError(error) && error.code === 'foreign_definition' ? 'foreign' : 'other';
  }
}

/** What was thrown, as one line, whatever it was. */
export function causeText(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : String(error);
    const [line = ''] = message.split('\n', 1);
    return line === '' ? 'it threw without saying why' : line;
  } catch {
    return 'it threw without saying why';
  }
}

/** Where this library is: what its files throw for a module's mistake was caused further out. */
const library = fileURLToPath(new URL('..', import.meta.url));

/**
 * What a module's own code threw, as one line, with its place where the stack has one. @param path
 * of the module
 */
export function faultText(error: unknown, path: string): string {
  const text = causeText(error).replace(/\.$/, '');
  const places = placesOf(error);
  const caused = isMisuseError(error)
    ? places.findIndex((place) => !place.path.startsWith(library))
    : 0;
  const place = places[caused];
  if (place !== undefined && !place.path.startsWith(library))
    return `${text} (at ${placeText(place)})`;
  // Node keeps the place of a text that cannot be parsed to itself.
  return error instanceof SyntaxError
    ? `SyntaxError: ${text} (run \`node --check ${path}\` for the place)`
    : text;
}
