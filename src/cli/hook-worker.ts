/** The thread that judges an event. It may hang or crash: the main thread sees to the answer. */
import { parentPort, workerData } from 'node:worker_threads';
import type { HookEnd, HookRun } from './hook-run.ts';

/** What the main thread passes to it. */
export interface HookTask extends Omit<HookRun, 'stdin' | 'now'> {
  readonly hostToolsHook: true;
}

/** The task of this thread; undefined if it is not the thread of a hook. */
export function hookTask(): HookTask | undefined {
  const task = workerData as HookTask | null | undefined;
  return task?.hostToolsHook === true ? task : undefined;
}

/** Judges the event that the main thread sends. */
export async function hookWorker({ argv, env, cwd }: HookTask): Promise<void> {
  const port = parentPort;
  if (port === null) return;
  // Loaded while the main thread reads the event.
  const loading = import('./hook-run.ts');
  const stdin = await new Promise<string>((resolve) => void port.once('message', resolve));
  const { runHook } = await loading;
  const end: HookEnd = await runHook({ argv, stdin, env, cwd, now: Date.now });
  port.postMessage(end);
}
