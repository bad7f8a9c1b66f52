/** Long work in stretches: the node answers others in between. */

/** Milliseconds of a stretch. */
const stretchMs = 10;

/**
 * Called between the steps of long work. Resolves when the work may go on; undefined where it may
 * go on at once.
 */
export type Pause = () => Promise<void> | undefined;

/** Makes a pause that lets others run once about 10 ms have gone since they last could. */
export function createPause(): Pause {
  let since = performance.now();
  return () => {
    if (performance.now() - since < stretchMs) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}

/** Resolves when whatever else is due has run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
