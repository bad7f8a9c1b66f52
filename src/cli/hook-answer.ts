/** The second process of a hook. It may hang or crash: the first one sees to how the hook ends. */
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../values/errors/index.ts';
import type { HookEnd } from './hook-run.ts';
import { answerFd, type HookTask, judgeVariable } from './hook-task.ts';
import { judgeEvent } from './judge-event.ts';

/** Judges the event on standard input, and writes the answer to the first process. */
export async function hookAnswer(host: NodeJS.Process, task: HookTask): Promise<void> {
  delete host.env[judgeVariable];
  const leave = (): never => host.exit(2);
  const pipe = new Socket({ fd: answerFd, readable: true, writable: true });
  // Nobody waits for the answer any more.
  pipe.on('error', leave).on('end', leave).resume();
  const answer = (end: HookEnd): void => void pipe.end(`${JSON.stringify(end)}\n`, leave);
  const block = (why: string): void =>
    answer({ exit: 2, stderr: `host-tools: ${why} The call is blocked.\n` });
  host.on('uncaughtException', (error) => block(`The hook failed: ${messageOf(error)}.`));
  host.on('unhandledRejection', (error) => block(`The hook failed: ${messageOf(error)}.`));
  answer(await judgeEvent(host.stdin, task, block));
}

// Ends the second process of a hook if the first one is gone, even if a module never yields.

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
