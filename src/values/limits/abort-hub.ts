/** Lets any number of calls watch one AbortSignal through a single listener on it. */
import { SmallSet } from './small-set.ts';

/** Gets notice of an abort. The record of a call implements it. */
export interface AbortEntry {
  /**
   * Runs at most once each time the entry was added, synchronously during the abort. Errors that it
   * throws are dropped.
   * @param reason The signal's `reason`.
   */
  aborted(reason: unknown): void;
}

interface Watch {
  readonly entries: SmallSet<AbortEntry>;
  readonly listener: () => void;
}

/**
 * Adds one listener per signal, whatever the number of entries. The listener is removed with the
 * last entry, so that a host's long-lived signal does not collect listeners. Entries are notified
 * in the order in which they were added. An entry that throws does not stop the others. An entry
 * that is removed during the abort is not notified.
 */
export class AbortHub {
  /**
   * A watch without entries has no listener but is kept for as long as its signal exists, because a
   * signal that was used for one call is usually used again.
   */
  readonly #watches = new WeakMap<AbortSignal, Watch>();

  /**
   * Notifies `entry` when `signal` aborts. A signal that has already aborted is not watched, so
   * check `signal.aborted` first. An entry that is added twice to one signal is notified once.
   */
  add(signal: AbortSignal, entry: AbortEntry): void {
    if (signal.aborted) return;
    const watch = this.#watches.get(signal) ?? this.#watch(signal);
    if (watch.entries.size === 0) signal.addEventListener('abort', watch.listener);
    watch.entries.add(entry);
  }

  /** Stops watching. Has no effect if the entry does not watch the signal. */
  remove(signal: AbortSignal, entry: AbortEntry): void {
    const watch = this.#watches.get(signal);
    if (!watch?.entries.delete(entry) || watch.entries.size > 0) return;
    unlisten(signal, watch.listener);
  }

  #watch(signal: AbortSignal): Watch {
    const watch: Watch = { entries: new SmallSet(), listener: () => this.#abort(signal, watch) };
    this.#watches.set(signal, watch);
    return watch;
  }

  #abort(signal: AbortSignal, { entries, listener }: Watch): void {
    unlisten(signal, listener);
    for (const entry of [...entries.values()]) {
      // Removed before it is notified, so that it cannot be notified twice. An earlier entry may
      // already have removed it.
      if (!entries.delete(entry)) continue;
      try {
        entry.aborted(signal.reason);
      } catch {
        // An error in one entry must not keep the other calls running.
      }
    }
  }
}

function unlisten(signal: AbortSignal, listener: () => void): void {
  try {
    signal.removeEventListener('abort', listener);
  } catch {
    // The signal may be the host's own implementation. If it throws, the call must still end.
  }
}
