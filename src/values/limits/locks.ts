/** Locks by key. A lock exists at least for as long as a holder has it or waits for it. */
import { Semaphore } from './semaphore.ts';
import { createWaitGraph, type WaitGraph } from './wait-graph.ts';

/** Locks by key; see {@link createLocks}. */
export interface Locks {
  /**
   * The lock of a key. Acquire it in the same turn of the event loop, and keep the object to
   * release it. A lock without holders and waiters may be dropped; the key then gets another one.
   */
  get(key: string): Semaphore;
  /** The number of keys that have a lock. */
  readonly size: number;
}

/**
 * How many idle locks are kept, since the usual keys repeat. Locks with long keys are never kept.
 */
const KEPT_LOCKS = 32;
const KEPT_KEY_CHARS = 256;

/**
 * Creates a table of locks, which are semaphores of capacity 1. It keeps the locks that are held or
 * awaited, and a few idle ones.
 */
export function createLocks(waits: WaitGraph = createWaitGraph()): Locks {
  const table = new Map<string, Semaphore>();
  let sweepAt = 2 * KEPT_LOCKS;
  /** Removes locks that were requested but never acquired, because those never become idle. */
  const sweep = (): void => {
    for (const [key, lock] of table) if (lock.held === 0 && lock.waiting === 0) table.delete(key);
    sweepAt = 2 * Math.max(KEPT_LOCKS, table.size);
  };
  return {
    get(key) {
      const known = table.get(key);
      if (known !== undefined) return known;
      if (table.size >= sweepAt) sweep();
      const onIdle = (): void => {
        if ((table.size > KEPT_LOCKS || key.length > KEPT_KEY_CHARS) && table.get(key) === lock)
          table.delete(key);
      };
      const lock = new Semaphore(1, { waits, onIdle });
      table.set(key, lock);
      return lock;
    },
    get size() {
      return table.size;
    },
  };
}
