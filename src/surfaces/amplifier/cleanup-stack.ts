/** A stack of clean-up functions. The last one added runs first, and each runs once. */
import type { FaultListener } from './coordinator-faults.ts';

/** A stack of clean-up functions. */
export interface CleanupStack {
  /** Adds a function. Ignores any other value. */
  add(fn: unknown): void;
  /**
   * Runs the functions one after another, newest first, each once. A failure is reported, and the
   * next function runs. Never rejects.
   */
  run(): Promise<void>;
}

export function createCleanupStack(onFault: FaultListener): CleanupStack {
  const stack: (() => unknown)[] = [];
  let running = Promise.resolve();
  let entering = false;
  const drain = async (): Promise<void> => {
    for (let fn = stack.pop(); fn !== undefined; fn = stack.pop()) {
      try {
        entering = true;
        const done: unknown = fn();
        entering = false;
        await done;
      } catch (error) {
        entering = false;
        onFault({ where: 'cleanup', name: '', error });
      }
    }
  };
  return {
    add(fn) {
      if (typeof fn === 'function') stack.push(fn as () => unknown);
    },
    run() {
      // A clean-up function that starts a clean-up would wait for itself.
      if (entering) return Promise.resolve();
      // A second run waits for the first, so that its caller can rely on everything being cleaned
      // up.
      running = running.then(drain);
      return running;
    },
  };
}
