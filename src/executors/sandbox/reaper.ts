/**
 * Kills the processes of sandboxes when the host's process has ended, for whatever reason. A
 * sandbox cannot notice that itself while its handler loops.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { unavailableFault } from './fault.ts';

/** What to kill: the id of a process, or of a group of processes as a negative number. */
export type Target = number;

/**
 * A shell script that reads from a pipe what it has to kill. The pipe closes when the host has
 * ended. The script ignores the signals that may have ended the host.
 */
export const reaperScript = `trap '' HUP INT QUIT TERM
targets=''
while read -r op target; do
  case $op in
    +) targets="$targets $target" ;;
    -)
      kept=''
      for one in $targets; do [ "$one" = "$target" ] || kept="$kept $one"; done
      targets=$kept
      ;;
  esac
done
for target in $targets; do kill -9 "$target"; done`;

const targets = new Set<Target>();
let shell: ChildProcess | undefined;

/** The number of shells in a row that may end before the next one waits for a new target. */
const maxReplaced = 3;
let replaced = 0;

/**
 * Has a target killed when the host is gone. One shell does this for all sandboxes.
 * @throws an error that ends the call as `sandbox_unavailable` if there is no shell
 */
export function killWithHost(target: Target): void {
  replaced = 0;
  shell ??= startShell();
  targets.add(target);
  write(shell, `+ ${target}\n`);
}

/**
 * Removes a target. Call this as soon as the target has ended, because another process may get its
 * number.
 */
export function hasEnded(target: Target): void {
  if (!targets.delete(target) || shell === undefined) return;
  write(shell, `- ${target}\n`);
  if (targets.size > 0) return;
  // The shell has nothing left to do. If it stayed and somebody had stopped it (SIGSTOP), it
  // would not notice that the pipe closes, and the unread pipe could keep the host from ending.
  shell.kill('SIGKILL');
  (shell.stdin as Writable).destroy();
  shell = undefined;
}

function startShell(): ChildProcess {
  const started = spawn('/bin/sh', ['-c', reaperScript, 'host-tools-reaper'], {
    cwd: '/',
    env: {},
    // In a session of its own, so that the end of a terminal does not end it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell, this event comes after the error below was thrown, which says the same.
  started.on('error', () => {});
  if (started.pid === undefined)
    throw unavailableFault(
      'sandbox_not_started',
      "The tool's sandbox could not be started: no process could be made with /bin/sh, which " +
        'ends the sandbox with its host.',
    );
  started.on('exit', () => {
    if (shell === started) replaceShell();
  });
  started.unref();
  const pipe = started.stdin as Writable & { unref(): void };
  pipe.on('error', () => {});
  pipe.unref();
  for (const target of targets) write(started, `+ ${target}\n`);
  return started;
}

/** Starts a new shell after somebody has killed the old one. The new one gets all targets. */
function replaceShell(): void {
  shell = undefined;
  // A shell that keeps ending is not started again and again.
  if (++replaced > maxReplaced) return;
  try {
    shell = startShell();
  } catch {
    // The next sandbox tries to start one, and reports the failure.
  }
}

function write({ stdin }: ChildProcess, line: string): void {
  stdin?.write(line);
}
