/**
 * Deadlines of calls in flight. There is one linked list per duration, and one timer for all lists.
 * Adding and removing a deadline allocates nothing.
 */

import { longestTimerMs } from '../options/index.ts';
import { currentScope, inScope } from './async-scope.ts';

/**
 * The longest timer, in milliseconds, that a new entry arms. When it fires, the call has usually
 * ended, so that no timer had to be cleared. If entries still wait, an exact timer is armed.
 */
const TICK_MS = 20;
/**
 * The most, in milliseconds, that a real timer fires early. If it is more, a test's clock has moved
 * the timers but not `performance`.
 */
const EARLY_MS = 5;
/**
 * A timer that is overdue by this many milliseconds, or armed this far in the future, belongs to a
 * clock that no longer exists: a test has installed or removed fake timers.
 */
const LOST_MS = 1_000;
/**
 * How many empty lists are kept, since the usual durations repeat. Above this, an empty list is
 * dropped at once.
 */
const KEPT_LISTS = 32;

/**
 * An entry with a deadline. The record of a call implements it, so that a deadline needs no further
 * object. Only {@link Deadlines} uses the `dl` fields.
 */
export interface Deadline {
  /**
   * Runs once, from the timer, when the deadline has passed. By then the entry has been removed,
   * and it may be added again. Errors that it throws are dropped. Its async context is that in
   * which the deadlines were made, since one timer serves many entries.
   */
  expire(): void;
  /** Starts as `undefined`. */
  dlPrev: Deadline | undefined;
  /** Starts as `undefined`. */
  dlNext: Deadline | undefined;
  /** The due time in monotonic milliseconds. Starts as 0. */
  dlAt: number;
  /** The list that contains the entry; `undefined` while it has no deadline. */
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
 * No timer outlives the last entry by more than 20 ms, so an idle process can end. A call that
 * hangs keeps the process alive until its deadline. A deadline never expires early, except for the
 * millisecond by which a platform's timer may be early. It expires late by at most a millisecond,
 * plus the time for which the event loop is blocked.
 */
export class Deadlines {
  readonly #lists = new Map<number, DeadlineList>();
  /**
   * Marks entries that the current sweep has removed from their lists and not yet expired. This
   * list stays empty, and no deadline has its duration.
   */
  readonly #due: DeadlineList = { durationMs: 0, head: undefined, tail: undefined };
  #recent: DeadlineList | undefined;
  #size = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #armedAt = 0;
  #armedFor = Number.POSITIVE_INFINITY;
  /**
   * Whether the armed timer must be cleared when no entry is left, because it would keep the
   * process alive.
   */
  #long = false;
  #sweeping = false;
  /**
   * Milliseconds by which the timers' clock is ahead of `performance`. Always 0, except under fake
   * timers that do not fake `performance`.
   */
  #ahead = 0;
  readonly #onTimer = (): void => this.#sweep();
  readonly #scope = currentScope();

  /** The number of waiting entries. */
  get size(): number {
    return this.#size;
  }

  /**
   * Starts a deadline. It replaces the entry's earlier deadline, if there is one.
   * @param durationMs From `now`; rounded up to whole milliseconds, within 1 to 2^31-1.
   * @param now `performance.now()`, which the caller has already read.
   */
  add(entry: Deadline, durationMs: number, now: number): void {
    if (entry.dlList !== undefined) this.#unlink(entry, entry.dlList);
    const duration = durationMs > 1 ? Math.min(Math.ceil(durationMs), longestTimerMs) : 1;
    const clock = now + this.#ahead;
    const at = clock + duration;
    let list = this.#recent;
    if (list === undefined || list.durationMs !== duration) list = this.#listOf(duration);
    // A caller may pass an older clock reading than the last one. The list must stay sorted.
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

  /** Removes a deadline. Has no effect on an entry without one. */
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
    // A sweep arms the timer for the nearest remaining deadline once, when it ends.
    if (this.#sweeping) return;
    this.#arm(Math.min(at, clock + TICK_MS), clock);
  }

  #arm(target: number, clock: number): void {
    // The globals are read at each use, so that fake timers work whenever they are installed.
    if (this.#timer !== undefined) globalThis.clearTimeout(this.#timer);
    const delay = Math.min(Math.max(Math.ceil(target - clock), 1), longestTimerMs);
    this.#armedAt = clock;
    this.#armedFor = target;
    this.#long = delay > TICK_MS;
    this.#timer = inScope(this.#scope, () => globalThis.setTimeout(this.#onTimer, delay));
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
      // An earlier entry of this sweep may have removed this one or added it again.
      if (entry.dlList !== this.#due) continue;
      this.#unlink(entry, this.#due);
      try {
        entry.expire();
      } catch {
        // An error in one entry must not delay the others, and a timer has no caller that could
        // handle it.
      }
    }
    this.#sweeping = false;
    if (this.#size === 0) this.#disarm();
    else this.#arm(this.#nearest(), clock);
  }

  /**
   * Reads the clock after a timer has fired. The timer's target counts as reached even if
   * `performance` is behind it: the timer may be a little early, or `performance` may not advance
   * under a test's fake timers.
   */
  #readClock(): number {
    const real = globalThis.performance.now();
    const clock = real + this.#ahead;
    if (this.#armedFor <= clock) return clock;
    if (this.#armedFor - clock > EARLY_MS) this.#ahead = this.#armedFor - real;
    return this.#armedFor;
  }

  /**
   * Removes due entries from the lists before any of them expires, so that an entry that `expire`
   * adds waits for the next sweep.
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
