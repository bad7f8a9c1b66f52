/**
 * The second process's end of the lifeline (see `supervise`). It passes interruptions to the run,
 * and kills the process if the run does not react.
 */
import { Worker } from 'node:worker_threads';
import { lifelineVariable } from './supervise.ts';

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
