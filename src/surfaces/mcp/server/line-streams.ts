/** The two ends of a line transport: the parts of Node's streams that it uses. */

/** Where messages come from: the part of Node's `Readable` that is used. */
export interface LineInput {
  /** Adds a listener for `data`, `end`, `close` or `error`. */
  on(event: string, listener: (value?: unknown) => void): unknown;
  /** Removes a listener. */
  off(event: string, listener: (value?: unknown) => void): unknown;
  /** Stops reading. */
  pause?(): unknown;
  /** True if it ended before anyone listened. @default false */
  readonly readableEnded?: boolean | undefined;
  /** True if it was closed before anyone listened. @default false */
  readonly destroyed?: boolean | undefined;
}

/** Where messages go: the part of Node's `Writable` that is used. */
export interface LineOutput {
  /** Writes; `done` is called once the text was passed on, with the error if that failed. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
}

// Reserves standard output for the protocol. All other output goes to standard error.

/** The part of a process that is used. */
interface Printing {
  readonly stdout: { write: (...given: never[]) => unknown };
  readonly stderr: { write: (...given: never[]) => unknown };
}

/** A redirection of output. */
export interface RedirectedPrints {
  /** Still writes to standard output. */
  readonly stdout: LineOutput;
  /** Ends the redirection, unless other code has replaced `write` since. Idempotent. */
  restore(): void;
}

export function redirectPrints({ stdout, stderr }: Printing): RedirectedPrints {
  const before = stdout.write;
  const redirected = (...given: never[]): unknown => stderr.write(...given);
  stdout.write = redirected;
  return {
    stdout: { write: (text, done) => Reflect.apply(before, stdout, [text, done]) as unknown },
    restore() {
      if (stdout.write === redirected) stdout.write = before;
    },
  };
}
