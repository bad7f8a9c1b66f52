/** Resuming a suspended call, also in another process: everything is checked again, and the record is given once. */
import { openRecord } from './approval/record.ts';
import { type ApprovalAnswer, readAnswer } from './approval/request.ts';
import type { TokenClaims } from './approval/token.ts';
import { type ToolError, toolError } from './errors.ts';
import type { ToolResult } from './result.ts';
import { Call } from './state/call.ts';
import type { SessionState } from './state/session-state.ts';
import { failureResult } from './call/record.ts';
import { callTool } from './pipeline/spine.ts';

/** Answers a suspended call. Resolves always. */
export async function resumeCall(session: SessionState, token: string, answer: ApprovalAnswer): Promise<ToolResult> {
  const { registry } = session;
  const claims = registry.signer?.verify(token);
  if (claims === undefined || registry.signer === undefined) return refuse(session, undefined, 'token_invalid', 'The approval token is not genuine.');
  if (session.closed || registry.closed) return refuse(session, claims, undefined, 'The session is closed. Create it again under the same id and principal, then resume.', 'session_closed');
  if (claims.sessionId !== session.sessionId || claims.principal !== session.principal) return refuse(session, claims, 'token_foreign', 'The approval token belongs to another session or principal.');
  if (claims.expiresAt <= registry.now()) return refuse(session, claims, 'expired', 'The approval token has expired. Call the tool again.', 'approval_timeout');
  const entry = session.entryOf(claims.tool);
  if (entry === undefined || entry.fingerprint !== claims.fingerprint || entry.source !== claims.source) return refuse(session, claims, 'definition_changed', 'The tool changed since it was asked about. Call it again.');
  let read: ReturnType<typeof readAnswer>;
  try {
    read = readAnswer(answer);
  } catch {
    // An answer that cannot be read rejects, like any unknown one.
  }
  let record: unknown;
  try {
    record = await registry.store.take(claims.id);
  } catch (error) {
    registry.warn({ session: session.sessionId, error: error instanceof Error ? error.name : typeof error }, 'the approval store failed');
    return refuse(session, claims, 'store_unavailable', 'Approvals cannot be read at the moment. Try again.');
  }
  if (record === undefined || record === null) return refuse(session, claims, 'token_used', 'The approval token was used before.');
  const opened = openRecord(registry.signer, record);
  if (opened === undefined || opened.claims.id !== claims.id || opened.token !== token) return refuse(session, claims, 'token_invalid', 'What was stored of the call is not what the token signed.');
  const { input, idempotencyKey } = opened.call;
  const resumed = {
    approvalId: claims.id,
    answer: read ?? { allowed: false, always: false, by: undefined, message: 'The answer was not one that is known.', input: undefined, grant: undefined },
    idempotencyKey,
    fingerprint: claims.fingerprint,
    source: claims.source,
  };
  return callTool(session, claims.tool, input, undefined, undefined, resumed, claims.callId);
}

function refuse(session: SessionState, claims: TokenClaims | undefined, reason: string | undefined, message: string, code: ToolError['code'] = 'approval_denied'): ToolResult {
  const call = new Call(session, claims?.tool ?? '', claims?.callId ?? '', undefined, undefined, undefined, undefined);
  call.startedAt = session.registry.monotonic();
  const { sessionId, registry } = session;
  // A forged token names nothing that can be believed, so only a genuine one is told as an event.
  if (claims !== undefined && claims.sessionId === sessionId && session.hears('approval:denied')) session.emit('approval:denied', { toolName: claims.tool, callId: claims.callId, approvalId: claims.id, reason: reason ?? code });
  else registry.warn({ session: sessionId, reason: reason ?? code }, 'an approval token was refused');
  return failureResult(call, toolError(code, message, { reason }));
}
