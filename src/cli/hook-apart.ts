/**
 * Judges an event in a second process. It can be killed, whatever the modules of a file are doing:
 * a thread could not be ended within a system call, and would keep the process from ending as well.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { HookEnding } from './hook-process.ts';
import type { HookEnd } from './hook-run.ts';
import { answerFd, judgeVariable } from './hook-task.ts';

/** Longest answer, in characters. */
const maxAnswerChars = 16_000_000;
/** How long this process waits for the end of the second one, in milliseconds. */
const goneMs = 100;

/** Starts the second process. @param entry The path of what it runs. */
export function judgeApart(
  host: NodeJS.Process,
  entry: string,
): (ending: HookEnding) => () => Promise<void> {
  return ({ leave, block }) => {
    const judge = startJudge(host, entry);
    judge.on('error', (error) => block(`The hook could not be started: ${error.message}.`));
    takeAnswer(judge, leave, () => block('The hook ended without an answer.'));
    return () => ended(judge);
  };
}

/**
 * Kills the second process, and waits until it is gone: the system keeps a process that nobody has
 * waited for. One that waits for a dead disk may never be gone, so this takes no longer than a
 * moment.
 */
function ended(judge: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (judge.pid === undefined || judge.exitCode !== null || judge.signalCode !== null)
      return resolve();
    judge.once('exit', () => resolve());
    setTimeout(resolve, goneMs);
    judge.kill('SIGKILL');
  });
}

function startJudge(host: NodeJS.Process, entry: string): ChildProcess {
  // One debugger at a time can have a port.
  const flags = host.execArgv.filter((word) => !word.startsWith('--inspect'));
  return spawn(host.execPath, [...flags, entry, ...host.argv.slice(2)], {
    // Output of modules must not become part of the answer.
    stdio: ['inherit', 'ignore', 'ignore', 'pipe'],
    env: { ...host.env, [judgeVariable]: String(host.pid) },
    windowsHide: true,
  });
}

/** An answer is a whole line: half of one counts as none. */
function takeAnswer(judge: ChildProcess, leave: (end: HookEnd) => void, none: () => void): void {
  const pipe = judge.stdio[answerFd] as Readable;
  let text = '';
  pipe.setEncoding('utf8');
  pipe.on('data', (chunk: string) => {
    text += chunk;
    if (text.endsWith('\n')) leave(JSON.parse(text) as HookEnd);
    else if (text.length > maxAnswerChars) none();
  });
  pipe.on('error', none);
  pipe.on('end', none);
}
