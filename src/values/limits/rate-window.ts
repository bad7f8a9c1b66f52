/** Limits the number of events within a sliding window of time. */

/**
 * Limits up to this are exact. Above it, events that are close together are counted as one moment.
 */
const EXACT_LIMIT = 1_024;

/**
 * Allows at most `limit` events within any `windowMs`. The window slides, so there is no burst of
 * twice the limit where two fixed minutes meet. Refused events do not count. Limits up to 1 024 are
 * exact. For a larger limit, all events within a 1 024th of the window count as if they happened at
 * the latest of them: never more than `limit` are allowed in any window, but refusals may last that
 * 1 024th too long. Memory grows with use to about 16 KB. Time is amortised O(1).
 */
export class RateWindow {
  readonly #windowMs: number;
  #limit!: number;
  #mergeMs!: number;
  /** Moments, with the number of events at each. Those before the head have left the window. */
  readonly #times: number[] = [];
  readonly #counts: number[] = [];
  #head = 0;
  #total = 0;
  /** When the newest moment began, and when an event was last added to it. */
  #newestStart = Number.NEGATIVE_INFINITY;
  #newest = Number.NEGATIVE_INFINITY;

  /**
   * @param limit The number of events; 0 refuses all, `Infinity` allows all.
   * @param windowMs The length of the window in milliseconds.
   * @default 60_000
   */
  constructor(limit: number, windowMs = 60_000) {
    this.#windowMs = windowMs;
    this.limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Changes the limit. Events within the window still count. */
  set limit(limit: number) {
    this.#limit = limit;
    this.#mergeMs = limit > EXACT_LIMIT ? this.#windowMs / EXACT_LIMIT : 0;
  }

  /**
   * Counts an event and returns true. Returns false if the limit is reached.
   * @param now Monotonic milliseconds, from `performance.now()`.
   */
  take(now: number): boolean {
    // A time before the last one cannot be inserted in order, so it counts as the last one.
    const at = now > this.#newest ? now : this.#newest;
    this.#forget(at);
    if (this.#total >= this.#limit) return false;
    this.#add(at, this.#mergeMs);
    return true;
  }

  /** Counts an event to which no limit applies now, so that it counts if a limit is set later. */
  count(now: number): void {
    const at = now > this.#newest ? now : this.#newest;
    this.#forget(at);
    this.#add(at, this.#windowMs / EXACT_LIMIT);
  }

  #add(at: number, mergeMs: number): void {
    if (at - this.#newestStart <= mergeMs) {
      const last = this.#times.length - 1;
      this.#times[last] = at;
      (this.#counts[last] as number)++;
    } else {
      this.#times.push(at);
      this.#counts.push(1);
      this.#newestStart = at;
    }
    this.#newest = at;
    this.#total += 1;
  }

  /**
   * Whole milliseconds from `now` until {@link take} would return true if no other event happens; 0
   * if it would do so now. With a limit of 0, this is the length of the window, although waiting
   * does not help.
   */
  retryAfterMs(now: number): number {
    const at = now > this.#newest ? now : this.#newest;
    this.#forget(at);
    if (this.#total < this.#limit) return 0;
    if (this.#limit < 1) return this.#windowMs;
    const free = this.#lastToGo() + this.#windowMs;
    const wait = Math.ceil(free - now);
    // Rounding must never give a time that is a fraction of a millisecond too early.
    return free > now + wait ? wait + 1 : wait;
  }

  /**
   * The moment that must leave the window before another event fits: the oldest, or a later one if
   * the limit was lowered.
   */
  #lastToGo(): number {
    let place = this.#head;
    let left = this.#total - (this.#counts[place] as number);
    while (left >= this.#limit) left -= this.#counts[++place] as number;
    return this.#times[place] as number;
  }

  #forget(at: number): void {
    const times = this.#times;
    while (this.#head < times.length && (times[this.#head] as number) + this.#windowMs <= at)
      this.#total -= this.#counts[this.#head++] as number;
    // As many are dropped as are moved, at least.
    if (this.#head === 0 || this.#head * 2 < times.length) return;
    times.splice(0, this.#head);
    this.#counts.splice(0, this.#head);
    this.#head = 0;
  }
}
