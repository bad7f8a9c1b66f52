/**
 * Watches how much memory a sandbox uses. V8 limits its own heap, but not the memory beside it, such
 * as buffers, and no limit of the system that a process can be given counts what is really used.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A watch on one sandbox. */
export interface MemoryWatch {
  /** Whether to look often. */
  often(isOften: boolean): void;
  stop(): void;
}

const oftenMs = 25;
const seldomMs = 500;
/** The most processes that are looked at. */
const maxProcesses = 256;
const pageBytes = 4_096;
const mega = 1_048_576;

/** @param exceeded Called with what is used, in megabytes, when it is too much. */
export function watchMemory(
  pid: number,
  maxMb: number,
  exceeded: (usedMb: number) => void,
): MemoryWatch {
  let timer: NodeJS.Timeout | undefined;
  let period = 0;
  let wanted = seldomMs;
  const every = (milliseconds: number): void => {
    period = milliseconds;
    clearInterval(timer);
    timer = setInterval(look, period);
    timer.unref();
  };
  const look = (): void => {
    usedBytes(pid, (used) => {
      if (used > maxMb * mega) exceeded(Math.round(used / mega));
    });
    // Only now, so that many short calls do not each move a timer twice.
    if (period !== wanted) every(wanted);
  };
  return {
    often: (isOften) => {
      wanted = isOften ? oftenMs : seldomMs;
      if (wanted < period || period === 0) every(wanted);
    },
    stop: () => clearInterval(timer),
  };
}

/** Tells what the process and those that it has started use. */
function usedBytes(pid: number, tell: (bytes: number) => void): void {
  if (process.platform === 'linux') return tell(usedOnLinux(pid));
  // Any other system has `ps`. The sandbox is a group of processes.
  execFile('ps', ['-A', '-o', 'pgid=,rss='], { timeout: 2_000 }, (_error, output) => {
    let kilobytes = 0;
    for (const line of output.split('\n')) {
      const [group, used] = line.trim().split(/\s+/);
      if (group === String(pid)) kilobytes += Number(used);
    }
    tell(kilobytes * 1_024);
  });
  return undefined;
}

function usedOnLinux(pid: number): number {
  let bytes = 0;
  const pids = [String(pid)];
  // The list grows while it is read.
  for (const one of pids) {
    try {
      bytes += Number(readFileSync(`/proc/${one}/statm`, 'latin1').split(' ')[1]) * pageBytes;
      const children = readFileSync(`/proc/${one}/task/${one}/children`, 'latin1');
      for (const child of children.split(' '))
        if (child !== '' && pids.length < maxProcesses) pids.push(child);
    } catch {
      // It has just ended.
    }
  }
  return bytes;
}
