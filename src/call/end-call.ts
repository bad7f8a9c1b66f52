/**
 * Record: the one place where a call ends. Counts it, tells of it once, gives everything back, and
 * resolves its promise.
 */
import { errorCodes, type ToolError, toolError, withCause } from '../errors.ts';
import { cloneJson, type JsonValue } from '../json.ts';
import { redacted } from '../redaction/spellings.ts';
import type { ResultMetadata, ToolResult } from '../result.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';
import { type Counters, countReason } from '../state/counters.ts';
import { copyFor, deliver, isShared } from '../state/deliver.ts';
import { scrubJson, scrubText } from './call-secrets.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The result of a failed call. Error text never holds a secret that came in with the call. */
export function failureResult(call: Call, error: ToolError): ToolResult {
  const { extra } = call;
  const metadata = metadataOf(call, errorCodes[error.code].status);
  if (extra === undefined) return { success: false, error, metadata };
  const result: Writable<ToolResult> = {
    success: false,
    error: extra.secrets === undefined || extra.secrets.none ? error : scrubError(call, error),
    metadata,
  };
  if (extra.pending !== undefined && error.code === 'approval_pending')
    Object.defineProperty(result, 'approval', { value: extra.pending, enumerable: false });
  return result as ToolResult;
}

export function successResult(
  call: Call,
  output: unknown,
  truncated: ResultMetadata['truncated'],
  handler: ResultMetadata['handler'],
): ToolResult {
  const metadata = metadataOf(call, 'succeeded');
  if (truncated !== undefined) metadata.truncated = truncated;
  if (handler !== undefined) metadata.handler = handler;
  return { success: true, output, metadata };
}

function metadataOf(call: Call, status: ResultMetadata['status']): Writable<ResultMetadata> {
  const { session, callId, toolName, attempt, entry, extra } = call;
  const durationMs = Math.max(0, session.registry.monotonic() - call.startedAt);
  const metadata: Writable<ResultMetadata> =
    // A tool that is not there for this caller must look like a name that nobody has.
    entry === undefined || extra?.hidden === true
      ? { callId, toolName, status, attempt, durationMs }
      : { callId, toolName, status, attempt, durationMs, fingerprint: entry.fingerprint };
  if (extra?.repaired !== undefined) metadata.repaired = extra.repaired;
  return metadata;
}

function scrubError(call: Call, error: ToolError): ToolError {
  const scrubbed: Writable<ToolError> = { ...error, message: scrubText(call, error.message) };
  if (Object.hasOwn(error, 'cause')) withCause(scrubbed, error.cause);
  if (error.reason !== undefined) scrubbed.reason = scrubText(call, error.reason);
  if (error.details !== undefined) scrubbed.details = scrubJson(call, error.details);
  return scrubbed;
}

/**
 * Ends a call with a result. The first end counts; a second finds the call ended and does nothing.
 */
export function endCall(call: Call, result: ToolResult, release: (call: Call) => void): void {
  if (call.state === 'ended') return;
  call.state = 'ended';
  try {
    settleAccounts(call, result, release);
  } catch (error) {
    // Whatever fails on the way out, the caller gets an answer.
    call.session.registry.hostFault(
      error,
      { callId: call.callId, toolName: call.toolName },
      'the end of a call met a fault',
    );
  }
  call.resolve(result);
}

function settleAccounts(call: Call, result: ToolResult, release: (call: Call) => void): void {
  const { session, binding, extra } = call;
  const { registry } = session;
  session.toldOf = undefined;
  registry.deadlines.remove(call);
  unlink(call);
  const signal = call.options?.signal;
  if (signal !== undefined) registry.aborts.remove(signal, call);
  if (session.ids !== undefined) session.ids.delete(call.callId);
  if (extra !== undefined) endExtra(call, extra, result, release);
  count(call, result, binding);
  if (call.announced) tell(call, result);
  if (call.counted) (call.entry as Binding['entry']).ended();
}

function endExtra(
  call: Call,
  extra: NonNullable<Call['extra']>,
  result: ToolResult,
  release: (call: Call) => void,
): void {
  const { registry } = call.session;
  if (extra.idle?.dlList !== undefined) registry.deadlines.remove(extra.idle);
  call.parent?.extra?.children?.delete(call);
  const { cleanups, children } = extra;
  if (cleanups !== undefined) for (const cleanup of cleanups) cleanup(result);
  if (extra.holds !== undefined) {
    // A handler that goes on after its call has ended keeps its slots until it settles, but not for
    // ever.
    if (call.handlerLive) keepSlots(call, release);
    else release(call);
  }
  if (children !== undefined)
    for (const child of [...children])
      registry.spine.cancelled(
        child,
        new DOMException('The call that made this call has ended.', 'AbortError'),
      );
  if (!result.success && (call.handlerLive || extra.controller !== undefined)) {
    extra.aborted = true;
    extra.controller?.abort(extra.abortReason);
  }
}

