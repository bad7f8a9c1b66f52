/** Locks by key, for as long as somebody holds or awaits them. */
import { Semaphore } from './semaphore.ts';
import { createWaitGraph, type WaitGraph } from './wait-graph.ts';

/** Locks by key; see {@link createLocks}. */
export interface Locks {
  /**
   * The lock of a key. Acquire it in the same turn, and keep it to release it: a lock that nobody
   * holds or awaits may be forgotten, after which the key has another one.
   */
  get(key: string): Semaphore;
  /** Keys that are remembered. */
  readonly size: number;
}

/** So many idle locks are kept, since the usual keys come again; longer keys never are. */
const KEPT_LOCKS = 32;
const KEPT_KEY_CHARS = 256;

/**
 * A table of locks (semaphores of capacity 1) that remembers only keys that somebody holds or
 * awaits, and a few beside them.
 */
export function createLocks(waits: WaitGraph = createWaitGraph()): Locks {
  const table = new Map<string, Semaphore>();
  let sweepAt = 2 * KEPT_LOCKS;
  /** For locks that were asked for and never acquired: they have no moment of becoming idle. */
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
