/**
 * The thread that judges an event. It may hang or crash, because the main thread makes sure that
 * there is an answer.
 */
import { parentPort } from 'node:worker_threads';
import type { HookEnd } from './hook-run.ts';
import type { HookTask } from './hook-task.ts';

/**
 * Judges the event that the main thread sends.
 * @param judged Called before the answer, with which the process ends.
 */
export async function hookWorker(
  { argv, env, cwd }: HookTask,
  judged: () => void = () => {},
): Promise<void> {
  const port = parentPort;
  if (port === null) return;
  // Loaded while the main thread reads the event.
  const loading = import('./hook-run.ts');
  const stdin = await new Promise<string>((resolve) => void port.once('message', resolve));
  const { runHook } = await loading;
  const end: HookEnd = await runHook({ argv, stdin, env, cwd, now: Date.now });
  judged();
  port.postMessage(end);
}
