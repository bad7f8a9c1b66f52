/**
 * The process of a hook. An agent takes every exit code but 0 and 2 for "go on", so this process
 * ends with no other code. The event is judged here, or apart in a second process
 * (`hook-lean.ts`, `hook-apart.ts`).
 */
import type { HookEnd } from './hook-run.ts';
import { hookTimeoutMs } from './hook-task.ts';

/** How long somebody has to read the answer, in milliseconds. */
const readMs = 200;

/** How a judge ends the hook. The first call counts. */
export interface HookEnding {
  /** Ends with an answer, or with a reason that blocks the call. */
  leave(end: HookEnd): void;
  /** Blocks the call. @param why A sentence */
  block(why: string): void;
  /** The time that the hook may take, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Judges one event, and ends the process.
 * @param start Begins to judge. What it returns stops that, and resolves when it is over.
 */
export function hookProcess(
  host: NodeJS.Process,
  start: (ending: HookEnding) => () => Promise<void>,
): void {
  const { stderr } = host;
  let stop = (): Promise<void> => Promise.resolve();
  let isOver = false;
  const leave = (end: HookEnd): void => {
    if (isOver) return;
    isOver = true;
    const gone = stop();
    const exit = (code: 0 | 2): void => void gone.then(() => host.exit(code));
    if (end.exit === 0) return answer(host, end.stdout, exit);
    setTimeout(() => host.exit(2), readMs);
    stderr.write(end.stderr, () => exit(2));
  };
  const block = (why: string): void =>
    leave({ exit: 2, stderr: `host-tools: ${why} The call is blocked.\n` });
  host.exitCode = 2;
  stderr.on('error', () => host.exit(2));
  host.on('uncaughtException', (error) => block(`The hook failed: ${error.message}.`));
  host.on('unhandledRejection', (error) => block(`The hook failed: ${String(error)}.`));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    host.on(signal, () => block('The hook was interrupted.'));
  const timeoutMs = timeoutOf(host.argv);
  setTimeout(() => {
    block(tookTooLong(timeoutMs));
    // The reader is gone.
    setTimeout(() => host.exit(2), readMs);
  }, timeoutMs);
  stop = start({ leave, block, timeoutMs });
}

/** A sentence. */
export function tookTooLong(timeoutMs: number): string {
  return `The hook took longer than ${timeoutMs} ms.`;
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

/** A wrong number is reported later. */
function timeoutOf(argv: readonly string[]): number {
  const at = argv.findIndex((word) => word === '--timeout-ms' || word.startsWith('--timeout-ms='));
  const word = argv[at] ?? '';
  const text = word.includes('=') ? word.slice(word.indexOf('=') + 1) : argv[at + 1];
  const given = at === -1 || !/^\d{1,9}$/.test(text ?? '') ? 0 : Number(text);
  return given > 0 ? given : hookTimeoutMs;
}
