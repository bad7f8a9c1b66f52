/**
 * What lives only as long as something else: timers, requests, handlers. When a scope ends, nothing
 * of it is left.
 */
import { relayClientError } from './relay-client-error.ts';

/** A span of life. */
export interface Scope {
  readonly ended: boolean;
  /** Why it ended; undefined before. */
  readonly reason: unknown;
  /** Calls `stop` when it ends, or at once where it has. @returns forgets it */
  onEnd(stop: (reason: unknown) => void): () => void;
  /** Calls `run` after so many milliseconds, unless it ends before. @returns cancels */
  after(ms: number, run: () => void): () => void;
  /** Resolves after so many milliseconds; rejects with the reason when it ends. */
  sleep(ms: number): Promise<void>;
  /** One that ends with this one, or before. */
  child(): Scope;
  /** Ends it; the first reason stays. */
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
 * Does something that can be stopped, within a time: rejects when the time is over or the scope
 * ends, whether or not `run` heeds its signal.
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

/**
 * Calls what the application gave us: neither what it throws nor what it rejects with comes back.
 */
export function tell<Args extends readonly unknown[]>(
  listener: ((...args: Args) => unknown) | undefined,
  ...args: Args
): void {
  try {
    Promise.resolve(listener?.(...args)).catch(() => {});
  } catch {
    // The listener's own affair.
  }
}
