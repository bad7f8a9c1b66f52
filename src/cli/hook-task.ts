/** The task that the main thread of a hook passes to the thread that judges. */
import { workerData } from 'node:worker_threads';
import type { HookRun } from './hook-run.ts';

/** The task of a thread. */
export interface HookTask extends Omit<HookRun, 'stdin' | 'now'> {
  readonly hostToolsHook: true;
  /** The URL of the folder of the thread's bundle; absent if the program itself is the thread. */
  readonly folder?: string;
}

/** The task of this thread; undefined if it is not the thread of a hook. */
export function hookTask(): HookTask | undefined {
  const task = workerData as HookTask | null | undefined;
  return task?.hostToolsHook === true ? task : undefined;
}
