/**
 * What foreign code can do to the process while it is looked at, caught: exits, exit codes,
 * rejections that nobody handles, exceptions that nobody catches.
 */
import { textOf } from './validate-foreign-code.ts';

/** Watches the process until it is released. */
export interface ProcessGuard {
  /** The calls of `process.exit` and the exit codes that were set, as text. */
  readonly exits: readonly string[];
  /** Rejections and exceptions that nobody took care of, as text. */
  readonly strays: readonly string[];
  /**
   * Waits until rejections of the last turns have come out, then leaves the process as it was
   * found.
   */
  release(): Promise<void>;
}

/** Our stand-in for `process.exit`. */
interface Stand {
  (code?: unknown): never;
  /** What it stands for, where it still does. */
  readonly original: typeof process.exit;
  active: boolean;
}

const stands = new WeakSet<object>();
/** Listeners of guards. One that is over no longer listens. */
const listening = new WeakSet<object>();

/** Whether a guard watches now. */
export function isValidating(): boolean {
  return process.listeners('uncaughtException').some((listener) => listening.has(listener));
}

/**
 * Begins to watch, until it is released or `signal` aborts: whoever interrupts wants to end the
 * process. Two guards at once are released in any order.
 */
export function guardProcess(signal?: AbortSignal): ProcessGuard {
  const exits: string[] = [];
  const strays: string[] = [];
  const { exitCode } = process;
  const rejected = (reason: unknown): void =>
    void strays.push(`Unhandled rejection: ${textOf(reason)}`);
  const thrown = (error: unknown): void => void strays.push(`Uncaught exception: ${textOf(error)}`);
  const stand: Stand = Object.assign(
    (code?: unknown): never => {
      if (!stand.active) return stand.original(code as number);
      exits.push(`process.exit(${code === undefined ? '' : textOf(code)}) was called.`);
      throw new Error('process.exit was called');
    },
    { original: process.exit, active: true },
  );
  stands.add(stand);
  process.exit = stand as unknown as typeof process.exit;
  process.on('unhandledRejection', rejected);
  process.on('uncaughtException', thrown);
  listening.add(thrown);

  const restore = (): void => {
    if (!stand.active) return;
    signal?.removeEventListener('abort', restore);
    process.off('unhandledRejection', rejected);
    process.off('uncaughtException', thrown);
    stand.active = false;
    if (process.exit === (stand as unknown)) process.exit = underneath(stand);
    if (process.exitCode === exitCode) return;
    exits.push(`process.exitCode was set to ${textOf(process.exitCode)}.`);
    process.exitCode = exitCode;
  };
  signal?.addEventListener('abort', restore);
  return {
    exits,
    strays,
    async release() {
      // Rejections come out after the microtasks of a turn; what they cause, a turn later.
      for (let turn = 0; turn < 3; turn++)
        await new Promise<void>((resolve) => void setImmediate(resolve));
      restore();
    },
  };
}

/** The nearest exit below that is not a stand-in of a guard that is over. */
function underneath(stand: Stand): typeof process.exit {
  let exit = stand.original;
  while (stands.has(exit) && !(exit as unknown as Stand).active)
    exit = (exit as unknown as Stand).original;
  return exit;
}
