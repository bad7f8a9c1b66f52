/** A call as its executor sees it, beside the context that handlers get. */

import { HandlerContext } from '../core/call/handler-context.ts';
import { type Stop, stopOf } from '../core/call/stop-of.ts';
import { traceContextOf } from '../core/call/traced.ts';
import type { ToolContext, TraceContext } from '../core.ts';

/** A call that an executor runs. */
export interface RunningCall {
  /** Whether the call has ended, although its handler has not. */
  readonly stopped: boolean;
  /** Why the call was stopped. Undefined if it was not. */
  readonly reason: unknown;
  /** Calls back once, when the call is stopped. It costs much less than `context.signal`. */
  watch(stopped: () => void): void;
  /** Cancels the callback. */
  unwatch(stopped: () => void): void;
  /**
   * Runs code in the async context of the call. A message about the call, such as its progress,
   * arrives in the context of the connection, which may be that of another call.
   */
  within<T>(run: () => T): T;
  /**
   * What another machine has to know to run the call: the fingerprint of the definition for which
   * it was judged, whether it may run again if its outcome is unknown, and the milliseconds until
   * it times out. Undefined if the context is not one that the library has given to an executor.
   */
  readonly remote: RemoteCall | undefined;
  /** The call's place in a trace, to be sent along. Undefined if no tracer follows the call. */
  readonly trace: TraceContext | undefined;
}

/**
 * Follows the call behind the context that an executor was given.
 *
 * @example
 * ```ts
 * import type { Executor } from 'host-tools';
 * import { runningCall } from 'host-tools/extend';
 *
 * declare function send(input: object): { answer: Promise<unknown>; cancel(): void };
 * const executor: Executor = {
 *   kind: 'remote',
 *   async execute(input, context) {
 *     const call = runningCall(context);
 *     const { answer, cancel } = send(input);
 *     call.watch(cancel); // the caller has left, or the time is over
 *     return await answer;
 *   },
 * };
 * ```
 */
export function runningCall(context: Pick<ToolContext, 'signal'>): RunningCall {
  return new ContextCall(context);
}

class ContextCall implements RunningCall {
  readonly #context: Pick<ToolContext, 'signal'>;
  readonly #stop: Stop;

  constructor(context: Pick<ToolContext, 'signal'>) {
    this.#context = context;
    this.#stop = stopOf(context);
  }

  get stopped(): boolean {
    return this.#stop.stopped;
  }

  get reason(): unknown {
    return this.#stop.reason;
  }

  watch(stopped: () => void): void {
    this.#stop.watch(stopped);
  }

  unwatch(stopped: () => void): void {
    this.#stop.unwatch(stopped);
  }

  within<T>(run: () => T): T {
    return this.#stop.within(run);
  }

  get remote(): RemoteCall | undefined {
    return remoteCall(this.#context as ToolContext);
  }

  get trace(): TraceContext | undefined {
    return traceContextOf(this.#context as ToolContext);
  }
}

/** The call as another machine needs to know it. */
export interface RemoteCall {
  /** The fingerprint of the definition for which the call was judged. */
  readonly fingerprint: string;
  /** Whether the call may run again if its outcome is unknown. */
  readonly idempotent: boolean;
  /** Milliseconds until the call times out. */
  readonly leftMs: number;
  /** Characters of the output that a model may get; Infinity without a budget. */
  readonly maxOutputChars: number;
}

/** Undefined if the context is not one that the library gave to a handler. */
function remoteCall(context: ToolContext): RemoteCall | undefined {
  const call = HandlerContext.callOf(context);
  if (call === undefined) return undefined;
  const { definition } = call.binding.entry.internals;
  return {
    fingerprint: definition.fingerprint,
    idempotent: definition.annotations.idempotent === true,
    leftMs:
      context.deadline === undefined ? Infinity : context.deadline - call.session.registry.now(),
    maxOutputChars: call.binding.maxOutputChars,
  };
}
