/**
 * The only place where a call ends. Its result is made, counted and announced once, everything that
 * it held is given back, and its promise resolves.
 */

import type { ResultMetadata, ToolResult } from '../../api/result.ts';
import { type CallStatus, codes, type ToolError } from '../../values/errors/index.ts';
import { type Call, isFound } from './call.ts';
import type { CallExtra } from './call-extra.ts';
import { unlink } from './calls-in-flight.ts';
import { countDenied, countEnd, countLate, countMatched, countReason } from './counters.ts';
import { copyFor, deliver } from './deliver.ts';
import { copiedError, postedResult } from './posted-result.ts';
import { giveBack, releaseAll } from './session-limits.ts';
import { shownInput } from './shown.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The result of a failed call. Its texts contain nothing that is hidden. */
export function failureResult(call: Call, error: ToolError): ToolResult {
  const { extra, session } = call;
  const { masking } = session.registry.ports.calls;
  const { status } = codes[error.code];
  return {
    success: false,
    error: masking?.error(call, error) ?? error,
    // `rejected` would say that the handler has not run.
    metadata: metadataOf(call, extra?.outcome?.withheld === true ? 'failed' : status),
  };
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
  const alongside = call.extra?.outcome?.alongside;
  if (alongside !== undefined) metadata.alongside = alongside.sent;
  return { success: true, output, metadata };
}

function metadataOf(call: Call, status: ResultMetadata['status']): Writable<ResultMetadata> {
  const { session, callId, toolName, attempt, entry, extra } = call;
  const durationMs = Math.max(0, session.registry.monotonic() - call.startedAt);
  const metadata: Writable<ResultMetadata> =
    // A tool that is hidden from this caller must look like an unknown name.
    entry === undefined || extra?.outcome?.hidden === true
      ? { callId, toolName, status, attempt, durationMs }
      : { callId, toolName, status, attempt, durationMs, fingerprint: entry.fingerprint };
  const outcome = extra?.outcome;
  if (outcome?.repaired !== undefined) metadata.repaired = outcome.repaired;
  if (outcome?.metadata !== undefined) Object.assign(metadata, outcome.metadata);
  return metadata;
}

/** Ends a call with an error. */
export function failCall(call: Call, error: ToolError): void {
  endCall(call, failureResult(call, error));
}

/** Ends a call with a result. Only the first end counts; a later one does nothing. */
export function endCall(call: Call, result: ToolResult): void {
  if (call.state === 'ended') return;
  const hasRun = call.state === 'shaping';
  call.state = 'ended';
  try {
    const { atReturn } = call.session.calls;
    if (hasRun && atReturn !== undefined) for (const tell of atReturn) tell(call, result);
    settleAccounts(call, result);
  } catch (error) {
    // Whatever fails here, the caller must get an answer.
    call.session.registry.hostFault(
      error,
      { callId: call.callId, toolName: call.toolName },
      'ending a call failed',
    );
  }
  call.extra?.traces?.ended(result);
  call.answer(result);
}

function settleAccounts(call: Call, result: ToolResult): void {
  const { session, extra } = call;
  const { registry } = session;
  session.events.lastAnnounced = undefined;
  if (call.dlList !== undefined) registry.waiting.deadlines.remove(call);
  unlink(call);
  const signal = call.options?.signal;
  if (signal !== undefined) registry.waiting.aborts.remove(signal, call);
  call.parent?.extra?.children?.delete(call);
  if (extra !== undefined) endExtra(call, extra, result);
  count(call, result);
  if (call.announced) {
    if (extra?.resumed?.answer !== undefined)
      emitSettled(call, extra.resumed.approvalId, result.metadata.status);
    tell(call, result);
    registry.observers?.ended(call, result);
  }
  if (call.counted) call.entry?.ended();
}

