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

/** Of so many programs that end before their first step, about one removes what is over. */
const brief = 10;

/**
 * @param now Milliseconds that only grow.
 * @param random From 0 to 1.
 */
export function postgresExpiry(
  { run }: PostgresCommands,
  now: () => number,
  random = Math.random,
): Expiry {
  const first = now() + restMs;
  let next = first;
  let isUsed = false;
  let step: Promise<void> | undefined;
  return {
    used() {
      isUsed = true;
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
      const isBrief = isUsed && next === first && step === undefined;
      next = Number.POSITIVE_INFINITY;
      await step;
      // Where all programs end soon, nobody would remove anything otherwise.
      if (isBrief && random() * brief < 1)
        await run('expire', [neededVersion, maxExpired]).catch(() => undefined);
    },
  };
}
