/** Splits long work into stretches, so that the process can serve other requests in between. */

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

// Lets other work of the process run.

// Read at load time, so that a test's fake timers cannot stop code that waits for a turn.
const { setImmediate: soon = (run: () => void) => setTimeout(run, 0) } = globalThis;

/** Runs a function once the other work that is due has run. */
export function inNextTurn(run: () => void): void {
  soon(run);
}

/** Resolves when the other work that is due has run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void soon(resolve));
}

/**
 * Lets Node read from its sockets once, so that a connection which the server has closed is not
 * used for the request. Such a request would fail as if the server might have read it. The first
 * turn may already have begun, so there are two.
 */
export async function noticeClosed(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
