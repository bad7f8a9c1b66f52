/** The process around a run: its streams, its signals, its end. */
import { writeOut } from './cli-io.ts';
import { failure } from './fault.ts';
import { onInterrupt } from './lifeline.ts';
import { printable } from './printable.ts';
import { guardRun } from './process-guard.ts';
import { runCli } from './run-cli.ts';

/** What a shell calls a process that Ctrl-C ended. */
const interruptedExit = 130;

/**
 * Runs the command line of a process and ends the process with its exit code once all of it is
 * written. What a tool or a module prints to standard output goes to standard error: standard
 * output carries the answer alone. What it does to the process, an exit or an error that nobody
 * handles, is a line, and makes a 0 a 1.
 * @param lifeline the file descriptor by which a supervising process tells of interruptions;
 * absent, signals do
 */
export async function run(host: NodeJS.Process, lifeline?: number): Promise<never> {
  const { stdin, stdout, stderr } = host;
  let show = (line: string): void => void stderr.write(`${printable(line)}\n`);
  const guard = guardRun(host, (line) => show(`host-tools: ${line}`));
  const interrupt = new AbortController();
  const interrupted = (): void => {
    // Asked twice: whatever still runs is not waited for.
    if (interrupt.signal.aborted) guard.leave(interruptedExit);
    interrupt.abort();
  };
  // Nothing is left that could go on: without a word the process would end here, since a promise by
  // itself keeps none alive.
  const stalled = (): void =>
    interrupt.abort(
      failure('Nothing is left to wait for: the set-up of a module, or a tool, never finished.'),
    );
  onInterrupt(host, lifeline, interrupted);
  host.on('beforeExit', stalled);
  // The callbacks of writes tell what failed; without a listener it would end the process.
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
    onScreen: (note) => {
      show = note;
    },
  });
  host.off('beforeExit', stalled);
  await guard.settled();
  await writeOut(stderr, '').catch(() => {});
  // At once: a handler that never settles, or a connection that a module has opened, must not keep
  // a finished run alive.
  return guard.leave(exit === 0 && guard.told ? 1 : exit);
}
