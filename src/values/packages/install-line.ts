/** The line for a shell with which packages are found that are missing beside this library. */
import { createRequire } from 'node:module';

/** What the line depends on. */
export interface Surroundings {
  /** The address of this file. */
  readonly url: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What installs a package, by the name that a package manager gives itself in the environment. */
const managers: Readonly<Record<string, string>> = {
  pnpm: 'pnpm add',
  yarn: 'yarn add',
  bun: 'bun add',
};

/** What `npx`, `pnpm dlx` and `bunx` call the folders in which they run a package once. */
const temporary = /^file:.*?\/(?:(?:_npx|dlx|dlx-[^/]+)\/(?!node_modules\/)[^/]+|bunx-[^/]+)\//;
// Not a literal in the calls, so that no bundler looks for the file.
const manifestName = './package.json';

/** Whether this library was started in a folder that holds only what the command line named. */
export function isRunByNpx({ url }: Surroundings = surroundings()): boolean {
  return temporary.test(url);
}

/**
 * `npm install a@1 b@2`, or the line of the package manager that started this process. A program
 * that `npx` started finds only packages that its command line names. So the line is a new command
 * line then.
 * @param names the packages that are missing
 * @param words what follows the program's name on its command line, quoted for a shell
 */
export function installLine(
  names: readonly string[],
  words = '…',
  around: Surroundings = surroundings(),
): string {
  if (isRunByNpx(around)) {
    const named = namedPackages(around);
    const isNamed = (name: string): boolean =>
      named.some((one) => one === name || one.startsWith(`${name}@`));
    const all = [...named, ...names.filter((name) => !isNamed(name)).map(versioned)];
    return ['npx -y', ...all.map((one) => `-p ${shellWord(one)}`), 'host-tools', words].join(' ');
  }
  const [agent = ''] = (around.env.npm_config_user_agent ?? '').split('/');
  const install = Object.hasOwn(managers, agent) ? managers[agent] : 'npm install';
  return `${install}${isGlobal(around) ? ' --global' : ''} ${names.map(versioned).join(' ')}`;
}

/** A word of a command line, quoted if a shell would read it in another way. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The packages that the command line of `npx` has named, as it has named them. */
function namedPackages({ url }: Surroundings): readonly string[] {
  const [folder = ''] = temporary.exec(url) ?? [];
  try {
    const { _npx } = createRequire(folder)(manifestName) as { _npx?: { packages?: unknown } };
    const packages = _npx?.packages;
    if (Array.isArray(packages) && packages.every((one) => typeof one === 'string'))
      return packages.length > 0 ? packages : ['host-tools'];
  } catch {
    // Another version of `npx`, or another program, keeps no such list.
  }
  return ['host-tools'];
}

/** Whether npm has installed this library for all projects. Only a project has a package.json. */
function isGlobal({ url }: Surroundings): boolean {
  const [, folder] = /^(file:.*\/(?:lib|npm)\/)node_modules\/host-tools\//.exec(url) ?? [];
  if (folder === undefined) return false;
  try {
    createRequire(folder).resolve(manifestName);
    return false;
  } catch {
    return true;
  }
}

function surroundings(): Surroundings {
  return { url: import.meta.url, env: typeof process === 'undefined' ? {} : process.env };
}

// The packages that npm does not install with this library, and the versions that work.

const versions = {
  '@agentclientprotocol/sdk': '^2.4.0',
  '@anthropic-ai/claude-agent-sdk': '0.3',
  '@cedar-policy/cedar-wasm': '4',
  '@langchain/core': '1',
  '@modelcontextprotocol/client': '2',
  '@modelcontextprotocol/server': '2',
  '@open-policy-agent/opa-wasm': '1',
  '@opentelemetry/api': '1',
  'better-sqlite3': '12',
  bullmq: '6',
  ioredis: '6',
  jose: '6',
  pg: '8',
  run: '2.1',
  unbash: '6',
  ws: '8',
} as const;

export type OptionalPackage = keyof typeof versions;

/** For tests, which compare it with the ranges of package.json. */
export const optionalPackages: Readonly<Record<string, string>> = versions;

/** Packages that another one does not work without here, and does not bring. */
export const companions: Readonly<Partial<Record<string, readonly OptionalPackage[]>>> = {
  bullmq: ['ioredis'],
};

/** A package with its version, as `npm install` and `npx` take it. */
export function versioned(name: string): string {
  return Object.hasOwn(optionalPackages, name) ? `${name}@${optionalPackages[name]}` : name;
}
