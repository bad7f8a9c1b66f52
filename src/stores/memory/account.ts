/** The amounts of one sum, in the order of time. */

/**
 * Up to this many reservations are kept one by one. Beyond it, those within a 1 024th of the window
 * are kept as one, which counts until the latest of them has left the window.
 */
const maxExact = 1_024;

/** One or more reservations that count until the same moment. */
export interface Bucket {
  /** Counts on over all buckets of this process, so that none is taken for an earlier one. */
  readonly id: number;
  /** Epoch milliseconds of the first and of the latest of them. */
  readonly start: number;
  at: number;
  amount: bigint;
}

const ids = { last: 0 };

export class Account {
  readonly windowMs: number | undefined;
  total = 0n;
  readonly holder: string | undefined;
  /** Epoch milliseconds of the latest reservation. Time never goes back here. */
  lastAt = Number.NEGATIVE_INFINITY;
  #buckets: Bucket[] = [];
  /** The first bucket that still counts. */
  #head = 0;
  /** The sessions that have spent here, as long as they exist. */
  #sessions: WeakRef<object>[] | undefined;

  /** @param holder Who opened it. */
  constructor(windowMs: number | undefined, holder?: string) {
    this.windowMs = windowMs;
    this.holder = holder;
  }

  /** Forgets amounts that have left the window. Returns the time that counts. */
  slide(now: number): number {
    const at = now > this.lastAt ? now : this.lastAt;
    const { windowMs } = this;
    if (windowMs === undefined) return at;
    const buckets = this.#buckets;
    let head = this.#head;
    for (; head < buckets.length; head++) {
      const bucket = buckets[head] as Bucket;
      if (bucket.at + windowMs > at) break;
      this.total -= bucket.amount;
      // Set to 0, so that giving it back later subtracts nothing.
      bucket.amount = 0n;
    }
    if (head > 32 && head * 2 > buckets.length) {
      buckets.splice(0, head);
      head = 0;
    }
    this.#head = head;
    return at;
  }

  /** Adds an amount at a time that {@link slide} has returned. */
  add(amount: bigint, at: number): Bucket {
    this.total += amount;
    this.lastAt = at;
    const newest = this.#buckets.at(-1);
    if (newest !== undefined && this.#joins(newest, at)) {
      newest.at = at;
      newest.amount += amount;
      return newest;
    }
    const bucket: Bucket = { id: ++ids.last, start: at, at, amount };
    this.#buckets.push(bucket);
    return bucket;
  }

  #joins(newest: Bucket, at: number): boolean {
    const { windowMs } = this;
    if (windowMs === undefined) return true;
    // A reservation that has left the window is no longer in the total.
    if (this.#head === this.#buckets.length) return false;
    return (
      newest.at === at ||
      (this.#buckets.length - this.#head >= maxExact && at - newest.start <= windowMs / maxExact)
    );
  }

  /** Takes back what was added last, as if it had never been. @param newestAt what it was before */
  undoAdd(bucket: Bucket, amount: bigint, newestAt: number | undefined, lastAt: number): void {
    this.takeOff(bucket, amount);
    this.lastAt = lastAt;
    if (newestAt === undefined) this.#buckets.pop();
    else bucket.at = newestAt;
  }

  /** The time of the newest bucket, if an amount at this time would join it. */
  joinedAt(at: number): number | undefined {
    const newest = this.#buckets.at(-1);
    return newest !== undefined && this.#joins(newest, at) ? newest.at : undefined;
  }

  /** The bucket with an id; undefined once it is old. Called after {@link slide}. */
  bucket(id: number): Bucket | undefined {
    let low = this.#head;
    let high = this.#buckets.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#buckets[middle] as Bucket;
      if (found.id === id) return found;
      if (found.id < id) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  takeOff(bucket: Bucket, amount: bigint): void {
    const back = amount < bucket.amount ? amount : bucket.amount;
    bucket.amount -= back;
    this.total -= back;
  }

  /**
   * Whole milliseconds until an amount fits that does not fit now; undefined if waiting does not
   * help. Called after {@link slide}. Amounts that count together go together, at their latest.
   * @param budget Buckets that may be looked at. When it is used up, the answer is the time at
   * which the whole window is free.
   */
  fitsIn(amount: bigint, max: bigint, now: number, budget: { left: number }): number | undefined {
    const { windowMs } = this;
    if (windowMs === undefined || amount > max) return undefined;
    let left = this.total;
    const last = this.#buckets.length - 1;
    for (let index = this.#head; index <= last; index++) {
      if (--budget.left < 0) index = last;
      const bucket = this.#buckets[index] as Bucket;
      left -= bucket.amount;
      if (index < last && left + amount > max) continue;
      const free = bucket.at + windowMs;
      const wait = Math.max(1, Math.ceil(free - now));
      // Rounding must never give a time that is a fraction of a millisecond too early.
      return free > now + wait ? wait + 1 : wait;
    }
    return undefined;
  }

  /** Remembers that a session spends here. */
  join(session: object | undefined): void {
    if (session === undefined || this.#sessions?.[0]?.deref() === session) return;
    const known = this.#sessions?.filter((ref) => ref.deref() !== undefined) ?? [];
    if (!known.some((ref) => ref.deref() === session)) known.push(new WeakRef(session));
    this.#sessions = known;
  }

  /** Whether no amount counts any more. @param keepMs How long a session's key outlives its use. */
  isOver(now: number, keepMs: number): boolean {
    if (this.total === 0n) return true;
    if (this.windowMs !== undefined) return this.lastAt + this.windowMs <= now;
    return (
      this.lastAt + keepMs <= now &&
      this.#sessions?.some((ref) => ref.deref() !== undefined) !== true
    );
  }
}
