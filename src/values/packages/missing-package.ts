/**
 * Errors about optional packages, which are installed beside the library: whether one is missing or
 * failed to load, and what to do.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MisuseError, messageOf } from '../errors/index.ts';
import { companions, installLine } from './install-line.ts';

/**
 * The error for an optional package that could not be loaded. It quotes what the package threw, so
 * only the host may see the message.
 * @param name The name of the package, without a path inside it.
 * @param use What the package is needed for; follows "which" in the message.
 * @param thrown What loading it threw; it becomes the cause.
 * @param otherwise What else a host can do if the package is missing.
 * @param without What a host can do where no package can be looked up.
 */
export function packageFault(
  name: string,
  use: string,
  thrown: unknown,
  otherwise = '',
  without = 'Run this part on Node.js, Bun or Deno, with the package installed',
): MisuseError {
  const what = `The package \`${name}\`, which ${use},`;
  let message: string;
  if (isNotLookedUp(thrown))
    message =
      `${what} is loaded when it is first needed, and this runtime cannot look packages up then. ` +
      `A bundle does not contain it. ${without}`;
  else if (isMissing(name, thrown)) {
    const others = (companions[name] ?? []).filter((other) => !isInstalled(other));
    const too = others.map((other) => `, and neither is \`${other}\``).join('');
    const line = installLine([name, ...others]);
    message = `${what} is not installed${too}; run \`${line}\`${otherwise}`;
  } else
    message =
      `${what} is installed and failed to load: ${messageOf(thrown).split('\n', 1)[0]}. See the ` +
      `error's \`cause\`, and try another version of the package`;
  return new MisuseError('missing_dependency', message, { cause: thrown });
}

/**
 * Whether a package can be found from here. It may still fail to load. True where nothing can be
 * looked up, so that loading it tells more.
 */
export function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch (error) {
    return !isMissing(name, error);
  }
}

/**
 * Loads an optional package synchronously. Used inside `try`, since a runtime without a disk throws
 * before it looks for the package.
 */
export function requirePackage(specifier: string): unknown {
  return createRequire(import.meta.url)(specifier);
}

/** The address of an optional package. Throws as {@link requirePackage} does. */
export function resolvePackage(specifier: string): string {
  return pathToFileURL(createRequire(import.meta.url).resolve(specifier)).href;
}

/**
 * Whether the runtime cannot look packages up at all, as in a worker of Cloudflare: the address of
 * a bundled module is not known there, and no module exists beside those of the bundle.
 */
function isNotLookedUp(thrown: unknown): boolean {
  if (messageOf(thrown).startsWith('No such module')) return true;
  try {
    createRequire(import.meta.url);
    return false;
  } catch {
    return true;
  }
}

/**
 * Whether a loader did not find the package. A package that it found may itself lack another one;
 * installing the first one again would not help then.
 */
function isMissing(name: string, thrown: unknown): boolean {
  try {
    const { code } = thrown as { code?: unknown };
    if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return false;
    const [, wanted] =
      /^Cannot find (?:package|module) ['"]([^'"]+)['"]/.exec(messageOf(thrown)) ?? [];
    return wanted === undefined || wanted === name || wanted.startsWith(`${name}/`);
  } catch {
    return false;
  }
}
