/** A wall clock that moves only when a test moves it. */
import { checkOption, kind } from '../../values/options/index.ts';

/**
 * Pass `now` to a registry. This clock has no effect on timeouts: they run on a monotonic clock,
 * which the fake timers of a test runner drive.
 */
export interface FixedClock {
  /** Epoch milliseconds. The function is bound, so it can be passed on. */
  readonly now: () => number;
  /**
   * Moves the clock by `ms`, backwards if negative, and returns the new time.
   * @throws MisuseError if `ms` is not a finite number.
   */
  readonly advance: (ms: number) => number;
}

/**
 * Makes a clock that only moves when you advance it.
 * @param startMs - Epoch milliseconds. The default is 2026-01-01T00:00:00Z.
 * @throws MisuseError if `startMs` is not a finite number.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { fixedClock } from 'host-tools/testing';
 *
 * const clock = fixedClock(0);
 * const registry = new HostToolRegistry({ now: clock.now });
 * clock.advance(5_000);
 * ```
 */
export function fixedClock(startMs: number = Date.UTC(2026, 0, 1)): FixedClock {
  checkOption(where, 'startMs', startMs, finite);
  let time = startMs;
  return Object.freeze({
    now: () => time,
    advance: (ms: number) => {
      checkOption(where, 'ms', ms, finite);
      time += ms;
      return time;
    },
  });
}

const where = 'fixedClock';
const finite = kind<number>('a finite number of milliseconds', Number.isFinite);

/**
 * Makes a `newId` that counts from 1: `call-1`, `call-2`. Each one has a counter of its own.
 * @default prefix "call"
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { sequentialIds } from 'host-tools/testing';
 *
 * const registry = new HostToolRegistry({ newId: sequentialIds() }); // call-1, call-2, …
 * ```
 */
export function sequentialIds(prefix = 'call'): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count}`;
  };
}
