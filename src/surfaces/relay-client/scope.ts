/**
 * A scope holds timers, requests and handlers that must not outlive something. When it ends, they
 * all end.
 */
import { relayClientError } from './relay-client-error.ts';

/** A lifetime. */
export interface Scope {
  readonly ended: boolean;
  /** Why it ended; undefined before that. */
  readonly reason: unknown;
  /** Calls `stop` when it ends, or at once if it has ended. @returns removes `stop` */
  onEnd(stop: (reason: unknown) => void): () => void;
  /** Calls `run` after some milliseconds, unless the scope ends first. @returns cancels it */
  after(ms: number, run: () => void): () => void;
  /** Resolves after some milliseconds. Rejects with the reason if the scope ends first. */
  sleep(ms: number): Promise<void>;
  /** A scope that ends with this one, or earlier. */
  child(): Scope;
  /** Ends the scope. Only the first reason counts. */
  end(reason: unknown): void;
}

/** The longest time that a timer can wait, in milliseconds. A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export function createScope(): Scope {
  const stops = new Set<(reason: unknown) => void>();
  let ended = false;
  let reason: unknown;
  const scope: Scope = {
    get ended() {
      return ended;
    },
    get reason() {
      return reason;
    },
    onEnd(stop) {
      if (ended) stop(reason);
      else stops.add(stop);
      return () => {
        stops.delete(stop);
      };
    },
    after(ms, run) {
      if (ended) return () => {};
      const timer = setTimeout(
        () => {
          stops.delete(cancel);
          run();
        },
        Math.min(longestTimerMs, Math.max(0, ms)),
      );
      const cancel = (): void => {
        clearTimeout(timer);
        stops.delete(cancel);
      };
      stops.add(cancel);
      return cancel;
    },
    sleep(ms) {
      return new Promise((resolve, reject) => {
        const forget = scope.onEnd(reject);
        scope.after(ms, () => {
          forget();
          resolve();
        });
      });
    },
    child() {
      const child = createScope();
      const forget = scope.onEnd(child.end);
      child.onEnd(forget);
      return child;
    },
    end(why) {
      if (ended) return;
      ended = true;
      reason = why;
      for (const stop of [...stops]) stop(why);
      stops.clear();
    },
  };
  return scope;
}

/**
 * Runs something with a time limit. Rejects when the time is over or the scope ends, whether or not
 * `run` heeds its signal.
 */
export function within<T>(
  scope: Scope,
  ms: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const inner = scope.child();
    inner.onEnd((reason) => {
      reject(reason);
      controller.abort(reason);
    });
    inner.after(ms, () =>
      inner.end(relayClientError('timeout', `The relay did not answer within ${ms} ms.`)),
    );
    if (inner.ended) return;
    run(controller.signal).then(
      (value) => {
        resolve(value);
        inner.end(undefined);
      },
      (error: unknown) => {
        reject(error);
        inner.end(undefined);
      },
    );
  });
}

/** Calls a listener of the application, and ignores what it throws or rejects with. */
export function tell<Args extends readonly unknown[]>(
  listener: ((...args: Args) => unknown) | undefined,
  ...args: Args
): void {
  try {
    Promise.resolve(listener?.(...args)).catch(() => {});
  } catch {
    // An error of the listener must not disturb the connection.
  }
}
