/**
 * Catches what the host's code does to the process during validation: exits, exit codes, unhandled
 * rejections and uncaught exceptions.
 */
import { textOf } from './validate-checks.ts';

/** A guard of the process, until it is released. */
export interface ProcessGuard {
  /** The calls of `process.exit` and the exit codes that were set, as text. */
  readonly exits: readonly string[];
  /** Unhandled rejections and uncaught exceptions, as text. */
  readonly strays: readonly string[];
  /** Waits until Node has reported the rejections of the last turns. Then restores the process. */
  release(): Promise<void>;
}

/** The library's replacement for `process.exit`. */
interface Replacement {
  (code?: unknown): never;
  /** The function that it replaces, while its guard is active. */
  readonly original: typeof process.exit;
  active: boolean;
}

const replacements = new WeakSet<object>();
/** Listeners of active guards. */
const listening = new WeakSet<object>();

/** Whether a guard is active. */
export function isValidating(): boolean {
  return process.listeners('uncaughtException').some((listener) => listening.has(listener));
}

/**
 * Starts to guard the process, until it is released or `signal` aborts, because an interruption is
 * meant to end the process. Two guards at once can be released in any order.
 */
export function guardProcess(signal?: AbortSignal): ProcessGuard {
  const exits: string[] = [];
  const strays: string[] = [];
  const { exitCode } = process;
  const rejected = (reason: unknown): void =>
    void strays.push(`Unhandled rejection: ${textOf(reason)}`);
  const thrown = (error: unknown): void => void strays.push(`Uncaught exception: ${textOf(error)}`);
  const replacement: Replacement = Object.assign(
    (code?: unknown): never => {
      if (!replacement.active) return replacement.original(code as number);
      exits.push(`process.exit(${code === undefined ? '' : textOf(code)}) was called.`);
      throw new Error('process.exit was called');
    },
    { original: process.exit, active: true },
  );
  replacements.add(replacement);
  process.exit = replacement as typeof process.exit;
  process.on('unhandledRejection', rejected);
  process.on('uncaughtException', thrown);
  listening.add(thrown);

  const restore = (): void => {
    if (!replacement.active) return;
    signal?.removeEventListener('abort', restore);
    process.off('unhandledRejection', rejected);
    process.off('uncaughtException', thrown);
    replacement.active = false;
    if (process.exit === (replacement as unknown)) process.exit = underneath(replacement);
    if (process.exitCode === exitCode) return;
    exits.push(`process.exitCode was set to ${textOf(process.exitCode)}.`);
    process.exitCode = exitCode;
  };
  signal?.addEventListener('abort', restore);
  return {
    exits,
    strays,
    async release() {
      // Node reports rejections after the microtasks of a turn, and those that follow a turn later.
      for (let turn = 0; turn < 3; turn++)
        await new Promise<void>((resolve) => void setImmediate(resolve));
      restore();
    },
  };
}

/** The nearest replaced function that does not belong to a released guard. */
function underneath(replacement: Replacement): typeof process.exit {
  let exit = replacement.original;
  while (replacements.has(exit) && !(exit as Replacement).active)
    exit = (exit as Replacement).original;
  return exit;
}
