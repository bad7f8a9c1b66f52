/** Approval: enforced here and nowhere else. A person answers now, or the call is suspended and resumed later. */
import { randomUUID } from 'node:crypto';
import pTimeout from 'p-timeout';
import type { ApprovalDesk } from '../approval/desk.ts';
import { sealRecord } from '../approval/record.ts';
import { type ApprovalRequest, type ReadAnswer, readAnswer } from '../approval/request.ts';
import { jsonDigest } from '../approval/token.ts';
import { type ToolError, toolError } from '../errors.ts';
import { pendingOf } from '../call/pending.ts';
import { cloneJson, copyJson, deepFreeze, isJsonObject } from '../json.ts';
import { redactText } from '../redact.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';
import type { Verdict } from '../verdict.ts';
import type { Outcome, Step } from '../call/step.ts';

const defaultMaxPending = 20;

/** Meets an ask: by an answer that the call brought, by a grant, by a person, or by suspending the call. */
export function approve(call: Call): Step {
  const verdict = call.verdict as Verdict;
  if (verdict.effect !== 'ask' || call.approved) return undefined;
  const { session, resumed } = call;
  if (resumed !== undefined) return take(call, resumed.approvalId, resumed.answer);
  const { summary } = (call.binding as Binding).entry;
  const desk = session.approvalDesk();
  const subject = { tool: call.toolName, fingerprint: summary.fingerprint, source: summary.source, input: jsonDigest(call.canonical) };
  const grant = desk.grants.find(subject, session.registry.now());
  if (grant !== undefined) {
    desk.grants.use(grant.id);
    if (grant.effect === 'reject') return rejected(call, grant.id, 'rejected_always', grant.by, undefined);
    granted(call, grant.id, grant.by);
    return undefined;
  }
  if (session.setup.approvalMode === 'suspend') {
    if (call.parent !== undefined) return rejected(call, undefined, 'approval_in_child', undefined, 'A call made by another tool cannot wait for a person here.');
    return suspend(call, verdict);
  }
  return askNow(call, verdict, desk);
}

/** What is shown: exactly what will run, secrets hidden by the tool's own marks unless it came from outside. */
function requestFor(call: Call, verdict: Verdict, id: string, lifetimeMs: number): ApprovalRequest {
  const { session, toolName, callId, binding } = call;
  const { entry } = binding as Binding;
  const { registry, sessionId, principal } = session;
  const outside = !entry.internals.input.trusted;
  const redactor = outside ? registry.pathRedactor() : entry.inputRedactor(registry.redact);
  const input = redactor === undefined ? cloneJson(call.canonical) : redactor.redact(cloneJson(call.canonical));
  const { title = `Allow \`${toolName}\` to run?`, message, risk } = verdict.prompt ?? {};
  const scrub = (text: string): string => (call.extra?.secrets === undefined || outside ? text : redactText(text, call.extra.secrets));
  const now = registry.now();
  return deepFreeze({
    id,
    sessionId,
    ...(principal === undefined ? {} : { principal }),
    callId,
    tool: entry.summary,
    input: isJsonObject(input) ? input : {},
    title: scrub(title),
    ...(message === undefined ? {} : { message: scrub(message) }),
    ...(risk === undefined ? {} : { risk }),
    ...(verdict.ruleId === undefined ? {} : { ruleId: verdict.ruleId }),
    source: verdict.source ?? 'tool',
    requestedAt: now,
    expiresAt: now + lifetimeMs,
    hiddenFields: redactor?.fields(call.canonical) ?? [],
  });
}

function askNow(call: Call, verdict: Verdict, desk: ApprovalDesk): Step {
  const { session } = call;
  const approver = session.setup.approver ?? call.surface?.approver;
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  if (desk.waiting.size >= limit) return tooMany(limit);
  const { approvalTimeoutMs } = session.setup;
  const request = requestFor(call, verdict, randomUUID(), approvalTimeoutMs);
  announce(call, request);
  if (approver === undefined) return rejected(call, request.id, 'no_approver', undefined, 'Nobody is there to approve it.');
  call.waited = true;
  const controller = new AbortController();
  const answered = new Promise<unknown>((resolve, reject) => {
    desk.waiting.set(request.id, { request, answer: resolve });
    try {
      Promise.resolve(approver(request, { signal: controller.signal })).then(resolve, reject);
    } catch (error) {
      reject(error as Error);
    }
  });
  const late = Symbol('late');
  const stop = (): void => {
    desk.waiting.delete(request.id);
    controller.abort();
  };
  call.onEnd(stop);
  return pTimeout(answered, { milliseconds: approvalTimeoutMs, fallback: () => late }).then(
    (answer) => {
      call.offEnd(stop);
      desk.waiting.delete(request.id);
      if (call.ended) return undefined;
      if (answer === late) {
        controller.abort();
        return timedOut(call, request.id);
      }
      const read = safeAnswer(answer);
      return read === undefined ? rejected(call, request.id, 'invalid_answer', undefined, undefined) : take(call, request.id, read);
    },
    () => {
      call.offEnd(stop);
      desk.waiting.delete(request.id);
      return call.ended ? undefined : rejected(call, request.id, 'approver_failed', undefined, undefined);
    },
  );
}

