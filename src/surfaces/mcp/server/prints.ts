/** Reserves standard output for the protocol. All other output goes to standard error. */
import type { LineOutput } from './line-streams.ts';

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
