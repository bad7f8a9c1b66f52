/** Reads a line that a person types as the answer to a question. */
import { createInterface } from 'node:readline/promises';
import type { CliIo } from './cli-io.ts';

/**
 * Milliseconds without input after which a question is asked. A terminal delivers lines that were
 * typed earlier one after the other, a few per turn.
 */
const quietMs = 30;

/**
 * Discards what was typed before a question is shown, because it cannot be the answer. Resolves
 * when no input has arrived for a moment, at the end of input, and when the question is closed.
 */
export function discardTyped(stdin: CliIo['stdin'], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stdin.off('data', again).off('end', done).off('close', done);
      signal.removeEventListener('abort', done);
      stdin.pause();
      resolve();
    };
    const again = (): void => void timer.refresh();
    const timer = setTimeout(done, quietMs);
    if (signal.aborted || stdin.readableEnded || stdin.destroyed) return done();
    signal.addEventListener('abort', done, { once: true });
    stdin.on('end', done).on('close', done).on('data', again);
    stdin.resume();
  });
}

/** Reads one line. Undefined at the end of input, and when the question is closed. */
export function readLine(stdin: CliIo['stdin'], signal: AbortSignal): Promise<string | undefined> {
  // Input that has ended sends no further event.
  if (stdin.readableEnded || stdin.destroyed) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    // The terminal itself echoes and edits. Without raw mode, there is nothing to restore and
    // Ctrl-C remains a signal.
    const lines = createInterface({ input: stdin, terminal: false });
    const stop = (): void => lines.close();
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', stop);
      resolve(undefined);
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
