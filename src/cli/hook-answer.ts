/** The second process of a hook. It may hang or crash: the first one sees to how the hook ends. */
import { Socket } from 'node:net';
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
