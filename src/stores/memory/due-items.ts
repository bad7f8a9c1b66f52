/** Items that are due at a time. */
import type { Store } from '../../api/store.ts';
import { type Timed, timeQueue } from './queue.ts';

/** Items in the order of their times, which are of any clock that only goes on. */
export interface DueItems {
  /** Removes those in `done`, then makes others due. */
  update(items: readonly Store.Item[], at: number, done: readonly Store.Item[]): void;
  /** Takes those that are due, and postpones them. */
  take(limit: number, time: number, delayMs: number): readonly Store.Item[];
}

/** @param room Told how many characters more are kept; throws if there is no room for them. */
export function dueItems(room: (chars: number) => void): DueItems {
  const queue = timeQueue<Store.Item>();
  const owners = new Map<string, Map<string, Timed<Store.Item>>>();
  const charsOf = ({ owner, key }: Store.Item): number => 200 + owner.length + key.length;
  const remove = (item: Store.Item): void => {
    const entries = owners.get(item.owner);
    const entry = entries?.get(item.key);
    if (entries === undefined || entry === undefined) return;
    queue.remove(entry);
    entries.delete(item.key);
    if (entries.size === 0) owners.delete(item.owner);
    room(-charsOf(item));
  };
  return {
    update(items, at, done) {
      // All at once, so that none is scheduled or removed if there is no room.
      room(items.reduce((chars, item) => chars + charsOf(item), 0));
      for (const item of [...done, ...items]) remove(item);
      for (const item of items) {
        // Of an item that was given twice, the first is removed again.
        remove(item);
        const entries = owners.get(item.owner) ?? new Map<string, Timed<Store.Item>>();
        owners.set(item.owner, entries);
        entries.set(item.key, queue.add(at, { owner: item.owner, key: item.key }));
      }
    },
    take(limit, time, delayMs) {
      const items: Store.Item[] = [];
      // All are taken out before any is postponed, so that none is returned twice.
      for (
        let first = queue.first(time);
        first !== undefined && items.length < limit;
        first = queue.first(time)
      ) {
        queue.remove(first);
        items.push(first.item);
      }
      for (const item of items) {
        const entries = owners.get(item.owner) as Map<string, Timed<Store.Item>>;
        entries.set(item.key, queue.add(time + delayMs, item));
      }
      return items;
    },
  };
}
