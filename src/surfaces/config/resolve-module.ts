/**
 * Resolves a module that a file or a host names: a path of a file or of a package's folder, or a
 * package as code in that folder would import it.
 */

import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe } from '../../values/errors/index.ts';

/**
 * Finds the absolute path of a module.
 * @param folder the absolute path of the folder to start from
 * @throws ModuleFault
 */
export async function resolveModule(specifier: string, folder: string): Promise<string> {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(specifier)?.[1]?.toLowerCase();
  if (scheme === 'file') return pathTarget(pathOfUrl(specifier));
  if (scheme !== undefined)
    throw new ModuleFault(
      `\`${specifier}\` is refused: a module is a path relative to the file, or a package`,
    );
  const path = resolve(folder, specifier);
  if (await isFile(path)) return path;
  if (
    /^\.{0,2}[/\\]/.test(specifier) ||
    specifier === '.' ||
    specifier === '..' ||
    isAbsolute(specifier)
  )
    return pathTarget(path);
  const found = (await esmTarget(specifier, folder)) ?? requireTarget(specifier, folder);
  if (found === undefined)
    throw new ModuleFault(
      `there is no file ${path}, and no package \`${specifier}\` that can be imported from ` +
        `${folder}` +
        ((await isFolder(path)) ? `. For the folder, write \`./${specifier}\`` : ''),
    );
  return found;
}

async function pathTarget(path: string): Promise<string> {
  if (await isFile(path)) return path;
  if (await isFolder(path)) return fileOfFolder(path);
  throw new ModuleFault(`there is no file ${path}`);
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw new ModuleFault(`\`${url}\` is not the URL of a file here`);
  }
}

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

function requireTarget(specifier: string, folder: string): string | undefined {
  try {
    const found = createRequire(pathToFileURL(join(folder, 'noop.js'))).resolve(specifier);
    // Built-in modules resolve to their own names.
    return isAbsolute(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

// Finds the file that an import of a folder loads, according to its package.json, as Node does.

/** The members of a package.json that say what an import of the package gets. */
export interface Manifest {
  readonly name?: unknown;
  readonly exports?: unknown;
  readonly main?: unknown;
}

/** Whether there is a regular file at a path, or what a link there leads to is one. */
async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** The package.json of a folder. {} if there is none that can be read. */
async function manifestOf(folder: string): Promise<Manifest> {
  try {
    return await readManifest(folder);
  } catch {
    return {};
  }
}

/**
 * The file that an import of a folder gets: what `exports` of its package.json gives to an import,
 * otherwise what `main` names, otherwise index.js.
 * @param folder an absolute path.
 * @throws ModuleFault that says what is missing.
 */
export async function fileOfFolder(folder: string): Promise<string> {
  const given = join(folder, 'package.json');
  let manifest: Manifest = {};
  if (await isFile(given))
    try {
      manifest = await readManifest(folder);
    } catch (error) {
      throw new ModuleFault(`${given} cannot be read: ${(error as Error).message}`);
    }
  const { exports, main } = manifest;
  // Like Node: with `exports`, `main` does not count.
  if (exports !== undefined && exports !== null) return exported(exports, folder, given);
  if (typeof main === 'string' && main !== '') {
    const path = join(folder, main);
    if (!isInside(path, folder))
      throw new ModuleFault(`\`main\` in ${given} leads out of the folder, to \`${main}\``);
    for (const file of [path, `${path}.js`, join(path, 'index.js')])
      if (await isFile(file)) return file;
  } else if (main !== undefined && typeof main !== 'string')
    throw new ModuleFault(
      `expected \`main\` in ${given} to be the path of a file, got ${describe(main)}`,
    );
  const index = join(folder, 'index.js');
  if (await isFile(index)) return index;
  if (typeof main === 'string' && main !== '') throw missing('main', main, folder, given);
  throw new ModuleFault(
    (await isFile(given))
      ? `${given} has neither \`exports\` nor \`main\`, and there is no ${index}. Add ` +
          '`"main"` with the path of the module, or give that file itself'
      : `the folder ${folder} has neither a package.json nor an index.js. Give the module's file ` +
          'itself',
  );
}

async function exported(exports: unknown, folder: string, given: string): Promise<string> {
  const target = targetOf(exports, '.');
  if (target === undefined)
    throw new ModuleFault(
      `\`exports\` in ${given} gives an import of the package (\`.\`) no file. Add ` +
        '`".": "./FILE"` to it, or give that file itself',
    );
  const path = join(folder, target);
  if (!target.startsWith('./') || !isInside(path, folder))
    throw new ModuleFault(
      `expected \`exports\` in ${given} to name a file of the folder, starting with \`./\`, got ` +
        `\`${target}\``,
    );
  if (!(await isFile(path))) throw missing('exports', target, folder, given);
  return path;
}

function missing(field: string, target: string, folder: string, given: string): ModuleFault {
  return new ModuleFault(
    `\`${field}\` in ${given} names \`${target}\`, but there is no file ${join(folder, target)}. ` +
      'If it is a build output, build the package first',
  );
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

async function readManifest(folder: string): Promise<Manifest> {
  const value: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`expected an object, got ${describe(value)}`);
  return value;
}

// The file that the `exports` of a package give to an import, by the rules of Node.

/** The conditions of an import. Those of types and of bundlers do not apply. */
const conditions = new Set(['node', 'import', 'module-sync', 'default']);

/**
 * The target of a subpath, such as `.` or `./tools`, as the package wrote it. Undefined if the
 * package does not export it.
 */
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
