/** Calls that were allowed at the handler, and can be taken back there. */

import type { Answerer } from '../../api/answers.ts';
import type { HostToolRegistry, PendingApproval, ToolSession } from '../../core.ts';
import { inspectRegistry, inspectSession } from '../../extend.ts';
import { maySee } from '../../parts/durable-approvals/weigh-answer.ts';
import type { JsonValue } from '../../values/json/index.ts';
import type { UndoOutcome } from '../pages/approvals-wire.ts';
import { takeBack } from '../pages/take-back.ts';

/** Most calls that can be taken back. Each keeps its session. */
const maxKept = 200;
/** Milliseconds that a person waits for the end. */
const waitMs = 10_000;

/** What takes calls back. */
export interface InboxUndo {
  /**
   * A call is about to be answered. Gives what is told how it has ended: whether it can be taken
   * back.
   */
  offer(asked: PendingApproval): (status: JsonValue | undefined) => boolean;
  /** Takes a call back. Undefined if this person knows of none under this id. */
  take(id: string, person: Answerer): Promise<UndoOutcome | undefined>;
}

export function createInboxUndo(registry: HostToolRegistry<never>): InboxUndo {
  const view = inspectRegistry(registry);
  const kept = new Map<string, readonly [asked: PendingApproval, session: ToolSession]>();
  return {
    offer(asked) {
      const before = view.askingSession(asked);
      return (status) => {
        // The answer may have made it.
        const session = before ?? view.askingSession(asked);
        if (status !== 'succeeded' || session === undefined) return false;
        if (!inspectSession(session).reverts(asked.tool.name)) return false;
        kept.set(asked.id, [asked, session]);
        const [oldest] = kept.keys();
        if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
        return true;
      };
    },
    async take(id, person) {
      const [asked, session] = kept.get(id) ?? [];
      if (asked === undefined || session === undefined || !maySee(asked, person)) return undefined;
      const { by } = person;
      return takeBack(session, asked.callId, { surface: 'approvals', by, approval: id, waitMs });
    },
  };
}
