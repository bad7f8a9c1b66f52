/** Handlers in threads. */
import type { Executor } from '../../core.ts';
import { readOptions, type TableOf, wholeNumber, withDefault } from '../../values/options/index.ts';
import { sandboxExecutor } from './sandbox-executor.ts';
import { readCommon, type SandboxOptions, sandboxTable } from './sandbox-options.ts';
import { threads } from './thread.ts';

/** Options of {@link workerExecutor}. */
export interface WorkerExecutorOptions extends SandboxOptions {
  /**
   * The most memory that a thread may use, in megabytes. From 16. On Node 22.16 and later, and on
   * Node 24, this is its heap and its buffers, measured every 25 milliseconds. On older versions it
   * is only the heap, and V8 may abort the whole process if a thread with a full heap asks for much
   * at once.
   * @default 256
   */
  readonly maxMemoryMb?: number | undefined;
}

const table = {
  ...sandboxTable,
  maxMemoryMb: withDefault(wholeNumber(16, 1_048_576), 256),
} satisfies TableOf<WorkerExecutorOptions>;

/**
 * Makes an executor that runs a handler in threads of this process. A thread contains loops, exits,
 * uncaught errors, its heap and its own threads. It does not protect against malicious code, which
 * has the files, the network and the memory of this process.
 * @throws MisuseError `invalid_option`, also if the module does not exist.
 *
 * @example
 * ```ts
 * import { defineTool } from 'host-tools';
 * import { workerExecutor } from 'host-tools/sandbox';
 *
 * const sum = defineTool({
 *   name: 'sum',
 *   description: 'Adds up the rows of a sheet.',
 *   parameters: { type: 'object' },
 *   executor: workerExecutor({ module: new URL('./sum.js', import.meta.url) }),
 * });
 * ```
 */
export function workerExecutor(options: WorkerExecutorOptions): Executor {
  return threadExecutor('workerExecutor', options);
}

/**
 * {@link workerExecutor} for another caller.
 * @param where What messages begin with.
 * @param otherwise The export to take if the module has none of the first name.
 */
export function threadExecutor(
  where: string,
  options: WorkerExecutorOptions,
  otherwise?: string,
): Executor {
  const read = readOptions(where, options, table);
  const { place, limits, env } = readCommon(where, read as SandboxOptions);
  return sandboxExecutor('thread', limits, {
    start: threads({ env, maxMemoryMb: read.maxMemoryMb }),
    module: place.address,
    export: read.export,
    otherwise,
    killAfterMs: read.killAfterMs,
  });
}
