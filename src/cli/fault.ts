/** What ends a command early: one line for the person, and the exit code. */

/** Which of the exit codes: a failure, or a wrong command line. */
export type FaultExit = 1 | 2;

/** Thrown inside the command line alone, and caught by `runCli`. */
export class CliFault extends Error {
  override readonly name = 'CliFault';
  readonly exit: FaultExit;
  constructor(exit: FaultExit, message: string) {
    super(message);
    this.exit = exit;
  }
}

/** The command line was wrong; `message` says how, and what to do. */
export function usageFault(message: string): CliFault {
  return new CliFault(2, message);
}

/** The command line was right, and what it asked for failed. */
export function failure(message: string): CliFault {
  return new CliFault(1, message);
}

/**
 * Waits for work that may never end, until the person interrupts. @throws CliFault 1: the signal's
 * reason where it is one.
 */
export function untilInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void =>
      reject(signal.reason instanceof CliFault ? signal.reason : failure('Interrupted.'));
    if (signal.aborted) {
      work.catch(() => {});
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
