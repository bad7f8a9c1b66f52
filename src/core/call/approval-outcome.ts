/** What an answer to an approval request does to its call, and the texts of every refusal. */

import type { GivenAnswer } from '../../api/answers.ts';
import type { ApprovalChoice, PendingApproval } from '../../api/approval.ts';
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import { choiceOf, type ReadAnswer } from '../approval/request.ts';
import { wrongAnswer, wrongInput } from '../approval/wrong-answer.ts';
import { type Details, joinDetails } from '../rules/verdict.ts';
import type { Call, FoundCall } from './call.ts';
import { reportFault } from './report-fault.ts';
import { shownNameOf, shownText } from './shown.ts';
import { keepStanding } from './standing-grants.ts';
import { GoTo, type Next } from './step.ts';

/**
 * Acts on an answer: lets the call continue, replaces its input, adds a grant, or rejects.
 * @param details What the question showed besides. Someone who allows the call agrees to it.
 */
export function takeAnswer(
  call: FoundCall,
  approvalId: string,
  answer: ReadAnswer,
  details: Details | undefined,
): Next {
  const { by, allowed, always } = answer;
  const { session } = call;
  const refusal = session.registry.ports.calls.answers?.refusal(session, by);
  if (refusal !== undefined) {
    noteQuestion(call, approvalId, by);
    return rejected(call, approvalId, refusal.reason, by, refusal.message);
  }
  noteApproval(call, approvalId, by, choiceOf(allowed, always), answer.answers);
  if (answer.input !== undefined) {
    if (answer.input === 'unreadable') {
      noteQuestion(call, approvalId, by);
      return invalidAnswer(call, approvalId, wrongInput, by);
    }
    if (allowed) {
      call.canonical = answer.input.value;
      call.unsafe = answer.input.unsafe;
    }
  }
  if (answer.grant !== undefined) call.more.ensureApproval().standing = { approvalId, answer };
  if (allowed && session.registry.ports.calls.question !== undefined)
    call.more.ensureApproval().approvedBy = by ?? 'a person';
  // A grant is for the final input; an edited one must first be validated and judged.
  const isEdited = allowed && answer.input !== undefined;
  if (!isEdited) keepAnswer(call);
  if (!allowed) return rejected(call, approvalId, 'rejected', by, answer.message);
  if (details !== undefined) {
    const approval = call.more.ensureApproval();
    approval.agreed = joinDetails(approval.agreed, details);
  }
  granted(call, approvalId, by);
  return isEdited ? backToValidation(call) : undefined;
}

/** A person changed the input. It is validated and judged like any other. */
function backToValidation({ more }: FoundCall): GoTo {
  more.ensureApproval().wasEdited = true;
  // They are about the input as it was before.
  more.kept = undefined;
  return GoTo.validation;
}

function noteQuestion({ more }: Call, id: string, by: string | undefined): void {
  more.question = by === undefined ? { id } : { id, by };
}

/** Keeps, for those who record calls, who was asked and what they said. */
export function noteApproval(
  call: Call,
  id: string,
  by: string | undefined,
  decision: ApprovalChoice,
  answers?: readonly GivenAnswer[],
): void {
  call.more.question = {
    id,
    ...(by === undefined ? {} : { by }),
    decision,
    ...(answers === undefined ? {} : { answers }),
  };
}

/** Keeps what an answer says beyond its call, now that the call's input is final. */
export function keepAnswer(call: FoundCall): void {
  keepStanding(call);
  const { extra, session } = call;
  const approval = extra?.approval;
  const by = approval?.approvedBy;
  if (approval === undefined || by === undefined) return;
  approval.approvedBy = undefined;
  session.registry.ports.calls.question?.allowed(call, by);
}

export function granted(call: Call, approvalId: string, by: string | undefined): void {
  if (call.ended) return;
  call.approved = true;
  const { session, toolName, callId } = call;
  if (session.hasListener('approval:granted'))
    session.emit(
      'approval:granted',
      { toolName, callId, approvalId, ...(by === undefined ? {} : { by }), ...answersOf(call) },
      call.surfaceName,
    );
}

/** All who answered the last question, where certain people had to. */
function answersOf({ extra }: Call): { readonly answers?: readonly GivenAnswer[] } {
  const answers = extra?.question?.answers;
  return answers === undefined ? {} : { answers };
}

/** @param message Who rejected the call, or why it was rejected, in words for the model. */
export function rejected(
  call: Call,
  approvalId: string | undefined,
  reason: string,
  by: string | undefined,
  message: string | undefined,
): ToolError {
  const { session, toolName, callId } = call;
  const said = message === undefined ? undefined : shownText(call, message);
  if (!call.ended && session.hasListener('approval:denied'))
    session.emit(
      'approval:denied',
      {
        toolName,
        callId,
        approvalId: approvalId ?? '',
        reason,
        ...(by === undefined ? {} : { by }),
        ...answersOf(call),
        ...(said === undefined ? {} : { message: said }),
      },
      call.surfaceName,
    );
  return rejection(call, reason, said);
}

/** The error of a call that was not approved. @param said Why, in words without secrets. */
export function rejection(call: Call, reason: string, said: string | undefined): ToolError {
  const why = reason === 'approver_failed' ? ', because the approver failed' : '';
  return toolError(
    'approval_denied',
    said === undefined
      ? `The call to \`${shownNameOf(call)}\` was not approved${why}. Do not retry it; ask the ` +
          'user how to proceed.'
      : `The call to \`${shownNameOf(call)}\` was not approved: ${said}`,
    { reason },
  );
}

/** No person refused the call: the host's own code returned something that is not an answer. */
export function invalidAnswer(
  call: Call,
  approvalId: string,
  came: string,
  by: string | undefined,
): ToolError {
  const fault = wrongAnswer(came);
  reportFault(call, fault, 'approver', 'an approver returned something that is not an answer');
  const message =
    "the host's approver answered in a wrong form. No person refused the call. Do not retry it; " +
    'say what happened.';
  return withCause(rejected(call, approvalId, 'invalid_answer', by, message), fault);
}

export function timedOut(call: Call, approvalId: string): ToolError {
  const { session, toolName, callId } = call;
  if (session.hasListener('approval:denied'))
    session.emit(
      'approval:denied',
      { toolName, callId, approvalId, reason: 'timeout' },
      call.surfaceName,
    );
  return toolError(
    'approval_timeout',
    `No one answered the approval request for \`${shownNameOf(call)}\` in time.`,
    { reason: 'timeout' },
  );
}

/** Gives the host the request and its token, with the result of a call that ends as pending. */
export function attachPending(call: Call, approval: PendingApproval): void {
  call.onEnd((result) => {
    if (result.error?.code === 'approval_pending')
      Object.defineProperty(result, 'approval', { value: approval, enumerable: false });
  });
}

export function tooManyApprovals(limit: number): ToolError {
  return toolError(
    'rate_limited',
    `This session already has ${limit} calls waiting for approval. Wait until they are answered.`,
    { reason: 'too_many_approvals' },
  );
}
