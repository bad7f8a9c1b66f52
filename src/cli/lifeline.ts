/**
 * The other end of `supervise`: interruptions reach a run here, and end the process where it does
 * not take them.
 */
import { Worker } from 'node:worker_threads';
import { lifelineVariable } from './supervise.ts';

/**
 * Milliseconds that a run has to take an interruption. One whose code lets the event loop turn
 * takes it at once.
 */
const patienceMs = 1_000;

/**
 * A thread with an event loop of its own, which foreign code cannot block. It hands interruptions
 * to the run and kills the process where the run does not answer, where it is interrupted again
 * before it has, and where the supervising process is gone. Text, since it stands in no file of the
 * package.
 */
const watcher = `
const { writeSync } = require('node:fs');
const { Socket } = require('node:net');
const { parentPort, workerData } = require('node:worker_threads');
const kill = () => process.kill(process.pid, 'SIGKILL');
let waiting;
const blocked = () => {
  try {
    writeSync(2, 'host-tools: Interrupted. A tool or a module did not let go of the process, so it was killed.\\n');
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
 * The file descriptor that a supervising process has given; undefined where there is none. Taken
 * once: what a tool starts is not supervised.
 */
export function takeLifeline(host: NodeJS.Process): number | undefined {
  const given = host.env[lifelineVariable];
  delete host.env[lifelineVariable];
  return given === undefined ? undefined : Number(given);
}

/**
 * Calls `interrupted` for each interruption. With a lifeline they come by it, and signals to this
 * process itself are ignored, since a terminal sends Ctrl-C to both processes; without one they are
 * signals, which only an event loop that turns can take.
 */
export function onInterrupt(
  host: NodeJS.Process,
  lifeline: number | undefined,
  interrupted: () => void,
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
  // Last: a listener makes a thread count again, and a run with nothing left to wait for would go
  // on waiting.
  thread.unref();
}