function safeAnswer(answer: unknown): ReadAnswer | undefined {
  try {
    return readAnswer(answer);
  } catch {
    return undefined;
  }
}

/** Acts on an answer: grants, edits, lets through or rejects. */
function take(call: Call, approvalId: string, answer: ReadAnswer): Outcome {
  const { session } = call;
  if (answer.input !== undefined) {
    const copy = copyJson(answer.input, { maxDepth: 64, maxValues: 50_000 });
    if (!copy.ok || !isJsonObject(copy.value)) return rejected(call, approvalId, 'invalid_answer', answer.by, undefined);
    if (answer.allowed) {
      call.canonical = copy.value;
      call.unsafe = copy.unsafe;
      call.edited = true;
    }
  }
  if (answer.grant !== undefined) {
    const { summary } = (call.binding as Binding).entry;
    const subject = { tool: call.toolName, fingerprint: summary.fingerprint, source: summary.source, input: jsonDigest(call.canonical) };
    session.approvalDesk().grants.add(approvalId, subject, answer, session.registry.now());
  }
  if (!answer.allowed) return rejected(call, approvalId, 'rejected', answer.by, answer.message);
  granted(call, approvalId, answer.by);
  return undefined;
}

function granted(call: Call, approvalId: string, by: string | undefined): void {
  call.approved = true;
  const { session, toolName, callId } = call;
  if (session.hears('approval:granted')) session.emit('approval:granted', { toolName, callId, approvalId, ...(by === undefined ? {} : { by }) });
}

function rejected(call: Call, approvalId: string | undefined, reason: string, by: string | undefined, message: string | undefined): ToolError {
  const { session, toolName, callId } = call;
  const said = message === undefined || call.extra?.secrets === undefined ? message : redactText(message, call.extra.secrets);
  if (session.hears('approval:denied')) session.emit('approval:denied', { toolName, callId, approvalId: approvalId ?? '', reason, ...(by === undefined ? {} : { by }), ...(said === undefined ? {} : { message: said }) });
  return toolError('approval_denied', said === undefined ? `The call of \`${toolName}\` was not approved (${reason}). Do not repeat it; ask what to do instead.` : `The call of \`${toolName}\` was not approved: ${said}`, { reason });
}

function timedOut(call: Call, approvalId: string): ToolError {
  const { session, toolName, callId } = call;
  if (session.hears('approval:denied')) session.emit('approval:denied', { toolName, callId, approvalId, reason: 'timeout' });
  return toolError('approval_timeout', `Nobody answered the approval of \`${toolName}\` in time.`, { reason: 'timeout' });
}

function tooMany(limit: number): ToolError {
  return toolError('rate_limited', `${limit} approvals of this session are waiting already. Wait until they are answered.`, { reason: 'too_many_approvals' });
}

function announce(call: Call, request: ApprovalRequest): void {
  if (call.session.hears('approval:required')) call.session.emit('approval:required', { request: cloneJson(JSON.parse(JSON.stringify(request))) });
}

/** Suspends the call: the record goes to the store, the token to the host alone, and the call ends as pending. */
async function suspend(call: Call, verdict: Verdict): Promise<Outcome> {
  const { session } = call;
  const { registry, sessionId, principal } = session;
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  call.waited = true;
  try {
    // Calls that are being suspended count before their record is listed.
    const open = session.suspending + (await pendingOf(session)).length;
    if (open >= limit) return tooMany(limit);
    if (call.ended || registry.signer === undefined || principal === undefined) return undefined;
    session.suspending++;
    try {
      const request = requestFor(call, verdict, randomUUID(), registry.ttlMs);
      const { record, token } = sealRecord(registry.signer, { request, principal, input: call.canonical, idempotencyKey: call.idempotencyKey });
      await registry.store.put(record);
      if (call.ended) {
        await registry.store.take(record.id);
        return undefined;
      }
      announce(call, request);
      call.more.pending = Object.freeze({ ...request, token });
    } finally {
      session.suspending--;
    }
  } catch (error) {
    registry.warn({ session: sessionId, error: error instanceof Error ? error.name : typeof error }, 'the approval store failed');
    return call.ended ? undefined : rejected(call, undefined, 'store_unavailable', undefined, 'Approvals cannot be stored at the moment.');
  }
  return toolError('approval_pending', `The call of \`${call.toolName}\` waits for a person's approval. Do not repeat it; go on with other work, or stop and say that it waits.`, { reason: 'approval_required' });
}
