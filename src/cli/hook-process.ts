/**
 * The process of a hook. An agent takes every exit code but 0 and 2 for "go on", so this process
 * ends with no other code. It opens no file, because a second process judges. If that one crashes,
 * hangs or waits for a file, it is killed, whatever it is doing. A thread cannot be ended within a
 * system call, and would keep the process from ending as well.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { HookEnd } from './hook-run.ts';
import { answerFd, judgeVariable } from './hook-task.ts';
import { hookTimeoutMs } from './hook-timeout.ts';

/** Longest answer, in characters. */
const mostAnswerChars = 16_000_000;
/** How long somebody has to read the answer, in milliseconds. */
const readMs = 200;
/** How long this process waits for the end of the second one, in milliseconds. */
const goneMs = 100;

/**
 * Judges one event, and ends the process.
 * @param entry The path of what the second process runs.
 */
export function hookProcess(host: NodeJS.Process, entry: string): void {
  const { stderr } = host;
  let judge: ChildProcess | undefined;
  let isOver = false;
  const leave = (end: HookEnd): void => {
    if (isOver) return;
    isOver = true;
    const gone = ended(judge);
    const exit = (code: 0 | 2): void => void gone.then(() => host.exit(code));
    if (end.exit === 0) return answer(host, end.stdout, exit);
    setTimeout(() => host.exit(2), readMs);
    stderr.write(end.stderr, () => exit(2));
  };
  const block = (why: string): void =>
    leave({ exit: 2, stderr: `host-tools: ${why} The call is blocked.\n` });
  stderr.on('error', () => host.exit(2));
  host.on('uncaughtException', (error) => block(`The hook failed: ${error.message}.`));
  host.on('unhandledRejection', (error) => block(`The hook failed: ${String(error)}.`));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    host.on(signal, () => block('The hook was interrupted.'));
  const timeoutMs = timeoutOf(host.argv);
  setTimeout(() => {
    block(`The hook took longer than ${timeoutMs} ms.`);
    // The reader is gone.
    setTimeout(() => host.exit(2), readMs);
  }, timeoutMs);
  judge = startJudge(host, entry);
  judge.on('error', (error) => block(`The hook could not be started: ${error.message}.`));
  takeAnswer(judge, leave, () => block('The hook ended without an answer.'));
}

/** An answer that nobody can read blocks the call. */
function answer(host: NodeJS.Process, text: string, exit: (code: 0 | 2) => void): void {
  const refuse = (): void => {
    // Writing is synchronous for files, terminals and, except on Windows, pipes.
    host.stderr.write('host-tools: The answer could not be written, so the call is blocked.\n');
    host.exit(2);
  };
  host.stdout.on('error', refuse);
  host.stdout.write(text, (error) => (error ? refuse() : exit(0)));
}

/**
 * Kills the second process, and waits until it is gone: the system keeps a process that nobody has
 * waited for. One that waits for a dead disk may never be gone, so this takes no longer than a
 * moment.
 */
function ended(judge: ChildProcess | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (judge?.pid === undefined || judge.exitCode !== null || judge.signalCode !== null)
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
    else if (text.length > mostAnswerChars) none();
  });
  pipe.on('error', none);
  pipe.on('end', none);
}

/** The second process reports a wrong number. */
function timeoutOf(argv: readonly string[]): number {
  const at = argv.findIndex((word) => word === '--timeout-ms' || word.startsWith('--timeout-ms='));
  const word = argv[at] ?? '';
  const text = word.includes('=') ? word.slice(word.indexOf('=') + 1) : argv[at + 1];
  const given = at === -1 || !/^\d{1,9}$/.test(text ?? '') ? 0 : Number(text);
  return given > 0 ? given : hookTimeoutMs;
}
