/**
 * A queue in which owners take turns. The entries of one owner are served in order, and each owner
 * gets one entry per turn. Every operation is O(1).
 */

interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}
interface Line<T> {
  head: T | undefined;
  tail: T | undefined;
}
/** The entries of one owner. The owners themselves are in a line, too. */
interface OwnerLine<T> extends Line<Place<T>>, Linked<OwnerLine<T>> {
  readonly owner: object;
}

/** The position of an entry, for {@link FairQueue.remove}. */
export interface Place<T> extends Linked<Place<T>> {
  readonly entry: T;
  readonly line: OwnerLine<T>;
  queued: boolean;
}

/**
 * A fair queue. However many entries one owner has queued, the next entry of another owner waits
 * for at most one turn of each owner. An owner without entries is not kept.
 */
export class FairQueue<T> {
  readonly #lines = new Map<object, OwnerLine<T>>();
  readonly #turns: Line<OwnerLine<T>> = { head: undefined, tail: undefined };
  #size = 0;

  /** The number of entries of all owners. */
  get size(): number {
    return this.#size;
  }

  /** Appends to the owner's entries. */
  add(entry: T, owner: object): Place<T> {
    let line = this.#lines.get(owner);
    if (line === undefined) {
      line = { owner, head: undefined, tail: undefined, previous: undefined, next: undefined };
      this.#lines.set(owner, line);
      append(this.#turns, line);
    }
    const place: Place<T> = { entry, line, queued: true, previous: undefined, next: undefined };
    append(line, place);
    this.#size += 1;
    return place;
  }

  /** Removes an entry from any position. Has no effect if it has already left the queue. */
  remove(place: Place<T>): void {
    if (!place.queued) return;
    const { line } = place;
    place.queued = false;
    detach(line, place);
    this.#size -= 1;
    if (line.head !== undefined) return;
    detach(this.#turns, line);
    this.#lines.delete(line.owner);
  }

  /** Removes and returns the next entry, and moves its owner to the end of the line. */
  shift(): T | undefined {
    const line = this.#turns.head;
    const place = line?.head;
    if (line === undefined || place === undefined) return undefined;
    this.remove(place);
    if (line.head !== undefined) {
      detach(this.#turns, line);
      append(this.#turns, line);
    }
    return place.entry;
  }
}

function append<T extends Linked<T>>(line: Line<T>, node: T): void {
  node.previous = line.tail;
  node.next = undefined;
  if (line.tail === undefined) line.head = node;
  else line.tail.next = node;
  line.tail = node;
}

function detach<T extends Linked<T>>(line: Line<T>, node: T): void {
  if (node.previous === undefined) line.head = node.next;
  else node.previous.next = node.next;
  if (node.next === undefined) line.tail = node.previous;
  else node.next.previous = node.previous;
  node.previous = undefined;
  node.next = undefined;
}
