/** What an answer does to a call that waits for a login. It approves nothing. */
import type { ApprovalRequest } from '../../api/approval.ts';
import type { ReadAnswer } from '../../core/approval/request.ts';

/** An answer as its outcome says it, and as it counts for the call; undefined for not at all. */
interface AnswerFor {
  readonly said: ReadAnswer;
  readonly counted: ReadAnswer | undefined;
}

/**
 * Whoever allows such a call only tries it again: what counts is who had approved it before it
 * waited for the login. A rejection cancels it.
 */
export function answerFor({ login }: ApprovalRequest, answer: ReadAnswer): AnswerFor {
  const [awaited] = login ?? [];
  if (awaited === undefined || !answer.allowed) return { said: answer, counted: answer };
  const { approvedBy } = awaited;
  const before: ReadAnswer = {
    allowed: true,
    always: false,
    by: approvedBy === '' ? undefined : approvedBy,
    message: undefined,
    input: undefined,
    grant: undefined,
    answers: answer.answers,
  };
  return { said: before, counted: approvedBy === undefined ? undefined : before };
}
