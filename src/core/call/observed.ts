/** What observers of calls are told. */

import type { ToolResult } from '../../api/result.ts';
import { toldActor } from './actor.ts';
import type { Call } from './call.ts';
import type { CallRecord } from './call-observers.ts';
import { shownInput } from './shown.ts';

/**
 * The record of a call for its observers.
 * @param result Absent where the call is about to start.
 */
export function recordOf(call: Call, result: ToolResult | undefined): CallRecord {
  const { session, entry, verdict, extra } = call;
  const { registry } = session;
  const error = result === undefined || result.success ? undefined : result.error;
  const known = entry ?? session.entryOf(call.toolName);
  const record = {
    at: registry.now(),
    callId: call.callId,
    attempt: call.attempt,
    parentCallId: call.caller?.callId,
    sessionId: session.sessionId,
    principal: session.actor.principal,
    actor: toldActor(session.actor),
    surface: call.surfaceName,
    unasked: call.surface?.unasked === true || undefined,
    tool: call.toolName,
    source: known?.source,
    executor: known?.internals.runsIn,
    version: known?.definition.version,
    fingerprint: known?.fingerprint,
    input: shownInput(call),
    ruleId: error?.ruleId ?? verdict?.ruleId,
    decidedBy: error?.source ?? verdict?.source,
    reason: error?.reason ?? verdict?.reason,
    approval: extra?.question,
    status: result?.metadata.status,
    code: error?.code,
    durationMs: result?.metadata.durationMs ?? Math.max(0, registry.monotonic() - call.startedAt),
  };
  const more = registry.ports.calls.notes?.of(call);
  return more === undefined ? record : Object.assign(record, more);
}
