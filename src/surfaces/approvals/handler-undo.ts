/** Calls that were allowed at the handler, and can be taken back there. */

import type { Answerer } from '../../api/approvers.ts';
import { registryStateOf } from '../../core/registry/state-of.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { HostToolRegistry, PendingApproval } from '../../core.ts';
import { approvalsPort } from '../../parts/durable-approvals/session-port.ts';
import { maySee } from '../../parts/durable-approvals/weigh-answer.ts';
import type { JsonValue } from '../../values/json/index.ts';
import type { UndoOutcome } from '../pages/undo-wire.ts';
import { isReversible, takeBack } from '../shared/take-back.ts';

/** Most calls that can be taken back. Each keeps its session. */
const maxKept = 200;
/** Milliseconds that a person waits for the end. */
const waitMs = 10_000;

export interface InboxUndo {
  /**
   * A call is about to be allowed. Gives what is told how it has ended: whether it can be taken
   * back.
   */
  offer(asked: PendingApproval): (status: JsonValue | undefined) => boolean;
  /** Takes a call back. Undefined if this person knows of none under this id. */
  take(id: string, person: Answerer): Promise<UndoOutcome | undefined>;
}

export function createInboxUndo(registry: HostToolRegistry<never>): InboxUndo {
  const state = registryStateOf(registry);
  const kept = new Map<
    string,
    { readonly asked: PendingApproval; readonly session: SessionState }
  >();
  const sessionOf = ({ sessionId, principal }: PendingApproval): SessionState | undefined => {
    for (const one of state.asking)
      if (one.sessionId === sessionId && one.principal === principal) return one;
    return principal === undefined
      ? undefined
      : approvalsPort.of(state)?.session(sessionId, principal);
  };
  return {
    offer(asked) {
      const before = sessionOf(asked);
      return (status) => {
        // The answer may have made it.
        const session = before ?? sessionOf(asked);
        if (status !== 'succeeded' || session === undefined) return false;
        if (!isReversible(session, asked.tool.name)) return false;
        kept.set(asked.id, { asked, session });
        const [oldest] = kept.keys();
        if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
        return true;
      };
    },
    async take(id, person) {
      const one = kept.get(id);
      if (one === undefined || !maySee(one.asked, person)) return undefined;
      const { asked, session } = one;
      return takeBack(session, asked.callId, { surface: 'approvals', by: person.by, waitMs });
    },
  };
}
