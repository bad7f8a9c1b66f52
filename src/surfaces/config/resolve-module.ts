/**
 * Resolves a module that a file or a host names: a path of a file or of a package's folder, or a
 * package as code in that folder would import it.
 */
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ModuleFault } from './module-fault.ts';
import { targetOf } from './package-exports.ts';
import { fileOfFolder, isFile, isFolder, manifestOf } from './package-folder.ts';

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
