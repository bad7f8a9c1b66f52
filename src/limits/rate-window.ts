/** A limit on how many happen within any window of time. */

/**
 * Up to this many are remembered one by one; above it, moments that lie close together are counted
 * as one.
 */
const EXACT_LIMIT = 1_024;

/**
 * Allows at most `limit` within any `windowMs`: a sliding window, so that there is no burst of
 * twice the limit where two fixed minutes meet. What was refused does not count. Up to 1 024 it is
 * exact. For a larger limit, moments within a 1 024th of the window are taken for their latest one:
 * it never allows more than `limit` in any window, and may go on refusing for that 1 024th too
 * long. Memory grows with use to 16 KB or so; time is O(1), amortised.
 */
export class RateWindow {
  readonly #windowMs: number;
  #limit!: number;
  #mergeMs!: number;
  /** A ring of moments and how many happened at each; its length is a power of two. */
  #times: Float64Array = new Float64Array(0);
  #counts: Float64Array = new Float64Array(0);
  #head = 0;
  #length = 0;
  #total = 0;
  /** When the newest moment began and when it was last added to. */
  #newestStart = Number.NEGATIVE_INFINITY;
  #newest = Number.NEGATIVE_INFINITY;

  /**
   * @param limit How many; 0 refuses all, `Infinity` allows all.
   * @param windowMs Length of the window in milliseconds. @default 60_000
   */
  constructor(limit: number, windowMs = 60_000) {
    this.#windowMs = windowMs;
    this.limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Changes the limit. What happened within the window still counts. */
  set limit(limit: number) {
    this.#limit = limit;
    this.#mergeMs = limit > EXACT_LIMIT ? this.#windowMs / EXACT_LIMIT : 0;
  }

  /**
   * Counts one and answers true, or answers false where the limit is reached. @param now Monotonic
   * milliseconds, `performance.now()`.
   */
  take(now: number): boolean {
    // A reading older than the last one cannot be sorted in; it counts as the last one.
    const at = now > this.#newest ? now : this.#newest;
    this.#forget(at);
    if (this.#total >= this.#limit) return false;
    this.#add(at, this.#mergeMs);
    return true;
  }

  /** Counts one that no limit applies to now, so that a limit which comes later knows of it. */
  count(now: number): void {
    const at = now > this.#newest ? now : this.#newest;
    this.#forget(at);
    this.#add(at, this.#windowMs / EXACT_LIMIT);
  }

  #add(at: number, mergeMs: number): void {
    if (at - this.#newestStart <= mergeMs) this.#merge(at);
    else this.#push(at);
    this.#newest = at;
    this.#total += 1;
  }

  /**
   * Milliseconds from `now`, whole, until {@link take} would answer true if nothing else happens; 0
   * when it would now. With a limit of 0 it is the window's length, though waiting is in vain.
   */
  retryAfterMs(now: number): number {
    const at = now > this.#newest ? now : this.#newest;
    this.#forget(at);
    if (this.#total < this.#limit) return 0;
    if (this.#limit < 1) return this.#windowMs;
    const free = this.#lastToGo() + this.#windowMs;
    const wait = Math.ceil(free - now);
    // Fractions of a millisecond may round the wrong way: never name a moment that is still too
    // early.
    return free > now + wait ? wait + 1 : wait;
  }

  /**
   * The moment that must leave the window before there is room: the oldest, or a later one where
   * the limit was lowered.
   */
  #lastToGo(): number {
    let place = this.#head;
    let left = this.#total - (this.#counts[place] as number);
    while (left >= this.#limit) {
      place = this.#after(place, 1);
      left -= this.#counts[place] as number;
    }
    return this.#times[place] as number;
  }

  #forget(at: number): void {
    while (this.#length > 0 && (this.#times[this.#head] as number) + this.#windowMs <= at) {
      this.#total -= this.#counts[this.#head] as number;
      this.#head = this.#after(this.#head, 1);
      this.#length -= 1;
    }
  }

  /** The place so many steps further round the ring. */
  #after(place: number, steps: number): number {
    return (place + steps) & (this.#times.length - 1);
  }

  #merge(at: number): void {
    const last = this.#after(this.#head, this.#length - 1);
    this.#times[last] = at;
    this.#counts[last] = (this.#counts[last] as number) + 1;
  }

  #push(at: number): void {
    if (this.#length === this.#times.length) this.#grow();
    const next = this.#after(this.#head, this.#length);
    this.#times[next] = at;
    this.#counts[next] = 1;
    this.#length += 1;
    this.#newestStart = at;
  }

  #grow(): void {
    const times = new Float64Array(Math.max(8, this.#length * 2));
    const counts = new Float64Array(times.length);
    for (let i = 0; i < this.#length; i += 1) {
      const from = this.#after(this.#head, i);
      times[i] = this.#times[from] as number;
      counts[i] = this.#counts[from] as number;
    }
    this.#times = times;
    this.#counts = counts;
    this.#head = 0;
  }
}
