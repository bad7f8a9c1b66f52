/**
 * Kills the processes of sandboxes when the host's process is gone, however it went. A handler that
 * loops could not notice that itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { unavailableFault } from './fault.ts';

/** A process, or a group of processes as the negative number of its leader. */
export type Target = number;

/**
 * Reads what to kill from a pipe, which closes when the host is gone. It ignores the signals that
 * may have ended the host.
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

/** How many shells may end by themselves before it takes a new target to start another. */
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

/** Call this as soon as the target has ended, as its number may become that of another process. */
export function hasEnded(target: Target): void {
  if (!targets.delete(target) || shell === undefined) return;
  write(shell, `- ${target}\n`);
  if (targets.size > 0) return;
  // It has nothing to do any more, and might be stopped: then it would not notice a closed pipe,
  // and a pipe that it does not read could keep the host from ending.
  shell.kill('SIGKILL');
  (shell.stdin as Writable).destroy();
  shell = undefined;
}

function startShell(): ChildProcess {
  const started = spawn('/bin/sh', ['-c', reaperScript, 'host-tools-reaper'], {
    cwd: '/',
    env: {},
    // A session of its own, so that no terminal ends it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // If there is no shell, the event comes later, and the fault has said it by then.
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

/** Starts another one after somebody has killed it. The new one learns of everything. */
function replaceShell(): void {
  shell = undefined;
  // A shell that cannot work here is not started for ever.
  if (++replaced > maxReplaced) return;
  try {
    shell = startShell();
  } catch {
    // The next target tries it again, and says so.
  }
}

function write({ stdin }: ChildProcess, line: string): void {
  stdin?.write(line);
}
