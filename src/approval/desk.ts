/**
 * One session's approvals: who waits for a person in this process, and what was answered for
 * always.
 */

import { Grants } from './grants.ts';
import type { ApprovalRequest, ReadAnswer } from './request.ts';

interface Waiting {
  readonly request: ApprovalRequest;
  answer(answer: ReadAnswer): void;
}

export class ApprovalDesk {
  readonly grants = new Grants();
  readonly waiting = new Map<string, Waiting>();
  /** Calls on their way into the store. */
  readonly suspending = new Set<{ readonly id: string; readonly refused: boolean }>();

  /** Answers a call that waits in this process; the first answer wins. False when none waits. */
  answer(id: string, answer: ReadAnswer): boolean {
    const waiting = this.waiting.get(id);
    if (waiting === undefined) return false;
    this.waiting.delete(id);
    waiting.answer(answer);
    return true;
  }
}
