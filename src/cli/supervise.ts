/**
 * The process that a person starts. Modules and handlers run in a second one, because a signal's
 * listener needs a turn of the event loop, and code that spins gives none: a process with such a
 * listener could be ended by SIGKILL alone.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';

/**
 * The variable that tells the second process where its lifeline is. It is gone from the environment
 * before anything is loaded.
 */
export const lifelineVariable = 'HOST_TOOLS_LIFELINE';
/**
 * The file descriptor of the pipe between the two. A byte is an interruption; its end means that
 * the first process is no more.
 */
const lifelineFd = 3;
/** What a shell calls a process that Ctrl-C ended. */
const interruptedExit = 130;

/**
 * Runs a program again in a process of its own, with the same words and streams, passes
 * interruptions on, and ends as that process ends. Returns false where no process can be started,
 * so that the program has to run in this one.
 * @param entry path of the program
 */
export async function supervise(host: NodeJS.Process, entry: string): Promise<boolean> {
  // A debugger is to see the code that it was started for.
  if (host.execArgv.some((word) => word.startsWith('--inspect'))) return false;
  const child = start(host, entry);
  if (child === undefined) return false;
  const lifeline = child.stdio[lifelineFd] as Writable;
  // The other end may close at any moment.
  lifeline.on('error', () => {});
  let interrupted = false;
  const interrupt = (): void => {
    interrupted = true;
    lifeline.write('i');
  };
  host.on('SIGINT', interrupt);
  host.on('SIGTERM', interrupt);
  const ended = await new Promise<
    { code: number | null; signal: NodeJS.Signals | null } | undefined
  >((resolve) => {
    child.once('error', () => resolve(undefined));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  host.off('SIGINT', interrupt);
  host.off('SIGTERM', interrupt);
  if (ended === undefined) return false;
  const { code, signal } = ended;
  // What a shell would call the other process.
  host.exit(
    code ?? (interrupted || signal === null ? interruptedExit : 128 + constants.signals[signal]),
  );
}

/** Undefined where this process may not start others. */
function start(host: NodeJS.Process, entry: string): ReturnType<typeof spawn> | undefined {
  try {
    return spawn(host.execPath, [...host.execArgv, entry, ...host.argv.slice(2)], {
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      env: { ...host.env, [lifelineVariable]: String(lifelineFd) },
    });
  } catch {
    return undefined;
  }
}
