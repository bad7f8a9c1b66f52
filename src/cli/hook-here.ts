/**
 * Judges an event in the process of the hook itself, with a bundle whose compiled code is kept:
 * most of a hook's time is that of starting processes and loading modules. No code of the host runs
 * here. All that can hold it up is a system call that waits for a disk, or a long event. A thread
 * then ends the process.
 */
import { Worker } from 'node:worker_threads';
import { type CodePlace, runBundle } from './hook-code.ts';
import type * as Judge from './hook-judge.ts';
import { type HookEnding, tookTooLong } from './hook-process.ts';
import type { HookTask } from './hook-task.ts';
import { hasOnlyLocalDisks, quickBytes } from './hook-watch.ts';

/** How much longer than the hook the thread waits, in milliseconds. The hook ends by itself. */
const laterMs = 1_000;

/**
 * The code of the thread. It is a string because it is not a file of the package. Ended by a
 * signal, the process has no exit code, which `|| exit 2` in the agent's settings turns into 2.
 */
const watchdog = `
const { ms, text } = require('node:worker_threads').workerData;
setTimeout(() => {
  try { require('node:fs').writeSync(2, text); } finally { process.kill(process.pid, 'SIGKILL'); }
}, ms);
`;

/**
 * Begins to judge.
 * @param bundle The path of the bundle of `hook-judge.ts`.
 * @param place Where compiled code is kept; undefined if nowhere.
 * @param isLocal Whether no disk can hold up the process.
 */
export function judgeHere(
  host: NodeJS.Process,
  task: HookTask,
  bundle: string,
  place: CodePlace | undefined,
  isLocal = hasOnlyLocalDisks,
): (ending: HookEnding) => () => Promise<void> {
  return ({ leave, block, timeoutMs }) => {
    let isWatched = false;
    const watch = (): void => {
      if (isWatched) return;
      isWatched = true;
      const text = `host-tools: ${tookTooLong(timeoutMs)} The call is blocked.\n`;
      const workerData = { ms: timeoutMs + laterMs, text };
      new Worker(watchdog, { eval: true, execArgv: [], env: {}, workerData }).unref();
    };
    if (!isLocal()) watch();
    const running = runBundle(bundle, place);
    const { judgeEvent } = running.exports as typeof Judge;
    const arrived = (bytes: number): void => {
      if (bytes > quickBytes) watch();
    };
    void judgeEvent(host.stdin, task, block, arrived).then((end) => {
      running.keep();
      leave(end);
    });
    return () => Promise.resolve();
  };
}
