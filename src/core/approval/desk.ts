/** The approvals of one session: the calls that wait for a person here, and the grants. */

import type { ApprovalRequest } from '../../api/approval.ts';
import { Grants } from './grants.ts';
import type { ReadAnswer } from './request.ts';

interface Waiting {
  readonly request: ApprovalRequest;
  answer(answer: ReadAnswer): void;
  /** Adds a listener for the end of the call, which gets the call's result. */
  onEnd(listener: (result: unknown) => void): void;
}

export class ApprovalDesk {
  readonly grants = new Grants();
  readonly waiting = new Map<string, Waiting>();

  /** Answers a call that waits in this process. The first answer wins. False if none waits. */
  answer(id: string, answer: ReadAnswer): boolean {
    const waiting = this.waiting.get(id);
    if (waiting === undefined) return false;
    this.waiting.delete(id);
    waiting.answer(answer);
    return true;
  }
}
