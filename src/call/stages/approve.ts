/**
 * Approval: enforced here and nowhere else. A person answers now, or the call is suspended and
 * resumed later.
 */
import { randomUUID } from 'node:crypto';
import type { ApprovalDesk } from '../../approval/desk.ts';
import { sealRecord } from '../../approval/record.ts';
import { type ReadAnswer, readAnswer } from '../../approval/request.ts';
import { inTime, startOperation } from '../../approval/store.ts';
import { jsonDigest, type TokenSigner } from '../../approval/token.ts';
import { whatCame, wrongAnswer, wrongInput } from '../../approval/wrong-answer.ts';
import { errorName, type ToolError, toolError, withCause } from '../../errors.ts';
import { withDeadline } from '../../limits/with-deadline.ts';
import type { Verdict } from '../../policy/verdict.ts';
import type { Binding } from '../../state/binding.ts';
import type { Call } from '../../state/call.ts';
import { announceQuestion, requestFor } from '../approval-question.ts';
import { scrubText } from '../call-secrets.ts';
import { pendingOf } from '../pending-approvals.ts';
import { reportFault } from '../report-fault.ts';
import type { Outcome, Step } from '../step.ts';
import { toldName } from '../told-name.ts';
import { letGo } from '../withdrawn.ts';

const defaultMaxPending = 20;

/**
 * Meets an ask: by an answer that the call brought, by a grant, by a person, or by suspending the
 * call.
 */
export function approve(call: Call): Step {
  const { session, resumed } = call;
  if (call.approved) {
    grantStanding(call);
    return undefined;
  }
  // A person's answer counts whatever the rules say by now: a no stays a no when nothing asks any
  // more.
  if (resumed !== undefined) return take(call, resumed.approvalId, resumed.answer);
  const verdict = call.verdict as Verdict;
  if (verdict.effect !== 'ask') return undefined;
  const { summary } = (call.binding as Binding).entry;
  const desk = session.approvalDesk();
  const subject = {
    tool: call.toolName,
    fingerprint: summary.fingerprint,
    source: summary.source,
    input: jsonDigest(call.canonical),
  };
  const grant = desk.grants.find(subject, session.registry.now());
  if (grant !== undefined) {
    const use = desk.grants.use(grant.id, subject);
    if (grant.effect === 'reject')
      return rejected(call, grant.id, 'rejected_always', grant.by, undefined);
    call.more.grant = use;
    call.onEnd(() => letGo(call));
    granted(call, grant.id, grant.by);
    return undefined;
  }
  if (session.setup.approvalMode === 'suspend') {
    if (call.parent !== undefined)
      return rejected(
        call,
        undefined,
        'approval_in_child',
        undefined,
        'A call made by another tool cannot wait for a person here.',
      );
    return suspend(call, verdict, desk);
  }
  return askNow(call, verdict, desk);
}

/** What an approver gave, read. */
type Answered = { readonly read: ReadAnswer } | { readonly wrong: string };

