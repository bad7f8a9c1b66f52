/**
 * A set that is cheap while it is small: a platform Set that gains and loses an entry at a time
 * reallocates its table again and again, which costs ten times as much.
 */

/** Beyond so many entries a scan costs more than a Set. */
const SCAN_LIMIT = 32;

/** Entries in the order in which they came. */
export class SmallSet<T> {
  #entries: T[] | undefined = [];
  /** In place of the array, and only then, while there are many. */
  #many: Set<T> | undefined;

  get size(): number {
    return this.#entries === undefined ? (this.#many as Set<T>).size : this.#entries.length;
  }

  has(entry: T): boolean {
    return this.#entries === undefined
      ? (this.#many as Set<T>).has(entry)
      : this.#entries.includes(entry);
  }

  /** Adds an entry unless it is there. */
  add(entry: T): void {
    const entries = this.#entries;
    if (entries === undefined) {
      (this.#many as Set<T>).add(entry);
    } else if (!entries.includes(entry)) {
      entries.push(entry);
      if (entries.length <= SCAN_LIMIT) return;
      this.#many = new Set(entries);
      this.#entries = undefined;
    }
  }

  /** True when the entry was there. */
  delete(entry: T): boolean {
    const entries = this.#entries;
    if (entries === undefined) return this.#deleteFromMany(entry);
    const at = entries.lastIndexOf(entry);
    if (at === -1) return false;
    // Moved up by hand: `splice` would make an array of what it takes out.
    for (let i = at; i < entries.length - 1; i += 1) entries[i] = entries[i + 1] as T;
    entries.pop();
    return true;
  }

  /** To be walked at once: it is the set's own store. */
  values(): Iterable<T> {
    return this.#entries ?? (this.#many as Set<T>);
  }

  #deleteFromMany(entry: T): boolean {
    const many = this.#many as Set<T>;
    if (!many.delete(entry)) return false;
    // Well below the limit, so that a size that swings around it does not change the store each
    // time.
    if (many.size <= SCAN_LIMIT / 4) {
      this.#entries = [...many];
      this.#many = undefined;
    }
    return true;
  }
}
