/** Standard output for the protocol alone: what else is printed there goes to standard error. */
import type { LineOutput } from './line-streams.ts';

/** What is used of a process. */
interface Printing {
  readonly stdout: { write: (...given: never[]) => unknown };
  readonly stderr: { write: (...given: never[]) => unknown };
}

/** Prints, redirected. */
export interface RedirectedPrints {
  /** Still writes to standard output. */
  readonly stdout: LineOutput;
  /**
   * Prints go to standard output again, unless somebody else has redirected them since. Idempotent.
   */
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
