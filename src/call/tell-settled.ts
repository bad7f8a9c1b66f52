/** Tells that the call of an approval request has ended. */
import type { CallStatus } from '../errors.ts';
import type { Call } from '../state/call.ts';
import type { ApprovalTold } from '../state/call-observers.ts';
import type { SessionState } from '../state/session-state.ts';

export function tellSettled(
  session: SessionState,
  call: Pick<Call, 'toolName' | 'callId' | 'surfaceName' | 'extra'>,
  id: string,
  status: CallStatus,
  told: ApprovalTold | undefined = call.extra?.approval,
): void {
  if (!session.hears('approval:settled')) return;
  const { toolName, callId, surfaceName } = call;
  // A later question of the same call has an answer of its own.
  const { by, decision } = told?.id === id ? told : { by: undefined, decision: undefined };
  session.emit(
    'approval:settled',
    {
      toolName,
      callId,
      id,
      ...(by === undefined ? {} : { by }),
      ...(decision === undefined ? {} : { decision }),
      status,
    },
    surfaceName,
  );
}
