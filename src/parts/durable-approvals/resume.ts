/**
 * Resumes a suspended call, in any process. Everything is checked again, and each record is used
 * once.
 */

import type { ApprovalAnswer, ApprovalRequest } from '../../api/approval.ts';
import type { CallOptions } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import { type ReadAnswer, readAnswer } from '../../core/approval/request.ts';
import { Call, type Resumed } from '../../core/call/call.ts';
import {
  type ReadCallOptions,
  readCallOptions,
  withSurface,
} from '../../core/call/call-options.ts';
import { countDenied, countEnd, countReason } from '../../core/call/counters.ts';
import { failureResult } from '../../core/call/end-call.ts';
import { callTool } from '../../core/call/spine.ts';
import type { ResumedCall } from '../../core/registry/ports.ts';
import { wholeRegistry } from '../../core/registry/registry-state.ts';
import type { Details } from '../../core/rules/verdict.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import { hasOwn } from '../../values/json/value.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { loggedError } from '../../values/logging.ts';
import { isOurs } from './chain-of-call.ts';
import { durableOf, durableSlot } from './durable-state.ts';
import { answerFor } from './login-answer.ts';
import { fourEyesMessage, isOwnAnswer } from './people.ts';
import { openRecord, type SuspendedCall } from './record.ts';
import { keepLease, keepOutcome } from './settle-approval.ts';
import { startOperation } from './store.ts';
import type { TokenClaims, TokenSigner } from './token.ts';
import { type GivenVoice, type Voice, type Weighed, weighAnswer } from './weigh-answer.ts';

/**
 * Answers a suspended call. Never rejects. Longer than 60 lines, since all that is taken is used up
 * in one order.
 * @param options Who resumes the call, for a surface. The call keeps its own id.
 * @param voice Through whom the answer comes.
 * @param isFollowed Whether to wait for the program that the call is part of, and return what has
 * become of that.
 */
export async function resumeCall(
  session: SessionState,
  token: string,
  answer: ApprovalAnswer,
  voice: Voice,
  options?: Pick<CallOptions, 'signal' | 'surface'>,
  isFollowed = true,
): Promise<ToolResult> {
  const registry = wholeRegistry(session.registry);
  const durable = durableSlot.of(registry);
  const signer = durable?.signer;
  const given = readCallOptions(options);
  const claims = signer?.verify(token);
  if (claims === undefined || signer === undefined || durable === undefined)
    return refuse(
      session,
      undefined,
      denied('token_invalid', 'The approval token is not genuine.'),
      given,
    );
  const problem = claimsProblem(session, claims);
  if (problem !== undefined) return refuse(session, claims, problem, given);
  // Read now, because the caller may change it while the store is asked. An unreadable answer
  // rejects the call.
  const read = readAnswer(answer, session.limits.maxInputBytes);
  if (durable.fourEyes && isOwnAnswer(session.principal, read?.by))
    return refuse(session, claims, denied('four_eyes', `Not answered: ${fourEyesMessage}`), given);
  const weighing = { token, claims, read: read ?? unknownAnswer, voice };
  const taken = await takeRecord(session, signer, weighing);
  if (hasOwn(taken, 'problem')) return refuse(session, claims, taken.problem, given);
  if (hasOwn(taken, 'missing')) return stillWaiting(claims, taken.missing);
  const { input, idempotencyKey, request, surface, scopes, trace } = taken.call;
  const { said, counted } = answerFor(request, { ...weighing.read, answers: taken.answers });
  const release = keepLease(registry, claims);
  const answered = keepOutcome(registry, claims, said, undefined);
  const details = detailsIn(request, registry.ports.details);
  const { id: approvalId, tool, fingerprint, source, callId } = claims;
  const result = await callTool(
    session,
    tool,
    input,
    withSurface(given, surface, sharedScopes(scopes, given?.surface?.scopes)),
    undefined,
    {
      approvalId,
      answer: counted,
      idempotencyKey,
      fingerprint,
      source,
      details,
      place: request,
      trace,
    },
    callId,
  );
  await answered;
  release();
  await keepOutcome(registry, claims, said, result);
  return (
    (await programOf(session, { callId, approvalId, result, via: given }, isFollowed)) ?? result
  );
}

