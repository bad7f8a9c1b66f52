/** How commands get the packages that npm does not install with this library. */
import { type OptionalPackage, versioned } from '../values/packages/optional-packages.ts';

/**
 * The arguments of `npx` for a command of this library with optional packages. `npx` has a folder
 * of its own, in which it finds a package only if it is named.
 */
export function npxArguments(packages: readonly OptionalPackage[]): readonly string[] {
  return [
    '-y',
    ...['host-tools', ...packages.map(versioned)].flatMap((one) => ['-p', one]),
    'host-tools',
  ];
}
