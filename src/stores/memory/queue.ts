/**
 * A queue by time, as a binary heap. The first entry is found at once; adding and removing take
 * logarithmic time.
 */

/** An item in a queue. */
export interface Timed<T> {
  readonly item: T;
  readonly at: number;
  /** Entries with the same time keep the order in which they were added. */
  readonly order: number;
  /** Its index in the heap; -1 once it was removed. */
  place: number;
}

/** Items, ordered by their times. */
export interface TimeQueue<T> {
  size(): number;
  add(at: number, item: T): Timed<T>;
  /** Removes an entry. Does nothing for one that was removed already. */
  remove(entry: Timed<T>): void;
  /** The first entry whose time has come. It stays in the queue. */
  first(time: number): Timed<T> | undefined;
}

export function timeQueue<T>(): TimeQueue<T> {
  const heap: Timed<T>[] = [];
  let added = 0;
  const before = (one: Timed<T>, other: Timed<T>): boolean =>
    one.at < other.at || (one.at === other.at && one.order < other.order);
  const put = (entry: Timed<T>, place: number): void => {
    heap[place] = entry;
    entry.place = place;
  };
  const rise = (entry: Timed<T>, from: number): number => {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above] as Timed<T>;
      if (!before(entry, parent)) break;
      put(parent, place);
      place = above;
    }
    put(entry, place);
    return place;
  };
  const sink = (entry: Timed<T>, from: number): void => {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const below =
        right < heap.length && before(heap[right] as Timed<T>, heap[left] as Timed<T>)
          ? right
          : left;
      const child = heap[below] as Timed<T>;
      if (!before(child, entry)) break;
      put(child, place);
      place = below;
    }
    put(entry, place);
  };
  return {
    size: () => heap.length,
    add(at, item) {
      const entry: Timed<T> = { item, at, order: added++, place: heap.length };
      rise(entry, heap.length);
      return entry;
    },
    remove(entry) {
      const { place } = entry;
      if (place === -1) return;
      entry.place = -1;
      const last = heap.pop() as Timed<T>;
      if (last !== entry) sink(last, rise(last, place));
    },
    first(time) {
      const entry = heap[0];
      return entry !== undefined && entry.at <= time ? entry : undefined;
    },
  };
}