/** What both the request that made the call and the one that answers it have been granted. */
function sharedScopes(
  made: readonly string[] | undefined,
  answered: readonly string[] | undefined,
): readonly string[] | undefined {
  return answered === undefined ? made : made?.filter((scope) => answered.includes(scope));
}

/** The answer of a person to whom others have to be added. */
function stillWaiting({ callId, tool }: TokenClaims, missing: number): ToolResult {
  const people = missing === 1 ? '1 more person' : `${missing} more people`;
  return {
    success: false,
    error: toolError('approval_pending', `Counted. At least ${people} must allow the call.`, {
      reason: 'approvers_missing',
      details: { missing },
    }),
    metadata: { callId, toolName: tool, status: 'pending', attempt: 2, durationMs: 0 },
  };
}

/** What has become of the program that a call was part of; undefined if nobody waits for that. */
async function programOf(
  session: SessionState,
  ended: ResumedCall,
  isFollowed: boolean,
): Promise<ToolResult | undefined> {
  const registry = wholeRegistry(session.registry);
  const failed = (error: unknown): undefined => {
    registry.hostFault(error, { source: 'code' }, 'a program could not go on');
  };
  // The session is needed until the program has ended, or waits for its next question.
  const release = (): void => durableOf(registry).suspending.release(ended.approvalId);
  try {
    const program = await registry.ports.resumed?.(session, ended);
    const going = (program?.result ?? Promise.resolve(undefined)).catch(failed).finally(release);
    return isFollowed ? await going : undefined;
  } catch (error) {
    release();
    return failed(error);
  }
}

/** Takes a question of this session back. Rejects if the store fails. */
export async function withdrawCall(session: SessionState, token: string): Promise<boolean> {
  const { approvals, signer, suspending } = durableOf(session.registry);
  const claims = signer?.verify(token);
  if (claims === undefined || !isOurs(session, claims)) return false;
  const taken = await withDeadline(
    startOperation(() => approvals.take(claims.id, 0)),
    session.registry.settings.policyTimeoutMs,
  );
  suspending.release(claims.id);
  return taken !== undefined;
}

/** What the person was shown besides the call. */
function detailsIn(request: ApprovalRequest, names: ReadonlySet<string>): Details | undefined {
  const lists = Object.entries(request).filter(([name]) => names.has(name));
  return lists.length === 0 ? undefined : (Object.fromEntries(lists) as Details);
}

/** Takes the call out of the store, and uses up its token. */
async function takeRecord(
  session: SessionState,
  signer: TokenSigner,
  given: GivenVoice,
): Promise<
  | { readonly call: SuspendedCall; readonly answers: Weighed['answers'] }
  | { readonly problem: ToolError }
  | { readonly missing: number }
> {
  const registry = wholeRegistry(session.registry);
  const { claims, token } = given;
  let weighed: Weighed = {};
  const { approvals, leaseMs } = durableOf(registry);
  let record: unknown;
  try {
    // This process may die once it has taken the call.
    const over = await registry.ports.resuming?.(session, claims.callId, claims.id);
    if (over !== undefined) return { problem: over };
    record = await withDeadline(
      startOperation(() =>
        approvals.take(claims.id, leaseMs, (found) => {
          weighed = weighAnswer(signer, found, given);
          return weighed.refusal === undefined ? weighed.kept : found;
        }),
      ),
      registry.settings.policyTimeoutMs,
    );
  } catch (error) {
    const message = 'Approvals cannot be read at the moment. Try again.';
    return { problem: storeFailed(session, token, error, message) };
  }
  if (record === undefined || record === null) return { problem: alreadyUsed() };
  const { refusal, missing, answers } = weighed;
  if (refusal !== undefined) return { problem: refusal };
  if (missing !== undefined) return { missing };
  const opened = openRecord(signer, record);
  if (opened === undefined || opened.claims.id !== claims.id || opened.token !== token)
    return {
      problem: denied('token_invalid', 'The stored call does not match the approval token.'),
    };
  const { usedTokens } = durableOf(registry);
  return usedTokens.use(claims.id, claims.expiresAt, registry.now())
    ? { call: opened.call, answers }
    : { problem: alreadyUsed() };
}

