/** Suspends a call until a person answers. Another process may then resume it. */

import type { GivenAnswer } from '../../api/answers.ts';
import type { ApprovalRequest } from '../../api/approval.ts';
import {
  attachPending,
  rejected,
  rejection,
  tooManyApprovals,
} from '../../core/call/approval-outcome.ts';
import { announceQuestion, requestFor } from '../../core/call/approval-question.ts';
import { defaultMaxPending } from '../../core/call/ask-approver.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { shownNameOf } from '../../core/call/shown.ts';
import type { Outcome } from '../../core/call/step.ts';
import { joinDetails, type Verdict } from '../../core/rules/verdict.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import { randomUUID } from '../../values/crypto.ts';
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import { approversOf } from './approvers.ts';
import { chainDigest, rootIdOf } from './chain-of-call.ts';
import { durableOf, logUnsharedStores } from './durable-state.ts';
import { maySuspend } from './logins.ts';
import { waitingOf } from './pending-approvals.ts';
import { sealRecord } from './record.ts';
import { startOperation } from './store.ts';
import type { TokenSigner } from './token.ts';

/** A call that is being written to the store. */
interface Suspension {
  readonly id: string;
  /** The call will not be suspended after all, so it does not count as pending. */
  refused: boolean;
  /** How many bytes its record will have, roughly. */
  readonly bytes: number;
}

/** Those of each session. */
const suspensions = new Slot<Set<Suspension>>();

/** Why a resumed call does not run: its tool is not the one that a person was asked about. */
export function changedSince({ resumed, entry }: FoundCall): ToolError | undefined {
  if (
    resumed === undefined ||
    (entry.source === resumed.source && entry.definition.fingerprint === resumed.fingerprint)
  )
    return undefined;
  return toolError(
    'approval_denied',
    'The tool has changed since approval was requested. Call it again.',
    { reason: 'definition_changed' },
  );
}

/** Stores the call, gives the token to the host alone, and ends the call as pending. */
export function suspend(call: FoundCall): MaybePromise<Outcome> {
  // A program can be run again, as far as it has come.
  if (call.parent === undefined || call.parent.entry.isProgram) {
    const unreachable = nobodyReachable(call);
    return unreachable === undefined
      ? suspendNow(call)
      : rejected(call, undefined, 'approvers_unreachable', undefined, unreachable);
  }
  return rejected(
    call,
    undefined,
    'approval_in_child',
    undefined,
    'A call that another tool makes cannot be suspended for approval.',
  );
}

/** Why those who have to answer cannot be asked about a call; undefined if they can. */
function nobodyReachable(call: FoundCall): string | undefined {
  if (approversOf(call).length === 0) return undefined;
  if (call.entry.internals.runsIn !== 'external' && maySuspend(call)) return undefined;
  return (
    'only certain people may approve it, and here it cannot wait for them: that needs ' +
    '`approvals.secret` and a session with a principal, and a tool that the session runs itself. ' +
    'Do not retry it.'
  );
}

async function suspendNow(call: FoundCall): Promise<Outcome> {
  const { session } = call;
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  const suspending = suspensions.of(session.setup) ?? new Set();
  suspensions.set(session.setup, suspending);
  if (suspending.size >= limit) return tooManyApprovals(limit);
  // Suspensions that started earlier count, even if their records are not listed yet.
  const ahead = [...suspending];
  const own: Suspension = { id: randomUUID(), refused: false, bytes: bytesOf(call) };
  suspending.add(own);
  try {
    const crowded = await lacksRoom(call, ahead, own.bytes);
    own.refused = true;
    if (crowded !== undefined) return crowded;
    if (call.ended) return undefined;
    const question = requestFor(call, withAgreed(call), own.id, durableOf(session.registry).ttlMs);
    if (!question.askable)
      return rejected(call, undefined, question.reason, undefined, question.message);
    own.refused = false;
    const { answers } = call.more.question ?? {};
    call.more.question = { id: question.request.id };
    if (!(await store(call, question.request, answers, own))) return undefined;
    logUnsharedStores(call);
  } catch (error) {
    own.refused = true;
    reportFault(call, error, 'approvals.store', 'the approval store failed');
    return withCause(
      rejected(call, undefined, 'store_unavailable', undefined, storeUnavailable),
      error,
    );
  } finally {
    suspending.delete(own);
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
async function lacksRoom(
  call: FoundCall,
  ahead: readonly Readonly<Suspension>[],
  bytes: number,
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
  return together > durableOf(session.registry).maxBytes ? tooLongApprovals() : undefined;
}

/** The same for `explain`, also if the store fails. */
export async function crowded(call: FoundCall): Promise<ToolError | undefined> {
  const unreachable = nobodyReachable(call);
  if (unreachable !== undefined) return rejection(call, 'approvers_unreachable', unreachable);
  try {
    return await lacksRoom(call, [...(suspensions.of(call.session.setup) ?? [])], bytesOf(call));
  } catch {
    return rejection(call, 'store_unavailable', storeUnavailable);
  }
}

const storeUnavailable = 'Approvals cannot be stored at the moment.';

function tooLongApprovals(): ToolError {
  return toolError(
    'rate_limited',
    'The calls that wait for approval are too long together. Wait until they are answered.',
    { reason: 'too_many_approvals' },
  );
}

/**
 * What a person has already agreed to is shown again, because the resumed call knows only its own
 * record.
 */
function withAgreed(call: FoundCall): Verdict {
  // It is suspended because its verdict asks.
  const verdict = call.verdict as Verdict;
  const agreed = call.extra?.approval?.agreed;
  const all = approversOf(call);
  if (agreed === undefined && all.length === 0) return verdict;
  // Who may answer depends on what is asked now.
  const { approvers: _, ...details } = joinDetails(agreed, verdict.details);
  return { ...verdict, details: all.length === 0 ? details : { ...details, approvers: all } };
}

/**
 * Stores the record and announces the question. False if the call ended meanwhile; the record is
 * then taken out of the store again, so that no one can answer it.
 */
async function store(
  call: FoundCall,
  request: ApprovalRequest,
  answers: readonly GivenAnswer[] | undefined,
  own: Suspension,
): Promise<boolean> {
  const session = wholeSession(call.session);
  const { registry, principal } = session;
  const { signer, approvals, sessionFor, suspending } = durableOf(registry);
  const digest = chainDigest(session);
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
    scopes: call.surface?.scopes,
    trace: call.extra?.traces?.place(),
    chain: digest === undefined ? undefined : { rootSessionId: rootIdOf(session), digest },
    answers,
  });
  let kept = false;
  const putting = startOperation(() => approvals.put(record));
  // This also holds if the record arrives late.
  const takeBack = (): void =>
    void putting
      .then(undefined, () => {})
      .then(() => approvals.take(record.id, 0))
      .then(undefined, () => {});
  try {
    await withDeadline(putting, registry.settings.policyTimeoutMs);
    if (!call.ended) announceQuestion(call, request);
    // A listener may have ended the call when it heard the question.
    kept = !call.ended;
  } finally {
    own.refused = !kept;
    if (!kept) takeBack();
  }
  if (!kept) return false;
  attachPending(call, Object.freeze({ ...request, token }));
  const { id, expiresAt } = request;
  if (sessionFor === undefined) suspending.keep(session, id, expiresAt);
  call.onEnd(({ error }) => {
    if (error?.code === 'approval_pending') return;
    suspending.release(id);
    takeBack();
  });
  return true;
}
