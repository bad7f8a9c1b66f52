/** Lets other work of the process run. */

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
