/** Ends the second process of a hook if the first one is gone, even if a module never yields. */
import { Worker } from 'node:worker_threads';
import { judgeVariable } from './hook-task.ts';

/** Milliseconds between two looks. */
const lookMs = 500;

/** The code of a thread. It is a string because it is not a file of the package. */
const watcher = `
const { parent, lookMs } = require('node:worker_threads').workerData;
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, lookMs);
`;

/**
 * Starts to watch. A hook without modules needs no such thread, which would cost each hook some
 * time. Its code yields, so it notices the end of the pipe.
 */
export function endWithParent(host: NodeJS.Process): void {
  const workerData = { parent: Number(host.env[judgeVariable]), lookMs };
  new Worker(watcher, { eval: true, execArgv: [], workerData }).unref();
}
