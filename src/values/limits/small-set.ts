/**
 * A set that is cheap while it is small. A platform `Set` reallocates its table again and again
 * when entries are added and removed one at a time, which costs ten times as much.
 */

/** Above this number of entries, a scan costs more than a `Set`. */
const SCAN_LIMIT = 32;

/** A set that keeps its entries in the order in which they were added. */
export class SmallSet<T> {
  #entries: T[] | undefined = [];
  /** Replaces the array while there are many entries. */
  #many: Set<T> | undefined;

  get size(): number {
    return this.#entries === undefined ? (this.#many as Set<T>).size : this.#entries.length;
  }

  has(entry: T): boolean {
    return this.#entries === undefined
      ? (this.#many as Set<T>).has(entry)
      : this.#entries.includes(entry);
  }

  /** Adds an entry. Has no effect if the set already contains it. */
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

  /** Removes an entry. True if the set contained it. */
  delete(entry: T): boolean {
    const entries = this.#entries;
    if (entries === undefined) return this.#deleteFromMany(entry);
    const at = entries.lastIndexOf(entry);
    if (at === -1) return false;
    // A loop instead of `splice`, which would create an array of the removed entries.
    for (let i = at; i < entries.length - 1; i += 1) entries[i] = entries[i + 1] as T;
    entries.pop();
    return true;
  }

  /** The entries. Iterate over them at once, because this is the set's own storage. */
  values(): Iterable<T> {
    return this.#entries ?? (this.#many as Set<T>);
  }

  #deleteFromMany(entry: T): boolean {
    const many = this.#many as Set<T>;
    if (!many.delete(entry)) return false;
    // Well below the limit, so that the storage does not change each time when the size varies
    // around it.
    if (many.size <= SCAN_LIMIT / 4) {
      this.#entries = [...many];
      this.#many = undefined;
    }
    return true;
  }
}
