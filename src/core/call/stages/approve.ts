/**
 * Approval. This is the only place that enforces it: with an answer that the call brought, a grant,
 * a person in this process, or a suspension until a person answers.
 */

import { granted, keepAnswer, noteApproval, rejected, takeAnswer } from '../approval-outcome.ts';
import { askApprover } from '../ask-approver.ts';
import type { FoundCall } from '../call.ts';
import { findGrant, takeGrant } from '../standing-grants.ts';
import type { Step } from '../step.ts';

export function approve(call: FoundCall): Step {
  const { session, resumed, verdict } = call;
  const { answers } = session.registry.ports.calls;
  // The rules may ask for more people by now than have allowed the call.
  if (call.approved && answers?.lacks(call) === true) call.approved = false;
  if (call.approved) {
    keepAnswer(call);
    return undefined;
  }
  // A person's answer counts even if no rule asks any more, so a rejection stays a rejection.
  if (resumed?.answer !== undefined && call.extra?.approval?.answered !== true) {
    call.more.ensureApproval().answered = true;
    answers?.resumed(call);
    const next = takeAnswer(call, resumed.approvalId, resumed.answer, resumed.details);
    return next === undefined && call.approved ? approve(call) : next;
  }
  if (verdict?.effect !== 'ask') return undefined;
  // Nor does an approver here, or a grant, stand for those who have to answer.
  const isReserved = answers?.isReserved(call) === true;
  // Someone who always allows a call has not agreed to what else the question shows.
  const isMore = isReserved || verdict.details !== undefined;
  const isLifted = isMore && findGrant(call)?.effect === 'allow';
  const grant = isLifted ? undefined : takeGrant(call);
  if (grant !== undefined) {
    noteApproval(call, grant.id, grant.by, `${grant.effect}_always`);
    if (grant.effect === 'reject')
      return rejected(call, grant.id, 'rejected_always', grant.by, undefined);
    granted(call, grant.id, grant.by);
    return undefined;
  }
  if (call.surface?.unasked === true)
    // Where only the default asks, no rule says anything about the call.
    return verdict.source === 'default'
      ? undefined
      : rejected(call, undefined, 'unasked', undefined, 'it has begun, and nobody was asked.');
  // Nothing would run a resumed call here, so the caller must ask a person at once.
  const isExternal = call.entry.internals.runsIn === 'external';
  const isSuspended = session.setup.approvalMode === 'suspend' && !isExternal;
  if (answers === undefined || !(isSuspended || isReserved))
    return askApprover(call, verdict, session.approvalDesk());
  return answers.suspend(call);
}
