/** The approvals of one session: the calls that wait for a person here, and the grants. */

import { Grants } from '../../core/approval/grants.ts';
import type { ApprovalRequest, ReadAnswer } from '../../core/approval/request.ts';

interface Waiting {
  readonly request: ApprovalRequest;
  answer(answer: ReadAnswer): void;
  /** Adds a listener for the end of the call, which gets the call's result. */
  onEnd(listener: (result: unknown) => void): void;
}

/** A call that is being written to the store. */
export interface Suspension {
  readonly id: string;
  /** The call will not be suspended after all, so it does not count as pending. */
  refused: boolean;
  /** How many bytes its record will have, roughly. */
  readonly bytes: number;
}

export class ApprovalDesk {
  readonly grants = new Grants();
  readonly waiting = new Map<string, Waiting>();
  readonly suspending = new Set<Readonly<Suspension>>();

  /** Answers a call that waits in this process. The first answer wins. False if none waits. */
  answer(id: string, answer: ReadAnswer): boolean {
    const waiting = this.waiting.get(id);
    if (waiting === undefined) return false;
    this.waiting.delete(id);
    waiting.answer(answer);
    return true;
  }
}
