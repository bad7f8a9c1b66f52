/** Asks a person in this process, and waits for the first answer. */

import type { ApprovalRequest } from '../../api/approval.ts';
import type { Approver } from '../../api/context.ts';
import { randomUUID } from '../../values/crypto.ts';
import { errorName, withCause } from '../../values/errors/index.ts';
import { hasOwn } from '../../values/json/value.ts';
import { inScope } from '../../values/limits/async-scope.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import type { ApprovalDesk } from '../approval/grants.ts';
import { type ReadAnswer, readAnswer } from '../approval/request.ts';
import { describeReceived } from '../approval/wrong-answer.ts';
import type { Verdict } from '../rules/verdict.ts';
import {
  invalidAnswer,
  rejected,
  takeAnswer,
  timedOut,
  tooManyApprovals,
} from './approval-outcome.ts';
import { announceQuestion, requestFor } from './approval-question.ts';
import type { FoundCall } from './call.ts';
import { emitSettled } from './end-call.ts';
import { reportFault } from './report-fault.ts';
import type { Next, Step } from './step.ts';

/** How many calls of a session may wait for approval at once, unless its limits say otherwise. */
export const defaultMaxPending = 20;

/** An answer, or a description of something that is not one. */
type Answered = { readonly read: ReadAnswer } | { readonly wrong: string };

export function askApprover(call: FoundCall, verdict: Verdict, desk: ApprovalDesk): Step {
  const { session } = call;
  const approver = session.setup.approver ?? session.lentApprover ?? call.surface?.approver;
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  if (desk.waiting.size >= limit) return tooManyApprovals(limit);
  const { approvalTimeoutMs } = session.setup;
  const question = requestFor(call, verdict, randomUUID(), approvalTimeoutMs);
  if (!question.askable)
    return rejected(call, undefined, question.reason, undefined, question.message);
  const { request } = question;
  call.more.question = { id: request.id };
  call.onEnd(({ metadata }) => emitSettled(call, request.id, metadata.status));
  if (approver === undefined) {
    announceQuestion(call, request);
    return rejected(
      call,
      request.id,
      'no_approver',
      undefined,
      'the session has no approver, so nobody could be asked. Do not retry it.',
    );
  }
  const open = openQuestion(call, desk, request);
  announceQuestion(call, request);
  // A listener may have answered, or ended the call, when it heard the question.
  if (desk.waiting.has(request.id)) open.ask(approver);
  return withDeadline(open.answered, approvalTimeoutMs, () => 'late' as const).then(
    (answer): Next => {
      open.leave();
      if (call.ended || answer === undefined) return undefined;
      if (answer === 'late') {
        open.giveUp();
        return timedOut(call, request.id);
      }
      return hasOwn(answer, 'read')
        ? takeAnswer(call, request.id, answer.read, verdict.details)
        : invalidAnswer(call, request.id, answer.wrong, undefined);
    },
    (error: unknown) => {
      open.leave();
      reportFault(call, error, 'approver', 'an approver threw');
      return withCause(rejected(call, request.id, 'approver_failed', undefined, undefined), error);
    },
  );
}

interface OpenQuestion {
  /** The first answer; undefined if the call ended without one. Rejects if the approver does. */
  readonly answered: Promise<Answered | undefined>;
  ask(approver: Approver): void;
  /** Takes the question off the desk. */
  leave(): void;
  /** Ignores later answers, and aborts the approver's signal. */
  giveUp(): void;
}

/** Puts a question on the desk, where `session.approvals.answer` can answer it. */
function openQuestion(call: FoundCall, desk: ApprovalDesk, request: ApprovalRequest): OpenQuestion {
  const controller = new AbortController();
  call.keepScope();
  let over = false;
  let settle: (answered: Answered | undefined) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const answered = new Promise<Answered | undefined>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  const giveUp = (): void => {
    over = true;
    // The answer may come from elsewhere, such as another request.
    inScope(call.scope, () => controller.abort());
  };
  const close = (answer: Answered | undefined): void => {
    desk.waiting.delete(request.id);
    settle(answer);
    giveUp();
  };
  const came = (answer: unknown): void => {
    if (over) return;
    desk.waiting.delete(request.id);
    // Read at once, before anyone else can change it.
    const read = readAnswer(answer, call.session.limits.maxInputBytes);
    settle(read === undefined ? { wrong: describeReceived(answer) } : { read });
  };
  const threw = (error: unknown): void => {
    if (!over) fail(error);
    // An approver that stops because of the signal has not failed.
    else if (errorName(error) !== 'AbortError')
      reportFault(call, error, 'approver', 'an approver threw after its question was closed');
  };
  const stop = (): void => close(undefined);
  call.onEnd(stop);
  desk.waiting.set(request.id, {
    request,
    answer: (read) => close({ read }),
    onEnd: (listener) => call.onEnd(listener),
  });
  beginAsking(call);
  return {
    answered,
    ask: (approver) => {
      try {
        Promise.resolve(approver(request, { signal: controller.signal })).then(came, threw);
      } catch (error) {
        threw(error);
      }
    },
    leave: () => {
      call.offEnd(stop);
      desk.waiting.delete(request.id);
      endAsking(call, desk);
    },
    giveUp,
  };
}

function beginAsking(call: FoundCall): void {
  call.session.registry.sessions.asking.add(call.session);
  tellAbove(call, true);
}

function endAsking(call: FoundCall, desk: ApprovalDesk): void {
  if (desk.waiting.size === 0) call.session.registry.sessions.asking.delete(call.session);
  tellAbove(call, false);
}

/** The time in which a person is asked is no time of the calls above. */
function tellAbove(call: FoundCall, isAsking: boolean): void {
  for (let above = call.parent; above !== undefined; above = above.parent)
    above.extra?.approval?.asking?.(isAsking);
}
