/** The result of a call as events carry it: a copy, without what is hidden. */

import type { ToolResult } from '../../api/result.ts';
import { type ToolError, toolError } from '../../values/errors/index.ts';
import { cloneJson, type JsonValue } from '../../values/json/index.ts';
import type { FoundCall } from './call.ts';
import { copyFor, isShared } from './deliver.ts';
import { shownJson } from './shown.ts';

/** A copy of an error, because the caller may change its own. */
export function copiedError({
  code,
  message,
  reason,
  ruleId,
  source,
  retryable,
  details,
}: ToolError): ToolError {
  return toolError(code, message, {
    reason,
    ruleId,
    source,
    retryable,
    details: details === undefined ? undefined : cloneJson(details),
  });
}

/** A copy of a result, without what is hidden. */
export function postedResult(call: FoundCall, result: ToolResult & { success: true }): JsonValue {
  const { output, metadata } = result;
  const { session } = call;
  const { masking } = session.registry.ports.calls;
  const hide = (value: JsonValue, isCut: boolean): JsonValue =>
    masking === undefined ? value : masking.output(call, value, isCut);
  const hidden = hide(output as JsonValue, metadata.truncated !== undefined);
  const {
    callId,
    toolName,
    status,
    attempt,
    durationMs,
    fingerprint,
    repaired,
    truncated,
    handler,
  } = metadata;
  // One literal: an object made by spreading costs several times as much to freeze.
  const shown: Record<string, JsonValue> = {
    callId,
    toolName,
    status,
    attempt,
    durationMs,
    fingerprint: fingerprint as string,
  };
  if (repaired !== undefined) shown.repaired = copyFor(session, 'tool:post', repaired);
  if (call.extra?.outcome?.metadata !== undefined)
    Object.assign(shown, call.extra.outcome.metadata);
  if (truncated !== undefined) shown.truncated = copyFor(session, 'tool:post', truncated);
  if (handler !== undefined)
    shown.handler = copyFor(session, 'tool:post', shownJson(call, handler));
  const alongside = call.extra?.outcome?.alongside;
  if (alongside !== undefined)
    shown.alongside = copyFor(session, 'tool:post', alongside.hidden(hide));
  // Copied last: an output that is hidden as a whole needs no copy.
  const posted = { success: true, output: copyFor(session, 'tool:post', hidden), metadata: shown };
  if (isShared(session, 'tool:post')) {
    Object.freeze(shown);
    Object.freeze(posted);
  }
  return posted;
}