/** Why a genuine token cannot be answered in this session now. The store is not asked yet. */
function claimsProblem(session: SessionState, claims: TokenClaims): ToolError | undefined {
  if (session.closed || session.registry.closed)
    return toolError(
      'session_closed',
      'The session is closed. Create it again with the same id and principal, then resume.',
    );
  if (!isOurs(session, claims))
    return denied(
      'token_foreign',
      'The approval token belongs to another session, agent or principal.',
    );
  if (claims.expiresAt <= session.registry.now())
    return toolError('approval_timeout', 'The approval token has expired. Call the tool again.', {
      reason: 'expired',
    });
  const entry = session.entryOf(claims.tool);
  if (
    entry === undefined ||
    entry.fingerprint !== claims.fingerprint ||
    entry.source !== claims.source
  )
    return denied(
      'definition_changed',
      'The tool has changed since approval was requested. Call it again.',
    );
  // A batch may hold the id for a call that it has not started yet.
  if (
    session.calls.ids?.has(claims.callId) === true &&
    session.calls.ids.get(claims.callId)?.resumed?.approvalId !== claims.id
  )
    return toolError(
      'duplicate_call_id',
      `A call with the id \`${claims.callId}\` is in flight. Resume once it has ended; the token ` +
        'stays valid.',
    );
  return undefined;
}

function denied(reason: string, message: string): ToolError {
  return toolError('approval_denied', message, { reason });
}

function alreadyUsed(): ToolError {
  return denied('token_used', 'The approval token has already been used.');
}

function storeFailed(
  { registry, sessionId }: SessionState,
  token: string,
  thrown: unknown,
  message: string,
): ToolError {
  registry.hostFault(
    thrown,
    { sessionId, source: 'approval store' },
    'the approval store failed',
    (error) => loggedError(error, (text) => text.replaceAll(token, '[redacted]')),
  );
  return withCause(denied('store_unavailable', message), thrown);
}

const unknownAnswer: ReadAnswer = Object.freeze({
  allowed: false,
  always: false,
  by: undefined,
  message: 'The answer was not a known one.',
  input: undefined,
  grant: undefined,
});

/**
 * Refuses a resume. With a genuine token of this session, the refusal is counted and emitted as a
 * separate attempt. Nothing in a forged token can be trusted.
 */
function refuse(
  session: SessionState,
  claims: TokenClaims | undefined,
  error: ToolError,
  options: ReadCallOptions | undefined,
): ToolResult {
  const { code, reason } = error;
  const attempt: Resumed = {
    approvalId: claims?.id ?? '',
    answer: unknownAnswer,
    idempotencyKey: '',
    fingerprint: claims?.fingerprint ?? '',
    source: claims?.source ?? '',
    details: undefined,
    place: undefined,
    trace: undefined,
  };
  const call = new Call(
    session,
    claims?.tool ?? '',
    claims?.callId ?? '',
    undefined,
    options,
    undefined,
    attempt,
  );
  call.startedAt = session.registry.monotonic();
  const result = failureResult(call, error);
  // Events with an id that is in flight belong to that call, and a closed session emits none.
  if (
    claims !== undefined &&
    isOurs(session, claims) &&
    session.calls.ids?.has(claims.callId) !== true &&
    code !== 'session_closed'
  )
    emitRefusal(call, claims, result);
  else
    session.registry.warn(
      { session: session.sessionId, reason: reason ?? code },
      'an approval token was refused',
    );
  return result;
}

function emitRefusal(
  call: Call,
  { tool: toolName, callId, id: approvalId }: TokenClaims,
  result: ToolResult,
): void {
  if (result.success) return;
  const { session, surfaceName: surface } = call;
  const { error, metadata } = result;
  const { status, attempt, durationMs } = metadata;
  const { others } = session.counters();
  countEnd(others, status, durationMs);
  if (error.code === 'approval_denied') countDenied(others);
  const reason = error.reason ?? error.code;
  countReason(others, reason);
  if (session.hasListener('tool:pre'))
    session.emit('tool:pre', { toolName, callId, attempt, input: null }, surface);
  if (session.hasListener('approval:denied'))
    session.emit('approval:denied', { toolName, callId, approvalId, reason }, surface);
  if (session.hasListener('tool:error'))
    session.emit(
      'tool:error',
      { toolName, callId, input: null, error: { ...error }, status, durationMs },
      surface,
    );
  const { observers } = session.registry;
  call.more.question = { id: approvalId };
  observers?.ended(call, result);
}
