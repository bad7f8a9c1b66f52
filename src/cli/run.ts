/** Runs the command line in a process: its streams, its signals, its end, and its stray errors. */

import { placesOf, placeText } from '../surfaces/config/thrown-place.ts';
import { writeOut } from './cli-io.ts';
import { failure } from './fault.ts';
import { onInterrupt } from './lifeline.ts';
import { printable, shownPath } from './printable.ts';
import { runCli } from './run-cli.ts';
import { textOf } from './validate/validate-checks.ts';
import { isValidating } from './validate/validate-process-guard.ts';

/** The exit code by which a shell reports a process that Ctrl-C ended. */
const interruptedExit = 130;

/**
 * Runs the command line of a process. Ends the process with the exit code of the run, once
 * everything is written. Standard output has only the answer: what a tool or a module prints there
 * goes to standard error. If a tool or a module calls `process.exit` or leaves an error unhandled,
 * a line says so, and an exit code of 0 becomes 1.
 * @param lifeline The file descriptor by which a supervising process passes interruptions on.
 * Without it, they come as signals.
 */
export async function run(host: NodeJS.Process, lifeline?: number): Promise<never> {
  const { stdin, stdout, stderr } = host;
  let show = (line: string): void => void stderr.write(`${printable(line)}\n`);
  const guard = guardRun(host, (line) => show(`host-tools: ${line}`));
  const interrupt = new AbortController();
  let passed: ((name: NodeJS.Signals) => void) | undefined;
  const interrupted = (name: NodeJS.Signals = 'SIGTERM'): void => {
    if (passed !== undefined) return passed(name);
    // The second interruption ends the process without waiting for anything that still runs.
    if (interrupt.signal.aborted) guard.leave(interruptedExit);
    interrupt.abort();
  };
  // A promise alone does not keep a process alive, so without this listener it would end here
  // without a message.
  const stalled = (): void =>
    interrupt.abort(
      failure(
        'The set-up of a module, or a tool, never finished, and nothing is left that could ' +
          'wake it up.',
      ),
    );
  onInterrupt(host, lifeline, interrupted);
  host.on('beforeExit', stalled);
  // The callbacks of writes report failures; without a listener, a failure would end the process.
  stdout.on('error', () => {});
  stderr.on('error', () => {});
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const exit = await runCli(host.argv.slice(2), {
    stdin,
    stdout: { write: (text, done) => write(text, done), isTTY: stdout.isTTY },
    stderr,
    cwd: host.cwd(),
    env: host.env,
    signal: interrupt.signal,
    onSignal(hear) {
      passed = hear;
      return () => {
        passed = undefined;
      };
    },
    onScreen: (note) => {
      show = note;
    },
  });
  host.off('beforeExit', stalled);
  await guard.settled();
  await writeOut(stderr, '').catch(() => {});
  // A handler that never settles, or a connection that a module has opened, must not keep a
  // finished run alive.
  return guard.leave(exit === 0 && guard.hasFaults ? 1 : exit);
}

// Guards the process while a command runs the host's code: the process ends when the command ends,
// with the command's exit code, and each stray error is a line.

/** The guard of a process, until the process ends. */
export interface RunGuard {
  /** Whether any line was shown. */
  readonly hasFaults: boolean;
  /** Waits until Node has reported the rejections of the last turns. */
  settled(): Promise<void>;
  /** Ends the process with this code, whatever listeners of its `exit` event do. */
  leave(code: number): never;
}

type Exit = (code?: number | string | null) => never;
/**
 * `process.exit` calls `reallyExit`. It is not documented, but some programs call or replace it.
 */
type Ending = Omit<NodeJS.Process, 'exit'> & { exit: Exit; reallyExit: Exit };

/** Most lines that are shown, because a timer may throw forever. */
const maxShown = 10;

/**
 * Starts to guard a process. A call to `process.exit` by other code is shown, and throws. Unhandled
 * rejections and uncaught exceptions are shown, unless `validate` is running, which has them in its
 * report. A process that ends without {@link RunGuard.leave} ends with 1. Longer than 60 lines,
 * since its listeners share the count of lines and the process's own functions.
 * @param show Shows one line.
 */
function guardRun(host: NodeJS.Process, show: (line: string) => void): RunGuard {
  const process = host as Ending;
  const exit: Exit = process.exit.bind(host);
  const reallyExit: Exit = process.reallyExit.bind(host);
  // The errors that this guard has thrown. If they are not caught, they come back to it.
  const answers = new WeakSet<object>();
  let count = 0;
  const fault = (line: string): void => {
    count++;
    if (count <= maxShown) show(line);
    else if (count === maxShown + 1) show('More of these are not shown.');
  };
  const refuse =
    (name: string): Exit =>
    (code) => {
      const place = placeOf(new Error(), host.cwd(), 1);
      const answer = new Error(`${name} was called`);
      answers.add(answer);
      fault(
        `${name}(${code === undefined ? '' : textOf(code)}) was ` +
          `called${place === undefined ? '' : ` at ${place}`}; only the command itself can end ` +
          'its process.',
      );
      throw answer;
    };
  const stray = (what: string) => (thrown: unknown) => {
    if (isValidating() || (typeof thrown === 'object' && thrown !== null && answers.has(thrown)))
      return;
    const place = placeOf(thrown, host.cwd(), 0);
    fault(`${what}: ${textOf(thrown)}${place === undefined ? '' : ` (${place})`}`);
  };
  const unanswered = (): void => {
    show('The command ended without an answer.');
    reallyExit(1);
  };
  process.exit = refuse('process.exit');
  process.reallyExit = refuse('process.reallyExit');
  // Set in case other code removes the listener of `exit`.
  host.exitCode = 1;
  host.on('exit', unanswered);
  host.on('unhandledRejection', stray('Unhandled rejection'));
  host.on('uncaughtException', stray('Uncaught exception'));
  return {
    get hasFaults() {
      return count > 0;
    },
    async settled() {
      // Node reports rejections after the microtasks of a turn, and those that follow a turn later.
      for (let turn = 0; turn < 3; turn++)
        await new Promise<void>((resolve) => void setImmediate(resolve));
    },
    leave(code) {
      host.off('exit', unanswered);
      const end: Exit = () => reallyExit(code);
      [process.exit, process.reallyExit] = [end, end];
      try {
        exit(code);
      } finally {
        // A listener of `exit` has thrown.
        reallyExit(code);
      }
    },
  };
}

/** The first place of a stack, after `skip` others. */
function placeOf(thrown: unknown, cwd: string, skip: number): string | undefined {
  const place = placesOf(thrown)[skip];
  return place === undefined
    ? undefined
    : placeText({ ...place, path: shownPath(place.path, cwd) });
}
