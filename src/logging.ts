/** What a host's own code threw, as logs get it: with its stack, and without secrets. */
import { messageOf } from './errors.ts';
import { ignoreRejection } from './maybe-promise.ts';

/**
 * A sink in pino's style: data first, message second. It may throw or reject; that affects nothing.
 */
type Sink = {
  readonly [level in 'debug' | 'info' | 'warn' | 'error']?: (
    data: object,
    message?: string,
  ) => unknown;
};

/**
 * Writes to a logger that may be missing, throw or reject: a sink never affects the work it reports
 * on.
 */
export function logTo(
  logger: object | undefined,
  level: 'debug' | 'info' | 'warn' | 'error',
  data: object,
  message: string,
): void {
  try {
    ignoreRejection((logger as Sink | undefined)?.[level]?.(data, message));
  } catch {
    // Nobody is left to tell.
  }
}

/** How many causes of causes are kept. */
const mostCauses = 4;

/**
 * The error to log for what was thrown. Without secrets it is the very thing that was thrown, if
 * that is an error; what is no error is wrapped in one. With secrets it is a copy: name, message,
 * stack, code and causes, each scrubbed. Other members are left out, for they may hold anything.
 */
export function loggedError(
  thrown: unknown,
  scrub: ((text: string) => string) | undefined,
): unknown {
  return copyOf(thrown, scrub, mostCauses);
}

function copyOf(
  thrown: unknown,
  scrub: ((text: string) => string) | undefined,
  causes: number,
): Error {
  try {
    if (!(thrown instanceof Error)) {
      const text = messageOf(thrown);
      return new Error(scrub === undefined ? text : scrub(text));
    }
    if (scrub === undefined) return thrown;
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
    // A revoked proxy, or getters that throw.
    return new Error('an error that cannot be shown');
  }
}
