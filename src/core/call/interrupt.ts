/** Ends a call from outside: by its deadline, its signal, or the closing of its session. */

import { type ToolError, toolError } from '../../values/errors/index.ts';
import { inScope } from '../../values/limits/async-scope.ts';
import type { Call } from './call.ts';
import { callChild } from './call-child.ts';
import { failCall } from './end-call.ts';
import type { CallControl } from './session-port.ts';
import { shownNameOf } from './shown.ts';

/**
 * Whoever ends the call, such as a timer that several calls share, its listeners run in the call's
 * own async context.
 */
function stop(call: Call, error: ToolError, reason: unknown): void {
  if (call.ended) return;
  const outcome = call.more.ensureOutcome();
  outcome.abortReason = reason;
  outcome.endedAt = call.session.registry.monotonic();
  inScope(call.scope, () => failCall(call, error));
}

export const interrupts: CallControl = {
  callChild,
  expired(call, idleMs) {
    const seconds = (idleMs ?? call.timeoutMs) / 1000;
    const idle = idleMs === undefined ? '' : ' without progress';
    const message =
      `\`${shownNameOf(call)}\` timed out after ${seconds}s${idle}. ` +
      (call.state === 'gates'
        ? 'It has not run: it was still waiting to begin.'
        : 'It may have run; check before you call it again.');
    stop(
      call,
      toolError('timeout', message, { reason: idleMs === undefined ? 'timeout' : 'idle_timeout' }),
      new DOMException(message, 'TimeoutError'),
    );
  },
  cancelled(call, reason) {
    const text =
      call.state === 'gates'
        ? 'The call was cancelled before it started.'
        : 'The call was cancelled. The tool may have run.';
    stop(call, toolError('cancelled', text), reason);
  },
  closed(call) {
    stop(
      call,
      toolError('session_closed', 'The session was closed before the call ended.'),
      new DOMException('The session was closed.', 'AbortError'),
    );
  },
};
