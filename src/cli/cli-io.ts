/** Everything that the command line touches of its process, so that tests can give it all. */
import type { Readable } from 'node:stream';

/** Where text is written: what a writable stream is here. */
export interface CliOutput {
  /**
   * Writes; `done` is called when the text has been handed on, with the error when it could not be.
   */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** Present and true on a terminal. */
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal in characters. @default 80 */
  readonly columns?: number | undefined;
}

/** The process, as far as a command may touch it. */
export interface CliIo {
  /** Read by `--input -`, and for answers to approvals where it is a terminal. */
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** The answer, and nothing else. */
  readonly stdout: CliOutput;
  /** Errors, logs, progress, questions. */
  readonly stderr: CliOutput;
  /** Absolute; what relative paths start from, and the `cwd` of calls. */
  readonly cwd: string;
  /** `NO_COLOR` and `TERM` are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the person interrupts. */
  readonly signal: AbortSignal;
  /**
   * Given at the start of a run what writes a line to its screen, for what befalls the process.
   * @default nothing is told
   */
  readonly onScreen?: ((note: (line: string) => void) => void) | undefined;
}

/**
 * Writes and waits until it is handed on. A reader that went away is no error: nobody is left to
 * tell.
 */
export function writeOut(output: CliOutput, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => {
      if (error && !wentAway(error)) reject(error);
      else resolve();
    });
  });
}

/** True for the error of writing to a pipe whose reader has closed it. */
export function wentAway(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}
