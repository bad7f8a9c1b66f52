/**
 * Deadlines of calls in flight: one linked list per duration and one timer for all of them. Adding
 * and removing one allocates nothing.
 */

import { longestTimerMs } from '../options.ts';

/**
 * A new entry arms no longer timer than this: it usually finds that the call has ended, and then
 * there is nothing to clear. What it finds waiting gets an exact timer.
 */
const TICK_MS = 20;
/**
 * A timer that fires this much before its target was not early: a test's clock moves timers but not
 * `performance`.
 */
const EARLY_MS = 5;
/**
 * A timer this long overdue, or armed this far in the future, belongs to a clock that is gone: a
 * test's fake timers came or went.
 */
const LOST_MS = 1_000;
/**
 * So many lists are kept while empty, since the usual durations come again; beyond it an empty list
 * is dropped at once.
 */
const KEPT_LISTS = 32;

/**
 * What expires. The caller's own record of a call implements it, so that a deadline is not one more
 * object; the `dl` fields belong to {@link Deadlines}.
 */
export interface Deadline {
  /**
   * Runs once, from the timer, when the deadline has passed. The entry has been removed by then and
   * may be added again. What it throws is dropped. Its async context is that of whichever call
   * armed the timer.
   */
  expire(): void;
  /** Starts as `undefined`. */
  dlPrev: Deadline | undefined;
  /** Starts as `undefined`. */
  dlNext: Deadline | undefined;
  /** When it is due, in monotonic milliseconds. Starts as 0. */
  dlAt: number;
  /** The list that holds the entry; `undefined` while it waits for nothing. */
  dlList: DeadlineList | undefined;
}

/** All deadlines of one duration, the nearest first. */
export interface DeadlineList {
  readonly durationMs: number;
  head: Deadline | undefined;
  tail: Deadline | undefined;
}

/**
 * Holds deadlines and expires them, nearest first.
 *
 * No timer outlives the last entry by more than 20 ms, so an idle process can end; a call that
 * hangs keeps it alive until the call's deadline. A deadline never expires early by the clock (but
 * for the millisecond that a platform's timer may be early), and late by at most a millisecond and
 * what blocks the event loop.
 */
export class Deadlines {
  readonly #lists = new Map<number, DeadlineList>();
  /**
   * Marks entries that the current sweep has taken out of their lists and not yet expired. It holds
   * none of them, and no deadline has its duration.
   */
  readonly #due: DeadlineList = { durationMs: 0, head: undefined, tail: undefined };
  #recent: DeadlineList | undefined;
  #size = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #armedAt = 0;
  #armedFor = Number.POSITIVE_INFINITY;
  /** The armed timer is worth clearing when nothing is left: it would hold the process. */
  #long = false;
  #sweeping = false;
  /**
   * How far the timers' clock is ahead of `performance`; 0 but under fake timers that do not fake
   * `performance`.
   */
  #ahead = 0;
  readonly #onTimer = (): void => this.#sweep();

  /** Entries that wait. */
  get size(): number {
    return this.#size;
  }

