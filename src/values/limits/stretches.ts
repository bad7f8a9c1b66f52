/** Splits long work into stretches, so that the process can serve other requests in between. */

import { nextTurn } from './next-turn.ts';

/** The usual length of a stretch in milliseconds. */
const usualMs = 10;

/**
 * Called between the steps of long work. Resolves when the work may continue; undefined if it may
 * continue at once.
 */
export type Pause = () => Promise<void> | undefined;

/**
 * Makes a pause that lets other work run if about this many milliseconds have passed since the last
 * one.
 */
export function createPause(stretchMs = usualMs): Pause {
  let since = performance.now();
  return () => {
    if (performance.now() - since < stretchMs) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}
