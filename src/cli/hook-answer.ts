/** The second process of a hook. It may hang or crash: the first one sees to how the hook ends. */
import { Socket } from 'node:net';
import type { HookEnd } from './hook-run.ts';
import { answerFd, type HookTask, judgeVariable } from './hook-task.ts';

/** Largest event, in bytes. */
const mostBytes = 16_000_000;

/**
 * Judges the event on standard input, and writes the answer to the first process.
 * @param judged Called before the answer, with which the process ends.
 */
export async function hookAnswer(
  host: NodeJS.Process,
  task: HookTask,
  judged: () => void = () => {},
): Promise<void> {
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
  // Loaded while the event arrives.
  const loading = import('./hook-run.ts');
  const stdin = await readEvent(host.stdin, block);
  const { runHook } = await loading;
  const end = await runHook({ ...task, stdin, now: Date.now });
  judged();
  answer(end);
}

/** Never settles if the event cannot be read. */
function readEvent(stdin: NodeJS.ReadStream, block: (why: string) => void): Promise<string> {
  return new Promise((resolve) => {
    let bytes = 0;
    const chunks: Buffer[] = [];
    stdin.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) return void chunks.push(chunk);
      stdin.destroy();
      block(`The event has more than ${mostBytes} bytes.`);
    });
    stdin.on('error', () => block('The event could not be read.'));
    stdin.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
