/** Lets any number of calls watch one AbortSignal through a single listener on it. */
import { SmallSet } from './small-set.ts';

/** What is told of an abort. The caller's own record of a call implements it. */
export interface AbortEntry {
  /**
   * Runs at most once for each time it was added, synchronously inside the abort. What it throws is
   * dropped. @param reason The signal's `reason`.
   */
  aborted(reason: unknown): void;
}

interface Watch {
  readonly entries: SmallSet<AbortEntry>;
  readonly listener: () => void;
}

/**
 * One listener a signal, whatever the number of entries; it leaves the signal with the last of
 * them, so a host's long-lived signal gathers none. Entries are told in the order in which they
 * came. One that throws does not stop the others; one that is removed meanwhile is not told.
 */
export class AbortHub {
  /**
   * A watch without entries stays, listening to nothing, for as long as its signal lives: a signal
   * that had a call will have another.
   */
  readonly #watches = new WeakMap<AbortSignal, Watch>();

  /**
   * Tells `entry` when `signal` aborts. A signal that has aborted already is not watched and never
   * tells: look at `signal.aborted` first. The same entry added twice to one signal is told once.
   */
  add(signal: AbortSignal, entry: AbortEntry): void {
    if (signal.aborted) return;
    const watch = this.#watches.get(signal) ?? this.#watch(signal);
    if (watch.entries.size === 0) signal.addEventListener('abort', watch.listener);
    watch.entries.add(entry);
  }

  /** Stops watching; without effect on what is not watched. */
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
      // Taken out before it is told, so that nobody is told twice; gone already if an earlier one
      // removed it.
      if (!entries.delete(entry)) continue;
      try {
        entry.aborted(signal.reason);
      } catch {
        // One entry's fault must not keep the others running.
      }
    }
  }
}

function unlisten(signal: AbortSignal, listener: () => void): void {
  try {
    signal.removeEventListener('abort', listener);
  } catch {
    // A signal of somebody else's making: what it throws must keep no call from its end.
  }
}
