/**
 * The two processes of a command, and the lifeline between them. The second process's end of it
 * passes interruptions to the run, and kills the process if the run does not react.
 */

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { Worker } from 'node:worker_threads';

/**
 * Milliseconds in which a run has to react to an interruption. It reacts at once, unless its code
 * blocks the event loop.
 */
const patienceMs = 1_000;

/**
 * The code of a thread with its own event loop, which the host's code cannot block. It passes
 * interruptions to the run. It kills the process if the run does not react, if a second
 * interruption comes before it has reacted, or if the supervising process is gone. It is a string
 * because it is not a file of the package.
 */
const watcher = `
const { writeSync } = require('node:fs');
const { Socket } = require('node:net');
const { parentPort, workerData } = require('node:worker_threads');
const kill = () => process.kill(process.pid, 'SIGKILL');
let waiting;
const blocked = () => {
  try {
    writeSync(
      2,
      'host-tools: Interrupted. A tool or a module blocked the process, so it was killed.\\n',
    );
  } finally {
    kill();
  }
};
parentPort.on('message', () => {
  clearTimeout(waiting);
  waiting = undefined;
});
const lifeline = new Socket({ fd: workerData.fd, readable: true, writable: false });
lifeline.on('error', kill);
lifeline.on('close', kill);
lifeline.on('data', (bytes) => {
  for (const _ of bytes) {
    if (waiting !== undefined) return blocked();
    waiting = setTimeout(blocked, workerData.patienceMs);
    parentPort.postMessage(null);
  }
});
`;

/**
 * The file descriptor of the lifeline; undefined if no process supervises this one. It is removed
 * from the environment, because processes that a tool starts are not supervised.
 */
export function takeLifeline(host: NodeJS.Process): number | undefined {
  const given = host.env[lifelineVariable];
  delete host.env[lifelineVariable];
  return given === undefined ? undefined : Number(given);
}

/**
 * Calls `interrupted` for each interruption. With a lifeline, interruptions come through it, and
 * signals to this process are ignored, because a terminal sends Ctrl-C to both processes. Without
 * one they come as signals, which need an event loop that is not blocked.
 */
export function onInterrupt(
  host: NodeJS.Process,
  lifeline: number | undefined,
  interrupted: (name?: NodeJS.Signals) => void,
): void {
  const hear = lifeline === undefined ? interrupted : (): void => {};
  host.on('SIGINT', hear);
  host.on('SIGTERM', hear);
  if (lifeline === undefined) return;
  const thread = new Worker(watcher, {
    eval: true,
    execArgv: [],
    workerData: { fd: lifeline, patienceMs },
  });
  thread.on('message', () => {
    thread.postMessage(null);
    interrupted();
  });
  // After `on`, which refs the thread again. A thread that is ref'd would keep a run alive that has
  // nothing left to wait for.
  thread.unref();
}

// The process that the user starts. Modules and handlers run in a second process: a listener of a
// signal needs a turn of the event loop, and code that never yields gives none. Only SIGKILL could
// end a single process with such a listener.

/**
 * The environment variable that has the file descriptor of the second process's lifeline. It is
 * removed before anything is loaded.
 */
const lifelineVariable = 'HOST_TOOLS_LIFELINE';
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
