/** The amounts that were spent under one key, in the order of time. */
import type { QuotaSpend } from '../../api/quotas.ts';

/**
 * Up to this many reservations are kept one by one. Beyond it, those within a 1 024th of the window
 * are kept as one, which counts until the latest of them has left the window.
 */
const maxExact = 1_024;

/** One or more reservations that count until the same moment. */
export interface Bucket {
  /** Epoch milliseconds of the first and of the latest of them. */
  readonly start: number;
  at: number;
  amount: bigint;
}

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
    const bucket: Bucket = { start: at, at, amount };
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

  takeOff(bucket: Bucket, amount: bigint): void {
    const back = amount < bucket.amount ? amount : bucket.amount;
    bucket.amount -= back;
    this.total -= back;
  }

  /**
   * Whole milliseconds until an amount fits that does not fit now; undefined if waiting does not
   * help. Called after {@link slide}.
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
  join(session: QuotaSpend['session']): void {
    if (session === undefined) return;
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
