/** When what is over is removed: by whoever uses the store, beside the use, and seldom. */
import type { PostgresCommands } from './connection.ts';
import { maxExpired } from './expire-sql.ts';
import { neededVersion } from './tables-sql.ts';

/** Milliseconds between steps of one process, and when there was more than one step removes. */
const restMs = 10_000;
const busyMs = 100;

export interface Expiry {
  /** Called after each use. Starts a step if it is time for one. */
  used(): void;
  /** Resolves when no step is on its way. */
  close(): Promise<void>;
}

/** @param now Milliseconds that only grow. */
export function postgresExpiry({ run }: PostgresCommands, now: () => number): Expiry {
  // A program that uses the store for a moment leaves this to others.
  let next = now() + restMs;
  let step: Promise<void> | undefined;
  return {
    used() {
      if (step !== undefined || now() < next) return;
      step = run('expire', [neededVersion, maxExpired])
        .then(
          // Rows with their lists may not fit into a step to its last row.
          (removed) => (Number(removed) > maxExpired / 2 ? busyMs : restMs),
          // What fails here also fails where somebody hears of it.
          () => restMs,
        )
        .then((pause) => {
          next = now() + pause;
          step = undefined;
        });
    },
    async close() {
      next = Number.POSITIVE_INFINITY;
      await step;
    },
  };
}
