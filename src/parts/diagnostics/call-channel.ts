/**
 * The tracing channel of calls, if the runtime has `node:diagnostics_channel`. The module is loaded
 * at run time, so that nothing imports a module that browsers lack.
 */

import type { ToolResult } from '../../api/result.ts';
import type { Publish } from '../../core/call/ports.ts';
import type { CallStatus } from '../../values/errors/index.ts';

/** What subscribers of `tracing:host-tools:call:*` get: one object for each call. */
interface CallMessage {
  readonly toolName: string;
  readonly sessionId: string;
  /** `""` if the session acts for no one. */
  readonly principal: string;
  /** From `asyncStart` on, like the next two. */
  callId?: string;
  status?: CallStatus;
  /** The code of the error; absent for a call that succeeded. */
  code?: string;
}

interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: object): void;
  runStores<T>(message: object, run: () => T): T;
}

interface CallChannel {
  readonly start: Channel;
  readonly end: Channel;
  readonly asyncStart: Channel;
  readonly asyncEnd: Channel;
}

interface Runtime {
  readonly process?: {
    getBuiltinModule?(name: string): { tracingChannel?(name: string): CallChannel } | undefined;
  };
}

const channel = openChannel();

function openChannel(): CallChannel | undefined {
  try {
    const diagnostics = (globalThis as Runtime).process?.getBuiltinModule?.(
      'node:diagnostics_channel',
    );
    return diagnostics?.tracingChannel?.('host-tools:call');
  } catch {
    // A runtime that only looks like Node has no channel.
    return undefined;
  }
}

/** What publishes calls, if anyone listens. */
export function subscribedChannel(): Publish | undefined {
  if (channel === undefined) return undefined;
  const { start, end, asyncStart, asyncEnd } = channel;
  return start.hasSubscribers ||
    end.hasSubscribers ||
    asyncStart.hasSubscribers ||
    asyncEnd.hasSubscribers
    ? (...call) => publishCall(channel, ...call)
    : undefined;
}

/** Runs a call inside the stores that are bound to the channel, and publishes its outcome. */
function publishCall(
  { start, end, asyncStart, asyncEnd }: CallChannel,
  ...[session, toolName, run]: Parameters<Publish>
): Promise<ToolResult> {
  const message: CallMessage = {
    toolName,
    sessionId: session.sessionId,
    principal: session.actor.principal,
  };
  return start.runStores(message, () => {
    const result = run();
    end.publish(message);
    // A call never rejects.
    void result.then((outcome) => {
      const { metadata } = outcome;
      const { callId, status } = metadata;
      const code = outcome.success ? undefined : outcome.error.code;
      // A subscriber may have frozen the message, or have added an accessor to it.
      describeMember(message, 'callId', callId);
      describeMember(message, 'status', status);
      if (code !== undefined) describeMember(message, 'code', code);
      asyncStart.publish(message);
      asyncEnd.publish(message);
    });
    return result;
  });
}

/** A member that cannot be set is left out: one subscriber must not break what the others get. */
function describeMember(message: CallMessage, name: keyof CallMessage, value: string): void {
  Reflect.defineProperty(message, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}
