/** The event of a verdict, for allowances and denials alike. */
import type { ToolEvents } from '../events.ts';
import type { Call } from '../state/call.ts';
import { deliver } from '../state/deliver.ts';

export function tellVerdict(call: Call): void {
  const { session, toolName, callId, verdict } = call;
  if (verdict === undefined || !session.hears('policy:check')) return;
  const { effect, ruleId, source, reason } = verdict;
  const { sessionId, registry } = session;
  const event: {
    -readonly [K in keyof ToolEvents['policy:check']]: ToolEvents['policy:check'][K];
  } & { type: string } = {
    type: 'policy:check',
    sessionId,
    // In the turn in which the call was announced it is still the same moment.
    at: session.toldOf === call && !call.waited ? session.toldAt : registry.now(),
    seq: ++session.seq,
    toolName,
    callId,
    effect,
  };
  if (ruleId !== undefined) event.ruleId = ruleId;
  if (source !== undefined) event.source = source;
  if (reason !== undefined) event.reason = reason;
  deliver(session, 'policy:check', event);
}
