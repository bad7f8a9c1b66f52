/** Takes calls back that the page shows, in the sessions that have made them. */

import { openSessions, registryStateOf } from '../../core/registry/state-of.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { HostToolRegistry } from '../../core.ts';
import type { UndoOutcome } from '../pages/undo-wire.ts';
import { isReversible, takeBack } from '../shared/take-back.ts';
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
  const state = registryStateOf(registry);
  // In another session, other gates would decide.
  const sessionOf = ({ line: { sessionId, principal } }: KeptCall): SessionState | undefined =>
    openSessions(state)
      .map((one) => one.state)
      .find((one) => one.sessionId === sessionId && one.actor.principal === principal);
  const found = (call: KeptCall): SessionState | undefined => {
    const { line } = call;
    if (line.phase !== 'ended' || line.status === 'pending') return undefined;
    const session = sessionOf(call);
    if (session === undefined) return undefined;
    const isOwn = line.status === 'succeeded' && isReversible(session, line.tool);
    const hasMade = (): boolean =>
      [...log.all()].some(
        ({ line: one }) =>
          one.parentCallId === line.callId &&
          one.sessionId === line.sessionId &&
          one.status === 'succeeded' &&
          isReversible(session, one.tool),
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
