/**
 * Packages that are installed beside the library: whether one is missing or failed to load, and
 * what to do.
 */
import { MisuseError, messageOf } from '../errors.ts';

/**
 * The error for an optional package that was not had. What the package itself threw is quoted, so
 * the message is for the host alone.
 * @param name The package, without a path in it.
 * @param use What it is there for, after "which".
 * @param thrown What loading it threw; it becomes the cause.
 * @param otherwise What else a host may do where the package is missing.
 */
export function packageFault(
  name: string,
  use: string,
  thrown: unknown,
  otherwise = '',
): MisuseError {
  const what = `The package \`${name}\`, which ${use},`;
  const message = isMissing(name, thrown)
    ? `${what} is not installed; run \`npm install ${name}\`${otherwise}`
    : `${what} is installed and failed to load: ${messageOf(thrown).split('\n', 1)[0]}. See the ` +
      `error's \`cause\`, and try another version of the package`;
  return new MisuseError('missing_dependency', message, { cause: thrown });
}

/**
 * Whether a loader found no such package. One that it found may itself lack another, which is no
 * reason to install the first one again.
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
