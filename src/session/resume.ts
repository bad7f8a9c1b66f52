/**
 * Resuming a suspended call, also in another process: everything is checked again, and the record
 * is given once.
 */
import { openRecord } from '../approval/record.ts';
import { type ApprovalAnswer, type ReadAnswer, readAnswer } from '../approval/request.ts';
import { inTime, startOperation } from '../approval/store.ts';
import type { TokenClaims } from '../approval/token.ts';
import { usedIn, usedMark } from '../approval/used-marks.ts';
import { failureResult } from '../call/end-call.ts';
import { callTool } from '../call/spine.ts';
import type { CallOptions } from '../context.ts';
import { type ToolError, toolError, withCause } from '../errors.ts';
import type { ToolResult } from '../result.ts';
import { Call, type Resumed } from '../state/call.ts';
import { readCallOptions } from '../state/call-options.ts';
import { countReason } from '../state/counters.ts';
import type { SessionState } from '../state/session-state.ts';

/**
 * Answers a suspended call. Resolves always. `options`: who resumes, for a surface; the call's id
 * stays its own.
 */
export async function resumeCall(
  session: SessionState,
  token: string,
  answer: ApprovalAnswer,
  options?: Pick<CallOptions, 'signal' | 'surface'>,
): Promise<ToolResult> {
  const { registry } = session;
  const { signer, store, policyTimeoutMs } = registry;
  const claims = signer?.verify(token);
  if (claims === undefined || signer === undefined)
    return refuse(session, undefined, 'token_invalid', 'The approval token is not genuine.');
  if (session.closed || registry.closed)
    return refuse(
      session,
      claims,
      undefined,
      'The session is closed. Create it again under the same id and principal, then resume.',
      'session_closed',
    );
  if (!isOurs(session, claims))
    return refuse(
      session,
      claims,
      'token_foreign',
      'The approval token belongs to another session or principal.',
    );
  if (claims.expiresAt <= registry.now())
    return refuse(
      session,
      claims,
      'expired',
      'The approval token has expired. Call the tool again.',
      'approval_timeout',
    );
  const entry = session.entryOf(claims.tool);
  if (
    entry === undefined ||
    entry.fingerprint !== claims.fingerprint ||
    entry.source !== claims.source
  )
    return refuse(
      session,
      claims,
      'definition_changed',
      'The tool changed since it was asked about. Call it again.',
    );
  // A batch may hold the id for a call that it has still to start.
  if (
    session.ids?.has(claims.callId) === true &&
    session.ids.get(claims.callId)?.resumed?.approvalId !== claims.id
  )
    return refuse(
      session,
      claims,
      undefined,
      `A call with the id \`${claims.callId}\` is in flight. Resume when it has ended; the ` +
        'token stays good.',
      'duplicate_call_id',
    );
  // Read now: whoever gave it may change it while the store is asked. One that cannot be read
  // rejects, like any unknown one.
  const read = readAnswer(answer, session.limits.maxInputBytes);
  let record: unknown;
  try {
    record = await inTime(
      startOperation(() => store.take(claims.id)),
      policyTimeoutMs,
    );
  } catch (error) {
    return storeFailed(
      session,
      claims,
      token,
      error,
      'Approvals cannot be read at the moment. Try again.',
    );
  }
  if (record === undefined || record === null)
    return refuse(session, claims, 'token_used', 'The approval token was used before.');
  const opened = openRecord(signer, record);
  if (opened === undefined || opened.claims.id !== claims.id || opened.token !== token)
    return refuse(
      session,
      claims,
      'token_invalid',
      'What was stored of the call is not what the token signed.',
    );
  if (!registry.usedTokens.use(claims.id, claims.expiresAt, registry.now()))
    return refuse(session, claims, 'token_used', 'The approval token was used before.');
  try {
    if (!(await markUsed(session, claims)))
      return refuse(session, claims, 'token_used', 'The approval token was used before.');
  } catch (error) {
    return storeFailed(
      session,
      claims,
      token,
      error,
      'The answer could not be recorded, so the call was not run. Call the tool again.',
    );
  }
  const { input, idempotencyKey } = opened.call;
  const resumed = {
    approvalId: claims.id,
    answer: read ?? unknownAnswer,
    idempotencyKey,
    fingerprint: claims.fingerprint,
    source: claims.source,
  };
  return callTool(
    session,
    claims.tool,
    input,
    readCallOptions(options),
    undefined,
    resumed,
    claims.callId,
  );
}

