/**
 * The process of a hook. An agent takes every exit code but 0 and 2 for "go on", so this process
 * ends with no other code. This holds even if the thread that judges crashes, hangs, runs out of
 * memory or exits, or if the reader of the answer is gone.
 */
import { Worker } from 'node:worker_threads';
import type { HookEnd } from './hook-run.ts';
import type { HookTask } from './hook-task.ts';

/** Milliseconds, unless the command line says otherwise. As in `hook-run.ts`. */
const defaultTimeoutMs = 5_000;
/** Largest event, in bytes. */
const mostBytes = 16_000_000;

/**
 * Judges one event, and ends the process.
 * @param entry The URL of what the thread runs.
 * @param folder The URL of the folder of the thread's bundle, if it is one.
 */
export function hookProcess(host: NodeJS.Process, entry: string, folder?: string): void {
  const { stdin, stdout, stderr } = host;
  const leave = (end: HookEnd): void => {
    if (isOver) return;
    isOver = true;
    const refuse = (): void => {
      // Writing is synchronous for files, terminals and, except on Windows, pipes.
      stderr.write('host-tools: The answer could not be written, so the call is blocked.\n');
      host.exit(2);
    };
    if (end.exit === 2) {
      stderr.write(end.stderr, () => host.exit(2));
      setTimeout(() => host.exit(2), 200);
      return;
    }
    stdout.on('error', refuse);
    stdout.write(end.stdout, (error) => (error ? refuse() : host.exit(0)));
  };
  let isOver = false;
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
    setTimeout(() => host.exit(2), 200);
  }, timeoutMs);
  const worker = startThread(host, entry, folder);
  worker.once('message', leave);
  worker.once('error', (error) => block(`The hook failed: ${error.message}.`));
  worker.once('exit', () => block('The hook ended without an answer.'));
  let bytes = 0;
  const chunks: Buffer[] = [];
  stdin.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) block(`The event has more than ${mostBytes} bytes.`);
    else chunks.push(chunk);
  });
  stdin.on('error', () => block('The event could not be read.'));
  stdin.on('end', () => worker.postMessage(Buffer.concat(chunks).toString('utf8')));
}

function startThread(host: NodeJS.Process, entry: string, folder: string | undefined): Worker {
  const task: HookTask = {
    hostToolsHook: true,
    argv: host.argv.slice(2),
    env: { ...host.env },
    cwd: host.cwd(),
    ...(folder === undefined ? {} : { folder }),
  };
  // Output of modules must not become part of the answer.
  return new Worker(new URL(entry), { workerData: task, stdout: true, stderr: true });
}

/** The thread reports a wrong number. */
function timeoutOf(argv: readonly string[]): number {
  const at = argv.findIndex((word) => word === '--timeout-ms' || word.startsWith('--timeout-ms='));
  const word = argv[at] ?? '';
  const text = word.includes('=') ? word.slice(word.indexOf('=') + 1) : argv[at + 1];
  const given = at === -1 || !/^\d{1,9}$/.test(text ?? '') ? 0 : Number(text);
  return given > 0 ? given : defaultTimeoutMs;
}
