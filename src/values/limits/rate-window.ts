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
  /** A ring of moments, with the number of events at each. Its length is a power of two. */
  #times: Float64Array = new Float64Array(0);
  #counts: Float64Array = new Float64Array(0);
  #head = 0;
  #length = 0;
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
    if (at - this.#newestStart <= mergeMs) this.#merge(at);
    else this.#push(at);
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

  /** The index that is `steps` further round the ring. */
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
