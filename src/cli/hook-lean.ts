/**
 * What the published package starts a hook with: a bundle of few files, since each costs some time.
 * `hook install` copies it to the folder of a guard, where the copy is started by itself.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { cacheFolder } from '../surfaces/agents/state/state-folder.ts';
import { compiledName, guardTask, mayNameModules, noteCheck } from './guard/guard-folder.ts';
import { type CodePlace, runBundle } from './hook-code.ts';
import type * as Judge from './hook-judge.ts';
import { type HookEnding, hookProcess, tookTooLong } from './hook-process.ts';
import type { HookTask } from './hook-task.ts';
import { hasOnlyLocalDisks, quickBytes } from './hook-watch.ts';
import { userHome } from './user-home.ts';

// Judges an event in the process of the hook itself, with a bundle whose compiled code is kept:
// most of a hook's time is that of starting processes and loading modules. No code of the host runs
// here. All that can hold it up is a system call that waits for a disk, or a long event. A thread
// then ends the process.

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

const judge = join(__dirname, 'hook-judge.cjs');

/**
 * Starts the hook in this process.
 * @returns false, and does nothing, if a file may name modules: their tools are known only to the
 * copy of the library that they import, and their code may do anything.
 */
export function startHook(host: NodeJS.Process): boolean {
  const task = { argv: host.argv.slice(2), env: host.env, cwd: host.cwd() };
  if (mayHaveModules(task)) return false;
  const place = cacheFolder({ stateHome: host.env.XDG_STATE_HOME, home: userHome(host.env) });
  hookProcess(host, judgeHere(host, task, judge, place));
  return true;
}

/** Starts the hook of the guard in this folder. */
function startGuard(host: NodeJS.Process): void {
  hookProcess(host, (ending) => {
    try {
      const { task, files } = guardTask(host, __dirname);
      if (noteCheck(host.env)) throw new Error('This is only a check.');
      return judgeHere(host, task, judge, files.get(compiledName))(ending);
    } catch (error) {
      ending.block((error as Error).message);
      return () => Promise.resolve();
    }
  });
}

/**
 * Whether a file of the command line may name a module. A file that cannot be read is reported
 * later.
 */
function mayHaveModules({ argv }: HookTask): boolean {
  return argv.some((word) => {
    const file = word.startsWith('--host-tools=') ? word.slice('--host-tools='.length) : word;
    try {
      // To open a pipe would wait for somebody who writes.
      if (!statSync(file).isFile()) return false;
      return mayNameModules(readFileSync(file, 'utf8'));
    } catch {
      return false;
    }
  });
}

if (require.main === module) startGuard(process);