function endExtra(call: Call, extra: CallExtra, result: ToolResult): void {
  const { registry } = call.session;
  if (extra.idle?.dlList !== undefined) registry.waiting.deadlines.remove(extra.idle);
  const { cleanups, children } = extra;
  if (cleanups !== undefined) for (const cleanup of cleanups) cleanup(result);
  if (extra.holds !== undefined || extra.place !== undefined) {
    // A handler that outlives its call keeps its slots until it settles, but not forever.
    if (call.handlerLive) keepSlots(call, extra);
    else releaseAll(call);
  }
  if (!call.begun && isFound(call)) giveBack(call);
  if (children !== undefined)
    for (const child of [...children])
      registry.spine.cancelled(
        child,
        new DOMException('The call that made this call has ended.', 'AbortError'),
      );
  if (!result.success && (call.handlerLive || extra.controller !== undefined)) {
    const outcome = extra.ensureOutcome();
    outcome.aborted = true;
    extra.controller?.abort(outcome.abortReason);
  }
}

function keepSlots(call: Call, extra: CallExtra): void {
  const { registry } = call.session;
  const grace = {
    expire: () => releaseAll(call),
    dlPrev: undefined,
    dlNext: undefined,
    dlAt: 0,
    dlList: undefined,
  };
  extra.ensureOutcome().grace = grace;
  registry.waiting.deadlines.add(grace, registry.settings.graceMs, registry.monotonic());
}

/** Handles a handler that settles after its call has ended: gives its slots back and counts it. */
export function countLateSettle(call: Call, settled: 'returned' | 'threw'): void {
  const { session, toolName, callId } = call;
  const grace = call.extra?.outcome?.grace;
  if (grace?.dlList !== undefined) session.registry.waiting.deadlines.remove(grace);
  releaseAll(call);
  countLate(session.counters());
  if (session.hasListener('tool:late'))
    session.emit(
      'tool:late',
      {
        toolName,
        callId,
        settled,
        afterMs: Math.max(0, session.registry.monotonic() - call.more.ensureOutcome().endedAt),
      },
      call.surfaceName,
    );
}

function count(call: Call, result: ToolResult): void {
  const { session, binding, matched } = call;
  if (matched !== undefined) countMatched(matched);
  if (binding !== undefined) binding.counts ??= session.counters().tool(binding.entry);
  const counts = binding?.counts ?? session.counters().others;
  const { status, durationMs } = result.metadata;
  countEnd(counts, status, durationMs);
  if (result.success) return;
  const { error } = result;
  const { code } = error;
  if (code === 'policy_denied' || code === 'policy_error' || code === 'approval_denied')
    countDenied(counts);
  const reason = Object.hasOwn(error, 'reason') ? error.reason : undefined;
  countReason(counts, reason ?? code);
}

function tell(call: Call, result: ToolResult): void {
  const { session, toolName, callId } = call;
  const { durationMs, status } = result.metadata;
  if (result.success) {
    if (session.hasListener('tool:post') && isFound(call))
      deliver(session, 'tool:post', {
        type: 'tool:post',
        sessionId: session.sessionId,
        principal: session.actor.principal,
        actor: session.actor,
        surface: call.surfaceName,
        at: session.registry.now(),
        seq: ++session.events.seq,
        toolName,
        callId,
        result: postedResult(call, result),
        durationMs,
      });
    return;
  }
  const { error } = result;
  if (
    (error.code === 'policy_denied' || error.code === 'policy_error') &&
    session.hasListener('policy:violation')
  ) {
    const { reason = error.code, ruleId, source } = error;
    session.emit(
      'policy:violation',
      {
        toolName,
        callId,
        reason,
        ...(ruleId === undefined ? {} : { ruleId }),
        ...(source === undefined ? {} : { source }),
      },
      call.surfaceName,
    );
  }
  const logs = call.extra?.outcome?.metadata?.logs;
  if (session.hasListener('tool:error'))
    session.emit(
      'tool:error',
      {
        toolName,
        callId,
        input: copyFor(session, 'tool:error', shownInput(call)),
        error: copiedError(call.extra?.outcome?.unmasked ?? error),
        status,
        ...(logs === undefined ? {} : { logs }),
        durationMs,
      },
      call.surfaceName,
    );
}

/** @param id The approval request. */
export function emitSettled(call: Call, id: string, status: CallStatus): void {
  const { session, toolName, callId, extra } = call;
  if (!session.hasListener('approval:settled')) return;
  // A later question of the same call has its own answer.
  const told = extra?.question?.id === id ? extra.question : undefined;
  const { id: _, ...said } = told ?? { id };
  session.emit('approval:settled', { toolName, callId, id, ...said, status }, call.surfaceName);
}
