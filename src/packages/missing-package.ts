/**
 * Errors about optional packages, which are installed beside the library: whether one is missing or
 * failed to load, and what to do.
 */
import { MisuseError, messageOf } from '../errors/index.ts';

/**
 * The error for an optional package that could not be loaded. It quotes what the package threw, so
 * only the host may see the message.
 * @param name The name of the package, without a path inside it.
 * @param use What the package is needed for; follows "which" in the message.
 * @param thrown What loading it threw; it becomes the cause.
 * @param otherwise What else a host can do if the package is missing.
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
