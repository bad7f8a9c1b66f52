/** Errors that end a command early: one line for the user, and the exit code with its meaning. */

/** The exit code: 1 for a failure, 2 for a wrong command line. */
export type FaultExit = 1 | 2;

/** Thrown only inside the command line, and caught by `runCli`. */
export class CliFault extends Error {
  override readonly name = 'CliFault';
  readonly exit: FaultExit;
  constructor(exit: FaultExit, message: string) {
    super(message);
    this.exit = exit;
  }
}

/** The command line was wrong. `message` says what is wrong and what to do. */
export function usageFault(message: string): CliFault {
  return new CliFault(2, message);
}

/** The command line was right, but what it asked for failed. */
export function failure(message: string): CliFault {
  return new CliFault(1, message);
}

/**
 * Waits for work that may never end, until the user interrupts the command.
 * @throws CliFault 1, or the signal's reason if that is a CliFault
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

/** Exit codes with their meanings. `docs/command-line.md` and the help have the same table. */
export const exitCodes = {
  0: 'done',
  1: 'the call or the check failed, or something that it needs cannot be read, loaded or reached',
  2: 'the command line was wrong',
  130: 'interrupted twice, or while a tool or a module blocked the process: nothing was waited for',
} as const;
