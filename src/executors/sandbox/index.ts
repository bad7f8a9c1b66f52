/** The public list of `host-tools/sandbox`. */
export type { SandboxEnv } from './environment.ts';
export type { SandboxPermissions } from './permissions.ts';
export type { ProcessExecutorOptions } from './process-executor.ts';
export { processExecutor } from './process-executor.ts';
export type { SandboxOptions, SandboxPool } from './sandbox-options.ts';
export type { WorkerExecutorOptions } from './worker-executor.ts';
export { workerExecutor } from './worker-executor.ts';
