/**
 * Deadlines with a timer each, for a platform that ties timers to the request in which they were
 * set. There, a timer that served several requests would end with the first of them, and a request
 * without a timer of its own would be ended because it seems to hang.
 */
import { longestTimerMs } from '../options/index.ts';
import type { Deadline, DeadlineList } from './deadlines.ts';

/** A deadline that is overdue by this many milliseconds has lost its timer with its request. */
const lostMs = 1_000;

/** Marks entries that have a deadline. It stays empty. */
const own: DeadlineList = { durationMs: 0, head: undefined, tail: undefined };

/** Has the methods of `Deadlines`. */
export class OwnTimers {
  readonly #timers = new Map<Deadline, ReturnType<typeof setTimeout>>();
  #lookedAt = 0;

  /** The number of waiting entries. */
  get size(): number {
    return this.#timers.size;
  }

  /** Starts a deadline. It replaces the entry's earlier deadline, if there is one. */
  add(entry: Deadline, durationMs: number, now: number): void {
    this.remove(entry);
    const duration = durationMs > 1 ? Math.min(Math.ceil(durationMs), longestTimerMs) : 1;
    entry.dlAt = now + duration;
    entry.dlList = own;
    this.#timers.set(
      entry,
      globalThis.setTimeout(() => this.#expire(entry), duration),
    );
    if (now - this.#lookedAt >= lostMs) this.#expireLost(now);
  }

  /** Removes a deadline. Has no effect on an entry without one. */
  remove(entry: Deadline): void {
    const timer = this.#timers.get(entry);
    if (timer === undefined) return;
    this.#forget(entry);
    globalThis.clearTimeout(timer);
  }

  #forget(entry: Deadline): void {
    this.#timers.delete(entry);
    entry.dlList = undefined;
  }

  #expire(entry: Deadline): void {
    this.#forget(entry);
    try {
      entry.expire();
    } catch {
      // A timer has no caller that could handle it.
    }
  }

  /**
   * Expires what requests have left behind that are gone, so that no other call waits for their
   * slots and locks for ever.
   */
  #expireLost(now: number): void {
    this.#lookedAt = now;
    for (const entry of [...this.#timers.keys()])
      if (entry.dlAt + lostMs < now && this.#timers.has(entry)) this.#expire(entry);
  }
}

/** Whether a timer ends with the request in which it was set, as in Cloudflare's runtime. */
export function timersEndWithRequests(): boolean {
  const { navigator } = globalThis as { navigator?: { readonly userAgent?: unknown } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
