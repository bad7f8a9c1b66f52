/** How long the thread of a sandbox has computed. */

import type { Worker } from 'node:worker_threads';

/** Milliseconds between two looks. */
const lookMs = 20;

/** A thread, as newer versions of Node tell about it. */
type Thread = Pick<Worker, 'performance'> & {
  cpuUsage?(): Promise<{ readonly user: number; readonly system: number }>;
};

/**
 * Adds up the time in which the thread was busy. A thread that waits for an answer looks for it
 * about once a millisecond, and that is no computing: what lies between two looks counts if the
 * thread was busy for more than half of it.
 *
 * On a busy machine, a thread that waits for the processor seems busy as well. So the time that it
 * has had the processor counts instead, where Node tells that.
 */
export class Computing {
  readonly #limitMs: number;
  readonly #over: () => void;
  #timer: NodeJS.Timeout | undefined;
  #ms = 0;
  #stopped = false;

  constructor(limitMs: number, over: () => void) {
    this.#limitMs = limitMs;
    this.#over = over;
  }

  start(thread: Thread): void {
    const { performance } = thread;
    let before = performance.eventLoopUtilization();
    let usedBefore = processorMs(thread);
    const look = async (): Promise<void> => {
      const now = performance.eventLoopUtilization();
      const { active, utilization } = performance.eventLoopUtilization(now, before);
      const usedNow = processorMs(thread);
      const [from, to] = await Promise.all([usedBefore, usedNow]);
      before = now;
      usedBefore = usedNow;
      const used = from === undefined || to === undefined ? active : to - from;
      if (utilization > 0.5) this.#ms += used;
      if (this.#stopped) return;
      if (this.#ms < this.#limitMs) next();
      else this.#over();
    };
    const next = (): void => {
      this.#timer = setTimeout(() => void look(), Math.min(lookMs, this.#limitMs));
      this.#timer.unref();
    };
    next();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}

/** For how long the thread has had the processor; undefined if that is not known. */
async function processorMs(thread: Thread): Promise<number | undefined> {
  try {
    // The thread answers as soon as it has the processor, also in the middle of a loop.
    const usage = await thread.cpuUsage?.();
    return usage && (usage.user + usage.system) / 1_000;
  } catch {
    // It has ended.
    return undefined;
  }
}
