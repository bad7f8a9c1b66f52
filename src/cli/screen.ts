/**
 * Standard error: notes, one line each. On a terminal also the progress of a call, which is wiped
 * before anything else is written.
 */
import type { CliIo } from './cli-io.ts';
import { printable } from './printable.ts';

/** One step of a call's progress. */
export interface Progress {
  readonly tool: string;
  readonly done: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** Writes to standard error. */
export interface Screen {
  /** Whether lines can be drawn over. */
  readonly animated: boolean;
  /** Writes one line. Line breaks in the text are escaped. While a question is open, it waits. */
  note(text: string): void;
  /**
   * Shows progress, at most ten times per second. The last state is always shown. Does nothing
   * without a terminal.
   */
  progress(progress: Progress): void;
  /** Wipes the progress. */
  clear(): void;
  /**
   * Writes a question, which must be printable. Everything else waits until the returned function
   * is called. Pass true to it if the answer has ended the line.
   */
  ask(text: string): (broken: boolean) => void;
  /** Emphasises printable text on a terminal with colours. */
  strong(text: string): string;
}

/** A clock that tests can replace. */
export interface ScreenClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Runs something later, once. Returns a function that cancels it. Keeps no process alive. */
  later(run: () => void, ms: number): () => void;
}

const frameMs = 100;
const frames = ['-', '\\', '|', '/'];
const barWidth = 20;
const realClock: ScreenClock = {
  now: () => performance.now(),
  later: (run, ms) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Creates the screen of one run. Longer than 60 lines, since its methods share what is drawn and
 * what is held back.
 */
export function createScreen(
  { stderr, env }: Pick<CliIo, 'stderr' | 'env'>,
  clock: ScreenClock = realClock,
): Screen {
  const animated = stderr.isTTY === true && env.TERM !== 'dumb';
  const coloured = animated && (env.NO_COLOR ?? '') === '';
  let drawn = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let frame = 0;
  let next: Progress | undefined;
  let cancel: (() => void) | undefined;
  let held: string[] | undefined;

  const clear = (): void => {
    cancel?.();
    cancel = undefined;
    next = undefined;
    if (drawn) stderr.write('\r\x1b[2K');
    drawn = false;
  };
  const draw = (): void => {
    cancel = undefined;
    if (next === undefined || held !== undefined) return;
    // Some terminals report zero columns.
    stderr.write(
      `\r\x1b[2K${lineOf(next, frames[frame++ % frames.length] as string, stderr.columns || 80)}`,
    );
    next = undefined;
    drawn = true;
    drawnAt = clock.now();
  };
  return {
    animated,
    note(text) {
      const line = `${printable(text)}\n`;
      if (held !== undefined) {
        held.push(line);
        return;
      }
      clear();
      stderr.write(line);
    },
    progress(progress) {
      if (!animated) return;
      next = progress;
      const wait = drawnAt + frameMs - clock.now();
      if (wait <= 0) draw();
      else cancel ??= clock.later(draw, wait);
    },
    clear,
    ask(text) {
      clear();
      stderr.write(text);
      held = [];
      return (broken) => {
        if (!broken) stderr.write('\n');
        const lines = held ?? [];
        held = undefined;
        for (const line of lines) stderr.write(line);
      };
    },
    strong: (text) => (coloured ? `\x1b[1m${text}\x1b[22m` : text),
  };
}

function lineOf({ tool, done, total, message }: Progress, spinner: string, width: number): string {
  const said = message === undefined ? '' : ` ${printable(message)}`;
  let line = `${spinner} ${printable(tool)} ${done}${said}`;
  if (total !== undefined && total > 0) {
    const part = Math.min(1, Math.max(0, done / total));
    const filled = Math.round(part * barWidth);
    line =
      `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${Math.floor(part * 100)}% ` +
      `${printable(tool)} ${done}/${total}${said}`;
  }
  // One short of the width: a full line would wrap, and only its last row could be wiped.
  return [...line].slice(0, Math.max(1, width - 1)).join('');
}
