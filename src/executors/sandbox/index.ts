/** The public list of `host-tools/sandbox`. */

export type { SandboxPermissions } from './permissions.ts';
export type { ProcessExecutorOptions } from './process-executor.ts';
export { processExecutor } from './process-executor.ts';
export type { SandboxEnv, SandboxOptions, SandboxPool } from './sandbox-options.ts';
export { type WorkerExecutorOptions, workerExecutor } from './worker-executor.ts';
