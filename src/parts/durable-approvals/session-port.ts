/** How surfaces answer calls that were suspended, without loading the part. */

import type { ApprovalAnswer } from '../../api/approval.ts';
import type { CallOptions } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';

export interface ApprovalsPort {
  /** Answers a suspended call. Never rejects. */
  resume(
    session: SessionState,
    token: string,
    answer: ApprovalAnswer,
    options: Pick<CallOptions, 'signal' | 'surface'> | undefined,
  ): Promise<ToolResult>;
  /**
   * The call of a genuine token, expired or not; undefined for anything else. Of a call in a
   * program, the call that runs the program.
   */
  read(
    session: SessionState,
    token: string,
  ): { readonly tool: string; readonly callId: string } | undefined;
  /**
   * Nobody can answer the question of a token any more. False if it does not wait, or is not ours.
   */
  withdraw(session: SessionState, token: string): Promise<boolean>;
  /**
   * Resolves once no suspended call needs this very session; undefined if none does, because none
   * waits or `approvals.session` makes the session again.
   */
  needed(session: SessionState): Promise<void> | undefined;
  /** The newest open session of this id and principal that may suspend calls. */
  session(sessionId: string, principal: string): SessionState | undefined;
}

export const approvalsPort = new Slot<ApprovalsPort>();