/**
 * Writes down that the token is used. False where somebody else has written it already: then the
 * record was put back. The mark is written before the others are looked for, so that of two
 * processes that were given the same record at least one sees the other.
 */
async function markUsed(
  { registry, sessionId }: SessionState,
  claims: TokenClaims,
): Promise<boolean> {
  const { store, policyTimeoutMs } = registry;
  const mark = usedMark(claims);
  await inTime(
    startOperation(() => store.put(mark)),
    policyTimeoutMs,
  );
  const records = await inTime(
    startOperation(() => store.list(sessionId)),
    policyTimeoutMs,
  );
  return !usedIn(records, mark.id).has(claims.id);
}

function storeFailed(
  session: SessionState,
  claims: TokenClaims,
  token: string,
  thrown: unknown,
  message: string,
): ToolResult {
  const { registry, sessionId } = session;
  registry.hostFault(
    thrown,
    { sessionId, source: 'approval store' },
    'the approval store failed',
    (text) => text.replaceAll(token, '[redacted]'),
  );
  return refused(
    session,
    claims,
    withCause(toolError('approval_denied', message, { reason: 'store_unavailable' }), thrown),
  );
}

const unknownAnswer: ReadAnswer = Object.freeze({
  allowed: false,
  always: false,
  by: undefined,
  message: 'The answer was not one that is known.',
  input: undefined,
  grant: undefined,
});

function isOurs(session: SessionState, { sessionId, principal }: TokenClaims): boolean {
  return sessionId === session.sessionId && principal === session.principal;
}

/**
 * Refuses a resume. One with a genuine token of this session is told and counted as an attempt of
 * its own; of a forged one nothing can be believed.
 */
function refuse(
  session: SessionState,
  claims: TokenClaims | undefined,
  reason: string | undefined,
  message: string,
  code: ToolError['code'] = 'approval_denied',
): ToolResult {
  return refused(session, claims, toolError(code, message, { reason }));
}

function refused(
  session: SessionState,
  claims: TokenClaims | undefined,
  error: ToolError,
): ToolResult {
  const { code, reason } = error;
  const attempt: Resumed = {
    approvalId: claims?.id ?? '',
    answer: unknownAnswer,
    idempotencyKey: '',
    fingerprint: claims?.fingerprint ?? '',
    source: claims?.source ?? '',
  };
  const call = new Call(
    session,
    claims?.tool ?? '',
    claims?.callId ?? '',
    undefined,
    undefined,
    undefined,
    attempt,
  );
  call.startedAt = session.registry.monotonic();
  const result = failureResult(call, error);
  // Events of a call id belong to the call in flight, and a closed session tells nothing more.
  if (
    claims !== undefined &&
    isOurs(session, claims) &&
    session.ids?.has(claims.callId) !== true &&
    code !== 'session_closed'
  )
    tellRefusal(session, claims, result);
  else
    session.registry.warn(
      { session: session.sessionId, reason: reason ?? code },
      'an approval token was refused',
    );
  return result;
}

function tellRefusal(
  session: SessionState,
  { tool: toolName, callId, id: approvalId }: TokenClaims,
  result: ToolResult,
): void {
  if (result.success) return;
  const { error, metadata } = result;
  const { status, attempt, durationMs } = metadata;
  const counters = session.counters();
  counters.unknown.calls++;
  counters.unknown[status]++;
  if (error.code === 'approval_denied') counters.unknown.denied++;
  const reason = error.reason ?? error.code;
  countReason(counters, reason);
  if (session.hears('tool:pre'))
    session.emit('tool:pre', { toolName, callId, attempt, input: null });
  if (session.hears('approval:denied'))
    session.emit('approval:denied', { toolName, callId, approvalId, reason });
  if (session.hears('tool:error'))
    session.emit('tool:error', { toolName, callId, error: { ...error }, status, durationMs });
}