function askNow(call: Call, verdict: Verdict, desk: ApprovalDesk): Step {
  const { session } = call;
  const approver = session.setup.approver ?? call.surface?.approver;
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  if (desk.waiting.size >= limit) return tooMany(limit);
  const { approvalTimeoutMs } = session.setup;
  const question = requestFor(call, verdict, randomUUID(), approvalTimeoutMs);
  if (!question.askable)
    return rejected(call, undefined, question.reason, undefined, question.message);
  const { request } = question;
  if (approver === undefined) {
    announceQuestion(call, request);
    return rejected(call, request.id, 'no_approver', undefined, 'Nobody is there to approve it.');
  }
  call.waited = true;
  const controller = new AbortController();
  let over = false;
  let settle: (answered: Answered | undefined) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const answered = new Promise<Answered | undefined>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  // The first answer closes the question, and whoever is still asked learns that it is closed.
  const close = (answer: Answered | undefined): void => {
    over = true;
    desk.waiting.delete(request.id);
    settle(answer);
    controller.abort();
  };
  const came = (answer: unknown): void => {
    if (over) return;
    desk.waiting.delete(request.id);
    // Read at once: what is told to nobody else is also changed by nobody else.
    const read = readAnswer(answer, session.limits.maxInputBytes);
    settle(read === undefined ? { wrong: whatCame(answer) } : { read });
  };
  const threw = (error: unknown): void => {
    if (!over) fail(error);
    // That it stopped because it was told to is no failure.
    else if (errorName(error) !== 'AbortError')
      reportFault(call, error, 'approver', 'an approver threw after its question was closed');
  };
  const stop = (): void => close(undefined);
  call.onEnd(stop);
  // Waits before anybody hears of it: a listener may answer at once.
  desk.waiting.set(request.id, { request, answer: (read) => close({ read }) });
  announceQuestion(call, request);
  if (desk.waiting.has(request.id)) {
    try {
      Promise.resolve(approver(request, { signal: controller.signal })).then(came, threw);
    } catch (error) {
      threw(error);
    }
  }
  return withDeadline(answered, approvalTimeoutMs, () => 'late' as const).then(
    (answer) => {
      call.offEnd(stop);
      desk.waiting.delete(request.id);
      if (call.ended || answer === undefined) return undefined;
      if (answer === 'late') {
        over = true;
        controller.abort();
        return timedOut(call, request.id);
      }
      return 'read' in answer
        ? take(call, request.id, answer.read)
        : invalid(call, request.id, answer.wrong, undefined);
    },
    (error: unknown) => {
      call.offEnd(stop);
      desk.waiting.delete(request.id);
      reportFault(call, error, 'approver', 'an approver threw');
      return withCause(rejected(call, request.id, 'approver_failed', undefined, undefined), error);
    },
  );
}

/** Nobody refused the call: the host's own code answered what is no answer. */
function invalid(call: Call, approvalId: string, came: string, by: string | undefined): ToolError {
  const fault = wrongAnswer(came);
  reportFault(call, fault, 'approver', 'an approver answered what is no answer');
  const message =
    "the host's approver answered in a wrong form, so the answer could not be read. Nobody " +
    'refused the call. Do not repeat it; say what happened.';
  return withCause(rejected(call, approvalId, 'invalid_answer', by, message), fault);
}

/** Acts on an answer: grants, edits, lets through or rejects. */
function take(call: Call, approvalId: string, answer: ReadAnswer): Outcome {
  if (answer.input !== undefined) {
    if (answer.input === 'unreadable') return invalid(call, approvalId, wrongInput, answer.by);
    if (answer.allowed) {
      call.canonical = answer.input.value;
      call.unsafe = answer.input.unsafe;
      call.more.edited = true;
    }
  }
  if (answer.grant !== undefined) call.more.standing = { approvalId, answer };
  // A grant is for the input as it will stand: an edited one is validated, filled and judged first.
  if (call.extra?.edited !== true) grantStanding(call);
  if (!answer.allowed) return rejected(call, approvalId, 'rejected', answer.by, answer.message);
  granted(call, approvalId, answer.by);
  return undefined;
}

/** Keeps an answer that was given for always. */
function grantStanding(call: Call): void {
  const standing = call.extra?.standing;
  if (standing === undefined) return;
  call.more.standing = undefined;
  const { session } = call;
  const { summary } = (call.binding as Binding).entry;
  const subject = {
    tool: call.toolName,
    fingerprint: summary.fingerprint,
    source: summary.source,
    input: jsonDigest(call.canonical),
  };
  session
    .approvalDesk()
    .grants.add(standing.approvalId, subject, standing.answer, session.registry.now());
}

function granted(call: Call, approvalId: string, by: string | undefined): void {
  if (call.ended) return;
  call.approved = true;
  const { session, toolName, callId } = call;
  if (session.hears('approval:granted'))
    session.emit('approval:granted', {
      toolName,
      callId,
      approvalId,
      ...(by === undefined ? {} : { by }),
    });
}

