/** Clean-up functions: last in, first out, each once. */
import type { FaultListener } from './coordinator-faults.ts';

/** A stack of clean-up functions. */
export interface CleanupStack {
  /** What is no function is ignored. */
  add(fn: unknown): void;
  /**
   * Runs what was added, newest first, each once, one after the other; a failure is reported and
   * the next runs. Never rejects.
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
      // A clean-up function that asks for a clean-up would wait for itself.
      if (entering) return Promise.resolve();
      // A second run waits for the first: who awaits it may rely on everything being clean.
      running = running.then(drain);
      return running;
    },
  };
}
