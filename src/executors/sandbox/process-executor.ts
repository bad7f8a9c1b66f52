/** Handlers in processes. */
import { dirname, resolve } from 'node:path';
import type { Executor } from '../../core.ts';
import {
  object,
  oneOf,
  readOptions,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import { bubblewrapCommand, checkBubblewrapCwd } from './bubblewrap.ts';
import { processes } from './child.ts';
import { unavailableFault } from './fault.ts';
import {
  checkModuleFolder,
  permissionFlags,
  readPermissions,
  type SandboxPermissions,
} from './permissions.ts';
import { sandboxExecutor } from './sandbox-executor.ts';
import { readCommon, type SandboxOptions, sandboxTable } from './sandbox-options.ts';

/** Options of {@link processExecutor}. */
export interface ProcessExecutorOptions extends SandboxOptions {
  /**
   * What the handler may do besides computing, by Node's permission model. Everything else is
   * refused. The network and signals to other processes are not part of that model.
   * @default no files but those of the module and its packages, no processes, threads and addons
   */
  readonly permissions?: SandboxPermissions | undefined;
  /**
   * The working directory. With bubblewrap, it must be one that `permissions.fs` or the module make
   * visible. @default the folder of the module
   */
  readonly cwd?: string | undefined;
  /**
   * The most memory that a process may use, together with those that it starts, in megabytes. From
   * 96, as Node itself takes about 50. It is measured every 25 milliseconds.
   * @default 512
   */
  readonly maxMemoryMb?: number | undefined;
  /**
   * `require` also puts the process into namespaces of its own with bubblewrap, on Linux. It then
   * sees no file beyond its permissions and the system's programs, can write to no folder beyond
   * its permissions, sees no process outside, and has no capabilities. Everything that it starts
   * ends with it. Without bubblewrap, calls end as `sandbox_unavailable`.
   * @default "off"
   */
  readonly bubblewrap?: 'require' | 'off' | undefined;
}

const table = {
  ...sandboxTable,
  permissions: object<SandboxPermissions>(),
  cwd: text(1, 4_096),
  maxMemoryMb: withDefault(wholeNumber(96, 1_048_576), 512),
  bubblewrap: withDefault(oneOf('require', 'off'), 'off'),
} satisfies TableOf<ProcessExecutorOptions>;

/**
 * Makes an executor that runs a handler in processes of their own. A process contains what a thread
 * does, and also memory outside the heap, files and child processes. Windows has no such sandboxes:
 * calls end as `sandbox_unavailable` there.
 * @throws MisuseError `invalid_option`, also if the module does not exist.
 *
 * @example
 * ```ts
 * import { defineTool } from 'host-tools';
 * import { processExecutor } from 'host-tools/sandbox';
 *
 * const convert = defineTool({
 *   name: 'convert',
 *   description: 'Converts an image in the folder of uploads.',
 *   parameters: { type: 'object' },
 *   executor: processExecutor({
 *     module: new URL('./convert.js', import.meta.url),
 *     permissions: { fs: { read: ['/srv/uploads'], write: ['/srv/uploads/out'] } },
 *   }),
 * });
 * ```
 */
export function processExecutor(options: ProcessExecutorOptions): Executor {
  return childExecutor('processExecutor', options);
}

/**
 * {@link processExecutor} for another caller.
 * @param where What messages begin with.
 * @param otherwise The export to take if the module has none of the first name.
 */
export function childExecutor(
  where: string,
  options: ProcessExecutorOptions,
  otherwise?: string,
): Executor {
  const read = readOptions(where, options, table);
  const { place, limits, env } = readCommon(where, read as SandboxOptions);
  const permissions = readPermissions(where, read.permissions);
  checkModuleFolder(where, place.file);
  const { maxMemoryMb, bubblewrap, killAfterMs } = read;
  const cwd = read.cwd === undefined ? dirname(place.file) : resolve(read.cwd);
  if (bubblewrap === 'require') checkBubblewrapCwd(where, place.file, cwd, permissions);
  const { childProcess, worker, addons } = permissions;
  const ownSession = bubblewrap === 'require' || childProcess || worker || addons;
  return sandboxExecutor('process', limits, {
    start: (runner, events) => {
      if (process.platform === 'win32')
        throw unavailableFault(
          'sandbox_unsupported',
          "The tool's sandbox could not be started: Windows has no groups of processes, so what " +
            'a process starts could not be ended with it.',
        );
      const wrap = bubblewrap === 'require' ? bubblewrapCommand(place.file, cwd, permissions) : [];
      const flags = permissionFlags(place.file, permissions);
      const command = [
        ...wrap,
        process.execPath,
        ...flags,
        `--max-old-space-size=${maxMemoryMb}`,
        '-e',
      ];
      return processes({ command, env, cwd, maxMemoryMb, ownSession })(runner, events);
    },
    module: place.address,
    export: read.export,
    otherwise,
    // Bubblewrap sets variables of its own, such as PWD.
    env,
    killAfterMs,
  });
}
