/** One session's approvals: who waits for a person in this process, and what was answered for always. */

import { Grants } from './grants.ts';
import type { ApprovalAnswer, ApprovalRequest } from './request.ts';

interface Waiting {
  readonly request: ApprovalRequest;
  answer(answer: ApprovalAnswer): void;
}

export class ApprovalDesk {
  readonly grants = new Grants();
  readonly waiting = new Map<string, Waiting>();
  /** Calls on their way into the store. */
  readonly suspending = new Set<{ readonly id: string; readonly refused: boolean }>();

  /** Answers a call that waits in this process; the first answer wins. False when none waits. */
  answer(id: string, answer: ApprovalAnswer): boolean {
    const waiting = this.waiting.get(id);
    if (waiting === undefined) return false;
    this.waiting.delete(id);
    waiting.answer(answer);
    return true;
  }
}
