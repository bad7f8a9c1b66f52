/**
 * The process that the user starts. Modules and handlers run in a second process: a listener of a
 * signal needs a turn of the event loop, and code that never yields gives none. Only SIGKILL could
 * end a single process with such a listener.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';

/**
 * The environment variable that has the file descriptor of the second process's lifeline. It is
 * removed before anything is loaded.
 */
export const lifelineVariable = 'HOST_TOOLS_LIFELINE';
/**
 * The file descriptor of the pipe between the two processes. Each byte is an interruption. The end
 * of the pipe means that the first process is gone.
 */
const lifelineFd = 3;
/** The exit code by which a shell reports a process that Ctrl-C ended. */
const interruptedExit = 130;

/**
 * Runs a program in a second process, with the same words and streams. Passes interruptions on, and
 * ends this process with the exit code of the second one. Returns false if no process can be
 * started, so that the program has to run in this one.
 * @param entry Path of the program.
 */
export async function supervise(host: NodeJS.Process, entry: string): Promise<boolean> {
  // A debugger must be in the process that runs the host's code.
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
  // The exit code that a shell would report for the second process.
  host.exit(
    code ?? (interrupted || signal === null ? interruptedExit : 128 + constants.signals[signal]),
  );
}

/** Undefined if this process may not start others. */
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
