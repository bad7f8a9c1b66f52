/**
 * Writes to the host's logger, and prepares thrown errors for it, with stack and without secrets.
 */
import { messageOf } from './errors/index.ts';
import { ignoreRejection } from './maybe-promise.ts';

/** A logger in pino's style: data first, message second. */
type Sink = {
  readonly [level in 'debug' | 'info' | 'warn' | 'error']?: (
    data: object,
    message?: string,
  ) => unknown;
};

/**
 * Writes to a logger. If it is missing, throws or rejects, the caller is not affected. A
 * MisuseError in `data.err` says what to correct, and many loggers show only the code of an error,
 * so its text is in the message too.
 */
export function logTo(
  logger: object | undefined,
  level: 'debug' | 'info' | 'warn' | 'error',
  data: object,
  message: string,
): void {
  try {
    const { err } = data as { readonly err?: unknown };
    const isMisuse = err instanceof Error && err.name === 'MisuseError';
    const text = isMisuse ? `${message}: ${err.message}` : message;
    ignoreRejection((logger as Sink | undefined)?.[level]?.(data, text));
  } catch {
    // A failing logger cannot be reported anywhere.
  }
}

/**
 * Warns of a mistake in how a registry was set up. Without a logger it is a warning of the process,
 * so that a rule that guards nothing does not go unnoticed.
 */
export function caution(
  { logger }: { readonly logger: object | undefined },
  data: object,
  message: string,
): void {
  if (logger !== undefined) return logTo(logger, 'warn', data, message);
  // Some runtimes have no process, or one that cannot warn.
  globalThis.process?.emitWarning?.(message, 'HostToolsWarning');
}

/** The error to log for what was thrown: an error as it is, anything else wrapped in one. */
export function errorToLog(thrown: unknown): Error {
  try {
    return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
  } catch {
    return unreadable();
  }
}

/** The value is a revoked proxy, or has getters that throw. */
function unreadable(): Error {
  return new Error('an error that cannot be shown');
}

/** How many levels of `cause` are kept. */
const maxCauses = 4;

/**
 * The error to log for what was thrown. With `scrub`, it is a copy with scrubbed name, message,
 * stack, code and causes. Other members are left out, since they may contain anything.
 */
export function loggedError(
  thrown: unknown,
  scrub: ((text: string) => string) | undefined,
): unknown {
  return scrub === undefined ? errorToLog(thrown) : copyOf(thrown, scrub, maxCauses);
}

function copyOf(thrown: unknown, scrub: (text: string) => string, causes: number): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(scrub(messageOf(thrown)));
    const { name, stack, cause } = thrown;
    const { code } = thrown as { code?: unknown };
    const copy = new Error(
      scrub(messageOf(thrown)),
      cause === undefined || causes === 0 ? undefined : { cause: copyOf(cause, scrub, causes - 1) },
    );
    const define = (key: string, value: unknown): unknown =>
      Object.defineProperty(copy, key, {
        value,
        enumerable: key === 'code',
        configurable: true,
        writable: true,
      });
    if (typeof name === 'string') define('name', scrub(name));
    define('stack', typeof stack === 'string' ? scrub(stack) : copy.message);
    if (typeof code === 'string' || typeof code === 'number')
      define('code', typeof code === 'string' ? scrub(code) : code);
    return copy;
  } catch {
    return unreadable();
  }
}