function keepSlots(call: Call, release: (call: Call) => void): void {
  const { registry } = call.session;
  const grace = {
    expire: () => release(call),
    dlPrev: undefined,
    dlNext: undefined,
    dlAt: 0,
    dlList: undefined,
  };
  call.more.grace = grace;
  registry.deadlines.add(grace, registry.graceMs, registry.monotonic());
}

/**
 * A handler settled after its call had ended: its slots come back, and the settling is counted and
 * told.
 */
export function countLateSettle(
  call: Call,
  settled: 'returned' | 'threw',
  release: (call: Call) => void,
): void {
  const { session, toolName, callId } = call;
  const grace = call.extra?.grace;
  if (grace?.dlList !== undefined) session.registry.deadlines.remove(grace);
  release(call);
  session.counters().lateSettles++;
  if (session.hears('tool:late'))
    session.emit('tool:late', {
      toolName,
      callId,
      settled,
      afterMs: Math.max(0, session.registry.monotonic() - call.more.endedAt),
    });
}

function count(call: Call, result: ToolResult, binding: Binding | undefined): void {
  const { session } = call;
  let counters: Counters = binding ?? session.counters().unknown;
  while (counters.heir !== undefined) counters = counters.heir;
  counters.calls++;
  const { status } = result.metadata;
  counters[status]++;
  if (result.success) return;
  const { code, reason } = result.error;
  if (code === 'policy_denied' || code === 'policy_error' || code === 'approval_denied')
    counters.denied++;
  countReason(session.counters(), reason ?? code);
}

function tell(call: Call, result: ToolResult): void {
  const { session, toolName, callId } = call;
  const { durationMs, status } = result.metadata;
  if (result.success) {
    if (session.hears('tool:post'))
      deliver(session, 'tool:post', {
        type: 'tool:post',
        sessionId: session.sessionId,
        at: session.registry.now(),
        seq: ++session.seq,
        toolName,
        callId,
        result: postedResult(call, result),
        durationMs,
      });
    return;
  }
  const { error } = result;
  if (error.code === 'policy_denied' || error.code === 'policy_error') {
    if (session.hears('policy:violation')) {
      const { reason = error.code, ruleId, source } = error;
      session.emit('policy:violation', {
        toolName,
        callId,
        reason,
        ...(ruleId === undefined ? {} : { ruleId }),
        ...(source === undefined ? {} : { source }),
      });
    }
  }
  if (session.hears('tool:error'))
    session.emit('tool:error', {
      toolName,
      callId,
      error: toldError(call.extra?.unmasked ?? error),
      status,
      durationMs,
    });
}

/** A copy of an error: the caller's may be changed by whoever has it. */
function toldError({
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

/** The result as events carry it: a copy, secrets hidden by the output schema and by value. */
function postedResult(call: Call, result: ToolResult & { success: true }): JsonValue {
  const { output, metadata } = result;
  const binding = call.binding as Binding;
  const hasSecrets = call.extra?.secrets?.none === false;
  let hidden = output as JsonValue;
  // Where an output was cut, half a secret may stand, and half a secret is not found.
  if (hasSecrets && metadata.truncated !== undefined) hidden = redacted;
  else if (hasSecrets || binding.secretive)
    hidden = scrubJson(call, hidden, binding.entry.outputRedactor(call.session.registry.redact));
  const { session } = call;
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
  // Written in one literal, which is several times cheaper to freeze than what is made by
  // spreading.
  const shown: Record<string, JsonValue> = {
    callId,
    toolName,
    status,
    attempt,
    durationMs,
    fingerprint: fingerprint as string,
  };
  if (repaired !== undefined) shown.repaired = copyFor(session, 'tool:post', repaired);
  if (truncated !== undefined) shown.truncated = copyFor(session, 'tool:post', truncated);
  if (handler !== undefined)
    shown.handler = copyFor(session, 'tool:post', scrubJson(call, handler));
  // Copied last: what is over the budget of redaction need not be copied.
  const told = { success: true, output: copyFor(session, 'tool:post', hidden), metadata: shown };
  if (isShared(session, 'tool:post')) {
    Object.freeze(shown);
    Object.freeze(told);
  }
  return told;
}

/** Puts a call on the list of calls in flight. */
export function link(call: Call): void {
  const { session } = call;
  const { registry } = session;
  const head = registry.calls;
  call.next = head;
  if (head !== undefined) head.previous = call;
  registry.calls = call;
  session.inFlight++;
}

function unlink(call: Call): void {
  const { session, previous, next } = call;
  const { registry } = session;
  if (previous === undefined) registry.calls = next;
  else previous.next = next;
  if (next !== undefined) next.previous = previous;
  call.previous = undefined;
  call.next = undefined;
  session.inFlight--;
  session.idled?.();
}
