/**
 * Watches how much memory a sandbox uses. V8 limits its own heap, but not the memory outside of
 * it, such as buffers. The system has limits for a process too, but none of them counts the
 * memory that is in use.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Death } from './transport.ts';

/** Watches one sandbox. */
export interface MemoryWatch {
  /** Says whether to measure often, which is the case while a call runs. */
  often(isOften: boolean): void;
  stop(): void;
}

const oftenMs = 25;
const seldomMs = 500;
/** The most processes that one measurement counts. */
const maxProcesses = 256;
const pageBytes = 4_096;
const mega = 1_048_576;

/** Measures the bytes in use and calls back with them. It may never call back. */
type Look = (tell: (bytes: number) => void) => void;

/** @param exceeded called with the reason when too much is used */
export function watchMemory(
  look: Look,
  maxMb: number,
  exceeded: (death: Death) => void,
): MemoryWatch {
  let timer: NodeJS.Timeout | undefined;
  let period = 0;
  let wanted = seldomMs;
  const every = (milliseconds: number): void => {
    period = milliseconds;
    clearInterval(timer);
    timer = setInterval(round, period);
    timer.unref();
  };
  const round = (): void => {
    look((used) => {
      if (used > maxMb * mega) exceeded(tooMuch(Math.round(used / mega), maxMb));
    });
    // The period is changed here and not when a call begins or ends. Otherwise each of many short
    // calls would set a timer twice.
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

function tooMuch(usedMb: number, maxMb: number): Death {
  return {
    reason: 'sandbox_out_of_memory',
    text: `used ${usedMb} MB of memory, which is more than its ${maxMb} MB, and was ended`,
  };
}

/** Measures a process together with the processes that it has started. */
export function processMemory(pid: number): Look {
  return (tell) => usedBytes(pid, tell);
}

function usedBytes(pid: number, tell: (bytes: number) => void): void {
  if (process.platform === 'linux') return tell(usedOnLinux(pid));
  // Other systems have `ps`. The processes that the sandbox has started are in its group.
  // Some versions of `ps` read a comma after `=` as a part of the header.
  const columns = ['-o', 'pid=', '-o', 'pgid=', '-o', 'rss='];
  execFile('ps', ['-A', ...columns], { timeout: 2_000 }, (_error, output) => {
    let kilobytes = 0;
    for (const line of output.split('\n')) {
      const [one, group, used] = line.trim().split(/\s+/).map(Number);
      if (one === pid || group === pid) kilobytes += used ?? 0;
    }
    tell(kilobytes * 1_024);
  });
  return undefined;
}

function usedOnLinux(pid: number): number {
  let bytes = 0;
  const pids = [String(pid)];
  // The loop also visits the numbers that it adds.
  for (const one of pids) {
    try {
      bytes += Number(readFileSync(`/proc/${one}/statm`, 'latin1').split(' ')[1]) * pageBytes;
      const children = readFileSync(`/proc/${one}/task/${one}/children`, 'latin1');
      for (const child of children.split(' '))
        if (child !== '' && pids.length < maxProcesses) pids.push(child);
    } catch {
      // The process has just ended.
    }
  }
  return bytes;
}

// How much memory a thread uses, and how much V8 lets it use.

/** Megabytes for the young objects of a thread. The default of most versions of Node is higher. */
const youngMb = 16;
/**
 * Megabytes that V8 allows a thread beyond its limit, where this library watches the memory
 * itself. If V8 has to refuse memory, it may abort the whole process. It always does so if the
 * thread asks for much at once, such as for a large `Set`.
 */
const marginMb = 2_048;

interface HeapStatistics {
  readonly used_heap_size: number;
  readonly external_memory: number;
}

/** Whether this version of Node (22.16 and later, 24) can measure a thread while it loops. */
interface Watchable {
  getHeapStatistics(): Promise<HeapStatistics>;
}

const canWatch = 'getHeapStatistics' in Worker.prototype;

/** The limits that are given to V8. */
export function heapLimits(
  maxMemoryMb: number,
  watched = canWatch,
): { maxOldGenerationSizeMb: number; maxYoungGenerationSizeMb: number } {
  return {
    maxOldGenerationSizeMb: watched ? maxMemoryMb + marginMb : maxMemoryMb,
    // If the part for young objects is large, V8 may notice so late that the part for old objects
    // is full that it aborts the process.
    maxYoungGenerationSizeMb: youngMb,
  };
}

/** Measures the heap of a thread and its buffers. Undefined if Node cannot measure them. */
export function threadMemory(worker: Worker): Look | undefined {
  if (!canWatch) return undefined;
  let isAsked = false;
  return (tell) => {
    if (isAsked) return;
    isAsked = true;
    (worker as unknown as Watchable).getHeapStatistics().then(
      ({ used_heap_size, external_memory }) => {
        isAsked = false;
        tell(used_heap_size + external_memory);
      },
      // The thread has ended, or has not started yet.
      () => {
        isAsked = false;
      },
    );
  };
}
