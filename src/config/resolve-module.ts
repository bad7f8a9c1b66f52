/**
 * Resolves a module that a file or a host names: a path, or a package as code in that folder would
 * import it.
 */
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Thrown if a module cannot be loaded. The message is for the report. */
export class ModuleFault {
  readonly message: string;
  /** What the module itself threw; undefined if none of its code ran. */
  readonly thrown: { readonly value: unknown } | undefined;
  constructor(message: string, thrown?: { readonly value: unknown }) {
    this.message = message;
    this.thrown = thrown;
  }
}

/**
 * Finds the absolute path of a module.
 * @param folder the absolute path of the folder to start from
 * @throws ModuleFault
 */
export async function resolveModule(specifier: string, folder: string): Promise<string> {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(specifier)?.[1]?.toLowerCase();
  if (scheme === 'file') {
    const path = pathOfUrl(specifier);
    if (await isFile(path)) return path;
    throw new ModuleFault(`there is no file ${path}`);
  }
  if (scheme !== undefined)
    throw new ModuleFault(
      `\`${specifier}\` is refused: a module is a path relative to the file, or a package`,
    );
  const path = resolve(folder, specifier);
  if (await isFile(path)) return path;
  if (/^\.{0,2}[/\\]/.test(specifier) || specifier === '.' || specifier === '..')
    throw new ModuleFault(`there is no file ${path}`);
  const found = (await esmTarget(specifier, folder)) ?? requireTarget(specifier, folder);
  if (found === undefined)
    throw new ModuleFault(
      `there is no file ${path}, and no package \`${specifier}\` that can be imported from ` +
        `${folder}`,
    );
  return found;
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw new ModuleFault(`\`${url}\` is not the URL of a file here`);
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** The conditions of an import. Those of types and of bundlers do not apply. */
const conditions = new Set(['node', 'import', 'module-sync', 'default']);

/**
 * The file that the `exports` of a package give to an import. `createRequire` finds only the one
 * that they give to `require`, and many packages have none.
 */
async function esmTarget(specifier: string, folder: string): Promise<string | undefined> {
  const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(\/.+)?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const home = await packageFolder(name, folder);
  if (home === undefined) return undefined;
  const { exports } = await manifestOf(home);
  if (exports === undefined || exports === null) return undefined;
  const target = targetOf(exports, `.${rest ?? ''}`);
  if (target === undefined || !target.startsWith('./'))
    throw new ModuleFault(`the package \`${name}\` in ${home} does not export \`.${rest ?? ''}\``);
  return join(home, target);
}

async function packageFolder(name: string, from: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const home = join(folder, 'node_modules', name);
    if (await isFile(join(home, 'package.json'))) return home;
    if ((await isFile(join(folder, 'package.json'))) && (await manifestOf(folder)).name === name)
      return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

async function manifestOf(
  home: string,
): Promise<{ readonly name?: unknown; readonly exports?: unknown }> {
  try {
    return (JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) ?? {}) as object;
  } catch {
    return {};
  }
}

function targetOf(exports: unknown, subpath: string): string | undefined {
  const isTable =
    typeof exports === 'object' &&
    exports !== null &&
    !Array.isArray(exports) &&
    Object.keys(exports).some((key) => key.startsWith('.'));
  if (!isTable) return subpath === '.' ? conditional(exports) : undefined;
  const table = exports as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(table, subpath)) return conditional(table[subpath]);
  // The longest pattern before its `*` wins, as in Node.
  const patterns = Object.keys(table)
    .filter((key) => key.includes('*'))
    .sort((a, b) => b.indexOf('*') - a.indexOf('*'));
  for (const pattern of patterns) {
    const [before = '', after = ''] = pattern.split('*');
    if (
      !subpath.startsWith(before) ||
      !subpath.endsWith(after) ||
      subpath.length <= before.length + after.length
    )
      continue;
    return conditional(table[pattern])?.replaceAll(
      '*',
      subpath.slice(before.length, subpath.length - after.length),
    );
  }
  return undefined;
}

function conditional(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  if (Array.isArray(target)) return target.map(conditional).find((one) => one !== undefined);
  for (const [condition, value] of Object.entries(target)) {
    const found = conditions.has(condition) ? conditional(value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function requireTarget(specifier: string, folder: string): string | undefined {
  try {
    const found = createRequire(pathToFileURL(join(folder, 'noop.js'))).resolve(specifier);
    // Built-in modules resolve to their own names.
    return isAbsolute(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
