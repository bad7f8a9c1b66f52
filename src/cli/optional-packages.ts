/** The packages that commands need and that npm does not install with this library. */

/** Optional packages with the versions that work. */
const versions = {
  '@modelcontextprotocol/client': '2',
  '@modelcontextprotocol/server': '2',
  bullmq: '6',
  ioredis: '6',
} as const;

export type OptionalPackage = keyof typeof versions;

/** A package with its version, as `npm install` and `npx` take it. */
export function versioned(name: OptionalPackage): string {
  return `${name}@${versions[name]}`;
}

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
