/**
 * Whether a call was ended early, and its async context, for executors. Creating a signal would
 * make a call much more expensive.
 */

import type { ToolContext } from '../../api/context.ts';
import { currentScope, inScope } from '../../values/limits/async-scope.ts';
import type { FoundCall } from './call.ts';
import { HandlerContext } from './handler-context.ts';

/** The same information as `context.signal`, without the signal. */
export interface Stop {
  /** The call has ended, although its handler has not. */
  readonly stopped: boolean;
  /** Why the call was stopped. Undefined if it was not. */
  readonly reason: unknown;
  /** Calls back once, when the call is stopped. */
  watch(stopped: () => void): void;
  /** Cancels the callback. */
  unwatch(stopped: () => void): void;
  /**
   * Runs code in the async context of the call. A message about the call, such as its progress,
   * arrives in the context of the connection, which may be that of another call.
   */
  within<T>(run: () => T): T;
}

/**
 * Follows the call behind a context. If a context only looks like one of a handler, its signal is
 * used.
 */
export function stopOf(context: Pick<ToolContext, 'signal'>): Stop {
  const call = HandlerContext.callOf(context);
  return call === undefined ? new SignalStop(context.signal) : new CallStop(call);
}

class CallStop implements Stop {
  readonly #call: FoundCall;

  constructor(call: FoundCall) {
    this.#call = call;
  }

  get stopped(): boolean {
    return this.#call.ended;
  }

  get reason(): unknown {
    const outcome = this.#call.more.ensureOutcome();
    // The reason of a signal that is aborted without one.
    outcome.abortReason ??= new DOMException('This operation was aborted', 'AbortError');
    return outcome.abortReason;
  }

  watch(stopped: () => void): void {
    this.#call.onEnd(stopped);
  }

  unwatch(stopped: () => void): void {
    this.#call.offEnd(stopped);
  }

  within<T>(run: () => T): T {
    return inScope(this.#call.scope, run);
  }
}

class SignalStop implements Stop {
  readonly #signal: AbortSignal;
  readonly #scope = currentScope();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get stopped(): boolean {
    return this.#signal.aborted;
  }

  get reason(): unknown {
    return this.#signal.reason;
  }

  watch(stopped: () => void): void {
    this.#signal.addEventListener('abort', stopped, { once: true });
  }

  unwatch(stopped: () => void): void {
    this.#signal.removeEventListener('abort', stopped);
  }

  within<T>(run: () => T): T {
    return inScope(this.#scope, run);
  }
}
