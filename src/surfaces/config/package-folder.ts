/** Finds the file that an import of a folder loads, according to its package.json, as Node does. */
import { readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { describe } from '../../values/errors/index.ts';
import { ModuleFault } from './module-fault.ts';
import { targetOf } from './package-exports.ts';

/** The members of a package.json that say what an import of the package gets. */
export interface Manifest {
  readonly name?: unknown;
  readonly exports?: unknown;
  readonly main?: unknown;
}

/** Whether there is a regular file at a path, or what a link there leads to is one. */
export async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** The package.json of a folder. {} if there is none that can be read. */
export async function manifestOf(folder: string): Promise<Manifest> {
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
