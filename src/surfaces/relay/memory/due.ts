/** Keeps items in memory that become due by a monotonic clock. */

import { type Timed, timeQueue } from '../../../stores/memory/queue.ts';
import type { DueItem } from '../ports/store.ts';

/** Items, ordered by the time when they are due. */
export interface MemoryDue {
  schedule(item: DueItem, delayMs: number): void;
  unschedule(session: string, key: string): void;
  due(limit: number, delayMs: number): readonly DueItem[];
}

export function memoryDue(): MemoryDue {
  const queue = timeQueue<DueItem>();
  const bySession = new Map<string, Map<string, Timed<DueItem>>>();
  const schedule = (item: DueItem, at: number): void => {
    let entries = bySession.get(item.session);
    if (entries === undefined) {
      entries = new Map();
      bySession.set(item.session, entries);
    }
    const before = entries.get(item.key);
    if (before !== undefined) queue.remove(before);
    entries.set(item.key, queue.add(at, item));
  };
  return {
    schedule(item, delayMs) {
      schedule(item, performance.now() + delayMs);
    },
    unschedule(session, key) {
      const entries = bySession.get(session);
      const entry = entries?.get(key);
      if (entries === undefined || entry === undefined) return;
      queue.remove(entry);
      entries.delete(key);
      if (entries.size === 0) bySession.delete(session);
    },
    due(limit, delayMs) {
      const time = performance.now();
      const items: DueItem[] = [];
      // All items are taken out before any is postponed, so that none is returned twice.
      for (
        let first = queue.first(time);
        first !== undefined && items.length < limit;
        first = queue.first(time)
      ) {
        queue.remove(first);
        items.push(first.item);
      }
      for (const item of items) schedule(item, time + delayMs);
      return items;
    },
  };
}
