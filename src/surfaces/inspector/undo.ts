/** Takes calls back that the page shows, in the sessions that have made them. */

import type { HostToolRegistry, ToolSession } from '../../core.ts';
import { inspectRegistry, inspectSession } from '../../extend.ts';
import type { UndoOutcome } from '../pages/approvals-wire.ts';
import { takeBack } from '../pages/take-back.ts';
import type { CallLog, KeptCall } from './call-log.ts';

/** Milliseconds that the page waits for the end. A person may have to be asked. */
const waitMs = 5_000;

export interface Undo {
  /** Whether the page offers to take a call back. */
  offers(call: KeptCall): boolean;
  /** Undefined if it cannot be taken back here. */
  take(n: number): Promise<UndoOutcome | undefined>;
}

export function createUndo(registry: HostToolRegistry<never>, log: CallLog): Undo {
  // In another session, other gates would decide.
  const sessionOf = ({ line }: KeptCall): ToolSession | undefined =>
    inspectRegistry(registry).sessions.find(
      (one) =>
        one.sessionId === line.sessionId &&
        (inspectSession(one).principal ?? '') === line.principal,
    );
  const found = (call: KeptCall): ToolSession | undefined => {
    const { line } = call;
    if (line.phase !== 'ended' || line.status === 'pending') return undefined;
    const session = sessionOf(call);
    if (session === undefined) return undefined;
    // A newer call has the same id, and that one would be taken back.
    const isOver = [...log.all()].some(
      ({ line: one }) =>
        one.n > line.n &&
        one.callId === line.callId &&
        one.sessionId === line.sessionId &&
        one.status === 'succeeded',
    );
    if (isOver) return undefined;
    const view = inspectSession(session);
    const isOwn = line.status === 'succeeded' && view.reverts(line.tool);
    const hasMade = (): boolean =>
      [...log.all()].some(
        ({ line: one }) =>
          one.parentCallId === line.callId &&
          one.sessionId === line.sessionId &&
          one.status === 'succeeded' &&
          view.reverts(one.tool),
      );
    return isOwn || hasMade() ? session : undefined;
  };
  return {
    offers: (call) => found(call) !== undefined,
    async take(n) {
      const call = log.get(n);
      const session = call && found(call);
      return session && takeBack(session, call.line.callId, { surface: 'inspector', waitMs });
    },
  };
}
