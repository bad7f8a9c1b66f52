/** Suspends a call until a person answers. Another process may then resume it. */
import { randomUUID } from 'node:crypto';
import type { ApprovalRequest } from '../../core/approval/request.ts';
import {
  rejected,
  storeUnavailable,
  tooLongApprovals,
  tooManyApprovals,
} from '../../core/call/approval-outcome.ts';
import { announceQuestion, requestFor } from '../../core/call/approval-question.ts';
import { defaultMaxPending } from '../../core/call/ask-approver.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { tellSeparateStores } from '../../core/call/separate-stores.ts';
import { shownNameOf } from '../../core/call/shown-name.ts';
import type { Outcome } from '../../core/call/step.ts';
import { joinDetails, type Verdict } from '../../core/rules/verdict.ts';
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { ApprovalDesk, Suspension } from './desk.ts';
import { waitingOf } from './pending-approvals.ts';
import { sealRecord } from './record.ts';
import { inTime, startOperation } from './store.ts';
import type { TokenSigner } from './token.ts';

/** Stores the call, gives the token to the host alone, and ends the call as pending. */
export async function suspend(
  call: FoundCall,
  verdict: Verdict,
  desk: ApprovalDesk,
): Promise<Outcome> {
  const { session } = call;
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  if (desk.suspending.size >= limit) return tooManyApprovals(limit);
  // Suspensions that started earlier count, even if their records are not listed yet.
  const ahead = [...desk.suspending];
  const own: Suspension = { id: randomUUID(), refused: false, bytes: bytesOf(call) };
  desk.suspending.add(own);
  try {
    const crowded = await lacksRoom(call, ahead, own.bytes);
    own.refused = true;
    if (crowded !== undefined) return crowded;
    if (call.ended) return undefined;
    const question = requestFor(call, withAgreed(call, verdict), own.id, session.registry.ttlMs);
    if (!question.askable)
      return rejected(call, undefined, question.reason, undefined, question.message);
    own.refused = false;
    call.more.approval = { id: question.request.id };
    if (!(await store(call, question.request, own))) return undefined;
    tellSeparateStores(call);
  } catch (error) {
    own.refused = true;
    reportFault(call, error, 'approvals.store', 'the approval store failed');
    return withCause(
      rejected(call, undefined, 'store_unavailable', undefined, storeUnavailable),
      error,
    );
  } finally {
    desk.suspending.delete(own);
  }
  return toolError(
    'approval_pending',
    `The call to \`${shownNameOf(call)}\` is waiting for a person's approval. Do not retry it; ` +
      'continue with other work, or stop and say that it is waiting.',
    { reason: 'approval_required' },
  );
}

/** A record has the input as it will run, and as it is shown. */
function bytesOf({ canonical }: FoundCall): number {
  return 2 * Buffer.byteLength(JSON.stringify(canonical));
}

/**
 * Why no further call can wait for approval. Rejects if the store fails.
 * @param ahead the calls of this session that are being suspended
 */
export async function lacksRoom(
  call: FoundCall,
  ahead: readonly Readonly<Suspension>[],
  bytes = bytesOf(call),
): Promise<ToolError | undefined> {
  const { session } = call;
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  const waiting = await waitingOf(session, limit);
  const { ids } = waiting;
  let together = waiting.bytes + bytes;
  for (const other of ahead) {
    if (other.refused || ids.has(other.id)) continue;
    ids.add(other.id);
    together += other.bytes;
  }
  if (ids.size >= limit) return tooManyApprovals(limit);
  return together > session.registry.maxApprovalBytes ? tooLongApprovals() : undefined;
}

/**
 * What a person has already agreed to is shown again, because the resumed call knows only its own
 * record.
 */
function withAgreed({ extra }: FoundCall, verdict: Verdict): Verdict {
  const agreed = extra?.agreed;
  if (agreed === undefined) return verdict;
  return { ...verdict, details: joinDetails(agreed, verdict.details) };
}

/**
 * Stores the record and announces the question. False if the call ended meanwhile; the record is
 * then taken out of the store again, so that no one can answer it.
 */
async function store(call: FoundCall, request: ApprovalRequest, own: Suspension): Promise<boolean> {
  const { session } = call;
  const { registry, principal } = session;
  const { signer, store, policyTimeoutMs } = registry;
  // A session is only created with `approvalMode: "suspend"` if it has a signer and a principal.
  const { record, token } = sealRecord(signer as TokenSigner, {
    request,
    principal: principal as string,
    input: call.canonical,
    idempotencyKey: call.idempotencyKey,
    profile: session.profileId,
    facts: Object.keys(session.facts).length === 0 ? undefined : session.facts,
    overrides: session.overrides && (JSON.parse(JSON.stringify(session.overrides)) as JsonObject),
    surface: call.surfaceName === '' ? undefined : call.surfaceName,
  });
  let kept = false;
  const putting = startOperation(() => store.put(record));
  // This also holds if the record arrives late.
  const takeBack = (): void =>
    void putting
      .then(undefined, () => {})
      .then(() => store.take(record.id))
      .then(undefined, () => {});
  try {
    await inTime(putting, policyTimeoutMs);
    if (!call.ended) announceQuestion(call, request);
    // A listener may have ended the call when it heard the question.
    kept = !call.ended;
  } finally {
    own.refused = !kept;
    if (!kept) takeBack();
  }
  if (!kept) return false;
  call.more.pending = Object.freeze({ ...request, token });
  const { id, expiresAt } = request;
  if (registry.sessionFor === undefined)
    registry.suspending.keep(session, id, expiresAt, registry.now());
  call.onEnd(({ error }) => {
    if (error?.code === 'approval_pending') return;
    registry.suspending.release(session, id);
    takeBack();
  });
  return true;
}