  /**
   * Starts a deadline. An entry that waits already is moved: its old deadline is forgotten.
   * @param durationMs From `now`; rounded up to whole milliseconds, within 1 to 2^31-1.
   * @param now `performance.now()`, which the caller has read anyway.
   */
  add(entry: Deadline, durationMs: number, now: number): void {
    if (entry.dlList !== undefined) this.#unlink(entry, entry.dlList);
    const duration = durationMs > 1 ? Math.min(Math.ceil(durationMs), longestTimerMs) : 1;
    const clock = now + this.#ahead;
    const at = clock + duration;
    let list = this.#recent;
    if (list === undefined || list.durationMs !== duration) list = this.#listOf(duration);
    // A caller may come with an older reading of the clock than the last one did: the list stays
    // sorted all the same.
    let before = list.tail;
    while (before !== undefined && before.dlAt > at) before = before.dlPrev;
    const after = before === undefined ? list.head : before.dlNext;
    entry.dlAt = at;
    entry.dlList = list;
    entry.dlPrev = before;
    entry.dlNext = after;
    if (before === undefined) list.head = entry;
    else before.dlNext = entry;
    if (after === undefined) list.tail = entry;
    else after.dlPrev = entry;
    this.#size += 1;
    if (at < this.#armedFor || this.#armedFor + LOST_MS < clock || clock + LOST_MS < this.#armedAt)
      this.#armFor(at, clock);
  }

  /** Forgets a deadline; without effect on an entry that does not wait. */
  remove(entry: Deadline): void {
    const list = entry.dlList;
    if (list === undefined) return;
    this.#unlink(entry, list);
    if (list.head === undefined && this.#lists.size > KEPT_LISTS) this.#drop(list);
    if (this.#size === 0 && this.#long && !this.#sweeping) this.#disarm();
  }

  #listOf(durationMs: number): DeadlineList {
    let list = this.#lists.get(durationMs);
    if (list === undefined) {
      list = { durationMs, head: undefined, tail: undefined };
      this.#lists.set(durationMs, list);
    }
    this.#recent = list;
    return list;
  }

  #drop(list: DeadlineList): void {
    this.#lists.delete(list.durationMs);
    if (this.#recent === list) this.#recent = undefined;
  }

  #unlink(entry: Deadline, list: DeadlineList): void {
    const { dlPrev, dlNext } = entry;
    if (dlPrev !== undefined) dlPrev.dlNext = dlNext;
    else list.head = dlNext;
    if (dlNext !== undefined) dlNext.dlPrev = dlPrev;
    else list.tail = dlPrev;
    entry.dlPrev = undefined;
    entry.dlNext = undefined;
    entry.dlList = undefined;
    this.#size -= 1;
  }

  #armFor(at: number, clock: number): void {
    // A sweep arms for the nearest of what is left, once, when it ends.
    if (this.#sweeping) return;
    this.#arm(Math.min(at, clock + TICK_MS), clock);
  }

  #arm(target: number, clock: number): void {
    // The globals are looked up at each use, so that fake timers work whenever they are installed.
    if (this.#timer !== undefined) globalThis.clearTimeout(this.#timer);
    const delay = Math.min(Math.max(Math.ceil(target - clock), 1), longestTimerMs);
    this.#armedAt = clock;
    this.#armedFor = target;
    this.#long = delay > TICK_MS;
    this.#timer = globalThis.setTimeout(this.#onTimer, delay);
  }

  #disarm(): void {
    if (this.#timer !== undefined) globalThis.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    this.#ahead = 0;
  }

  #sweep(): void {
    this.#timer = undefined;
    this.#sweeping = true;
    const clock = this.#readClock();
    for (const entry of this.#takeDue(clock)) {
      // An earlier one of this sweep may have removed it or added it anew.
      if (entry.dlList !== this.#due) continue;
      this.#unlink(entry, this.#due);
      try {
        entry.expire();
      } catch {
        // One entry's fault must not keep the others waiting, and there is nobody above a timer to
        // tell.
      }
    }
    this.#sweeping = false;
    if (this.#size === 0) this.#disarm();
    else this.#arm(this.#nearest(), clock);
  }

  /**
   * A timer that has fired has reached its target, whatever `performance` says: it may be a little
   * early, or `performance` may stand still under a test's fake timers.
   */
  #readClock(): number {
    const real = globalThis.performance.now();
    const clock = real + this.#ahead;
    if (this.#armedFor <= clock) return clock;
    if (this.#armedFor - clock > EARLY_MS) this.#ahead = this.#armedFor - real;
    return this.#armedFor;
  }

  /**
   * Moves what is due out of the lists before anything expires, so that what `expire` adds waits
   * for the next sweep.
   */
  #takeDue(clock: number): Deadline[] {
    const due: Deadline[] = [];
    for (const list of this.#lists.values()) {
      let entry = list.head;
      while (entry !== undefined && entry.dlAt <= clock) {
        const next: Deadline | undefined = entry.dlNext;
        entry.dlPrev = undefined;
        entry.dlNext = undefined;
        entry.dlList = this.#due;
        due.push(entry);
        entry = next;
      }
      list.head = entry;
      if (entry === undefined) this.#drop(list);
      else entry.dlPrev = undefined;
    }
    return due.sort((a, b) => a.dlAt - b.dlAt);
  }

  #nearest(): number {
    let nearest = Number.POSITIVE_INFINITY;
    for (const list of this.#lists.values())
      if (list.head !== undefined && list.head.dlAt < nearest) nearest = list.head.dlAt;
    return nearest;
  }
}
