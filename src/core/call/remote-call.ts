/** What an executor that runs calls on other machines needs to know about a call. */
import type { ToolContext } from '../../api/context.ts';
import { HandlerContext } from './handler-context.ts';

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
export function remoteCall(context: ToolContext): RemoteCall | undefined {
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