function rejected(
  call: Call,
  approvalId: string | undefined,
  reason: string,
  by: string | undefined,
  message: string | undefined,
): ToolError {
  const { session, toolName, callId } = call;
  const said = message === undefined ? undefined : scrubText(call, message);
  if (!call.ended && session.hears('approval:denied'))
    session.emit('approval:denied', {
      toolName,
      callId,
      approvalId: approvalId ?? '',
      reason,
      ...(by === undefined ? {} : { by }),
      ...(said === undefined ? {} : { message: said }),
    });
  return toolError(
    'approval_denied',
    said === undefined
      ? `The call of \`${toldName(call)}\` was not approved (${reason}). Do not repeat it; ask ` +
          'what to do instead.'
      : `The call of \`${toldName(call)}\` was not approved: ${said}`,
    { reason },
  );
}

function timedOut(call: Call, approvalId: string): ToolError {
  const { session, toolName, callId } = call;
  if (session.hears('approval:denied'))
    session.emit('approval:denied', { toolName, callId, approvalId, reason: 'timeout' });
  return toolError(
    'approval_timeout',
    `Nobody answered the approval of \`${toldName(call)}\` in time.`,
    { reason: 'timeout' },
  );
}

function tooMany(limit: number): ToolError {
  return toolError(
    'rate_limited',
    `${limit} approvals of this session are waiting already. Wait until they are answered.`,
    { reason: 'too_many_approvals' },
  );
}

/**
 * Suspends the call: the record goes to the store, the token to the host alone, and the call ends
 * as pending.
 */
async function suspend(call: Call, verdict: Verdict, desk: ApprovalDesk): Promise<Outcome> {
  const { session } = call;
  const { registry, principal } = session;
  // A session that suspends has both a key and a principal: it is not created without.
  const { signer, store, policyTimeoutMs } = registry;
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  if (desk.suspending.size >= limit) return tooMany(limit);
  // Those ahead count from the moment they set out: their records need not be listed yet.
  const ahead = [...desk.suspending];
  const own = { id: randomUUID(), refused: false };
  desk.suspending.add(own);
  try {
    const open = new Set((await pendingOf(session, limit)).map(({ id }) => id));
    for (const other of ahead) if (!other.refused) open.add(other.id);
    own.refused = true;
    if (open.size >= limit) return tooMany(limit);
    if (call.ended) return undefined;
    own.refused = false;
    const question = requestFor(call, verdict, own.id, registry.ttlMs);
    if (!question.askable) {
      own.refused = true;
      return rejected(call, undefined, question.reason, undefined, question.message);
    }
    const { request } = question;
    const { record, token } = sealRecord(signer as TokenSigner, {
      request,
      principal: principal as string,
      input: call.canonical,
      idempotencyKey: call.idempotencyKey,
    });
    let kept = false;
    const putting = startOperation(() => store.put(record));
    // Nobody may answer a call that ended otherwise, also when the record arrives late.
    const takeBack = (): void =>
      void putting
        .then(undefined, () => {})
        .then(() => store.take(record.id))
        .then(undefined, () => {});
    try {
      await inTime(putting, policyTimeoutMs);
      // Whoever hears of the question may end the call.
      if (!call.ended) announceQuestion(call, request);
      kept = !call.ended;
    } finally {
      own.refused = !kept;
      if (!kept) takeBack();
    }
    if (!kept) return undefined;
    call.more.pending = Object.freeze({ ...request, token });
    call.onEnd(({ error }) => {
      if (error?.code !== 'approval_pending') takeBack();
    });
  } catch (error) {
    own.refused = true;
    reportFault(call, error, 'approvals.store', 'the approval store failed');
    return withCause(
      rejected(
        call,
        undefined,
        'store_unavailable',
        undefined,
        'Approvals cannot be stored at the moment.',
      ),
      error,
    );
  } finally {
    desk.suspending.delete(own);
  }
  return toolError(
    'approval_pending',
    `The call of \`${toldName(call)}\` waits for a person's approval. Do not repeat it; go on ` +
      'with other work, or stop and say that it waits.',
    { reason: 'approval_required' },
  );
}
