/** Runs the command line in a process: its streams, its signals, its end. */
import { writeOut } from './cli-io.ts';
import { failure } from './fault.ts';
import { onInterrupt } from './lifeline.ts';
import { printable } from './printable.ts';
import { guardRun } from './process-guard.ts';
import { runCli } from './run-cli.ts';

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
