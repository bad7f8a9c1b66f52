/** Everything that the command line uses of its process, so that tests can replace it. */
import type { Readable } from 'node:stream';

/** Where text is written: the part of a writable stream that is used. */
export interface CliOutput {
  /** Writes a text. Calls `done` once the text is passed on, or with the error if it cannot be. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** True on a terminal. */
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal in characters. @default 80 */
  readonly columns?: number | undefined;
}

/** The part of the process that a command may use. */
export interface CliIo {
  /** Read by `--input -`. If it is a terminal, approvals are answered here. */
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** Receives the answer and nothing else. */
  readonly stdout: CliOutput;
  /** Receives errors, logs, progress and questions. */
  readonly stderr: CliOutput;
  /** An absolute path. Relative paths start from it, and it is the `cwd` of calls. */
  readonly cwd: string;
  /** Environment variables. `NO_COLOR` and `TERM` are read, and those that options name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
  /**
   * Passes signals to a command instead of aborting `signal`, until the returned function is
   * called. @default the command gets no signals
   */
  readonly onSignal?: ((hear: (name: NodeJS.Signals) => void) => () => void) | undefined;
  /**
   * Called at the start of a run with a function that writes a line to its screen. The process's
   * own messages go there. @default not called
   */
  readonly onScreen?: ((note: (line: string) => void) => void) | undefined;
}

/**
 * Writes a text and waits until it is passed on. It is not an error if the reader has closed the
 * pipe, because then the text has no reader.
 */
export function writeOut(output: CliOutput, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => {
      if (error && !wentAway(error)) reject(error);
      else resolve();
    });
  });
}

/** Whether an error comes from writing to a pipe that its reader has closed. */
function wentAway(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}
