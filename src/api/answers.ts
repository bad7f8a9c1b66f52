/** Who answers questions about calls, and the approvals of one session. */

import type { ApprovalAnswer, ApprovalChoice, Grant, PendingApproval } from './approval.ts';
import type { ToolResult } from './result.ts';

/** The people who may answer. Plain data. */
export interface Approvers {
  /**
   * Whoever is one of these: a name, as `by` of an answer has it, or `role:` and the name of a
   * role. 1 to 100 entries of at most 1 024 characters.
   */
  readonly any: readonly string[];
  /**
   * How many different people have to allow the call. One rejection rejects it. 1 to 20.
   * @default 1
   */
  readonly count?: number | undefined;
  /**
   * The person for whom the session acts is not one of them, in whatever spelling.
   * @default whoever is named, and that person too if it is one of them
   */
  readonly notPrincipal?: true | undefined;
}

/** Who asks for approvals, or answers one: a name and the roles that the host vouches for. */
export interface Answerer {
  /** The name of the person. */
  readonly by: string;
  /** The roles of the person now, such as `manager`. At most 100. @default none */
  readonly roles?: readonly string[] | undefined;
}

/** What one person has answered, where certain people have to. */
export interface GivenAnswer {
  /** The name of the person. */
  readonly by: string;
  /** The roles of the person at the time of the answer; absent if there were none. */
  readonly roles?: readonly string[];
  /** The answer. */
  readonly decision: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
}

/** The status of an approval. */
export interface ApprovalOutcome {
  /**
   * `pending`: there is no answer yet. `settled`: it was answered. `expired`: there was no answer
   * in time. `unknown`: no approval of this session and principal has this id, or it was forgotten.
   */
  readonly status: 'pending' | 'settled' | 'expired' | 'unknown';
  /** The answer. */
  readonly decision?: ApprovalChoice;
  /** Who answered, if the answer said so. */
  readonly by?: string;
  /** All who answered, in order, where certain people had to. */
  readonly answers?: readonly GivenAnswer[];
  /**
   * What the call returned. Absent while it runs, if its process has died, or if the result is over
   * 1 048 576 characters.
   */
  readonly result?: ToolResult;
}

/** The approvals of one session. */
export interface Approvals {
  /**
   * The calls that wait for a person: those in this process, and those suspended under this session
   * id and principal. Only suspended ones have a `token`.
   */
  pending(): Promise<readonly PendingApproval[]>;
  /**
   * Answers a call that waits on an approver in this process. False if no such call waits.
   * @throws MisuseError `invalid_option` for an invalid answer, and under `fourEyes` for an answer
   * of the session's own principal; the question then stays open.
   */
  answer(id: string, answer: ApprovalAnswer): boolean;
  /**
   * Answers a suspended call, in any process. If allowed, the call runs with exactly the input that
   * was shown. A resume that is refused ends as `approval_timeout`, or as `approval_denied` with
   * `token_invalid`, `token_used`, `token_foreign` or `definition_changed`. Never rejects.
   * @example
   * ```ts
   * const [question] = await session.approvals.pending();
   * if (question?.token !== undefined)
   *   await session.approvals.resume(question.token, { decision: 'allow_once', by: 'ann' });
   * ```
   */
  resume(token: string, answer: ApprovalAnswer): Promise<ToolResult>;
  /**
   * The status of an approval that this session and principal asked for: whether it was answered,
   * and what the call returned. It is kept until an hour after the approval expires, and other
   * processes can read it. `unknown` for an approval of another session or principal. Rejects if
   * the store fails, and with a MisuseError `invalid_option` if it keeps no outcomes.
   */
  outcome(id: string): Promise<ApprovalOutcome>;
  /** The standing answers of this session, oldest first, without expired and used-up ones. */
  grants(): readonly Grant[];
  /**
   * Revokes a standing answer. Calls that it has allowed need a new approval if their handlers have
   * not started. Running handlers continue. False if there is no such grant.
   */
  revoke(id: string): boolean;
}
