/** What a process may do, as flags of Node's permission model. */
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { MisuseError } from '../../values/errors/index.ts';
import {
  arrayOf,
  flag,
  object,
  readOptions,
  type TableOf,
  text,
} from '../../values/options/index.ts';
import { unavailableFault } from './fault.ts';

/** What a process may do besides computing. Everything else is refused. */
export interface SandboxPermissions {
  /** Which files it may use. A folder includes everything in it. */
  readonly fs?:
    | {
        /**
         * Files and folders that it may read, in addition to the folder of the handler's module and
         * the packages above it.
         * @default none
         */
        readonly read?: readonly string[] | undefined;
        /** Files and folders that it may write. @default none */
        readonly write?: readonly string[] | undefined;
      }
    | undefined;
  /** Whether it may start processes. They may do anything. @default false */
  readonly childProcess?: boolean | undefined;
  /**
   * Whether it may start threads, which may do anything: Node does not hold them to these
   * permissions.
   * @default false
   */
  readonly worker?: boolean | undefined;
  /** Whether it may load addons, which may do anything. @default false */
  readonly addons?: boolean | undefined;
}

/** The permissions after they were read. All paths are absolute. */
export interface ReadPermissions {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly childProcess: boolean;
  readonly worker: boolean;
  readonly addons: boolean;
}

const paths = arrayOf(text(1, 4_096), 'paths');
const table = {
  fs: object<object>(),
  childProcess: flag,
  worker: flag,
  addons: flag,
} satisfies TableOf<SandboxPermissions>;
const fsTable = { read: paths, write: paths };

/** @throws MisuseError `invalid_option` */
export function readPermissions(where: string, given: object | undefined): ReadPermissions {
  const { fs, childProcess, worker, addons } = readOptions(where, given, table, {
    path: 'permissions',
  });
  const { read, write } = readOptions(where, fs, fsTable, { path: 'permissions.fs' });
  return {
    read: absolute(where, read),
    write: absolute(where, write),
    childProcess: childProcess ?? false,
    worker: worker ?? false,
    addons: addons ?? false,
  };
}

/** Node reads `*` as a wildcard, and some versions read a comma as the end of a path. */
function absolute(where: string, given: readonly string[] = []): readonly string[] {
  return given.map((path) => {
    if (/[*,]/.test(path))
      throw new MisuseError(
        'invalid_option',
        `${where}: expected paths without \`*\` and commas in \`permissions.fs\`, got ` +
          `\`${path}\`. ` +
          'A folder includes everything in it.',
      );
    return resolve(path);
  });
}

/** @throws MisuseError `invalid_option` if Node would read the folder of the module as several. */
export function checkModuleFolder(where: string, file: string): void {
  if (!dirname(file).includes('*')) return;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`module\` in a folder without \`*\` in its path, got \`${file}\`. ` +
      'Node would take it for a wildcard and let the handler read other folders.',
  );
}

/**
 * What Node must read to import the module: its folder, the packages of the folders above, and the
 * files that say what kind of module it is.
 */
export function moduleReads(file: string): {
  files: readonly string[];
  folders: readonly string[];
} {
  const files: string[] = [];
  const folders = [dirname(file)];
  for (let at = dirname(file); ; at = dirname(at)) {
    files.push(join(at, 'package.json'));
    folders.push(join(at, 'node_modules'));
    if (at === dirname(at)) return { files, folders };
  }
}

/**
 * The flags for this version of Node.
 * @throws an error that ends the call as `sandbox_unavailable` if it has no permission model
 */
export function permissionFlags(
  file: string,
  { read, write, childProcess, worker, addons }: ReadPermissions,
  known: ReadonlySet<string> = process.allowedNodeEnvironmentFlags,
): readonly string[] {
  // The flag has the first name from Node 22.13 on, and the second before.
  const model = ['--permission', '--experimental-permission'].find((name) => known.has(name));
  if (model === undefined)
    throw unavailableFault(
      'sandbox_unsupported',
      `The tool's sandbox could not be started: Node ${process.version} has no permission model. ` +
        'Node 20, and 22.13 or later, have one.',
    );
  const flags = [model, '--no-warnings'];
  // Until the runner ignores the signal, another sandbox could open the debugger by it.
  if (known.has('--disable-sigusr1')) flags.push('--disable-sigusr1');
  const allow = (kind: 'read' | 'write', given: Iterable<string>): void => {
    for (const path of new Set(given)) flags.push(`--allow-fs-${kind}=${path}`);
  };
  const { files, folders } = moduleReads(file);
  allow('read', [...files, ...folders.map((path) => join(path, '*')), ...read.map(withContents)]);
  allow('write', write.map(withContents));
  if (childProcess) flags.push('--allow-child-process');
  if (worker) flags.push('--allow-worker');
  // Node 20.11 and before refuse addons without a flag for it.
  if (addons && known.has('--allow-addons')) flags.push('--allow-addons');
  // Node 25 also refuses the network, which these permissions do not cover.
  if (known.has('--allow-net')) flags.push('--allow-net');
  return flags;
}

/**
 * Adds `*` to the path of a folder, because a permission for a folder includes its contents. Node
 * 20 crashes if it gets the path both with and without `*`, so this looks what the path is.
 */
function withContents(path: string): string {
  try {
    return statSync(path).isDirectory() ? join(path, '*') : path;
  } catch {
    return path;
  }
}
